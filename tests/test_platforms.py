"""The platforms: the types of the programs on those without other tests, and what was recorded."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests import recording
from tests.programs import run
from tests.recording import Record

ROOT = Path(__file__).parents[1]

RUN = Record(
    system="Linux",
    processor="aarch64",
    python="3.11.3",
    how="`make arm`, qemu-user",
    date="2026-11-25",
    version="0.1.0",
    passed=1_000,
    skipped=2,
    failed=0,
)


# `make check` has checked everything on this system. What another one changes are modules and names
# of the standard library, for which packages need not be read: an eighth of the time. What comes
# from them is Any then, which makes these kinds of errors.
ONLY_THE_STANDARD_LIBRARY = (
    "--config-file=",
    "--no-site-packages",
    "--ignore-missing-imports",
    *("--disable-error-code", "assignment"),
    *("--disable-error-code", "has-type"),
    *("--disable-error-code", "valid-type"),
)


def types_on(platform: str, folder: Path, cache: Path) -> str:
    """Return the errors that mypy finds in the programs on another system, one a line."""
    mypy = (sys.executable, "-m", "mypy", "--platform", platform, "--cache-dir", cache)
    packages = ("idx", "server", "shared")
    done = run(
        *mypy, *ONLY_THE_STANDARD_LIBRARY, "--no-error-summary", *packages, cwd=folder, check=False
    )
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout


@pytest.mark.soak
@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_the_types_are_those_of_another_system(platform: str) -> None:
    assert types_on(platform, ROOT, ROOT / ".mypy_cache" / platform) == ""


def test_a_call_that_another_system_lacks_is_found(tmp_path: Path) -> None:
    for package in ("idx", "server", "shared"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "idx" / "a.py").write_text("import fcntl, os\n\nfcntl.flock\nos.getuid()\n")
    errors = types_on("win32", tmp_path, tmp_path / "cache").splitlines()
    assert [error.partition(": error: ")[0] for error in errors] == ["idx/a.py:3", "idx/a.py:4"]
    assert types_on("darwin", tmp_path, tmp_path / "cache") == ""


def test_the_page_of_installation_has_the_table_of_the_records() -> None:
    assert recording.PAGE.read_text("utf-8") == recording.page(), "run: make docs"


def test_a_record_takes_the_place_of_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "RECORDS", tmp_path / "platforms.json")
    monkeypatch.setattr(recording, "PAGE", tmp_path / "install.md")
    recording.PAGE.write_text("<!-- platforms -->\n<!-- end of platforms -->\n")
    recording.write(RUN)
    newer = Record({**RUN, "python": "3.11.9", "failed": 3})
    other = Record({**RUN, "python": "3.12.1"})
    recording.write(other)
    recording.write(newer)
    assert recording.read() == [newer, other]
    assert "| Linux, 64-bit Arm | 3.11.9 | `make arm`, qemu-user | 1,000 | 2 | 3 |" in (
        recording.table()
    )
    assert "| macOS, x86-64 | | **never run**" in recording.table()


def test_a_run_is_recorded_with_its_counts(tmp_path: Path) -> None:
    (tmp_path / "test_counts.py").write_text(
        "import pytest\n"
        "def test_right(): pass\n"
        "def test_wrong(): assert False\n"
        "def test_none(): pytest.skip()\n"
        "@pytest.fixture\n"
        "def broken(): assert False\n"
        "def test_broken(broken): pass\n"
    )
    records = tmp_path / "platforms.json"
    page = records.with_suffix(".md")
    page.write_text("<!-- platforms -->\n<!-- end of platforms -->\n")
    program = (
        "import pathlib, sys, pytest; from tests import recording\n"
        "recording.RECORDS = pathlib.Path(sys.argv.pop(1))\n"
        "recording.PAGE = recording.RECORDS.with_suffix('.md')\n"
        "sys.exit(pytest.main(sys.argv[1:], plugins=[recording]))"
    )
    options = (
        "-q",
        "-c",
        tmp_path / "none.ini",
        "--rootdir",
        tmp_path,
        "--record",
        "by hand",
        tmp_path,
    )
    (tmp_path / "none.ini").touch()
    subprocess.run(
        [sys.executable, "-c", program, records, *options],
        cwd=ROOT,
        check=False,
        stdout=subprocess.DEVNULL,
    )
    (record,) = json.loads(records.read_text())
    assert "| by hand | 1 | 1 | 2 |" in page.read_text()
    assert record["how"] == "by hand"
    assert (record["passed"], record["skipped"], record["failed"]) == (1, 1, 2)


def test_the_classifiers_name_the_systems_of_the_table() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    prefix = "Operating System :: "
    named = {
        classifier.removeprefix(prefix)
        for classifier in project["classifiers"]
        if classifier.startswith(prefix)
    }
    tested = {record["system"] for record in recording.read() if record["passed"]}
    systems = {
        "Linux": "POSIX :: Linux",
        "Windows": "Microsoft :: Windows",
        "Darwin": "MacOS :: MacOS X",
    }
    assert named == {systems[system] for system in tested}

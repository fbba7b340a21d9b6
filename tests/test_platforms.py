"""The platforms: the types of the programs on those without other tests, and what was tried."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from tests.programs import run

ROOT = Path(__file__).parents[1]

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


def test_the_classifiers_name_the_systems_of_the_table() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    prefix = "Operating System :: "
    named = {
        classifier.removeprefix(prefix)
        for classifier in project["classifiers"]
        if classifier.startswith(prefix)
    }
    page = (ROOT / "docs" / "install.md").read_text("utf-8")
    tested = set(re.findall(r"^\| (\w+), [^|]+ \| [\d.]+ \|", page, re.MULTILINE))
    systems = {
        "Linux": "POSIX :: Linux",
        "Windows": "Microsoft :: Windows",
        "macOS": "MacOS :: MacOS X",
    }
    assert named == {systems[system] for system in tested}

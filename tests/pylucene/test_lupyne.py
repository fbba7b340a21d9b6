"""lupyne's own tests, run against the wheel: a program that others have written for PyLucene."""

import os
import re
import tarfile
from pathlib import Path

import pytest

from tests import programs

_FOLDER = Path(__file__).with_name("lupyne")
_PYTHON = _FOLDER / ".venv" / "bin" / "python"
_SOURCES = _FOLDER / ".venv" / "sources"

# They extend a Java class in Python: a filter in an analyzer, and a parser that corrects spelling.
_FAIL = {"test_analyzers", "test_spellcheck"}


def unpacked(release: str, folder: Path) -> Path:
    """The tests in a source distribution."""
    with tarfile.open(_SOURCES / f"lupyne-{release}.tar.gz") as tar:
        tar.extractall(folder, filter="data")
    return folder / f"lupyne-{release}" / "tests"


@pytest.mark.soak
def test_all_pass_but_those_that_extend_java_classes(tmp_path: Path) -> None:
    if not _PYTHON.exists():
        pytest.skip("lupyne is not installed; make soak does it")
    tests = unpacked("3.4", tmp_path)
    texts = unpacked("2.5", tmp_path)
    (texts / "conftest.py").rename(tests / "conftest.py")
    (texts / "fixtures").rename(tests / "fixtures")
    # Without a package they could not import their conftest.
    (tests / "__init__.py").touch()
    # faulthandler would take the signal from Java by which it notices null.
    command = (_PYTHON, "-m", "pytest", "-p", "no:faulthandler", "-p", "without_java_compiler")
    environ = os.environ | {"PYTHONPATH": str(_FOLDER), "PYTEST_ADDOPTS": ""}
    done = programs.run(*command, "-rA", cwd=tests.parent, env=environ, timeout=120, check=False)
    results = re.findall(r"^(PASSED|FAILED|ERROR) \S+::(\w+)", done.stdout, re.MULTILINE)
    assert {name for result, name in results if result != "PASSED"} == _FAIL, done.stdout
    assert len(results) == 22

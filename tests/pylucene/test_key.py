"""The key of a wheel in the cache: it changes with every input, and with nothing else."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from backend import source, wheel
from backend.wheel import Options

_PRINT_KEY = (
    "from backend.wheel import Options, key; "
    "from backend.platforms import PLATFORMS; print(key({}))"
)


@pytest.fixture
def copy(pylucene: Path, tmp_path: Path) -> Path:
    """A copy of the package that a test may change."""
    return shutil.copytree(
        pylucene, tmp_path / "pylucene", ignore=shutil.ignore_patterns("__pycache__")
    )


def key(folder: Path, options: str = "Options()") -> str:
    """The key that the backend of a folder computes."""
    # The pool that reads files sets it, and the backend is imported from the folder.
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(
        (sys.executable, "-B", "-c", _PRINT_KEY.format(options)),
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def unchanged(pylucene: Path) -> str:
    """The key of the package as it is."""
    return key(pylucene)


def test_a_copy_of_the_folder_has_the_same_key(copy: Path, unchanged: str) -> None:
    assert key(copy) == unchanged


def test_files_that_are_no_input_do_not_change_the_key(copy: Path, unchanged: str) -> None:
    (copy / "build").mkdir()
    (copy / "build" / "notes.txt").write_text("anything")
    (copy / "PKG-INFO").write_text("Name: pylucene\n")
    (copy / "classes.txt").touch()
    assert key(copy) == unchanged


@pytest.mark.parametrize("file", source.files(), ids=str)
def test_a_change_of_any_input_changes_the_key(
    copy: Path, monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    monkeypatch.setattr(source, "ROOT", copy)
    unchanged = wheel.key(Options())
    with (copy / file).open("a", encoding="utf-8") as text:
        text.write("\n")
    assert wheel.key(Options()) != unchanged


def test_a_new_backend_module_changes_the_key(copy: Path, unchanged: str) -> None:
    (copy / "backend" / "more.py").write_text("")
    assert key(copy) != unchanged


def test_the_options_change_the_key(pylucene: Path) -> None:
    assert key(pylucene, "Options('all')") != key(pylucene, "Options('listed')")


def test_the_platform_changes_the_key(pylucene: Path, unchanged: str) -> None:
    keys = {key(pylucene, f"Options(platform=PLATFORMS[{number}])") for number in range(5)}
    assert len(keys) == 5
    # Naming this machine's is the same as naming none.
    assert unchanged in keys


def test_the_time_of_the_files_changes_the_key(
    pylucene: Path, monkeypatch: pytest.MonkeyPatch, unchanged: str
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert key(pylucene) != unchanged

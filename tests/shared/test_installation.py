"""The commands that change an installation, by what has made it."""

import sys
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest

from shared.installation import extra_command, missing_libraries, reinstall_command, upgrade_command

VERSION = "{}.{}".format(*sys.version_info)


@pytest.mark.parametrize(
    ("receipt", "install", "upgrade", "reinstall"),
    [
        (
            "uv-receipt.toml",
            f"uv tool install --python {VERSION} ",
            "uv tool upgrade mcp-lucene",
            "uv tool upgrade --reinstall mcp-lucene",
        ),
        (
            "pipx_metadata.json",
            "pipx install --force ",
            "pipx upgrade mcp-lucene",
            "pipx reinstall mcp-lucene",
        ),
    ],
)
def test_uv_and_pipx_install_all_extras_anew(
    receipt: str,
    install: str,
    upgrade: str,
    reinstall: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    (tmp_path / receipt).touch()
    has = {extra for extra, libraries in missing_libraries().items() if not libraries}
    extras = ",".join(sorted({*has, "7z"}))
    assert extra_command("7z") == f'{install}"mcp-lucene[{extras}]"'
    assert upgrade_command() == upgrade
    assert reinstall_command("pylucene==10.5.0") == reinstall


def test_pip_adds_one_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert extra_command("7z").removeprefix("pip install ") in ('"mcp-lucene[7z]"', '-e ".[7z]"')
    assert upgrade_command() == "pip install --upgrade mcp-lucene"
    assert reinstall_command("pylucene==10.5.0") == "pip install --force-reinstall pylucene==10.5.0"


def test_each_extra_is_known_by_its_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_extras = [line for line in requires("mcp-lucene") or () if "extra ==" in line]
    # Without any distribution but this one.
    monkeypatch.setattr("importlib.metadata.version", _missing)
    missing = missing_libraries()
    assert sum(map(len, missing.values())) == len(of_extras)
    assert all(missing.values())


def test_sources_that_are_not_installed_name_a_command_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr("importlib.metadata.distribution", _missing)
    assert extra_command("7z") == 'pip install -e ".[7z]"'


def _missing(name: str) -> str:
    raise PackageNotFoundError(name)

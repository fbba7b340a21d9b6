"""Numbers with nouns, suggestions, cut texts, times, and commands that change an installation."""

import sys
from datetime import datetime, timedelta, timezone
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest

from shared.installation import extra_command, missing_libraries, reinstall_command, upgrade_command
from shared.messages import did_you_mean, quantity, shortened, utc_time


@pytest.mark.parametrize(
    ("number", "noun", "plural", "written"),
    [
        (0, "chunk", None, "0 chunks"),
        (1, "chunk", None, "1 chunk"),
        (2, "chunk", None, "2 chunks"),
        (1_234_567, "chunk", None, "1,234,567 chunks"),
        (1, "directory", None, "1 directory"),
        (2, "directory", None, "2 directories"),
        (2, "day", None, "2 days"),
        (1, "empty file", None, "1 empty file"),
        (3, "empty file", None, "3 empty files"),
        (1, "index", "indexes", "1 index"),
        (2, "index", "indexes", "2 indexes"),
    ],
)
def test_a_noun_agrees_with_its_number(
    number: int, noun: str, plural: str | None, written: str
) -> None:
    assert quantity(number, noun, plural) == written


def test_a_long_text_is_cut_and_says_so() -> None:
    assert shortened("abc", 3) == "abc"
    assert shortened("abcd", 3) == "abc…"


def test_the_nearest_name_is_suggested() -> None:
    assert did_you_mean("titel", ["title", "content"], "nothing") == "did you mean 'title'?"
    assert did_you_mean("zzz", ["title", "content"], "nothing") == "nothing"
    assert did_you_mean("x" * 1_000_000, ["title"], "nothing") == "nothing"


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1.9, "1970-01-01T00:00:01Z"),
        (
            datetime(2026, 7, 1, 12, 30, 5, 999, timezone(timedelta(hours=2))),
            "2026-07-01T10:30:05Z",
        ),
    ],
)
def test_a_moment_is_written_in_utc(moment: float | datetime, written: str) -> None:
    assert utc_time(moment) == written


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

"""What is wrong in the configuration is named, and nothing is done."""

from pathlib import Path

import pytest

from shared.settings.current import configuration_file
from tests.configured import shown, write
from tests.conftest import Idx
from tests.systems import has_modes
from tests.unprivileged import UNPRIVILEGED


def test_nothing_in_the_current_folder_is_configuration(
    idx: Idx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IDX_SEMANTIC")
    (tmp_path / ".env").write_text("IDX_INDEX_PATH=elsewhere\nIDX_WAIT=-1\n")
    (tmp_path / "config.toml").write_text("index_path = 'elsewhere'")
    (tmp_path / "mcp-lucene").mkdir()
    (tmp_path / "mcp-lucene" / "config.toml").write_text("index_path = 'elsewhere'")
    assert {origin for _, origin in shown(idx).values()} == {"default"}
    idx("init")
    assert (tmp_path / "lucene-index").is_dir()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("wait = 1\n\nhidden =\n", "line 3, column 9: Invalid value"),
        ('wait = """', "Unterminated string (at end of document)"),
        ("# \xff", "line 1: is not UTF-8 text"),
        ("maxsize = 5", "maxsize is not a setting; did you mean 'max_size'?"),
        (
            "[server]\nport = 1",
            "server is not a setting; the settings are index_path, wait, folders, ",
        ),
        ("max_size = '50'", "max_size: the value should be a valid number (it is '50')"),
        ("max_size = true", "max_size: the value should be a valid number (it is True)"),
        ("max_size = nan", "max_size: the value should be a finite number (it is nan)"),
        ("wait = -1", "wait: the value should be greater than or equal to 0 (it is -1)"),
        ("workers = 0", "workers: the value should be greater than or equal to 1 (it is 0)"),
        ("workers = 1.5", "workers: the value should be a valid integer (it is 1.5)"),
        ("hidden = 'yes'", "hidden: the value should be a valid boolean (it is 'yes')"),
        ("include = '*.md'", "include: the value should be a valid list (it is '*.md')"),
        ("pdf_engine = 'x'", "the value should be 'auto', 'pdfium' or 'pdfplumber' (it is 'x')"),
        ("encoding = 'no'", "encoding: the encoding does not exist (it is 'no')"),
        ("index_path = 5", "index_path: the value should be a path, in quotes (it is 5)"),
        ("index_path = ''", "index_path: a path must not be empty"),
        ("normalizer_url = 'x'", "normalizer_url: the value should be an address such as http"),
        ("normalizer_timeout = 99", "normalizer_timeout: the value should be less than or equal"),
        ("index_path = 'a'\nwait = []\n[x]", "(it is []); x is not a setting"),
        ("folders = 'a'", "folders: the value should be a valid list (it is 'a')"),
        ("folders = ['a', 5]", "folders, number 2: the value should be a path, in quotes, or a "),
        ("folders = [{}]", "folders, number 1, path is missing"),
        (
            "[[folders]]\npath = 'a'\nexclud = []",
            "folders, number 1, exclud is not a setting; did you mean 'exclude'?",
        ),
    ],
)
def test_what_is_wrong_in_the_file_is_named(idx: Idx, text: str, reason: str) -> None:
    file = write("")
    file.write_bytes(text.encode("latin-1"))
    failed = idx("config", "show", code=1)
    assert failed.stderr.startswith(f"Error: {file}: ")
    assert reason in failed.stderr
    assert len(failed.stderr.splitlines()) == 1


def test_every_command_that_needs_the_file_says_what_is_wrong_in_it(idx: Idx) -> None:
    file = write("index_path = 'a'\nwiat = 1\n")
    expected = f"Error: {file}: wiat is not a setting; did you mean 'wait'?\n"
    for command in (["init"], ["config", "show"], ["folders", "list"], ["folders", "add", "."]):
        assert idx(*command, code=1).stderr == expected
    assert file.read_text() == "index_path = 'a'\nwiat = 1\n"


@has_modes
def test_a_file_that_cannot_be_read_is_named(idx: Idx) -> None:
    file = configuration_file()
    file.mkdir(parents=True)
    for command in (["init"], ["config", "show"]):
        assert idx(*command, code=1).stderr == f"Error: {file}: cannot be read: Is a directory\n"
    file.rmdir()
    write("wait = 5")
    for locked in (file, file.parent):
        locked.chmod(0)
        failed = idx("init", code=1, prefix=UNPRIVILEGED)
        assert failed.stderr == f"Error: {file}: cannot be read: Permission denied\n"
        locked.chmod(0o700)


def test_a_wrong_variable_is_named(idx: Idx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDX_WAIT", "soon")
    assert "IDX_WAIT" in idx("delete", "a", code=2).stderr
    monkeypatch.setenv("IDX_MAX_SIZE", "-3")
    failed = idx("config", "show", code=1).stderr
    assert failed.startswith("Error: the environment: IDX_WAIT: the value should be a valid number")
    assert "IDX_MAX_SIZE: the value should be greater than or equal to 0 (it is '-3')" in failed


@pytest.mark.parametrize("name", ["WAIT", "MAX_SIZE", "TIMEOUT", "NORMALIZER_TIMEOUT"])
def test_what_is_not_a_number_is_no_number(
    idx: Idx, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(f"IDX_{name}", "nan")
    command = "search" if name.startswith("N") else "sync"
    assert "nan is not finite" in idx(command, "a", code=2).stderr


def test_a_variable_that_is_misspelled_gets_a_warning_and_others_are_left_alone(
    idx: Idx, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDX_OF_ANOTHER_PROGRAM", "1")
    monkeypatch.setenv("IDX_INDEXPATH", "elsewhere")
    assert idx("init").stderr == (
        "Warning: IDX_INDEXPATH is not a setting and has no effect; "
        "did you mean 'IDX_INDEX_PATH'?\n"
    )

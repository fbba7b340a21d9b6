"""`idx config set`, `unset` and `idx init --default`, and what is wrong in the configuration."""

import json
import os
import sys

import pytest

from shared.settings.current import configuration_file
from tests.configured import shown, write
from tests.conftest import Idx
from tests.programs import PROGRAMS, Started
from tests.systems import has_mode, has_modes, has_terminals
from tests.unprivileged import UNPRIVILEGED

if sys.platform != "win32":
    import pty

BY_HAND = """\
# My settings
wait = 5  # five seconds
exclude = [
    "old/",  # nobody reads it
]

# The first is large.
[[folders]]
path = "/documents"  # all of them

# The end.
"""


def test_an_index_is_made_the_default_when_it_is_created(idx: Idx) -> None:
    file = configuration_file()
    assert idx("init", "-i", "mine", "--default").stdout == (
        "Successfully initialized Lucene index at: mine\n"
        f"It is now the default index: index_path in {file}\n"
    )
    assert shown(idx)["index_path"] == (str(idx.folder / "mine"), str(file))
    (idx.folder / "elsewhere").mkdir()
    idx("add", "-d", "a", "-t", "A", "-c", "text", prefix=("env", "-C", "elsewhere"))
    assert "text" in idx("show", "a").stdout
    assert not (idx.folder / "elsewhere" / "lucene-index").exists()
    idx("init", "-i", "other")
    again = idx("init", "-i", "other", "--default", "--json")
    assert json.loads(again.stdout) == {
        "index_path": "other",
        "created": False,
        "default_in": str(file),
    }
    assert shown(idx)["index_path"][0] == str(idx.folder / "other")


def test_an_index_that_cannot_be_created_does_not_become_the_default(idx: Idx) -> None:
    (idx.folder / "letter.txt").touch()
    idx("init", "-i", "letter.txt", "--default", code=1)
    assert not configuration_file().exists()


def test_a_setting_is_written_as_the_type_it_is(idx: Idx) -> None:
    file = configuration_file()
    expected: dict[str, tuple[object, str]] = {}
    settings: list[tuple[tuple[str, ...], object, str]] = [
        (("wait", "7"), 7.0, "7"),
        (("max-size", "0.5"), 0.5, "0.5"),
        (("max_size", "20"), 20.0, "20"),
        (("hidden", "yes"), True, "true"),
        (("follow-links", "false"), False, "false"),
        (("workers", "3"), 3, "3"),
        (("encoding", "cp1252"), "cp1252", "cp1252"),
        (("pdf-engine", "pdfium"), "pdfium", "pdfium"),
        (("exclude", "old/", "a b"), ["old/", "a b"], "old/, a b"),
        (("INCLUDE", "*.md"), ["*.md"], "*.md"),
    ]
    for arguments, value, told in settings:
        name = arguments[0].replace("-", "_").lower()
        assert idx("config", "set", *arguments).stdout == f"Set {name} to {told} in {file}\n"
        assert has_mode(file, 0o600)
        expected[name] = (value, str(file))
    found = shown(idx)
    assert {name: found[name] for name in expected} == expected


def test_a_relative_path_is_made_absolute(idx: Idx) -> None:
    idx.setenv("HOME", "/home/me")
    for given, meant in {
        "my index": f"{idx.folder}/my index",
        "../other": f"{idx.folder.parent}/other",
        "~/search/index": "/home/me/search/index",
        "/a/b": "/a/b",
    }.items():
        idx("config", "set", "index-path", given)
        assert shown(idx)["index_path"][0] == meant


def test_comments_and_layout_are_kept(idx: Idx) -> None:
    file = write(BY_HAND)
    idx("config", "set", "wait", "7")
    idx("config", "set", "hidden", "true")
    expected = BY_HAND.replace("wait = 5 ", "wait = 7 ").replace("]\n\n", "]\nhidden = true\n\n", 1)
    assert file.read_text() == expected
    idx("config", "unset", "hidden")
    assert file.read_text() == BY_HAND.replace("wait = 5 ", "wait = 7 ")
    idx("config", "unset", "exclude")
    idx("config", "unset", "wait")
    assert [line for line in file.read_text().splitlines() if line] == [
        "# My settings",
        "# The first is large.",
        "[[folders]]",
        'path = "/documents"  # all of them',
        "# The end.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment",
        "[[folders]]\npath = '/a'\n",
        "# about the folder\n[[folders]]\npath = '/a'",
        "exclude = [\n  'a',\n\n  # b\n  'b',\n]\n\n[[folders]]\npath = '/a'\n",
        'pdf_password = """\n[x]\n"""\nfolders = ["/a"]\n',
        "hidden = true\r\n\r\n# about the folder\r\n[[folders]]\r\npath = '/a'\r\n",
        "\ufeffhidden = true",
    ],
)
def test_a_new_setting_finds_its_place_in_any_file(idx: Idx, text: str) -> None:
    file = write("")
    file.write_bytes(text.encode())
    before = {name: value for name, (value, _) in shown(idx).items()}
    idx("config", "set", "workers", "3")
    assert {name: value for name, (value, _) in shown(idx).items()} == before | {"workers": 3}
    for comment in ("# only a comment", "# about the folder", "# b"):
        assert (comment in file.read_text()) == (comment in text)
    assert ("\r\n" in text) == (file.read_bytes().count(b"\r\n") == file.read_bytes().count(b"\n"))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("wait", "soon"), "wait: the value should be a valid number"),
        (("wait", "1", "2"), "wait takes one value, not 2"),
        (("workers", "0"), "workers: the value should be greater than or equal to 1 (it is '0')"),
        (("hidden", "maybe"), "hidden: the value should be a valid boolean"),
        (("encoding", "no"), "encoding: the encoding does not exist (it is 'no')"),
        (("index-path", ""), "index_path: a path must not be empty"),
        (("indexpath", "a"), "indexpath is not a setting; did you mean 'index_path'?"),
        (("port", "1"), "port is not a setting; the settings are index_path, wait, "),
        (("folders", "a"), "folders are changed with idx folders add"),
    ],
)
def test_a_wrong_value_is_named_and_nothing_is_written(
    idx: Idx, arguments: tuple[str, ...], reason: str
) -> None:
    file = write(BY_HAND)
    failed = idx("config", "set", *arguments, code=1)
    assert failed.stderr.startswith(f"Error: the configuration: {reason}")
    assert len(failed.stderr.splitlines()) == 1
    assert file.read_text() == BY_HAND


def test_what_is_wrong_in_the_file_can_be_repaired(idx: Idx) -> None:
    file = write("wiat = 1\nwait = 'x'\n")
    refused = idx("config", "set", "hidden", "true", code=1).stderr
    assert refused.startswith(f"Error: {file}: ")
    assert "wiat is not a setting; did you mean 'wait'?" in refused
    assert file.read_text() == "wiat = 1\nwait = 'x'\n"
    write("wiat = 1\n")
    assert idx("config", "unset", "wiat").stdout == f"Removed wiat from {file}\n"
    write("wait = 'x'\n")
    idx("config", "set", "wait", "3")
    assert file.read_text() == "wait = 3\n"
    write("wait =\n")
    assert "line 1, column 7: Invalid value" in idx("config", "set", "wait", "3", code=1).stderr


def test_what_is_not_set_cannot_be_removed_and_a_value_is_needed(idx: Idx) -> None:
    file = write(BY_HAND)
    nothing = idx("config", "unset", "index-path").stdout
    assert nothing == f"index_path is not set in {file}; nothing was changed.\n"
    assert idx.json("config", "unset", "hidden") == {
        "file": str(file),
        "setting": "hidden",
        "removed": False,
    }
    assert "give a value for wait" in idx("config", "set", "wait", code=2).stderr
    assert "nothing is not a setting" in idx("config", "unset", "nothing", code=1).stderr
    assert "idx folders remove" in idx("config", "unset", "folders", code=1).stderr
    assert file.read_text() == BY_HAND


@has_modes
def test_a_password_is_read_from_standard_input_and_never_shown(idx: Idx) -> None:
    file = configuration_file()
    done = idx("config", "set", "pdf-password", stdin="swordfish\n")
    assert (done.stdout, done.stderr) == (f"Set pdf_password in {file}\n", "")
    assert file.read_text() == 'pdf_password = "swordfish"\n'
    as_json = idx("config", "set", "pdf-password", "--json", stdin="herring\n")
    assert json.loads(as_json.stdout)["value"] == "••••"
    file.chmod(0o644)
    done = idx("config", "set", "pdf-password", "swordfish")
    assert "swordfish" not in done.stdout + done.stderr
    seen, readable = done.stderr.splitlines()
    assert "is visible to other users" in seen
    assert readable == (f"Warning: other users can read {file}; to prevent this: chmod 600 {file}")


@has_terminals
def test_a_password_is_asked_for_on_a_terminal_and_not_echoed(idx: Idx) -> None:
    ours, theirs = pty.openpty()
    with Started(
        *(PROGRAMS / "idx", "config", "set", "pdf-password"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as program:
        os.close(theirs)
        told = b""
        while b"pdf_password: " not in told:
            told += os.read(ours, 1_000)
        os.write(ours, b"swordfish\n")
        assert program.wait(60) == 0
    assert b"swordfish" not in told + os.read(ours, 1_000)
    os.close(ours)
    assert configuration_file().read_text() == 'pdf_password = "swordfish"\n'


def test_a_variable_that_beats_the_file_is_named(idx: Idx) -> None:
    idx.setenv("IDX_INDEX_PATH", "elsewhere")
    file = configuration_file()
    warning = f"Warning: IDX_INDEX_PATH is set and overrides index_path in {file}\n"
    assert idx("config", "set", "index-path", "a").stderr == warning
    assert idx("init", "--default").stderr == warning
    assert idx("config", "unset", "index-path").stderr == warning


def test_nothing_in_the_current_folder_is_configuration(idx: Idx) -> None:
    idx.delenv("IDX_SEMANTIC")
    (idx.folder / ".env").write_text("IDX_INDEX_PATH=elsewhere\nIDX_WAIT=-1\n")
    (idx.folder / "config.toml").write_text("index_path = 'elsewhere'")
    (idx.folder / "mcp-lucene").mkdir()
    (idx.folder / "mcp-lucene" / "config.toml").write_text("index_path = 'elsewhere'")
    assert {origin for _, origin in shown(idx).values()} == {"default"}
    idx("init")
    assert (idx.folder / "lucene-index").is_dir()


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


@has_modes
def test_a_file_that_cannot_be_read_is_named(idx: Idx) -> None:
    file = write("wait = 5")
    for locked in (file, file.parent):
        locked.chmod(0)
        failed = idx("init", code=1, prefix=UNPRIVILEGED)
        assert failed.stderr == f"Error: {file}: cannot be read: Permission denied\n"
        locked.chmod(0o700)


def test_a_wrong_variable_is_named(idx: Idx) -> None:
    idx.setenv("IDX_WAIT", "soon")
    assert "IDX_WAIT" in idx("delete", "a", code=2).stderr
    idx.setenv("IDX_MAX_SIZE", "-3")
    failed = idx("config", "show", code=1).stderr
    assert failed.startswith("Error: the environment: IDX_WAIT: the value should be a valid number")
    assert "IDX_MAX_SIZE: the value should be greater than or equal to 0 (it is '-3')" in failed


@pytest.mark.parametrize("name", ["WAIT", "MAX_SIZE", "TIMEOUT", "NORMALIZER_TIMEOUT"])
def test_what_is_not_a_number_is_no_number(idx: Idx, name: str) -> None:
    idx.setenv(f"IDX_{name}", "nan")
    command = "search" if name.startswith("N") else "sync"
    assert "nan is not finite" in idx(command, "a", code=2).stderr


def test_a_variable_that_is_misspelled_gets_a_warning_and_others_are_left_alone(idx: Idx) -> None:
    idx.setenv("IDX_OF_ANOTHER_PROGRAM", "1")
    idx.setenv("IDX_INDEXPATH", "elsewhere")
    assert idx("init").stderr == (
        "Warning: IDX_INDEXPATH is not a setting and has no effect; "
        "did you mean 'IDX_INDEX_PATH'?\n"
    )

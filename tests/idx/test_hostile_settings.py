"""Tables of hostile configuration files and files of clients: one clear error, and no change."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from idx.clients.catalogue import CLIENTS
from shared.settings.current import configuration_file
from tests.conftest import Idx
from tests.idx.clients.files import file_of, servers
from tests.systems import makes_links

pytestmark = pytest.mark.soak

Put = Callable[[Path], None]


def text(content: str | bytes) -> Put:
    raw = content if isinstance(content, bytes) else content.encode()

    def put(file: Path) -> None:
        file.write_bytes(raw)

    return put


def link(target: str) -> Put:
    return lambda file: file.symlink_to(target)


ODD: Final[dict[str, tuple[Put, str]]] = {
    **(
        {}
        if sys.platform == "win32"
        else {
            "a pipe": (
                os.mkfifo,
                "cannot be read: it is not a regular file but a pipe or a device",
            ),
            "a device without end": (link("/dev/zero"), "cannot be read: it is not a regular file"),
            "a terminal": (link("/dev/ptmx"), "cannot be read: it is not a regular file"),
            "a link to itself": (link("."), "cannot be read: Is a directory"),
        }
    ),
    "a folder": (Path.mkdir, "cannot be read: Is a directory"),
    "UTF-16": (text("wait = 1".encode("utf-16")), "is not UTF-8 text"),
    "Latin-1": (text(b"# caf\xe9"), "is not UTF-8 text"),
}

CONFIGURATIONS: Final[dict[str, tuple[Put, str]]] = {
    **ODD,
    "two megabytes": (text("#" * 2_000_000), "cannot be read: it is larger than 1 MB"),
    "lists in lists": (text("include = " + "[" * 100_000), "values are nested too deeply"),
    "tables in tables": (text("a = " + "{a = " * 50_000), "values are nested too deeply"),
    "a number of 5,000 digits": (text("wait = " + "9" * 5_000), "a number has too many digits"),
    "a number beyond all": (text("wait = 1e999"), "the value should be a finite number"),
    "a key twice": (text("wait = 1\nwait = 2"), "Cannot overwrite a value"),
    "NUL": (text("wait = 1\0"), "line 1"),
    "NUL in a path": (text('index_path = "a\\u0000b"'), "or contain a null character"),
    "half a surrogate": (text('index_path = "\\ud800"'), "line 1"),
    "a list for a path": (text("index_path = ['a']"), "the value should be a path, in quotes"),
    "a table for a path": (text("[index_path]\na = 1"), "the value should be a path, in quotes"),
    "a moment for a number": (text("wait = 2026-01-01"), "wait: the value should be a valid num"),
    "folders in folders": (text("folders = [[['a']]]"), "folders, number 1"),
    "colours": (text('"\x1b[31m" = 1'), "line 1"),
    "JSON": (text('{"wait": 1}'), "line 1"),
}

CLIENT_FILES: Final[dict[str, tuple[Put, str]]] = {
    **ODD,
    "lists in lists": (text("[" * 100_000), "values are nested too deeply"),
    "objects in objects": (text('{"a":' * 100_000), "values are nested too deeply"),
    "comments without end": (text("{" + "/* " * 1_000_000), "is not valid JSON"),
    "a string without end": (text('{"a": "' + "x" * 5_000_000), "is not valid JSON"),
    "a list": (text("[]"), "there is no object in braces"),
    "null": (text("null"), "there is no object in braces"),
    "a table that is null": (text('{"mcpServers": null}'), "is not a table of servers"),
    "a table that is a list": (text('{"mcpServers": [{}]}'), "is not a table of servers"),
    "a server that is a number": (text('{"mcpServers": {"mcp-lucene": 5}}'), "another server"),
    "a command that is a list": (
        text('{"mcpServers": {"mcp-lucene": {"command": ["x"], "args": {}}}}'),
        "another server is called mcp-lucene",
    ),
    "NUL": (text('{"a": "\0"}'), "is not valid JSON"),
    "TOML": (text("[mcp_servers]"), "is not valid JSON"),
}


@pytest.mark.parametrize(("put", "reason"), CONFIGURATIONS.values(), ids=CONFIGURATIONS.keys())
def test_a_hostile_configuration_file_is_one_clear_error(
    idx: Idx, tmp_path: Path, put: Put, reason: str
) -> None:
    file = configuration_file()
    file.parent.mkdir(parents=True)
    put(file)
    for command in (["config", "show"], ["init"], ["folders", "add", "."]):
        (told,) = idx(*command, code=1).stderr.splitlines()
        assert told.startswith(f"Error: {file}: ")
        assert reason in told
        assert len(told) < 1_000
        assert told.isprintable()
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(("put", "reason"), CLIENT_FILES.values(), ids=CLIENT_FILES.keys())
def test_a_hostile_file_of_a_client_is_one_clear_error_and_stays(
    idx: Idx, tmp_path: Path, put: Put, reason: str
) -> None:
    idx.setenv("HOME", str(tmp_path))
    file = file_of("cursor")
    file.parent.mkdir(parents=True)
    put(file)
    before = file.lstat()
    (told,) = idx("mcp-config", "cursor", "--write", code=1).stderr.splitlines()
    assert told.startswith(f"Error: {file}: ")
    assert reason in told
    assert "nothing was changed" in told
    assert len(told) < 1_000
    assert [entry.name for entry in file.parent.iterdir()] == [file.name]
    assert (file.lstat().st_mtime_ns, file.lstat().st_ino) == (before.st_mtime_ns, before.st_ino)


ENTRIES: Final[dict[str, tuple[str, str]]] = {
    "open to the network": (
        "cursor",
        (
            '{"mcpServers": {"mcp-lucene": {"command": "mcp-lucene", "args": '
            '["--http", "--host", "0.0.0.0", "--insecure"]}}}'
        ),
    ),
    "with code of its own": (
        "cursor",
        '{"mcpServers": {"mcp-lucene": {"command": "mcp-lucene", "env": {"PYTHONPATH": "."}}}}',
    ),
    "with a file of variables": (
        "vscode",
        '{"servers": {"mcp-lucene": {"command": "mcp-lucene", "envFile": ".env", "cwd": "."}}}',
    ),
    "with rights": (
        "roo-code",
        (
            '{"mcpServers": {"mcp-lucene": {"command": "mcp-lucene", "args": ["x", "--admin", '
            '"--root", "/"], "alwaysAllow": ["crawl_directory"]}}}'
        ),
    ),
    "switched off, in one list": (
        "opencode",
        '{"mcp": {"mcp-lucene": {"command": ["mcp-lucene", "--insecure"], "enabled": false}}}',
    ),
    "with variables below": (
        "codex-cli",
        (
            '[mcp_servers.mcp-lucene]\ncommand = "mcp-lucene"\n\n'
            '[mcp_servers.mcp-lucene.env]\nPYTHONPATH = "\\u001b[31m"\n'
        ),
    ),
}
"""Entries of this server in the file of a project that somebody else has made."""


@pytest.mark.parametrize(("client", "entry"), ENTRIES.values(), ids=ENTRIES.keys())
def test_nothing_of_an_entry_stays_that_a_project_came_with(
    idx: Idx, tmp_path: Path, client: str, entry: str
) -> None:
    file = CLIENTS[client].file("project")
    file = tmp_path / file.relative_to(Path.cwd())
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(entry)
    before = servers(client, file)["mcp-lucene"]
    printed = idx.json("mcp-config", client)
    told = idx("mcp-config", client, "--scope", "project", "--write")
    assert servers(client, file)["mcp-lucene"] == printed["entry"]
    (shown,) = (line for line in told.stderr.splitlines() if line.startswith("Replaced all of: "))
    assert json.loads(shown.removeprefix("Replaced all of: ")) == before
    assert shown.isprintable()


@makes_links
def test_the_null_device_is_an_empty_configuration(idx: Idx) -> None:
    file = configuration_file()
    file.parent.mkdir(parents=True)
    file.symlink_to(os.devnull)
    idx("init")


IN_THE_CLEAR: Final[dict[str, tuple[str, dict[str, str], bool]]] = {
    "a password": ("opensearch://0.0.0.0:1/papers", {"USER": "u", "PASSWORD": "hush"}, True),
    "a token": ("opensearch://0.0.0.0:1/papers", {"TOKEN": "hush"}, True),
    "to the second node": ("opensearch://127.0.0.1:1,0.0.0.0:1/papers", {"TOKEN": "hush"}, True),
    "to this machine": ("opensearch://127.0.0.1:1/papers", {"TOKEN": "hush"}, False),
    "by TLS": ("opensearchs://0.0.0.0:1/papers", {"TOKEN": "hush"}, False),
    "nothing secret": ("opensearch://0.0.0.0:1/papers", {}, False),
}


@pytest.mark.parametrize(
    ("address", "known", "warned"), IN_THE_CLEAR.values(), ids=IN_THE_CLEAR.keys()
)
def test_what_a_cluster_is_shown_is_not_sent_in_the_clear_without_a_warning(
    idx_process: Idx,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    known: dict[str, str],
    warned: bool,
) -> None:
    for name, value in known.items():
        monkeypatch.setenv(f"IDX_OPENSEARCH_{name}", value)
    *warnings, error = idx_process("stats", "-i", address, code=1).stderr.splitlines()
    assert error.startswith("Error: ")
    assert [
        line.startswith("Warning: the password or token for 0.0.0.0 is sent unencrypted")
        for line in warnings
    ] == [True] * warned
    assert "hush" not in "".join(warnings) + error

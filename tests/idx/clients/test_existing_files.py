"""`idx mcp-config --write` on files that a client or a person has written before."""

import json
import sys
from pathlib import Path

import pytest

from idx.clients.catalogue import CLIENTS
from tests.conftest import Idx
from tests.idx.clients.files import PROGRAM, file_of, only_added, servers
from tests.programs import run
from tests.systems import has_mode, has_modes
from tests.unprivileged import UNPRIVILEGED

pytestmark = pytest.mark.soak

OTHER = {
    "comments": """\
// My settings, "quoted" and { braced
{
    /* KEY: {} */
    "url": "https://example.org/a,}",
    "KEY": {
        "files": { "command": "npx" }, // not the last
        "web": {
            "command": "uvx", // "}"
        }, // the last one
        // nothing below
    }, /* the end */
}
""",
    "tabs": '{\n\t"KEY": {\n\t\t"files": {\n\t\t\t"command": "npx"\n\t\t}\n\t}\n}',
    "empty table with a comment": '{\n  "KEY": {\n    // none yet\n  }\n}\n',
    "blanks": "\n",
}
"""Some layouts of a file; tests/fuzz/test_jsonc.py has any."""

TOML = """\
# My settings
model = "gpt"  # the large one

[mcp_servers.files]  # of the project
command = "npx"
args = ["-y", "server-filesystem"]

[mcp_servers.files.env]
ROOT = "/"

# What follows is about profiles.
[profiles.fast]
model = "small"
"""

JSON_CLIENTS = [client.id for client in CLIENTS.values() if client.format == "json"]


def written(idx: Idx, client: str, text: str, name: str = "mcp-lucene") -> tuple[Path, str]:
    """Put a text into a client's file, add the server to it, and return the text then."""
    file = file_of(client)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    idx("mcp-config", client, "--write", "--name", name)
    return file, file.read_bytes().decode()


@pytest.mark.parametrize("client", JSON_CLIENTS)
def test_other_servers_and_comments_stay(idx: Idx, home: Path, client: str) -> None:
    before = OTHER["comments"].replace("KEY", CLIENTS[client].keys[-1])
    file, after = written(idx, client, before)
    assert only_added(before, after)
    assert [*servers(client, file)] == ["files", "web", "mcp-lucene"]
    (backup,) = file.parent.glob("*.bak")
    assert backup.name.startswith(f"{file.name}.20")
    assert backup.read_text() == before


@pytest.mark.parametrize(("mark", "newline"), [("", "\n"), ("\ufeff", "\r\n")])
@pytest.mark.parametrize("layout", OTHER)
def test_every_layout_stays_as_it_is(
    idx: Idx, home: Path, layout: str, newline: str, mark: str
) -> None:
    before = mark + OTHER[layout].replace("KEY", "servers").replace("\n", newline)
    file, after = written(idx, "vscode", before)
    assert only_added(before.strip("\n\r"), after)
    assert servers("vscode", file)["mcp-lucene"]["command"] == PROGRAM
    if newline in before:
        assert after.count("\n") == after.count(newline)


def test_what_is_added_is_indented_as_the_rest(idx: Idx, home: Path) -> None:
    _, after = written(idx, "vscode", OTHER["tabs"].replace("KEY", "servers"))
    assert f'\n\t\t"mcp-lucene": {{\n\t\t\t"type": "stdio",\n\t\t\t"command": "{PROGRAM}"' in after
    assert after.endswith("\n\t\t\t]\n\t\t}\n\t}\n}")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "before",
    [
        TOML,
        TOML.partition("[mcp")[0],
        TOML.partition("\n[mcp")[0],
        'mcp_servers = { files = { command = "npx" } } # short\n',
        '[mcp_servers] # short\nfiles = { command = "npx" }\n\n[tui]\n',
        '[mcp_servers.files] # short\ncommand = "npx"\n[tui]\n[mcp_servers.files.env]\nA = "1"\n',
    ],
)
def test_toml_keeps_comments_and_order(idx: Idx, home: Path, before: str, newline: str) -> None:
    before = before.replace("\n", newline)
    file, after = written(idx, "codex-cli", before)
    assert only_added(before, after)
    assert after.count("\n") == after.count(newline)
    assert [*servers("codex-cli", file)] == ["files"] * ("files" in before) + ["mcp-lucene"]
    (backup,) = file.parent.glob("*.bak")
    assert backup.read_bytes().decode() == before


def test_toml_with_ends_of_lines_of_both_kinds_keeps_them(idx: Idx, home: Path) -> None:
    before = "a = 1\r\nb = 2\nc = 3\n"
    _, after = written(idx, "codex-cli", before)
    assert after.startswith(before)


@pytest.mark.parametrize(
    ("client", "before", "after"),
    [
        (
            "cursor",
            (
                '{"theme": 1, "mcpServers": {"mcp-lucene": {\n'
                '  "command": "/old/bin/mcp-lucene",\n'
                '  "args": ["/old/index", "--tools", "search"],\n'
                '  "env": {"A": "1"}\n}}, /* last */ "a": 2}'
            ),
            (
                '{"theme": 1, "mcpServers": {"mcp-lucene": {\n'
                '  "command": "PROGRAM",\n'
                '  "args": [\n    "INDEX"\n  ]\n'
                '}}, /* last */ "a": 2}'
            ),
        ),
        (
            "codex-cli",
            (
                'a = 1 # one\n\n[mcp_servers.mcp-lucene]\ncommand = "mcp-lucene"\n'
                'args = ["/old"]\n\n[mcp_servers.mcp-lucene.env]\nA = "1"\n\n[tui] # last\nb = 2\n'
            ),
            (
                'a = 1 # one\n\n[mcp_servers.mcp-lucene]\ncommand = "PROGRAM"\n'
                'args = ["INDEX"]\n\n[tui] # last\nb = 2\n'
            ),
        ),
    ],
)
def test_an_entry_of_this_server_is_replaced_and_the_rest_stays(
    idx: Idx, home: Path, client: str, before: str, after: str
) -> None:
    file, text = written(idx, client, before)
    index = str(home / "lucene-index")
    assert text.split() == after.replace("PROGRAM", PROGRAM).replace("INDEX", index).split()
    assert len([*file.parent.glob("*.bak")]) == 1
    again = idx("mcp-config", client, "--write").stdout
    assert again == f"mcp-lucene is already in {file}; nothing was changed.\n"
    assert len([*file.parent.glob("*.bak")]) == 1


@pytest.mark.parametrize(
    ("client", "content", "reason"),
    [
        ("cursor", b'{"mcpServers": {', "is not valid JSON: line 1, column 17: Expecting"),
        ("cursor", b'{"a": 1} // x\n}', "is not valid JSON: line 2, column 1: Extra data"),
        ("cursor", b'{"a": "/* }', "is not valid JSON: line 1, column 7"),
        ("cursor", b'"a\\' * 50_000, "is not valid JSON: line 1, column"),
        ("cursor", b'{"a": "\xff"}', "is not UTF-8 text"),
        ("cursor", b'{"mcpServers": {"mcp-lucene": {"url": "x"}}}', "another server is called"),
        ("cursor", b'{"mcpServers": {"mcp-lucene": {"command": "npx"}}}', "choose another --name"),
        ("codex-cli", b"mcp_servers = [", "is not valid TOML: "),
        ("codex-cli", b"a = " + b"[" * 5_000, "is not valid TOML: values are nested too deeply"),
        ("codex-cli", b"mcp_servers.a.command = 'b'\nc = 1", "cannot be changed safely"),
        ("codex-cli", b"mcp_servers = 1", "mcp_servers is not a table of servers"),
        ("codex-cli", b"[mcp_servers]\nmcp-lucene = 1", "another server is called mcp-lucene"),
    ],
)
def test_a_file_that_is_wrong_is_left_alone(
    idx: Idx, home: Path, client: str, content: bytes, reason: str
) -> None:
    file = file_of(client)
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    (message,) = idx("mcp-config", client, "--write", code=1).stderr.splitlines()
    assert message.startswith(f"Error: {file}: ")
    assert reason in message
    assert "nothing was changed: " in message
    assert message.endswith(f"; to print the entry: idx mcp-config {client}")
    assert [entry.name for entry in file.parent.iterdir()] == [file.name]
    assert file.read_bytes() == content
    assert PROGRAM in idx("mcp-config", client).stdout


@has_modes
def test_a_link_stays_one_and_permissions_stay(idx: Idx, home: Path) -> None:
    dotfiles = home / "dotfiles" / "mcp.json"
    dotfiles.parent.mkdir()
    dotfiles.write_text("{}")
    dotfiles.chmod(0o640)
    (home / ".cursor").mkdir()
    link = home / ".cursor" / "mcp.json"
    link.symlink_to("../dotfiles/mcp.json")
    idx("mcp-config", "cursor", "--write")
    assert link.is_symlink()
    assert "mcp-lucene" in json.loads(dotfiles.read_text())["mcpServers"]
    assert has_mode(dotfiles, 0o640)
    (backup,) = link.parent.glob("*.bak")
    assert has_mode(backup, 0o640)


@has_modes
@pytest.mark.parametrize("exists", [False, True])
def test_a_folder_that_cannot_be_written_is_told(idx: Idx, home: Path, exists: bool) -> None:
    folder = home / ".cursor"
    folder.mkdir()
    if exists:
        (folder / "mcp.json").write_text("{}")
    folder.chmod(0o555)
    failed = idx("mcp-config", "cursor", "--write", code=1, prefix=UNPRIVILEGED)
    reason = "cannot be written: Permission denied; nothing was changed: change it yourself"
    assert failed.stderr.startswith(f"Error: {folder}/mcp.json: {reason}")
    assert [entry.read_text() for entry in folder.iterdir()] == ["{}"] * exists


def test_an_installation_without_the_server_is_told(idx: Idx, home: Path) -> None:
    script = (
        "import sys, sysconfig\n"
        f"sys.executable = {str(home / 'python')!r}\n"
        f"sysconfig.get_path = lambda *_: {str(home)!r}\n"
        "from idx.__main__ import main; main()"
    )
    done = run(sys.executable, "-c", script, "mcp-config", "cursor", check=False)
    assert done.returncode == 1
    expected = f"Error: there is no program mcp-lucene in {home}; install mcp-lucene again\n"
    assert done.stderr == expected

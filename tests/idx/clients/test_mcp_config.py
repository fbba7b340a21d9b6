"""`idx mcp-config`: what each client is told, and where, and what docs/clients.md says of it."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from typer.main import get_command

from idx.clients.catalogue import CLIENTS, FLAGS, Launch
from idx.clients.config_files import parse, with_value
from server.app import app
from shared import Document
from tests.conftest import Idx, add_documents
from tests.idx.clients.files import PROGRAM, file_of, servers
from tests.programs import PROGRAMS
from tests.systems import has_mode

PLAIN = {"command": PROGRAM, "args": ["INDEX"]}
TYPED = {"type": "stdio", **PLAIN}
COPILOT = {"type": "local", **PLAIN, "tools": ["*"]}
OPENCODE = {"type": "local", "command": [PROGRAM, "INDEX"], "enabled": True}

# As the documentation of each says it; a file of a project is relative to its folder.
EXPECTED: list[tuple[str, str, str, str, dict[str, Any]]] = [
    ("claude-desktop", "user", ".config/Claude/claude_desktop_config.json", "mcpServers", PLAIN),
    ("claude-code", "user", ".claude.json", "mcpServers", TYPED),
    ("claude-code", "project", ".mcp.json", "mcpServers", TYPED),
    ("cursor", "user", ".cursor/mcp.json", "mcpServers", PLAIN),
    ("cursor", "project", ".cursor/mcp.json", "mcpServers", PLAIN),
    ("vscode", "user", ".config/Code/User/mcp.json", "servers", TYPED),
    ("vscode", "project", ".vscode/mcp.json", "servers", TYPED),
    ("windsurf", "user", ".codeium/windsurf/mcp_config.json", "mcpServers", PLAIN),
    ("zed", "user", ".config/zed/settings.json", "context_servers", PLAIN),
    ("gemini-cli", "user", ".gemini/settings.json", "mcpServers", PLAIN),
    ("gemini-cli", "project", ".gemini/settings.json", "mcpServers", PLAIN),
    ("codex-cli", "user", ".codex/config.toml", "mcp_servers", PLAIN),
    ("codex-cli", "project", ".codex/config.toml", "mcp_servers", PLAIN),
    ("copilot-cli", "user", ".copilot/mcp-config.json", "mcpServers", COPILOT),
    ("copilot-cli", "project", ".mcp.json", "mcpServers", COPILOT),
    ("opencode", "user", ".config/opencode/opencode.json", "mcp", OPENCODE),
    ("opencode", "project", "opencode.json", "mcp", OPENCODE),
    ("cline", "user", ".cline/data/settings/cline_mcp_settings.json", "mcpServers", PLAIN),
    ("roo-code", "project", ".roo/mcp.json", "mcpServers", PLAIN),
    ("continue", "project", ".continue/mcpServers/mcp.json", "mcpServers", PLAIN),
    ("kiro", "user", ".kiro/settings/mcp.json", "mcpServers", PLAIN),
    ("kiro", "project", ".kiro/settings/mcp.json", "mcpServers", PLAIN),
    ("qwen-code", "user", ".qwen/settings.json", "mcpServers", PLAIN),
    ("qwen-code", "project", ".qwen/settings.json", "mcpServers", PLAIN),
    ("devin-cli", "user", ".config/devin/config.json", "mcpServers", PLAIN),
    ("devin-cli", "project", ".devin/config.json", "mcpServers", PLAIN),
]


def test_every_file_of_every_client_is_tested() -> None:
    files = [(client.id, scope) for client in CLIENTS.values() for scope in client.scopes]
    assert files == [(client, scope) for client, scope, *_ in EXPECTED]


@pytest.mark.parametrize(("client", "scope", "path", "key", "entry"), EXPECTED)
def test_a_new_file_holds_what_is_printed(
    idx: Idx, home: Path, client: str, scope: str, path: str, key: str, entry: dict[str, Any]
) -> None:
    project = home / "project"
    project.mkdir()
    file = (home if scope == "user" else project) / path

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return idx("mcp-config", client, "--scope", scope, *options, folder=project)

    printed = run()
    assert str(file) in printed.stderr
    assert not file.exists()
    index = str(project / "lucene-index")
    written = run("--write")
    assert written.stdout == f"Added mcp-lucene to {file}\n"
    assert f"Restart {CLIENTS[client].title}" in written.stderr
    assert file.read_text() == printed.stdout
    assert key in file.read_text()
    expected = json.loads(json.dumps(entry).replace('"INDEX"', json.dumps(index)))
    assert servers(client, file) == {"mcp-lucene": expected}
    assert has_mode(file, 0o600)
    again = run("--write")
    assert again.stdout == f"mcp-lucene is already in {file}; nothing was changed.\n"
    assert "Restart" not in again.stderr
    assert [entry.name for entry in file.parent.iterdir() if entry.suffix == ".bak"] == []


@pytest.mark.parametrize("client", ["cursor", "codex-cli"])
async def test_what_is_written_starts_a_server_that_finds_documents(
    idx: Idx, home: Path, empty_index: Path, client: str
) -> None:
    add_documents(empty_index, Document("lease", "Lease", "The rent is due on the third."))
    assert "Warning" not in idx("mcp-config", client, "--write", "--name", "papers").stderr
    entry = servers(client, file_of(client))["papers"]
    passed_on = {name: value for name, value in os.environ.items() if name == "PYTHONPATH"}
    server = StdioServerParameters(command=entry["command"], args=entry["args"], env=passed_on)
    async with Client(stdio_client(server)) as assistant:
        answer = await assistant.call_tool("Search", {"query": "rent"})
    assert answer.structured_content is not None
    assert answer.structured_content["totalHits"] == 1


def test_the_answer_for_programs_tells_the_file_and_what_became_of_it(idx: Idx, home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    printed = idx.json("mcp-config", "cursor")
    assert printed["outcome"] == "printed"
    assert printed["backup"] is None
    assert printed["file"] == str(file)
    assert json.loads(printed["text"]) == {"mcpServers": {"mcp-lucene": printed["entry"]}}
    assert printed["documentation"].startswith("https://cursor.com/")
    outcomes = []
    for index in ("a", "a", "b"):
        done = idx.json("mcp-config", "cursor", "--write", "-i", index)
        outcomes.append(done["outcome"])
    assert outcomes == ["added", "unchanged", "changed"]
    assert Path(done["backup"]).parent == file.parent
    assert "/a" in Path(done["backup"]).read_text()


@pytest.mark.parametrize("client", ["cursor", "codex-cli"])
def test_what_is_written_at_the_same_time_is_all_there(home: Path, client: str) -> None:
    file = file_of(client)
    own = home / "dotfiles" / file.name
    own.parent.mkdir()
    own.touch()
    file.parent.mkdir(parents=True)
    file.symlink_to(own)
    names = [f"server-{number}" for number in range(4)]
    program = (PROGRAMS / "idx", "mcp-config", client, "--write", "--name")
    processes = [subprocess.Popen([*program, name], stderr=subprocess.DEVNULL) for name in names]
    assert [process.wait(timeout=60) for process in processes] == [0] * len(names)
    assert sorted(servers(client, own)) == names
    assert file.is_symlink()
    # Nothing is left of the lock, and each copy has what was there before.
    left = sorted(path.name for path in own.parent.iterdir() if path.suffix != ".bak")
    assert left == [own.name]
    assert len([*file.parent.glob("*.bak")]) == len(names)


@pytest.mark.soak
@pytest.mark.parametrize("client", ["cursor", "codex-cli"])
def test_killed_at_any_moment_it_leaves_a_whole_file(idx: Idx, home: Path, client: str) -> None:
    program = (PROGRAMS / "idx", "mcp-config", client, "--write", "--name")
    began = time.monotonic()
    idx("mcp-config", client, "--write", "--name", "kept")
    whole = time.monotonic() - began
    kills = 30
    killed = 0
    for number in range(kills):
        before = set(servers(client, file_of(client)))
        with subprocess.Popen([*program, f"killed-{number}"], stderr=subprocess.DEVNULL) as writer:
            # The writing is near the end.
            time.sleep(whole * (0.5 + 0.5 * number / kills))
            writer.kill()
            killed += writer.wait() == -signal.SIGKILL
        after = set(servers(client, file_of(client)))
        assert after in (before, before | {f"killed-{number}"})
    assert killed
    # A dead process holds no lock.
    idx("mcp-config", client, "--write", "--name", "afterwards")
    assert {"kept", "afterwards"} <= set(servers(client, file_of(client)))


def test_an_index_that_does_not_exist_gets_a_warning(idx: Idx, home: Path) -> None:
    done = idx("mcp-config", "zed", "-i", "nowhere")
    expected = f"Warning: there is no index at {home}/nowhere yet; the server waits for it"
    assert done.stderr.splitlines()[-1] == expected


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["curser"], "'curser' is not known; did you mean 'cursor'?"),
        (["nonsense"], "'nonsense' is not known; there are claude-desktop,"),
        ([], "Missing argument 'CLIENT'"),
        (["zed", "--scope", "project"], "Zed has no file for a project"),
        (["cursor", "--name", "a b"], "letters, digits, hyphens and underscores"),
    ],
)
def test_wrong_usage_is_told(idx: Idx, home: Path, arguments: list[str], words: str) -> None:
    told = idx("mcp-config", *arguments, code=2).stderr
    assert words in " ".join(told.replace("│", " ").split())
    assert not (home / ".cursor").exists()


def test_a_variable_of_the_client_names_its_folder(idx: Idx, home: Path) -> None:
    idx.setenv("CODEX_HOME", str(home / "codex"))
    idx("mcp-config", "codex-cli", "--write")
    assert (home / "codex" / "config.toml").exists()


def test_the_file_that_exists_is_used(idx: Idx, home: Path) -> None:
    file = home / ".config" / "opencode" / "opencode.jsonc"
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    assert str(file) in idx("mcp-config", "opencode", "--write").stdout


@pytest.mark.parametrize(
    ("system", "client", "path"),
    [
        ("darwin", "vscode", "Library/Application Support/Code/User/mcp.json"),
        ("darwin", "zed", ".config/zed/settings.json"),
        ("win32", "vscode", "AppData/Roaming/Code/User/mcp.json"),
        ("win32", "zed", "AppData/Roaming/zed/settings.json"),
        ("win32", "devin-cli", "AppData/Roaming/devin/config.json"),
    ],
)
def test_other_systems_have_other_files(
    home: Path, monkeypatch: pytest.MonkeyPatch, system: str, client: str, path: str
) -> None:
    monkeypatch.delenv("APPDATA", raising=False)
    monkeypatch.setattr(sys, "platform", system)
    assert CLIENTS[client].file("user") == home / path


ENDING = {"--version", "--install-completion", "--show-completion"}
"""Flags with which the server does not serve."""


def test_every_flag_of_the_server_is_known() -> None:
    flags = {
        name
        for option in get_command(app).params
        if getattr(option, "is_flag", False)
        for name in (*option.opts, *option.secondary_opts)
    }
    assert flags - ENDING == FLAGS


@pytest.mark.parametrize(
    ("arguments", "index"),
    [
        ("", None),
        ("/old", "/old"),
        ("/old --fence --tools search", "/old"),
        ("--fence /old", "/old"),
        ("--tools search", None),
        ("--tools search /old --admin", "/old"),
        ("--time-budget=5 --root /docs /old", "/old"),
        ("--root --fence /old", "/old"),
    ],
)
def test_the_index_is_found_wherever_it_stands(arguments: str, index: str | None) -> None:
    assert Launch("mcp-lucene", tuple(arguments.split())).index_path == index


def test_of_two_members_with_one_key_the_last_counts() -> None:
    text = '{"a": {"x": 1}, "a": {"x": 2}}'
    assert with_value(text, ["a", "x"], 3) == '{"a": {"x": 1}, "a": {"x": 3}}'


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n  "])
def test_a_comment_keeps_the_blanks_at_its_end(end: str) -> None:
    changed = with_value(f'{{"servers": null // one {end}}}', ["a"], 1)
    assert "// one " + end.partition("\n")[0] + "\n" in changed
    assert parse(changed) == {"servers": None, "a": 1}


PAGE = (Path(__file__).parents[3] / "docs" / "clients.md").read_text()


def test_the_table_of_clients_is_complete(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| \[(.+)\]\((.+)\) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert [row[:3] for row in rows] == [
        (client.id, client.title, client.documentation) for client in CLIENTS.values()
    ]
    project = home / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    for client, (_, _, _, of_user, of_project) in zip(CLIENTS.values(), rows, strict=True):
        named = re.findall(r"`~/(.+?)`", of_user)
        assert client.paths("user") == [home / path for path in named]
        named = re.findall(r"`(.+?)`", of_project)
        assert client.paths("project") == [project / path for path in named]


def test_the_session_is_real(idx: Idx, home: Path) -> None:
    (session,) = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    shown = ""
    for line in session.splitlines():
        if line.startswith("$ idx "):
            done = idx(*shlex.split(line.removeprefix("$ idx ")))
            shown += f"{line}\n{done.stdout}"
    shown = shown.replace(PROGRAM, "/home/me/mcp-lucene/.venv/bin/mcp-lucene")
    shown = re.sub(r"\d{8}-\d{6}\.bak", "20261122-120000.bak", shown.replace(str(home), "/home/me"))
    assert shown == session


def test_the_options_are_those_of_the_command(idx: Idx) -> None:
    listed = re.findall(r"^\| `(--[a-z-]+)", PAGE, re.MULTILINE)
    shown = set(re.findall(r"--[a-z-]+", idx("mcp-config", "--help").stdout)) - {"--help"}
    assert set(listed) == shown

"""What docs/clients.md says is what `idx mcp-config` does."""

import re
import shlex
from pathlib import Path

import pytest

from idx.clients.catalogue import CLIENTS, Client, Scope
from tests.conftest import Idx
from tests.idx.clients.files import PROGRAM

PAGE = (Path(__file__).parents[3] / "docs" / "clients.md").read_text()


def files(client: Client, scope: Scope) -> list[str]:
    return [str(path) for path in client.paths(scope)]


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
        assert files(client, "user") == [str(home / path) for path in named]
        named = re.findall(r"`(.+?)`", of_project)
        assert files(client, "project") == [str(project / path) for path in named]


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

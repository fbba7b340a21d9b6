"""The server at its start, where it looks for its index, and the end of whoever started it."""

import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from typer.testing import CliRunner

from server.app import app
from shared import Document, create
from tests.configured import write
from tests.conftest import add_documents, server_with
from tests.programs import PROGRAMS, Started, run
from tests.server.raw_client import HANDSHAKE, RawClient, tool_call
from tests.systems import is_in_time, reads_proc, sends_signals
from tests.waiting import wait_for

_JAVA_HELD_BACK = """
import pathlib, sys, time
from shared.java import vm
start, held = vm.start, pathlib.Path(sys.argv.pop(1))
def start_when_let_go(*arguments):
    while held.exists():
        time.sleep(0.01)
    start(*arguments)
vm.start = start_when_let_go
from server.__main__ import main
main()
"""
"""The server, in which Java starts when a file is gone."""

_LOADED_BEFORE_JAVA = """
import sys
from server import lucene_pool
def stop(*_):
    print(*sys.modules)
    sys.exit()
lucene_pool.LucenePool = stop
from server.__main__ import main
main()
"""
"""The server, which lists its modules and ends where it would start Java."""

_PARENT = """
import subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
print(child.pid, flush=True)
child.stdin.write(sys.stdin.buffer.read())
child.stdin.flush()
time.sleep(600)
"""
"""A program that starts the server, sends it what it gets on stdin, and does not wait for it."""


@is_in_time
def test_a_client_is_answered_before_java_runs(empty_index: Path, tmp_path: Path) -> None:
    add_documents(empty_index, Document("a", "A", "some text"))
    held = tmp_path / "held"
    held.touch()
    with RawClient(empty_index, program=[sys.executable, "-c", _JAVA_HELD_BACK, held]) as client:
        assert client.initialize()["result"]["serverInfo"]["name"] == "mcp-lucene"
        assert len(client.request("tools/list")["result"]["tools"]) > 5
        client.send(tool_call(1, query="text"))
        # A client that gives up leaves room for the one that waits.
        client.send(tool_call(2, query="text"))
        cancelled = {"requestId": 2, "reason": "it takes too long"}
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})
        assert client.request("ping")["result"] == {}
        held.unlink()
        while (answer := client.receive()).get("id") != 1:
            pass
        assert answer["result"]["structuredContent"]["totalHits"] == 1
        assert client.search("text")["structuredContent"]["totalHits"] == 1
        assert client.end() == (b"", b"")


def test_java_starts_before_the_sdk_is_imported(empty_index: Path) -> None:
    command = [sys.executable, "-c", _LOADED_BEFORE_JAVA, "--no-share", str(empty_index)]
    done = run(*command)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "server" in loaded
    assert not {"mcp", "pydantic", "starlette"} & loaded


def test_without_http_nothing_of_the_pages_and_the_api_is_imported(
    empty_index: Path, tmp_path: Path
) -> None:
    program = [sys.executable, "-X", "importtime", "-m", "server"]
    # Python writes more than a pipe has room for.
    with (
        (tmp_path / "log").open("wb") as stderr,
        RawClient(empty_index, program=program, stderr=stderr) as client,
    ):
        client.initialize()
        client.request("tools/list")
        client.search("text")
        client.end()
    lines = (tmp_path / "log").read_text().splitlines()
    imported = {line.rpartition("|")[2].strip() for line in lines}
    assert {"server.search_server", "shared.search.answer"} <= imported
    web = re.compile(
        r"(fastapi|jinja2|numpy|onnxruntime|marisa_trie|tokenizers|pypdfium2|PIL|pebble|openai"
        r"|server\.(api|http|pages)|shared\.semantic\.encoder|shared\.(answers|language_models\.requests))(\.|$)"
    )
    assert [name for name in sorted(imported) if web.match(name)] == []


@pytest.mark.soak
def test_a_client_that_leaves_before_java_runs_leaves_no_process(
    empty_index: Path, tmp_path: Path
) -> None:
    held = tmp_path / "held"
    held.touch()
    with RawClient(empty_index, program=[sys.executable, "-c", _JAVA_HELD_BACK, held]) as client:
        client.initialize()
        assert client.end() == (b"", b"")
        assert client.process.returncode == 0


@reads_proc
def test_what_the_server_might_start_inherits_neither_its_stdin_nor_its_stdout(
    empty_index: Path,
) -> None:
    with RawClient(empty_index) as client:
        client.initialize()
        ours = {
            os.fstat(end.fileno()).st_ino for end in (client.process.stdin, client.process.stdout)
        }
        for descriptor in (0, 1, 2):
            theirs = Path(f"/proc/{client.process.pid}/fd/{descriptor}").stat()
            assert theirs.st_ino not in ours
        client.end()


@sends_signals
def test_a_parent_that_is_killed_leaves_no_server(empty_index: Path) -> None:
    # Hundreds of patterns, each near the limit, take many seconds.
    slow = " ".join(f"/[ab]*a[ab]{{9}}{number}/" for number in range(400))
    asked: list[dict[str, Any]] = [
        {"method": "initialize", "id": 1, "params": HANDSHAKE},
        {"method": "notifications/initialized"},
        tool_call(2, query=slow),
    ]
    with Started(sys.executable, "-c", _PARENT, PROGRAMS / "mcp-lucene", empty_index) as parent:
        server = int(parent.stdout.readline())
        for message in asked:
            parent.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        parent.stdin.close()
        # The server's stdout is the parent's.
        assert json.loads(parent.stdout.readline())["id"] == 1
        parent.send_signal(signal.SIGKILL)
        wait_for(lambda: not Path(f"/proc/{server}").exists(), "the server goes on")


@pytest.mark.parametrize(
    "option", ["--time-budget", "--max-body", "--idle-timeout", "--receive-timeout"]
)
def test_what_is_not_a_number_is_no_number(empty_index: Path, option: str) -> None:
    refused = CliRunner().invoke(app, [str(empty_index), "--http", option, "nan"])
    assert refused.exit_code == 2
    assert "nan is not finite" in refused.stderr


@pytest.mark.parametrize("named_by", ["argument", "variable", "file"])
async def test_the_server_looks_for_its_index_in_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named_by: str
) -> None:
    create(tmp_path / named_by)
    write(f"index_path = '{tmp_path}/file'")
    if named_by != "file":
        monkeypatch.setenv("IDX_INDEX_PATH", str(tmp_path / "variable"))
    arguments = [str(tmp_path / "argument")] if named_by == "argument" else []
    async with Client(server_with(*arguments)) as client:
        assert not (await client.call_tool("ListDocuments", {})).is_error


def test_the_server_names_what_is_wrong_in_the_file() -> None:
    file = write("index_pat = 'x'")
    done = run(PROGRAMS / "mcp-lucene", check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        f"Error: {file}: index_pat is not a setting; did you mean 'index_path'?\n"
    )

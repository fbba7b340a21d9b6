"""The server looks for its index where the configuration says, as `idx` does."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.configured import write
from tests.programs import PROGRAMS


@pytest.mark.parametrize("named_by", ["argument", "variable", "file"])
def test_the_server_looks_for_its_index_in_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named_by: str
) -> None:
    from shared.writing.index import create

    create(tmp_path / named_by)
    write(f"index_path = '{tmp_path}/file'")
    if named_by != "file":
        monkeypatch.setenv("IDX_INDEX_PATH", str(tmp_path / "variable"))
    arguments = [str(tmp_path / "argument")] if named_by == "argument" else []
    assert "total_documents" in ask_server(*arguments)


def ask_server(*arguments: str) -> str:
    """What the server answers to a question for its documents."""
    messages: list[dict[str, Any]] = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "0"},
            },
        },
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "ListDocuments", "arguments": {}}},
    ]
    with subprocess.Popen(
        [PROGRAMS / "mcp-lucene", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
        answers = [server.stdout.readline(), server.stdout.readline()]
        server.stdin.close()
    return answers[1]


def test_the_server_names_what_is_wrong_in_the_file() -> None:
    file = write("index_pat = 'x'")
    done = subprocess.run(
        [PROGRAMS / "mcp-lucene"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        f"Error: {file}: index_pat is not a setting; did you mean 'index_path'?\n"
    )

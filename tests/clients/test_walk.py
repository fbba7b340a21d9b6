"""Other people's clients list the tools, search, read on and read a resource, on both transports.

Each of the two eras of the protocol is spoken where a client can: before 2026-07-28, with a
handshake, and since.
"""

import json
import os
from typing import Any

import pytest

from tests.clients.conftest import TEXT, Run
from tests.offered_tools import OFFERED

pytestmark = pytest.mark.clients

_IDS = [f"manual-chunk-{number:03}" for number in range(1, 5)]

_VERSION = "2026-07-28"


def check(told: str) -> None:
    assert json.loads(told) == {"tools": OFFERED, "ids": _IDS, "document": TEXT}


@pytest.mark.parametrize(
    ("package", "era"), [("sdk", "legacy"), ("client", "legacy"), ("client", _VERSION)]
)
def test_the_typescript_sdk(node: Run, target: list[str], package: str, era: str) -> None:
    check(node("walk.mjs", package, era, *target))


@pytest.mark.parametrize("era", ["legacy", _VERSION])
def test_fastmcp(fastmcp: Run, target: list[str], era: str) -> None:
    check(fastmcp("walk.py", era, *target))


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector(node: Run, target: list[str], era: str) -> None:
    # It starts servers with an environment of its own.
    path = os.environ.get("PYTHONPATH")
    environment = ["-e", f"PYTHONPATH={path}"] if path else []

    def ask(method: str, *options: str) -> Any:
        told = node(
            "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
            "--cli",
            *target,
            *environment,
            *(
                "--protocol-era",
                era,
                "--connect-timeout",
                "0",
                "--format",
                "json",
                "--quiet",
                "--method",
                method,
            ),
            *options,
        )
        return json.loads(told)["result"]

    def call(tool: str, **arguments: object) -> Any:
        options = ("--tool-name", tool, "--tool-args-json", json.dumps(arguments))
        return ask("tools/call", *options)["structuredContent"]

    # It has rules of its own for schemas that every client can read.
    tools = ask("tools/list", "--strict")["tools"]
    ids = [call("Search", query="word3", limit=1)["results"][0]["id"]]
    for _ in range(3):
        ids.append(call("get_next_chunk", chunk_id=ids[-1])["chunk"]["id"])
    [document] = ask("resources/read", "--uri", "document://manual")["contents"]
    told = {"tools": [tool["name"] for tool in tools], "ids": ids, "document": document["text"]}
    check(json.dumps(told))

"""Other people's clients list the tools, search, read on and read a resource, on both transports.

Each of the two eras of the protocol is spoken where a client can: before 2026-07-28, with a
handshake, and since.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import TEXT, Run
from tests.clients.scenarios import REAL, VERSIONS, WITH_FIXTURES, reason_for_leaving_out
from tests.offered_tools import OFFERED
from tests.server.http.served import Served, served

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


_SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"


@pytest.fixture(scope="module")
def conformance_server(index: Path) -> Iterator[Served]:
    """The server with the tools and prompts that the suite asks for."""
    program = (sys.executable, "-m", "tests.clients.conformance_server")
    with served(index, program=program) as server:
        yield server


def test_every_scenario_is_run_or_left_out_for_a_reason(node: Run) -> None:
    scenarios = _scenarios(node)
    assert scenarios.keys() >= REAL | WITH_FIXTURES
    for scenario in scenarios.keys() - REAL - WITH_FIXTURES:
        assert reason_for_leaving_out(scenario), scenario


@pytest.mark.parametrize("version", VERSIONS)
def test_the_server_conforms(node: Run, server: Served, version: str, tmp_path: Path) -> None:
    _check(node, server.url, version, REAL, tmp_path)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_server_conforms_with_the_tools_that_the_suite_asks_for(
    node: Run, conformance_server: Served, version: str, tmp_path: Path
) -> None:
    _check(node, conformance_server.url, version, WITH_FIXTURES, tmp_path)
    assert "Traceback" not in conformance_server.logged()


def _check(node: Run, url: str, version: str, names: frozenset[str], results: Path) -> None:
    scenarios = _scenarios(node)
    expected = {name for name in names if version in scenarios[name]}
    assert expected
    for name in sorted(expected):
        node(
            *(_SUITE, "server", "--url", url, "--timeout", "120000"),
            *("--scenario", name, "--spec-version", version, "--output-dir", str(results)),
        )
        [report] = results.glob(f"server-{name}-2*/checks.json")
        checks: list[dict[str, Any]] = json.loads(report.read_text())
        # One check may be told several times.
        statuses = {(check["id"], check["status"]) for check in checks}
        assert {status for _, status in statuses} <= {"SUCCESS", "INFO"}, statuses
        assert "SUCCESS" in {status for _, status in statuses}


def _scenarios(node: Run) -> dict[str, list[str]]:
    """The versions that the suite knows of each of its scenarios for servers."""
    told = re.findall(r"^  - (\S+) \[(.*)\]$", node(_SUITE, "list", "--server"), re.MULTILINE)
    return {name: versions.split(",") for name, versions in told}

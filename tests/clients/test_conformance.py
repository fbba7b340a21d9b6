"""The conformance suite of the protocol against the server by HTTP."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import Run
from tests.clients.scenarios import REAL, VERSIONS, WITH_FIXTURES, reason_for_leaving_out
from tests.server.http.served import Served, served

pytestmark = pytest.mark.clients

_SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"


@pytest.fixture(scope="module")
def conformance_server(index: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The server with the tools and prompts that the suite asks for."""
    program = (sys.executable, "-m", "tests.clients.conformance_server")
    log = tmp_path_factory.mktemp("conformance") / "log"
    with served(index, log=log, program=program) as server:
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

"""What runs other people's clients, which `make clients` installs beside their lock files."""

import os
import platform
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from shared import Document
from tests.conftest import NewIndex
from tests.programs import PROGRAMS, run
from tests.server.http.served import SECONDS, Served, served

_HERE = Path(__file__).parent
_ARCHITECTURES = {"x86_64": "x64", "aarch64": "arm64"}

_SCHEMATHESIS_SECONDS = 1_000

TEXT = " ".join(f"word{number}" for number in range(1_000))
"""The text of the document `manual`: five chunks."""

Run = Callable[..., str]  # runs a program with arguments, and returns what it says on stdout


@pytest.fixture(scope="session")
def index(new_index: NewIndex) -> Path:
    return new_index(Document("manual", "The manual", TEXT))


@pytest.fixture(scope="session")
def server(index: Path) -> Iterator[Served]:
    with served(index) as server:
        yield server


@pytest.fixture(params=["stdio", "http"])
def target(request: pytest.FixtureRequest, index: Path) -> list[str]:
    """What a client is told of the server: a command, or a URL."""
    if request.param == "stdio":
        return [str(PROGRAMS / "mcp-lucene"), str(index)]
    server: Served = request.getfixturevalue("server")
    return [server.url]


@pytest.fixture
def node(tmp_path: Path) -> Run:
    """Run a script of `tests/clients/node` with the Node that is installed there."""
    folder = _HERE / "node"
    architecture = _ARCHITECTURES.get(platform.machine(), platform.machine())
    program = folder / f"node_modules/node-linux-{architecture}/bin/node"
    if not program.exists():
        pytest.skip("the clients for Node are not installed; make clients does it if there is npm")
    return lambda script, *arguments: _run([program, folder / script, *arguments], tmp_path)


@pytest.fixture
def fastmcp(tmp_path: Path) -> Run:
    """Run a script of `tests/clients/python` in the environment of fastmcp."""
    folder = _HERE / "python"
    program = folder / ".venv/bin/python"
    if not program.exists():
        pytest.skip("fastmcp is not installed; make clients does it")
    return lambda script, *arguments: _run([program, folder / script, *arguments], tmp_path)


@pytest.fixture
def schemathesis(tmp_path: Path) -> Run:
    """Run schemathesis with the configuration beside this file."""
    program = _HERE / "python/.venv/bin/schemathesis"
    if not program.exists():
        pytest.skip("schemathesis is not installed; make clients does it")
    configured: list[str | Path] = [program, "--config-file", _HERE / "schemathesis.toml", "run"]
    return lambda *arguments: _run([*configured, *arguments], tmp_path, _SCHEMATHESIS_SECONDS)


def _run(command: list[str | Path], home: Path, seconds: float = SECONDS) -> str:
    done = run(
        *command,
        # Some of them keep files of their own there.
        env=os.environ | {"HOME": str(home)},
        cwd=home,
        timeout=seconds,
    )
    return done.stdout

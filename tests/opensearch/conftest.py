"""OpenSearch nodes, which `make opensearch` sets up."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from backend.console import BuildError

from shared import Document, Index
from shared.model.document import FileState, SourceFile
from shared.opensearch import connection
from shared.opensearch.connection import Connection
from shared.opensearch.store import Store
from tests.opensearch.distribution import home
from tests.opensearch.node import Node
from tests.opensearch.proxy import Proxy, before


def store_of(address: str) -> Store:
    return Store(Connection(address))


def write(path: Path | str, **texts: str) -> None:
    """Write documents with texts by their ids, in one commit."""
    with Index(path, create=True) as index:
        for name, text in texts.items():
            index.add(Document(name, name.title(), text))


def file_of(size: int) -> SourceFile:
    return SourceFile("/d.txt", FileState(None, size, size, "hash"))


@pytest.fixture(scope="session")
def opensearch_home() -> Path:
    try:
        return home()
    except (BuildError, OSError) as error:
        pytest.skip(f"OpenSearch cannot be had: {error}")


@pytest.fixture(scope="session")
def node(opensearch_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """A node by itself, which tests share: each uses an index of its own."""
    started = Node(opensearch_home, tmp_path_factory.mktemp("node") / "node").start()
    try:
        yield started.wait()
    finally:
        started.stop()


@pytest.fixture
def address(node: Node, request: pytest.FixtureRequest) -> str:
    """An index of the test's own, which does not exist yet."""
    return f"{node.address}/{request.node.name[:60].lower().replace('[', '-').rstrip(']')}"


@pytest.fixture
def proxy(node: Node, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    monkeypatch.setattr(connection, "_FIRST_PAUSE", 0.01)
    with before(node) as proxy:
        proxy.asks_who = False
        yield proxy

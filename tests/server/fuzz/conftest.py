"""The server that is fuzzed: a process over stdio, whose stderr is kept."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import Document
from tests.conftest import NewIndex
from tests.server.raw_client import RawClient

LONG = " ".join(f"word{number % 50}" for number in range(700))


@pytest.fixture(scope="module")
def index(new_index: NewIndex) -> Path:
    return new_index(
        Document("manual", "The manual", LONG, {"year": 2020, "author": "Ann"}),
        Document("menu", "Menu", "Café au lait", {"year": 2024, "language": "fr"}),
        Document("a/../b", "Letter", "Dear café owner"),
    )


@pytest.fixture(scope="module")
def client(index: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawClient]:
    """A client of a server that ends in order, and has met no error that was not foreseen."""
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("wb") as stderr:
        # A search that takes long proves nothing here.
        client = RawClient(index, "--time-budget", "0.5", stderr=stderr)
        with client.process:
            try:
                client.initialize()
                # Java may take longer to start than a call may wait for it.
                while client.search("word1").get("isError"):
                    pass
                yield client
                client.end()
                assert client.process.returncode == 0
                # The SDK warns of notifications that it drops.
                told = log.read_bytes()
                assert b"Traceback" not in told
                assert b"ERROR" not in told
            finally:
                client.process.kill()

"""The server that is fuzzed: a process over stdio, whose stderr is kept."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import Document
from tests.conftest import NewIndex
from tests.server.fuzz.tools import fuzzed
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
    log = tmp_path_factory.mktemp("server") / "log"
    # A search that takes long proves nothing here.
    with fuzzed(index, log, "--time-budget", "0.5") as client:
        # Java may take longer to start than a call may wait for it.
        while client.search("word1").get("isError"):
            pass
        yield client

"""An index with documents of one and of several chunks."""

from pathlib import Path

import pytest

from shared import Document, Index

LONG = " ".join(f"word{number}" for number in range(1000))


@pytest.fixture
def filled_index(empty_index: Path) -> Path:
    with Index(empty_index) as index:
        index.add(Document("long", "Long", LONG, {"year": 2020, "tags": ["a", "b"]}))
        index.add(Document("short", "Short", "a few words"))
    return empty_index

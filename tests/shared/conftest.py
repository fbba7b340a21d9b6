"""An index with documents of one and of several chunks."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from shared import Document, Index

collect_ignore = [] if find_spec("numpy") else ["search/test_meaning.py", "semantic"]
"""Tests that need NumPy, which does not run everywhere."""

LONG = " ".join(f"word{number}" for number in range(1000))


@pytest.fixture
def filled_index(empty_index: Path) -> Path:
    with Index(empty_index) as index:
        index.add(Document("long", "Long", LONG, {"year": 2020, "tags": ["a", "b"]}))
        index.add(Document("short", "Short", "a few words"))
    return empty_index

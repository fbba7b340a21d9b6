"""Folders to crawl, and a server that does."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp import Client

from tests.idx.files import make
from tests.server.administration.administered import administered

MANY = 1_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder that may be crawled, with nothing in it."""
    return make(tmp_path / "root")


@pytest.fixture
async def client(empty_index: Path, root: Path) -> AsyncIterator[Client]:
    """A client of a server on an empty index, whose folders are under the root."""
    async with administered(empty_index, root) as client:
        yield client


@pytest.fixture
def papers(root: Path) -> Path:
    """A folder under the root with two texts, a file that cannot be read, and one that is none."""
    folder = make(root / "papers")
    (folder / "lease.txt").write_text("The rent is due on the third of each month.")
    (folder / "menu.md").write_text("# Menu\n\nCoffee with milk, and a cake of the day.")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing more")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    return folder


@pytest.fixture
def many_files(root: Path) -> Path:
    """A folder whose crawl takes some seconds."""
    folder = make(root / "many")
    for number in range(MANY):
        (folder / f"{number}.txt").write_text(f"number{number} " + "some text to be read " * 30)
    return folder

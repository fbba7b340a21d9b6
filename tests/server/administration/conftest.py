"""Folders to crawl."""

from pathlib import Path

import pytest

MANY = 1_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder that may be crawled, with nothing in it."""
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def papers(root: Path) -> Path:
    """A folder under the root with two texts, a file that cannot be read, and one that is none."""
    folder = root / "papers"
    folder.mkdir()
    (folder / "lease.txt").write_text("The rent is due on the third of each month.")
    (folder / "menu.md").write_text("# Menu\n\nCoffee with milk, and a cake of the day.")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing more")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    return folder


@pytest.fixture
def many_files(root: Path) -> Path:
    """A folder whose crawl takes some seconds."""
    folder = root / "many"
    folder.mkdir()
    for number in range(MANY):
        (folder / f"{number}.txt").write_text(f"number{number} " + "some text to be read " * 30)
    return folder

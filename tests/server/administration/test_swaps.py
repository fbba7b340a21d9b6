"""A root, a folder above it or in it that is swapped under a crawl leads it nowhere else."""

import shutil
from pathlib import Path
from typing import Final

import pytest

from shared import Index
from tests.conftest import Idx
from tests.idx.swaps import MARKER, assert_nothing_leaked
from tests.server.administration.administered import administered, ended, refused, told

pytestmark = pytest.mark.anyio

OUTSIDE: Final = "is in no folder that may be indexed"


def swapped(place: Path, target: Path) -> Path:
    """Put a link in the place of a folder; returns where that is now."""
    away = place.with_name("away")
    place.rename(away)
    place.symlink_to(target)
    return away


SWAPS: Final[dict[str, tuple[str, str]]] = {
    "folder-to-file": ("home/root/papers", "outside/root/papers/lease.txt"),
    "root": ("home/root", "outside/root"),
    "parent": ("home", "outside"),
    "folder": ("home/root/papers", "outside/root/papers"),
}
"""What becomes a link, and where it leads."""


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """A folder under a root, and the same one outside with other files."""
    papers = tmp_path / "home" / "root" / "papers"
    papers.mkdir(parents=True)
    (papers / "lease.txt").write_text("The rent is due on the third of each month.")
    shutil.copytree(tmp_path / "home", tmp_path / "outside")
    (tmp_path / "outside" / "root" / "papers" / "lease.txt").write_text(f"the key to {MARKER}")
    return papers


async def test_a_crawl_stays_in_the_root_that_was_checked(
    empty_index: Path, papers: Path, tmp_path: Path
) -> None:
    async with administered(empty_index, papers.parent) as client:
        for name, (place, target) in SWAPS.items():
            # The crawl waits until nobody else writes.
            with Index(empty_index):
                await told(client, "start_crawl", directories=[str(papers)])
                away = swapped(tmp_path / place, tmp_path / target)
            status = await ended(client)
            assert status["progress"]["added"] == 0, name
            assert OUTSIDE in str(status["problems"]), name
            assert_nothing_leaked(empty_index)
            if name == "root":
                message = await refused(client, "start_crawl", directories=[str(papers)])
                assert "does not lie under the roots" in message
            (tmp_path / place).unlink()
            away.rename(tmp_path / place)
        await told(client, "start_crawl", directories=[str(papers)])
        assert (await ended(client))["progress"]["added"] == 1


async def test_a_folder_in_the_place_of_a_root_is_not_the_root(
    empty_index: Path, papers: Path
) -> None:
    root = papers.parent
    async with administered(empty_index, root) as client:
        root.rename(root.with_name("moved"))
        papers.mkdir(parents=True)
        for tool, arguments in (
            ("start_crawl", {"directories": [str(papers)]}),
            ("add_directory", {"directory": str(papers)}),
        ):
            message = await refused(client, tool, **arguments)
            assert "does not lie in the root that this server was started with" in message


@pytest.mark.soak
async def test_of_a_folder_around_the_root_only_the_root_is_crawled(
    idx: Idx, empty_index: Path, papers: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    idx("sync", home)
    (home / "other.txt").write_text(MARKER)
    (papers / "new.txt").write_text("Coffee with milk.")
    async with administered(empty_index, papers.parent) as client:
        await told(client, "start_crawl", directories=[str(papers)])
        progress = (await ended(client))["progress"]
        assert (progress["added"], progress["skipped"]) == (1, 1)
        # It is a part of the indexed folder around it, by way of which it is reached.
        with Index(empty_index):
            await told(client, "start_crawl", directories=[str(papers)])
            away = swapped(papers, tmp_path / "outside" / "root" / "papers")
        status = await ended(client)
        assert status["progress"]["added"] == 0
        papers.unlink()
        away.rename(papers)
    assert_nothing_leaked(empty_index)


def test_an_identity_that_is_none_is_wrong_usage(idx: Idx, tmp_path: Path) -> None:
    for wrong in ("1", "1:b", "1:2:3", ""):
        said = idx("sync", tmp_path, f"--only-in={wrong}", code=2).stderr
        assert "give --only-in as DEVICE:INODE" in said
    assert "--only-in" not in idx("sync", "--help").stdout

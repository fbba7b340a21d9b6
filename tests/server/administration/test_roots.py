"""Folders are worked on only under the roots, however paths are written, or swapped meanwhile."""

import shutil
from pathlib import Path
from typing import Final

import pytest
from mcp import Client

from shared import Index
from tests.configured import write
from tests.conftest import Idx
from tests.idx.swaps import MARKER, assert_nothing_leaked
from tests.server.administration.administered import administered, ended
from tests.server.tool_answers import refused, told
from tests.systems import makes_links


@makes_links
async def test_no_path_leads_out_of_the_roots(
    client: Client, root: Path, papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "root-and-more"
    outside.mkdir()
    (outside / "secret.txt").write_text("the secret of another folder")
    (root / "link").symlink_to(outside)
    (root / "loop").symlink_to("loop")
    (root / "up").symlink_to("..")
    monkeypatch.chdir(root)
    hostile = [
        str(outside),
        "/",
        "/etc",
        f"{root}/..",
        f"{root}/../root-and-more",
        f"{root}/papers/../../root-and-more",
        f"{root}//../root-and-more/.",
        f"{root}/link",
        f"{root}/link/../root-and-more",
        f"{root}/up/root-and-more",
        # Nothing behind a link that leads to itself is resolved.
        f"{root}/loop/../link",
        f"{root}/loop/../../root-and-more",
        f"{root}/no such folder/../link",
        f"/proc/self/cwd/../{outside.name}",
        str(tmp_path / "nowhere"),
    ]
    unusable = ["papers", ".", "..", "~", "~root", "-h", "--help", " ", f"{root}/a\0b"]
    for path in hostile:
        for message in (
            await refused(client, "start_crawl", directories=[path]),
            await refused(client, "add_directory", directory=path),
            await refused(client, "remove_directory", directory=path),
        ):
            assert "does not lie under the roots of this server" in message, path
    for path in [*unusable, f"{root}/{'x' * 4_000}"]:
        for message in (
            await refused(client, "start_crawl", directories=[str(papers), path]),
            await refused(client, "add_directory", directory=path),
        ):
            assert message.startswith("the folder "), path
    for path in (f"{root}/nowhere", str(papers / "lease.txt")):
        message = await refused(client, "start_crawl", directories=[path])
        assert message.endswith("does not exist, or is not a folder")
    status = await told(client, "admin_status")
    assert (status["current"], status["recent"]) == (None, [])
    assert (await told(client, "list_directories"))["directories"] == []


@pytest.mark.soak
async def test_a_link_within_the_roots_is_followed_to_its_end_once(
    empty_index: Path, tmp_path: Path, root: Path, papers: Path
) -> None:
    # The root itself is a link, and so is the folder.
    (tmp_path / "root link").symlink_to(root)
    link = root / "link"
    link.symlink_to(papers)
    async with administered(empty_index, tmp_path / "root link") as client:
        assert (await told(client, "admin_status"))["roots"] == [str(root)]
        begun = await told(client, "start_crawl", directories=[str(link), f"{root}/./papers"])
        assert begun["directories"] == [str(papers)]
        assert (await ended(client))["progress"]["added"] == 2


@pytest.mark.soak
async def test_a_folder_that_became_a_link_is_refused_when_its_crawl_is_resumed(
    client: Client, empty_index: Path, papers: Path, tmp_path: Path
) -> None:
    with Index(empty_index):
        await told(client, "start_crawl", directories=[str(papers)])
        assert (await told(client, "pause_crawl"))["state"] == "paused"
    outside = tmp_path / "outside"
    papers.rename(outside)
    papers.symlink_to(outside)
    assert "does not lie under the roots" in await refused(client, "resume_crawl")
    assert (await told(client, "stop_crawl"))["state"] == "stopped"


@pytest.mark.soak
async def test_remembered_folders_must_lie_under_the_roots_too(
    client: Client, root: Path, papers: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    # At the last one the system does not even look.
    write(f'folders = ["{papers}", "{tmp_path}/outside", "{root}/{"x" * 300}"]\n')
    listed = (await told(client, "list_directories"))["directories"]
    assert [folder["allowed"] for folder in listed] == [True, False, True]
    assert [folder["exists"] for folder in listed] == [True, True, False]
    message = await refused(client, "start_crawl")
    assert f"'{tmp_path}/outside' does not lie under the roots" in message
    message = await refused(client, "remove_directory", directory=str(tmp_path / "outside"))
    assert "does not lie under the roots" in message
    started = await told(client, "start_crawl", directories=[str(papers)])
    assert started["state"] == "running"


@pytest.mark.soak
@pytest.mark.parametrize("by_variable", [True, False])
async def test_no_folder_is_crawled_whose_links_would_be_followed(
    empty_index: Path, root: Path, papers: Path, by_variable: bool
) -> None:
    (papers / "link").symlink_to("/etc")
    variables = {"IDX_FOLLOW_LINKS": "1"} if by_variable else {}
    file = write("follow_links = true\n")
    if by_variable:
        file.unlink()
    async with administered(empty_index, root, variables=variables) as client:
        message = await refused(client, "start_crawl", directories=[str(papers)])
    origin = "IDX_FOLLOW_LINKS" if by_variable else str(file)
    assert f"links in folders are followed (follow_links in {origin})" in message


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
def folder(tmp_path: Path) -> Path:
    """A folder under a root, and the same one outside with other files."""
    folder = tmp_path / "home" / "root" / "papers"
    folder.mkdir(parents=True)
    (folder / "lease.txt").write_text("The rent is due on the third of each month.")
    shutil.copytree(tmp_path / "home", tmp_path / "outside")
    (tmp_path / "outside" / "root" / "papers" / "lease.txt").write_text(f"the key to {MARKER}")
    return folder


async def test_a_crawl_stays_in_the_root_that_was_checked(
    empty_index: Path, folder: Path, tmp_path: Path
) -> None:
    async with administered(empty_index, folder.parent) as client:
        for name, (place, target) in SWAPS.items():
            # The crawl waits until nobody else writes.
            with Index(empty_index):
                await told(client, "start_crawl", directories=[str(folder)])
                away = swapped(tmp_path / place, tmp_path / target)
            status = await ended(client)
            assert status["progress"]["added"] == 0, name
            assert OUTSIDE in str(status["problems"]), name
            assert_nothing_leaked(empty_index)
            if name == "root":
                message = await refused(client, "start_crawl", directories=[str(folder)])
                assert "does not lie under the roots" in message
            (tmp_path / place).unlink()
            away.rename(tmp_path / place)
        await told(client, "start_crawl", directories=[str(folder)])
        assert (await ended(client))["progress"]["added"] == 1


async def test_a_folder_in_the_place_of_a_root_is_not_the_root(
    empty_index: Path, folder: Path
) -> None:
    root = folder.parent
    async with administered(empty_index, root) as client:
        root.rename(root.with_name("moved"))
        folder.mkdir(parents=True)
        for tool, arguments in (
            ("start_crawl", {"directories": [str(folder)]}),
            ("add_directory", {"directory": str(folder)}),
        ):
            message = await refused(client, tool, **arguments)
            assert "does not lie in the root that this server was started with" in message


@pytest.mark.soak
async def test_of_a_folder_around_the_root_only_the_root_is_crawled(
    idx: Idx, empty_index: Path, folder: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    idx("sync", home)
    (home / "other.txt").write_text(MARKER)
    (folder / "new.txt").write_text("Coffee with milk.")
    async with administered(empty_index, folder.parent) as client:
        await told(client, "start_crawl", directories=[str(folder)])
        progress = (await ended(client))["progress"]
        assert (progress["added"], progress["skipped"]) == (1, 1)
        # It is a part of the indexed folder around it, by way of which it is reached.
        with Index(empty_index):
            await told(client, "start_crawl", directories=[str(folder)])
            away = swapped(folder, tmp_path / "outside" / "root" / "papers")
        status = await ended(client)
        assert status["progress"]["added"] == 0
        folder.unlink()
        away.rename(folder)
    assert_nothing_leaked(empty_index)


def test_an_identity_that_is_none_is_wrong_usage(idx: Idx, tmp_path: Path) -> None:
    for wrong in ("1", "1:b", "1:2:3", ""):
        said = idx("sync", tmp_path, f"--only-in={wrong}", code=2).stderr
        assert "give --only-in as DEVICE:INODE" in said
    assert "--only-in" not in idx("sync", "--help").stdout

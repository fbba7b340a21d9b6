"""The remembered folders: listed, added and removed as idx folders does it."""

import json
from pathlib import Path

import anyio
import pytest

from tests.configured import write
from tests.conftest import Idx
from tests.server.administration.administered import administered, ended, refused, told
from tests.systems import makes_links

pytestmark = pytest.mark.anyio


@makes_links
async def test_a_remembered_folder_is_crawled_with_its_patterns_and_forgotten(
    empty_index: Path, root: Path, papers: Path, tmp_path: Path, idx: Idx
) -> None:
    link = root / "link"
    link.symlink_to(papers)
    file = write(f'# mine\n[[folders]]\npath = "{link}"\ninclude = ["*.md"]\n')
    other = root / "other"
    other.mkdir()
    async with administered(empty_index, root) as client:
        added = await told(client, "add_directory", directory=f"{root}/./other/")
        assert (added["path"], added["added"]) == (str(other), True)
        assert "start_crawl" in added["notice"]
        again = await told(client, "add_directory", directory=str(other))
        assert not again["added"]
        assert "nothing was changed" in again["notice"]
        assert await told(client, "list_directories") == {
            "directories": [
                {
                    "path": str(link),
                    "include": ["*.md"],
                    "exclude": [],
                    "exists": True,
                    "allowed": True,
                },
                {"path": str(other), "include": [], "exclude": [], "exists": True, "allowed": True},
            ],
            "folders_from": str(file),
            "notice": None,
        }
        assert len(json.loads(idx("folders", "list", "--json").stdout)) == 2
        # The patterns hold for the folder by its other name, too.
        await told(client, "start_crawl", directories=[str(papers)])
        status = await ended(client)
        assert (status["directories"], status["progress"]["added"]) == ([str(link)], 1)
        other.rmdir()
        removed = await told(client, "remove_directory", directory=str(other))
        assert f"--prune-missing {other}" in removed["notice"]
        message = await refused(client, "remove_directory", directory=str(other))
        assert "is not a remembered folder" in message
    assert file.read_text().startswith("# mine\n")
    assert [folder["path"] for folder in json.loads(idx("folders", "list", "--json").stdout)] == [
        str(link)
    ]


@pytest.mark.soak
async def test_folders_that_are_added_at_the_same_time_are_all_remembered(
    empty_index: Path, root: Path
) -> None:
    folders = [root / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
    async with administered(empty_index, root) as client:
        async with anyio.create_task_group() as tasks:
            for folder in folders:
                tasks.start_soon(client.call_tool, "add_directory", {"directory": str(folder)})
        listed = (await told(client, "list_directories"))["directories"]
    assert {folder["path"] for folder in listed} == {*map(str, folders)}


async def test_folders_of_the_environment_cannot_be_changed(
    empty_index: Path, root: Path, papers: Path
) -> None:
    async with administered(empty_index, root, variables={"IDX_FOLDERS": str(papers)}) as client:
        for tool in ("add_directory", "remove_directory"):
            message = await refused(client, tool, directory=str(papers))
            assert "the folders come from the variable IDX_FOLDERS" in message
        assert (await told(client, "admin_status"))["folders_from"] == "IDX_FOLDERS"
        listed = await told(client, "list_directories")
        assert listed["folders_from"] == "IDX_FOLDERS"
        assert [folder["path"] for folder in listed["directories"]] == [str(papers)]


@pytest.mark.soak
async def test_without_folders_nothing_is_crawled(empty_index: Path, root: Path) -> None:
    async with administered(empty_index, root) as client:
        assert "there are no folders to crawl" in await refused(client, "start_crawl")
        write("folders = 7\n")
        for tool in ("start_crawl", "list_directories"):
            assert "config.toml: folders: " in await refused(client, tool)


@pytest.mark.soak
async def test_an_answer_with_many_folders_stays_short(empty_index: Path, root: Path) -> None:
    names = [str(root / f"{number:03}{'long' * 50}") for number in range(400)]
    write(f"folders = {json.dumps(names)}\n")
    async with administered(empty_index, root) as client:
        result = await client.call_tool("list_directories", {})
        assert len(str(result.structured_content)) < 80_000
        assert len(result.content[0].text) < 40_000  # type: ignore[union-attr] # it is a text
        assert "results left out" in (await told(client, "list_directories"))["notice"]

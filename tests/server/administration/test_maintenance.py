"""A client merges, empties and frees the index, and remembers folders as idx folders does."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp.types import ElicitRequestParams, ElicitResult

from shared import Document, Index
from tests.configured import write
from tests.conftest import Idx, add_documents
from tests.idx.segments import fill
from tests.server.administration.administered import administered, ended
from tests.server.tool_answers import refused, text_of, told
from tests.systems import makes_links


class User:
    """Gives one answer after the other to what a client asks, and remembers the questions."""

    def __init__(self, *answers: tuple[Any, dict[str, Any] | None]) -> None:
        self._answers = [
            ElicitResult(action=action, content=content) for action, content in answers
        ]
        self.asked: list[str] = []

    async def __call__(
        self,
        context: ClientRequestContext,  # noqa: ARG002 - the signature is the SDK's
        params: ElicitRequestParams,
    ) -> ElicitResult:
        self.asked.append(params.message)
        return self._answers.pop(0)


@pytest.fixture
def index(empty_index: Path) -> Path:
    add_documents(empty_index, Document("a", "A", "some text"), Document("b", "B", "some text"))
    return empty_index


async def documents(client: Client) -> int:
    total: int = (await told(client, "ListDocuments"))["total_documents"]
    return total


@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.soak)])
async def test_the_index_is_emptied_only_after_a_yes(index: Path, root: Path, mode: str) -> None:
    user = User(
        ("decline", None),
        ("cancel", None),
        ("accept", {"delete_all": False}),
        ("accept", {}),
        ("accept", {"delete_all": "perhaps"}),
        ("accept", {"delete_all": True}),
    )
    async with administered(index, root, mode=mode, asked=user) as client:
        for message in (
            "the answer was 'decline': nothing was deleted",
            "the answer was 'cancel': nothing was deleted",
            "did not confirm it, so nothing was deleted",
            "did not confirm it, so nothing was deleted",
            "does not match the requested schema",
        ):
            assert message in await refused(client, "purge_index")
        status = await told(client, "admin_status")
        assert (status["current"], status["recent"]) == (None, [])
        assert await documents(client) == 2
        begun = await told(client, "purge_index")
        assert begun["state"] == "running"
        status = await ended(client, begun["operation_id"])
        assert (status["state"], status["exit_code"]) == ("done", 0)
        assert status["result"] == {"deleted_documents": 2, "deleted_chunks": 2}
        assert await documents(client) == 0
    documents_there = "Delete all documents (2 documents, 2 chunks) from the index"
    question = f"{documents_there} at {index}? This cannot be undone"
    assert len(user.asked) == 6
    assert all(message.startswith(question) for message in user.asked)


@pytest.mark.soak
async def test_a_client_that_cannot_ask_is_told_what_to_run(index: Path, root: Path) -> None:
    for mode in ("auto", "legacy"):
        async with administered(index, root, mode=mode) as client:
            message = await refused(client, "purge_index")
            assert message.endswith(f"ask the user to run: idx purge --index-path {index}")
            assert "there is no argument 'confirm'; there are none" in await refused(
                client, "purge_index", confirm=True
            )
            assert await documents(client) == 2


@pytest.mark.soak
async def test_the_index_is_merged(client: Client, empty_index: Path) -> None:
    fill(empty_index)
    begun = await told(client, "optimize_index")
    assert begun["operation"] == "optimize"
    result = (await ended(client, begun["operation_id"]))["result"]
    assert result["segments_before"] > result["segments_after"] == 1
    assert (await told(client, "index_stats"))["segments"] == 1


@pytest.mark.soak
async def test_a_lock_that_a_process_holds_is_kept(client: Client, index: Path) -> None:
    with Index(index):
        message = await refused(client, "unlock_index")
        assert "process " in message
        assert (index / "write.lock").exists()
    unlocked = await told(client, "unlock_index")
    assert (unlocked["operation"], unlocked["result"]) == ("unlock", {"unlocked": True})
    assert not (index / "write.lock").exists()
    assert (await told(client, "unlock_index"))["result"] == {"unlocked": False}


@makes_links
async def test_a_remembered_folder_is_crawled_with_its_patterns_and_forgotten(
    client: Client, root: Path, papers: Path, tmp_path: Path, idx: Idx
) -> None:
    link = root / "link"
    link.symlink_to(papers)
    file = write(f'# mine\n[[folders]]\npath = "{link}"\ninclude = ["*.md"]\n')
    other = root / "other"
    other.mkdir()
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
    assert len(idx.json("folders", "list")) == 2
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
    assert [folder["path"] for folder in idx.json("folders", "list")] == [str(link)]


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
async def test_without_folders_nothing_is_crawled(client: Client) -> None:
    assert "there are no folders to crawl" in await refused(client, "start_crawl")
    write("folders = 7\n")
    for tool in ("start_crawl", "list_directories"):
        assert "config.toml: folders: " in await refused(client, tool)


@pytest.mark.soak
async def test_an_answer_with_many_folders_stays_short(client: Client, root: Path) -> None:
    names = [str(root / f"{number:03}{'long' * 50}") for number in range(400)]
    write(f"folders = {json.dumps(names)}\n")
    result = await client.call_tool("list_directories", {})
    assert len(str(result.structured_content)) < 80_000
    assert len(text_of(result)) < 40_000
    assert "results left out" in (await told(client, "list_directories"))["notice"]

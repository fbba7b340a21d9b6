"""A client has folders crawled, and hears how far that is."""

import os
import signal
from pathlib import Path

import pytest
from mcp import Client

from shared import Index
from tests.server.administration.administered import (
    administered,
    ended,
    failed,
    is_alive,
    until,
    wait_until_gone,
    writer,
)
from tests.server.administration.conftest import MANY
from tests.server.tool_answers import refused, text_of, told
from tests.systems import sends_signals


async def test_a_crawl_makes_a_folder_searchable_and_tells_what_it_could_not_read(
    client: Client, papers: Path
) -> None:
    begun = await told(client, "start_crawl", directories=[str(papers)])
    assert (begun["operation"], begun["state"]) == ("crawl", "running")
    assert begun["directories"] == [str(papers)]
    status = await ended(client, begun["operation_id"])
    assert (status["state"], status["exit_code"], status["error"]) == ("done", 1, None)
    assert status["progress"] == {
        "planned": 4,
        "remaining": 0,
        "added": 2,
        "updated": 0,
        "deleted": 0,
        "skipped": 0,
        "failed": 1,
        "unsupported": 1,
        "empty": 0,
        "chunks": 2,
    }
    (problem,) = status["problems"]
    assert problem.startswith(f"{papers}/broken.pdf: ")
    found = await told(client, "Search", query="coffee", search="words")
    assert found["totalHits"] == 1
    (papers / "lease.txt").unlink()
    (papers / "menu.md").write_text("Tea only.")
    await told(client, "start_crawl", directories=[str(papers)])
    progress = (await ended(client))["progress"]
    assert [progress[name] for name in ("planned", "updated", "deleted", "skipped")] == [
        *(2, 1, 1, 2)
    ]
    assert (await told(client, "Search", query="tea"))["totalHits"] == 1
    assert (await told(client, "Search", query="rent"))["totalHits"] == 0
    admin = await told(client, "admin_status")
    assert admin["current"] is None
    assert [operation["state"] for operation in admin["recent"]] == ["done", "done"]
    assert admin["recent"][1]["operation_id"] == begun["operation_id"]


async def test_a_second_operation_is_refused_by_name(
    client: Client, empty_index: Path, papers: Path
) -> None:
    # The crawl waits for another writer.
    with Index(empty_index):
        begun = await told(client, "start_crawl", directories=[str(papers)])
        named = f"the operation crawl ({begun['operation_id']}) is running"
        assert named in await refused(client, "start_crawl", directories=[str(papers)])
        assert "cannot be resumed" in await refused(client, "resume_crawl")
        # What does not touch the index goes on.
        assert (await told(client, "add_directory", directory=str(papers)))["added"]
        assert (await told(client, "stop_crawl"))["state"] == "stopped"
        assert "is stopped and cannot be paused" in await refused(client, "pause_crawl")
    assert (await told(client, "admin_status"))["locked_by"] is None


@pytest.mark.soak
async def test_a_paused_crawl_goes_on_where_it_was(
    client: Client, empty_index: Path, many_files: Path
) -> None:
    begun = await told(client, "start_crawl", directories=[str(many_files)])
    operation = begun["operation_id"]
    await until(client, lambda status: status["progress"]["added"] > 0, operation)
    paused = await told(client, "pause_crawl", operation_id=operation)
    assert (paused["state"], paused["ended"]) == ("paused", None)
    so_far = paused["progress"]["added"]
    assert 0 < so_far < MANY
    # What was done is in the index, and another writer may write meanwhile.
    in_index = (await told(client, "ListDocuments", limit=1))["total_documents"]
    # Some may have been on their way to Lucene.
    assert so_far <= in_index <= so_far + 6
    with Index(empty_index, wait=0):
        pass
    assert "is paused" in await refused(client, "start_crawl", directories=[str(many_files)])
    resumed = await told(client, "resume_crawl", operation_id=operation)
    assert (resumed["operation_id"], resumed["state"]) == (operation, "running")
    status = await ended(client, operation)
    progress = status["progress"]
    assert (status["state"], progress["remaining"], progress["failed"]) == ("done", 0, 0)
    # The file that was written when the pause came may be counted as unchanged.
    assert progress["added"] + progress["skipped"] == MANY
    assert progress["added"] >= MANY - 6
    assert (await told(client, "ListDocuments", limit=1))["total_documents"] == MANY


@pytest.mark.soak
async def test_a_stopped_crawl_leaves_what_it_did(client: Client, many_files: Path) -> None:
    begun = await told(client, "start_crawl", directories=[str(many_files)])
    await until(client, lambda status: status["progress"]["added"] > 0)
    process = await writer(client)
    stopped = await told(client, "stop_crawl", operation_id=begun["operation_id"])
    assert (stopped["state"], stopped["error"]) == ("stopped", None)
    assert stopped["ended"] is not None
    assert not is_alive(process)
    found = (await told(client, "ListDocuments", limit=1))["total_documents"]
    assert stopped["progress"]["added"] <= found < MANY
    assert "is stopped and cannot be resumed" in await refused(client, "resume_crawl")


@pytest.mark.soak
@sends_signals
async def test_a_child_that_is_killed_is_told_and_the_next_operation_works(
    client: Client, papers: Path
) -> None:
    await told(client, "start_crawl", directories=[str(papers)])
    process = await writer(client)
    os.kill(process, signal.SIGKILL)
    status = await failed(client)
    assert status["exit_code"] == -signal.SIGKILL
    assert "was ended by signal 9 (Killed)" in status["error"]
    wait_until_gone(process)
    await told(client, "start_crawl", directories=[str(papers)])
    assert (await ended(client))["state"] == "done"
    found = await told(client, "Search", query="coffee", search="words")
    assert found["totalHits"] == 1


@pytest.mark.soak
async def test_a_crawl_that_cannot_begin_has_failed_for_the_reason_that_idx_gives(
    index_path: Path, root: Path, papers: Path
) -> None:
    index_path.mkdir()
    (index_path / "letter.txt").write_text("Dear Ann")
    async with administered(index_path, root) as client:
        for tool in ("crawl_status", "pause_crawl", "resume_crawl", "stop_crawl"):
            assert "no operation was started since" in await refused(client, tool)
            unknown = await refused(client, tool, operation_id="crawl-1")
            assert "no operation has the id 'crawl-1'" in unknown
        await told(client, "start_crawl", directories=[str(papers)])
        status = await failed(client)
        assert "it holds other files, such as 'letter.txt'" in status["error"]


@pytest.mark.soak
async def test_the_first_crawl_creates_the_index(
    index_path: Path, root: Path, papers: Path
) -> None:
    async with administered(index_path, root) as client:
        assert "there is no index at" in await refused(client, "Search", query="coffee")
        await told(client, "start_crawl", directories=[str(papers)])
        status = await ended(client)
        assert status["state"] == "done"
        found = await told(client, "Search", query="coffee", search="words")
        assert found["totalHits"] == 1


@pytest.mark.soak
async def test_an_answer_stays_short_however_much_goes_wrong(client: Client, root: Path) -> None:
    folders = []
    for number in range(60):
        folder = root / f"{number:02}{'a long name ' * 20}"
        folder.mkdir()
        (folder / ('"' * 200 + ".pdf")).write_bytes(b"%PDF-1.7\nnothing more")
        folders.append(str(folder))
    await told(client, "start_crawl", directories=folders)
    status = await ended(client)
    assert (status["state"], status["progress"]["failed"]) == ("done", 60)
    assert len(status["problems"]) == 20
    assert "There are 60 directories in all." in status["notice"]
    for tool in ("crawl_status", "admin_status"):
        assert len(text_of(await client.call_tool(tool, {}))) < 40_000

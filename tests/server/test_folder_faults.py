"""What happens to the index folder under a running server: right answers, or a clear error."""

import asyncio
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from mcp import Client

from shared import Document
from tests.conftest import Connect, Idx, add_documents
from tests.idx.raw_index import mark_as
from tests.idx.volumes import MOUNT, UNMOUNT
from tests.server.tool_answers import refused, told
from tests.systems import has_modes

pytestmark = pytest.mark.soak

DATA: Final = Path(__file__).parents[1] / "data"

LONG: Final = " ".join(f"word{number}" for number in range(600))

CALLS: Final[dict[str, dict[str, Any]]] = {
    "Search": {"query": "common"},
    "ListDocuments": {},
    "document_details": {"source_document_id": "a"},
    "get_next_chunk": {"chunk_id": "a-chunk-001"},
    "get_previous_chunk": {"chunk_id": "a-chunk-002"},
    "get_document_chunks": {"source_document_id": "a"},
    "suggest_terms": {"prefix": "word1"},
    "index_stats": {},
}


async def answers(client: Client) -> dict[str, Any]:
    """What all tools answer that read the index."""
    return {name: await told(client, name, **given) for name, given in CALLS.items()}


async def errors(client: Client) -> set[str]:
    """What they answer when none of them can."""
    return {await refused(client, name, **given) for name, given in CALLS.items()}


def fill(path: Path, text: str = "common") -> Path:
    add_documents(path, Document("a", "A", f"{text} {LONG}"))
    return path


def remove(path: Path) -> None:
    shutil.rmtree(path)


def rename(path: Path) -> None:
    path.rename(path.with_name("renamed"))


def exchange_for_nothing(path: Path) -> None:
    remove(path)
    path.mkdir()


def exchange_for_other_files(path: Path) -> None:
    exchange_for_nothing(path)
    (path / "notes.txt").write_text("mine")


def exchange_for_a_file(path: Path) -> None:
    remove(path)
    path.write_text("mine")


def exchange_for_an_old_index(path: Path) -> None:
    remove(path)
    shutil.copytree(DATA / "lucene-8.11", path)


def exchange_for_an_older_schema(path: Path) -> None:
    mark_as(path, 4)


def remove_the_commit(path: Path) -> None:
    for file in path.glob("segments_*"):
        file.unlink()


FAULTS: Final[dict[Callable[[Path], None], str]] = {
    remove: "there is no index at {}; ask the user to create one with",
    rename: "there is no index at {}; ask the user to create one with",
    exchange_for_nothing: "there is no index at {}; ask the user to create one with",
    exchange_for_other_files: "there is no index at {}; ask the user to create one with",
    exchange_for_a_file: "the index folder {} cannot be used: it is a file, not a folder",
    exchange_for_an_old_index: "the index at {} was written by Lucene 8.11.4 and cannot be read",
    exchange_for_an_older_schema: "the index at {} has schema version 4, but",
    remove_the_commit: "the index at {} is damaged: its segments_N file",
}
"""What is done to the folder, and how the error of all tools begins."""


async def test_each_tool_tells_what_is_wrong_and_answers_when_it_is_right_again(
    index_path: Path, connect: Connect
) -> None:
    pristine = fill(index_path.with_name("pristine"))
    shutil.copytree(pristine, index_path)
    async with connect() as client:
        sound = await answers(client)
        for fault, expected in FAULTS.items():
            fault(index_path)
            for told in await errors(client):
                assert told.startswith(expected.format(index_path)), (fault.__name__, told)
            if index_path.is_dir():
                remove(index_path)
            else:
                index_path.unlink(missing_ok=True)
            shutil.copytree(pristine, index_path)
            assert await answers(client) == sound, fault.__name__


async def test_a_renamed_index_is_answered_from_where_it_comes_back(
    index_path: Path, connect: Connect
) -> None:
    fill(index_path)
    aside = index_path.with_name("aside")
    async with connect() as client:
        sound = await answers(client)
        index_path.rename(aside)
        (told,) = await errors(client)
        assert told.startswith(f"there is no index at {index_path}")
        aside.rename(index_path)
        assert await answers(client) == sound
        # Another one takes its path, and its place in the same folder.
        other = fill(index_path.with_name("other"), "rare")
        index_path.rename(aside)
        shutil.copytree(other, index_path)
        found = await answers(client)
        assert (found["Search"]["totalHits"], sound["Search"]["totalHits"]) == (0, 1)
        for file in index_path.iterdir():
            file.unlink()
        for file in aside.iterdir():
            shutil.copy2(file, index_path)
        assert await answers(client) == sound


async def test_commands_that_swap_the_index_are_followed(idx: Idx, connect: Connect) -> None:
    fill(idx.index)
    idx("backup", "copy")
    async with connect() as client:
        sound = (await answers(client))["Search"]["results"]
        for commands in (
            (("rebuild",),),
            (("add", "-d", "b", "-t", "B", "-c", "text"), ("restore", "copy", "--yes")),
            (("add", "-d", "b", "-t", "B", "-c", "text"), ("delete", "b"), ("optimize",)),
        ):
            for command in commands:
                await asyncio.to_thread(idx, *command)
                assert not (await client.call_tool("Search", {"query": "common"})).is_error
            assert (await answers(client))["Search"]["results"] == sound
        await asyncio.to_thread(idx, "purge", "--yes")
        assert (await told(client, "Search", query="common"))["totalHits"] == 0


@has_modes
async def test_a_folder_that_is_made_read_only_is_answered_from(idx: Idx, connect: Connect) -> None:
    fill(idx.index)
    async with connect() as client:
        sound = await answers(client)
        for path in (*idx.index.iterdir(), idx.index):
            path.chmod(0o555 if path.is_dir() else 0o444)
        assert await answers(client) == sound
        idx.index.chmod(0o755)
        bound = subprocess.run(
            [*MOUNT, "--bind", "-o", "ro", idx.index, idx.index], capture_output=True, check=False
        )
        if bound.returncode:
            pytest.skip(f"a folder cannot be mounted here: {bound.stderr.decode().strip()}")
        try:
            assert await answers(client) == sound
            failed = await asyncio.to_thread(idx, "add", "-d", "b", "-t", "B", "-c", "text", code=1)
            (message,) = failed.stderr.splitlines()
            assert message.startswith("Error: ")
            assert str(idx.index) in message
            assert "Read-only file system" in message
            assert await answers(client) == sound
        finally:
            subprocess.run([*UNMOUNT, idx.index], check=True)
        for path in idx.index.iterdir():
            path.chmod(0o644)
        await asyncio.to_thread(idx, "delete", "a")
        assert (await told(client, "Search", query="common"))["totalHits"] == 0

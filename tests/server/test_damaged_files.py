"""Files that are damaged under a running server: no answer comes from them, and it lives on."""

import asyncio
from pathlib import Path

import pytest

from shared import Document
from tests.conftest import Connect, Idx, add_documents
from tests.idx.damage import damaged, file_of_each_kind, fill_with_every_kind
from tests.server.tool_answers import answer, error, refused, told
from tests.systems import replaces_open_files

CALLS = (
    ("Search", {"query": "common", "limit": 3}),
    ("get_document_chunks", {"source_document_id": "d11"}),
    ("get_next_chunk", {"chunk_id": "d11-chunk-002"}),
)


@pytest.mark.soak
@pytest.mark.timeout(1_200)
async def test_a_file_of_any_kind_that_is_changed_in_place_is_named_until_it_is_mended(
    idx: Idx, empty_index: Path, connect: Connect
) -> None:
    fill_with_every_kind(idx, empty_index)
    async with connect() as client:
        sound = [answer(await client.call_tool(*call)) for call in CALLS]
        for name in file_of_each_kind(empty_index):
            file = empty_index / name
            content = file.read_bytes()
            for changed in damaged(content):
                # The server has it open, and mapped into its memory.
                file.write_bytes(changed)
                for call in CALLS:
                    message = error(await client.call_tool(*call))
                    assert message.startswith(f"the index at {empty_index} is damaged: ")
                    assert f"file {name}: it" in message
                    assert "idx restore" in message
            file.write_bytes(content)
            assert [answer(await client.call_tool(*call)) for call in CALLS] == sound


@replaces_open_files
async def test_a_damaged_file_is_named_and_a_backup_helps(
    idx: Idx, empty_index: Path, connect: Connect
) -> None:
    add_documents(empty_index, Document("a", "A", "common text"))
    idx("backup", "copy")
    async with connect() as client:
        assert (await told(client, "Search", query="common"))["totalHits"] == 1
        (file,) = empty_index.glob("*.cfs")
        file.write_bytes(file.read_bytes()[:-100])
        for _ in range(2):
            message = await refused(client, "Search", query="common")
            assert f"is damaged: file {file.name}: it" in message
        await asyncio.to_thread(idx, "restore", "copy", "--yes")
        assert (await told(client, "Search", query="common"))["totalHits"] == 1

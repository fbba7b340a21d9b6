"""The tool `list_failures`, through the real server process over stdio."""

from pathlib import Path
from typing import Any

from mcp import Client

from tests.conftest import Connect, Idx
from tests.idx.files import make
from tests.idx.preparation import index_files
from tests.idx.test_failures import DAMAGED, failures
from tests.server.tool_answers import error, told
from tests.systems import names_long_paths


async def listed(client: Client, **arguments: int) -> dict[str, Any]:
    return await told(client, "list_failures", **arguments)


async def test_the_failures_are_those_of_the_command_line(
    idx: Idx, empty_index: Path, tmp_path: Path, connect: Connect
) -> None:
    papers = make(tmp_path / "papers", "a.txt", "b/")
    (papers / "b" / "c.pdf").write_bytes(DAMAGED)
    (papers / "d.txt").write_text("")
    async with connect() as client:
        assert await listed(client) == {"total": 0, "failures": [], "notice": None}
        idx("sync", "papers", code=1)
        found = await listed(client)
        assert found["total"] == 2
        first, second = found["failures"]
        assert (first["source_document"], first["kind"]) == ("b/c.pdf", "failed")
        assert first["file_path"] == (papers / "b" / "c.pdf").as_posix()
        assert {
            failure["source_document"]: (failure["kind"], failure["reason"])
            for failure in found["failures"]
        } == failures(empty_index)
        assert (await listed(client, limit=1))["failures"] == [first]
        assert await listed(client, offset=1) == {"total": 2, "failures": [second], "notice": None}
        assert (await listed(client, offset=2))["failures"] == []
        refused = await client.call_tool("list_failures", {"limit": 0})
        assert "limit" in error(refused)
        # The file is mended while the server runs.
        (papers / "b" / "c.pdf").write_text("text")
        index_files(empty_index, "papers")
        assert (await listed(client))["failures"] == [second]


@names_long_paths
async def test_a_long_list_is_cut_with_a_notice(
    idx: Idx, empty_index: Path, tmp_path: Path, connect: Connect
) -> None:
    papers = make(tmp_path / "papers", f"{'deep' * 50}/")
    for number in range(120):
        (papers / ("deep" * 50) / f"{number}.txt").touch()
    index_files(empty_index, "papers")
    async with connect() as client:
        found = await listed(client, limit=120)
        assert found["total"] == 120
        assert 0 < len(found["failures"]) < 120
        assert "results left out" in found["notice"]
        assert len((await listed(client, limit=120, max_characters=400_000))["failures"]) == 120

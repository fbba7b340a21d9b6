"""Whatever stands in an index, no answer has more characters than it may."""

from pathlib import Path

import pytest
from mcp import Client

from tests.conftest import connected
from tests.server.resource_answers import assert_brief
from tests.server.tool_answers import text_of
from tests.tools.longest_answers import WORST, WORST_RESOURCES, write_hostile_index

pytestmark = pytest.mark.soak


async def lengths(client: Client, most: int) -> list[tuple[str, str, int]]:
    """Characters of the answer to each of the worst calls, with its tool and its arguments."""
    told = []
    for tool, arguments in WORST:
        result = await client.call_tool(tool, {**arguments, "max_characters": most})
        told.append((tool, f"{arguments}"[:100], len(text_of(result))))
    return told


async def check_tools(client: Client) -> None:
    usual, small = await lengths(client, 40_000), await lengths(client, 2_000)
    assert [call for call in usual if call[2] >= 40_000] == []
    assert [call for call in small if call[2] >= 2_000] == []
    # Each tool is asked for as much as it can give; otherwise this would prove nothing.
    offered = {tool.name for tool in (await client.list_tools()).tools}
    # The text beside a picture has no long parts.
    assert {tool for tool, _, length in usual if length > 20_000} == offered - {"show_page"}


async def check_resources(client: Client) -> None:
    for uri in WORST_RESOURCES:
        assert_brief(await client.read_resource(uri))
        if not uri.startswith("index:"):
            assert_brief(await client.read_resource(f"{uri}?max_characters=2000"), 2_000)


# An index is made once for both: that takes longer than all the rest.
async def test_every_answer_keeps_to_its_limit(tmp_path: Path) -> None:
    index = tmp_path / "index"
    write_hostile_index(index, tmp_path / "files")
    for options in ((), ("--fence",)):
        async with connected(index, *options) as client:
            await check_tools(client)
            await check_resources(client)

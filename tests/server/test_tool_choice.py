"""Whoever starts the server chooses which tools it offers."""

from pathlib import Path

import pytest

from tests.conftest import Connect
from tests.server.http.served import refused

SEARCH = ["Search", "more_like", "explain_query", "suggest_terms", "top_terms", "list_fields"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("options", "offered"),
    [
        (["--tools", "search"], SEARCH),
        (["--tools", "Search, get_next_chunk"], ["Search", "get_next_chunk"]),
        (["--exclude-tools", "browse"], SEARCH),
        (
            ["--tools", "search", "--exclude-tools", "explain_query,top_terms,list_fields"],
            ["Search", "more_like", "suggest_terms"],
        ),
    ],
)
async def test_tools_are_chosen_by_name_and_by_group(
    empty_index: Path, connect: Connect, options: list[str], offered: list[str]
) -> None:
    async with connect(*options) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == offered
        excluded = await client.call_tool("ListDocuments", {})
        assert excluded.is_error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tools", "Serch"], "no tool or group of tools 'Serch'; did you mean 'Search'"),
        (["--tools", ""], "--tools names no tool"),
        (["--tools", " , "], "--tools names no tool"),
        (["--exclude-tools", "q"], "no tool or group of tools 'q'; there are search, browse,"),
        (["--exclude-tools", "search,browse"], "no tool is left to offer"),
    ],
)
def test_a_choice_that_cannot_be_is_told(
    empty_index: Path, options: list[str], message: str
) -> None:
    assert message in refused(*options, index=empty_index)

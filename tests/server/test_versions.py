"""The tool `Search` and the pages show of several versions of a text the newest."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Connect, add_documents
from tests.idx.letters import OTHERS, VERSIONS, letters
from tests.server.tool_answers import answer

pytestmark = pytest.mark.anyio


async def test_an_agent_gets_the_newest_version_and_the_ids_of_the_others(
    empty_index: Path, connect: Connect
) -> None:
    add_documents(empty_index, *letters())
    async with connect() as client:

        async def search(**arguments: Any) -> Any:
            given = {"query": "harbour", "limit": 20, **arguments}
            return answer(await client.call_tool("Search", given))

        def documents(found: Any) -> set[str]:
            return {hit["source_document"] for hit in found["results"]}

        plain = await search(content="none")
        assert {*VERSIONS} <= documents(plain)
        assert not any("similar_documents" in hit for hit in plain["results"])

        for arguments in (
            {"content": "passages"},
            {"content": "none", "group": "document"},
            {"content": "none", "sort": "-modified"},
            {"content": "none", "versions": "newest"},
        ):
            found = await search(**arguments)
            assert documents(found) & {*VERSIONS} == {"final"}, arguments
            (hit,) = [hit for hit in found["results"] if "similar_documents" in hit]
            assert hit["similar_documents"] == {"count": 2, "ids": ["second", "draft"]}
            assert found["totalHits"] == plain["totalHits"]

        assert {*VERSIONS} <= documents(await search(content="passages", versions="all"))
        # The number stays where the ids have no room.
        short = await search(content="passages", limit=1, max_characters=2_000, sort="-modified")
        assert short["results"][0]["similar_documents"]["count"] == 2

        versions: Any = {"field": "version_of", "value": "draft"}
        listed = await search(query="", content="passages", filters=[versions])
        assert documents(listed) == {*VERSIONS}
        versions["operator"] = "ne"
        others = await search(query="", content="none", filters=[versions], limit=50)
        assert len(documents(others)) == OTHERS
        assert not documents(others) & {*VERSIONS}
        refused = await client.call_tool(
            "Search", {"query": "", "filters": [{"field": "version_of", "operator": "exists"}]}
        )
        assert refused.is_error
        assert "version_of" in str(refused.content)

"""The tools `search` and `fetch`, through the real server over stdio and by HTTP."""

import json
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from mcp import Client

from server.answers.text import parse
from shared import Document
from shared.model.document import Heading
from tests.conftest import Connect, NewIndex, connected
from tests.server.http.served import served_here
from tests.server.resource_answers import read
from tests.server.tool_answers import answer, error, refused, told

CONNECTOR = ("--tools", "connector")

WORDS = 700
LONG = " ".join(f"word{number}" for number in range(WORDS))
ENDLESS = " ".join(f"page{number}" for number in range(20_000))


@pytest.fixture(scope="module")
def index(new_index: NewIndex) -> Path:
    return new_index(
        Document(
            "a b/ü.md",
            "The manual",
            LONG,
            {"author": "Ann", "keywords": ["one", "two"], "year": 2024},
            headings=[Heading(1, "Terms", 0)],
        ),
        Document("endless", "Endless", ENDLESS),
    )


async def found(client: Client, query: str) -> list[dict[str, str]]:
    results: list[dict[str, str]] = (await told(client, "search", query=query))["results"]
    return results


async def test_only_the_pair_is_offered_and_only_if_it_is_named(index: Path) -> None:
    for options, names in [
        (CONNECTOR, ["search", "fetch"]),
        (("--tools", "Search,connector"), ["Search", "search", "fetch"]),
        (("--tools", "fetch"), ["fetch"]),
    ]:
        async with connected(index, *options) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == names
    async with connected(index) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert not {"search", "fetch"} & {*names}
        assert "Unknown tool" in await refused(client, "search", query="word")


async def test_each_result_is_the_best_part_of_another_document(index: Path) -> None:
    async with connected(index, *CONNECTOR) as client:
        hits = await found(client, "word10 word300 word500 page700 page9000")
        assert len(hits) == 2
        assert {hit["id"].rpartition("-chunk-")[0] for hit in hits} == {"a b/ü.md", "endless"}


async def test_the_pair_has_the_shape_that_is_required(index: Path) -> None:
    async with connected(index, *CONNECTOR) as client:
        search, fetch = (await client.list_tools()).tools
        assert search.input_schema["required"] == list(search.input_schema["properties"])
        assert list(search.input_schema["properties"]) == ["query"]
        assert list(fetch.input_schema["properties"]) == ["id"]
        # The helper checks that there is one text, with the JSON of the structured content.
        (hit,) = await found(client, '"word699"')
        assert hit.keys() == {"id", "title", "url"}
        text = await told(client, "fetch", id=hit["id"])
        assert text.keys() == {"id", "title", "text", "url", "metadata"}
        assert (text["id"], text["title"], text["url"]) == (hit["id"], "The manual", hit["url"])
        assert all(isinstance(value, str) for value in text["metadata"].values())


async def test_a_text_that_fits_is_read_as_a_whole(index: Path) -> None:
    async with connected(index, *CONNECTOR) as client:
        (hit,) = await found(client, '"word699"')
        for name in (hit["id"], "a b/ü.md"):
            text = await told(client, "fetch", id=name)
            assert text["text"] == LONG
            metadata = text["metadata"]
            assert "next" not in metadata
            assert metadata["source_document"] == "a b/ü.md"
            assert (metadata["author"], metadata["keywords"]) == ("Ann", "one, two")
            assert (metadata["year"], metadata["section"]) == ("2024", "Terms")


async def test_a_long_text_is_read_on_to_its_end(index: Path) -> None:
    async with connected(index, *CONNECTOR) as client:
        (hit,) = await found(client, "page15000")
        words: list[str] = []
        name = hit["id"]
        for _ in range(20):
            result = await client.call_tool("fetch", {"id": name})
            text = answer(result)
            assert len(json.dumps(text, ensure_ascii=False)) < 40_000
            words += text["text"].split()
            if (following := text["metadata"].get("next")) is None:
                break
            name = following
    assert words[-1] == "page19999"
    assert "page15000" in words
    assert {*words} == {f"page{number}" for number in range(int(words[0][4:]), 20_000)}


async def test_over_stdio_the_address_is_that_of_a_resource(index: Path) -> None:
    async with connected(index, *CONNECTOR) as client:
        (hit,) = await found(client, '"word699"')
        assert parse(hit["url"]).name == hit["id"]
        assert "word699" in (await read(client, hit["url"])).text


@pytest.mark.parametrize(
    ("options", "base"), [((), None), (("--public-url", "http://localhost/x/mcp"), "/x")]
)
async def test_by_http_the_address_is_a_page_of_the_server(
    index: Path, options: tuple[str, ...], base: str | None
) -> None:
    with served_here(index, *CONNECTOR, *options) as server:
        async with Client(server.url) as client:
            (hit,) = await found(client, '"word699"')
        url = urlsplit(hit["url"])
        assert url.path == f"{base or ''}/documents/a%20b%2F%C3%BC.md"
        assert unquote(url.path).endswith("a b/ü.md")
        assert parse_qs(url.query) == {"chunk": [hit["id"][-1]]}
        assert (url.netloc == "localhost") == (base is not None)
        if base is None:
            assert hit["url"].startswith(server.base)


async def test_errors_are_those_of_the_other_tools(connect: Connect, index: Path) -> None:
    async with connected(index, *CONNECTOR) as client:
        unknown = await client.call_tool("fetch", {"id": "endles"})
        assert error(unknown).startswith("no document has the id 'endles'")
        missing = await client.call_tool("search", {})
        assert error(missing) == "search: the argument 'query' is missing"
        assert (await refused(client, "fetch", id="a", x=1)).startswith(
            "fetch: there is no argument 'x'"
        )
    async with connect(*CONNECTOR) as client:
        assert "there is no index at" in await refused(client, "search", query="a")


async def test_texts_are_fenced(index: Path) -> None:
    async with connected(index, *CONNECTOR, "--fence") as client:
        text = await told(client, "fetch", id="a b/ü.md")
    fence = text["fence"]
    assert text["text"] == f"<{fence}>{LONG}</{fence}>"
    assert text["title"] == f"<{fence}>The manual</{fence}>"

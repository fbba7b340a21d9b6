"""Documents, chunks and the index as resources, through the real server process over stdio."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import INVALID_PARAMS, TextResourceContents

from server.answers.text import ResourceUri, parse
from shared import Document
from shared.model.document import Metadata
from tests.conftest import Connect, NewIndex, add_documents
from tests.server.resource_answers import assert_brief, listed, read
from tests.server.tool_answers import told

WORDS = [f"word{number}" for number in range(9_000)]

HOSTILE_IDS = [
    "../../../etc/passwd",
    "/etc/passwd",
    "..",
    ".",
    "a/../b",
    "C:\\boot.ini",
    "\\\\host\\share",
    "what?.txt",
    "a?start_index=2",
    "a#b",
    "100%",
    "%2e%2e%2f",
    "%zz",
    "a b\tc\nd",
    "nul\0byte",
    "{id}",
    "http://user:password@host:99999/x?y#z",
    "naïve café/Übung \U0001f600.pdf",
    "e\u0301",
    "a+b&c=d;e,f",
    "~-._!'()*",
    "x" * 10_000,
]


@pytest.fixture(scope="module")
def index(new_index: NewIndex) -> Path:
    known: Metadata = {"author": "Ann", "language": "en", "modified": "2026-11-22T09:12:05Z"}
    return new_index(
        Document("long", "The long one", " ".join(WORDS), known),
        Document("menu", "Menu", "Café\tau\n lait", {"language": "fr", "modified": 7}),
        Document("wide", "没有空格", "字" * 30_000 + " " + "词" * 30_000),
        *(Document(name, "Hostile", f"text of {name[:99]!r}") for name in HOSTILE_IDS),
    )


async def test_the_list_has_the_state_of_the_index_and_every_document(client: Client) -> None:
    first, *documents = await listed(client)
    assert (first.uri, first.mime_type) == ("index://stats", "application/json")
    by_name = {document.name: document for document in documents}
    assert sorted(by_name) == sorted(["long", "menu", "wide", *HOSTILE_IDS])
    long = by_name["long"]
    assert (long.uri, long.title, long.mime_type) == (
        "document://long",
        "The long one",
        "text/plain",
    )
    assert long.description == "43 chunks"
    assert long.annotations is not None
    assert long.annotations.last_modified == "2026-11-22T09:12:05Z"
    # What came as metadata need not be a time.
    assert by_name["menu"].annotations is None


async def test_a_short_document_is_read_as_it_came(client: Client) -> None:
    contents = await read(client, "document://menu")
    assert (contents.text, contents.mime_type) == ("Café\tau\n lait", "text/plain")
    assert contents.meta == {
        "source_document": "menu",
        "title": "Menu",
        "total_chunks": 1,
        "start_index": 1,
        "end_index": 1,
    }


async def test_a_long_document_is_read_whole_and_each_word_once_if_asked_to(client: Client) -> None:
    result = await client.read_resource("document://long?max_characters=100000")
    (contents,) = result.contents
    assert isinstance(contents, TextResourceContents)
    assert contents.text == " ".join(WORDS)
    assert contents.meta is not None
    assert contents.meta["title"] == "The long one"
    assert "next" not in contents.meta


async def test_a_long_document_says_what_was_cut_and_how_to_go_on(client: Client) -> None:
    words: list[str] = []
    uri, parts = "document://long", 0
    while True:
        contents = await read(client, uri)
        text, _, notice = contents.text.partition("\n\n[")
        # A part begins with the whole of its first chunk.
        words += text.split() if not parts else text.split()[40:]
        parts += 1
        assert contents.meta is not None
        if "next" not in contents.meta:
            assert notice == ""
            break
        uri, end = contents.meta["next"], contents.meta["end_index"]
        assert f"under 40,000 characters, it ends with chunk {end} of 43." in notice
        assert f"read {uri}, or call get_document_chunks with start_index {end + 1}" in notice
    assert words == WORDS
    assert parts == 3


async def test_a_notice_names_only_tools_that_are_offered(
    empty_index: Path, connect: Connect
) -> None:
    add_documents(empty_index, Document("long", "T", " ".join(WORDS)))
    async with connect("--tools", "search") as client:
        notice = (await read(client, "document://long")).text.partition("\n\n[")[2]
        assert "read document://long?start_index=" in notice
        assert "get_document_chunks" not in notice


async def test_a_part_of_a_document(client: Client) -> None:
    contents = await read(client, "document://long?start_index=3&count=2")
    assert contents.text.split() == WORDS[420 : 420 + 250 + 210]
    assert contents.meta is not None
    assert (contents.meta["start_index"], contents.meta["end_index"]) == (3, 4)
    assert contents.meta["next"] == "document://long?start_index=5"
    short = await client.read_resource("document://long?max_characters=2000")
    assert_brief(short, 2_000)


async def test_words_without_blanks_between_them_are_cut(client: Client) -> None:
    contents = await read(client, "document://wide")
    text, _, notice = contents.text.partition("…\n\n[")
    assert text == ("字" * 30_000 + " " + "词" * 30_000)[: len(text)]
    assert len(text) > 30_000
    assert "up to 1,000,000 characters with max_characters" in notice
    whole = await client.read_resource("document://wide?max_characters=100000")
    assert len(whole.contents[0].text) == 60_001  # type: ignore[union-attr] # it is text
    chunk = await read(client, "chunk://wide-chunk-001")
    assert chunk.text.endswith("ask for up to 1,000,000 with max_characters.]")


@pytest.mark.parametrize("name", HOSTILE_IDS, ids=lambda name: ascii(name[:40]))
async def test_an_id_is_only_ever_a_key(client: Client, name: str) -> None:
    uri = ResourceUri("document", name)
    assert parse(str(uri)) == uri
    assert re.fullmatch(r"document://(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})+", str(uri))
    contents = await read(client, str(uri))
    assert contents.text == f"text of {name[:99]!r}"
    chunk = await read(client, str(ResourceUri("chunk", f"{name}-chunk-001")))
    assert chunk.text == contents.text
    assert chunk.meta is not None
    assert chunk.meta.get("document", str(uri)) == str(uri)
    if not {"?", "%"} & set(name):
        assert (await read(client, f"document://{name}")).text == contents.text


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("document://nobody", "no document has the id 'nobody'"),
        ("document://mennu", "did you mean 'menu'?"),
        ("document://", "no document has the id ''"),
        ("document://../../../etc/hostname", "no document has the id '../../../etc/hostname'"),
        ("document://%2Fetc%2Fhostname", "no document has the id '/etc/hostname'"),
        ("document://%ff", "not valid UTF-8"),
        ("document://menu?start_index=0", "the argument 'start_index' is '0'"),
        ("document://menu?start_index=2", "has 1 chunk, but start_index is 2"),
        ("document://menu?count=many", "the argument 'count' is 'many'"),
        ("document://menu?max_characters=1", "the argument 'max_characters' is '1'"),
        ("document://menu?start=2", "no argument 'start'; did you mean 'start_index'"),
        ("document://menu?.txt", "a question mark in a name is written %3F"),
        ("document://" + "x" * 200_000, "a URI has at most 150,000 characters"),
        ("chunk://menu", "no chunk has the id 'menu'"),
        ("chunk://menu-chunk-000", "no chunk has the id 'menu-chunk-000'"),
        ("chunk://menu-chunk-002", "no chunk has the id 'menu-chunk-002'"),
        ("chunk://menu-chunk-0001", "no chunk has the id 'menu-chunk-0001'"),
        ("chunk://nobody-chunk-001", "no chunk has the id 'nobody-chunk-001'"),
        ("chunk://menu-chunk-001?start_index=1", "there is no argument 'start_index'"),
        ("page://menu", "the argument 'page' is missing"),
        ("page://menu?page=0", "the argument 'page' is '0'"),
        ("page://menu?page=1", "was not indexed from a file, so that it has no pages to show"),
        ("page://nobody?page=1", "no document has the id 'nobody'"),
        ("index://fields/nobody", "no document has a field 'nobody' with terms"),
        ("index://languages/xx", "the languages are"),
        ("index://stats/more", "a URI has one of the forms document://{id}"),
        ("index://stats?count=1", "there is no argument 'count'"),
        ("file:///etc/hostname", "a URI has one of the forms document://{id}"),
        ("menu", "a URI has one of the forms document://{id}"),
        ("", "a URI has one of the forms document://{id}"),
    ],
)
async def test_a_mistake_is_an_error_of_the_protocol(
    client: Client, uri: str, message: str
) -> None:
    with pytest.raises(MCPError, match=re.escape(message)) as raised:
        await client.read_resource(uri)
    assert raised.value.error.code == INVALID_PARAMS
    assert uri.startswith(raised.value.error.data["uri"].removesuffix("…"))
    assert len(raised.value.error.model_dump_json()) < 5_000
    assert (await read(client, "document://menu")).text.startswith("Café")


async def test_chunks_lead_to_their_neighbours(client: Client) -> None:
    uri, seen = "chunk://long-chunk-001", 0
    while True:
        contents = await read(client, uri)
        assert contents.meta is not None
        assert contents.text.split() == WORDS[seen * 210 : seen * 210 + 250]
        assert contents.meta.get("previous") == (f"chunk://long-chunk-{seen:03d}" if seen else None)
        seen += 1
        if "next" not in contents.meta:
            break
        uri = contents.meta["next"]
    assert seen == contents.meta["total_chunks"] == 43
    assert {**contents.meta, "char_start": 0, "char_end": 0} == {
        "id": "long-chunk-043",
        "title": "The long one - Part 43",
        "source_document": "long",
        "chunk_index": 43,
        "metadata": {"author": "Ann", "language": "en", "modified": "2026-11-22T09:12:05Z"},
        "line_start": 1,
        "line_end": 1,
        "char_start": 0,
        "char_end": 0,
        "total_chunks": 43,
        "document": "document://long",
        "previous": "chunk://long-chunk-042",
    }


async def test_what_is_told_of_the_index_is_what_the_tools_tell(client: Client) -> None:
    async def parsed(uri: str) -> Any:
        contents = await read(client, uri)
        assert contents.mime_type == "application/json"
        return json.loads(contents.text)

    assert await parsed("index://stats") == await told(client, "index_stats")
    assert await parsed("index://fields/author") == await told(client, "top_terms", field="author")
    assert await parsed("index://languages/fr") == {
        "language": "fr",
        "total_documents": 1,
        "documents": [{"source_document": "menu", "uri": "document://menu"}],
        "notice": None,
    }

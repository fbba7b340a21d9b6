"""The list of resources and templates, and completion of their variables and of arguments."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp import Client, MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    Completion,
    PromptReference,
    ResourceTemplateReference,
)

from shared import Document, Index
from tests.conftest import Connect, Idx, add_documents, connected
from tests.idx.preparation import index_files
from tests.server.resource_answers import listed, read

pytestmark = pytest.mark.soak


async def test_a_file_is_described_by_its_path(idx: Idx, connect: Connect) -> None:
    (idx.folder / "docs").mkdir()
    (idx.folder / "docs" / "note.txt").write_text("some text\n" * 3)
    index_files(idx.index, "docs")
    async with connect() as client:
        document = (await client.list_resources()).resources[1]
        assert document.description == f"{idx.folder}/docs/note.txt, 1 chunk"
        assert document.annotations is not None
        assert document.annotations.last_modified is not None
        contents = await read(client, document.uri)
        assert contents.meta is not None
        assert contents.meta["file_path"] == f"{idx.folder}/docs/note.txt"


async def test_pages_miss_and_repeat_nothing_while_documents_come_and_go(
    empty_index: Path, connect: Connect
) -> None:
    add_documents(empty_index, *(Document(f"{number:03d}", "T", "text") for number in range(250)))
    async with connect() as client:
        page = await client.list_resources()
        assert [resource.name for resource in page.resources] == [
            "stats",
            *(f"{number:03d}" for number in range(100)),
        ]
        with Index(empty_index) as index:
            index.delete_documents(["000", "050", "099", "100"])
            index.add(Document("0000", "New", "before the next page"))
            index.add(Document("150a", "New", "on the next page"))
        page = await client.list_resources(cursor=page.next_cursor)
        names = [resource.name for resource in page.resources]
        assert names == [*(f"{number:03d}" for number in range(101, 151)), "150a", *names[51:]]
        assert names[-1] == "199"
        page = await client.list_resources(cursor=page.next_cursor)
        assert [resource.name for resource in page.resources] == [
            f"{number:03d}" for number in range(200, 250)
        ]
        assert page.next_cursor is None


async def test_a_page_is_brief_however_long_ids_and_titles_are(
    empty_index: Path, connect: Connect
) -> None:
    names = [f"{number}{'ü' * 2_000}" for number in range(9)]
    add_documents(empty_index, *(Document(name, "T" * 5_000, "text") for name in names))
    async with connect() as client:
        assert len((await client.list_resources()).resources) < len(names) / 2
        assert [resource.name for resource in await listed(client)] == ["stats", *names]


async def test_a_cursor_that_is_none_is_refused(empty_index: Path, connect: Connect) -> None:
    async with connect() as client:
        for cursor in ("", "x", "%", "////", "_w==", "é"):
            with pytest.raises(MCPError, match="is not a cursor of this list") as raised:
                await client.list_resources(cursor=cursor)
            assert raised.value.error.code == INVALID_PARAMS


async def test_the_templates(empty_index: Path, connect: Connect) -> None:
    async with connect() as client:
        templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == [
        "document://{id}",
        "document://{id}{?start_index,count,max_characters}",
        "chunk://{id}",
        "page://{id}{?page,query}",
        "index://fields/{field}",
        "index://languages/{language}",
    ]
    for template in templates:
        assert template.name
        assert template.title
        assert template.description
        assert template.mime_type in {"text/plain", "application/json", "image/png"}


async def test_resources_of_an_index_that_comes_and_goes(idx: Idx, connect: Connect) -> None:
    async with connect() as client:
        for _ in range(2):
            for request in (client.list_resources(), client.read_resource("document://a")):
                with pytest.raises(MCPError, match="there is no index at") as raised:
                    await request
                assert raised.value.error.code == INTERNAL_ERROR
            idx("init")
            idx("add", "-d", "a", "-t", "A", "-c", "text")
            assert (await read(client, "document://a")).text == "text"
            idx.index.rename(idx.index.with_name(f"moved {_}"))


async def test_clients_of_the_older_protocol_read_and_list(
    empty_index: Path, connect: Connect
) -> None:
    add_documents(empty_index, Document("a b", "A", "text"))
    async with connect(mode="legacy") as client:
        assert [resource.uri for resource in await listed(client)] == [
            "index://stats",
            "document://a%20b",
        ]
        assert (await read(client, "document://a%20b")).text == "text"
        with pytest.raises(MCPError, match="no document has the id 'b'") as raised:
            await client.read_resource("document://b")
        assert raised.value.error.code == INVALID_PARAMS


async def test_a_language_of_many_documents_says_what_was_left_out(
    empty_index: Path, connect: Connect
) -> None:
    with Index(empty_index) as index:
        for number in range(120):
            index.add(Document(f"{number:03d}", "T", "text", {"language": "en"}))
    async with connect() as client:
        told = json.loads((await read(client, "index://languages/en")).text)
        assert told["total_documents"] == 120
        assert len(told["documents"]) == 100
        assert told["notice"].startswith("20 more documents not listed here")
        with Index(empty_index) as index:
            for number in range(20):
                index.add(Document(f"long {number}{'ü' * 1_000}", "T", "text", {"language": "fr"}))
        told = json.loads((await read(client, "index://languages/fr")).text)
        assert 2 < len(told["documents"]) < 10
        assert told["total_documents"] == 20


DOCUMENT, CHUNK = "document://{id}", "chunk://{id}"
PART = "document://{id}{?start_index,count,max_characters}"
PAGE = "page://{id}{?page,query}"
FIELD, LANGUAGE = "index://fields/{field}", "index://languages/{language}"


@pytest.fixture(scope="module", params=["auto", "legacy"])
async def client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Client]:
    path = tmp_path_factory.mktemp("completion") / "lucene-index"
    with Index(path, create=True) as index:
        for number in range(250):
            index.add(Document(f"report {number:03d}", "R", "text", {"language": "en"}))
        for name in ("../a b?.txt", "Übersicht", "übersicht"):
            index.add(Document(name, "T", "text", {"language": "de", "Author": "Ann"}))
        for number in range(20):
            index.add(Document(f"long {number}{'x' * 5_000}", "L", "text"))
        index.add(Document("gone", "G", "text"))
    with Index(path) as index:
        index.delete("gone")
    async with connected(path, mode=request.param) as client:
        yield client


async def complete(client: Client, template: str, name: str, typed: str) -> Completion:
    reference = ResourceTemplateReference(type="ref/resource", uri=template)
    result = await client.complete(reference, {"name": name, "value": typed})
    assert len(result.model_dump_json(by_alias=True)) < 40_000
    return result.completion


async def complete_argument(client: Client, prompt: str, name: str, typed: str) -> Completion:
    reference = PromptReference(type="ref/prompt", name=prompt)
    return (await client.complete(reference, {"name": name, "value": typed})).completion


@pytest.mark.parametrize("template", [DOCUMENT, PART, PAGE])
async def test_ids_of_documents_are_completed(client: Client, template: str) -> None:
    found = await complete(client, template, "id", "report 24")
    assert found.values == [f"report {number}" for number in range(240, 250)]
    assert (found.total, found.has_more) == (10, False)
    found = await complete(client, template, "id", "rep")
    assert found.values == [f"report {number:03d}" for number in range(100)]
    assert (found.total, found.has_more) == (250, True)
    # As they are, not as a URI spells them.
    assert (await complete(client, template, "id", "../")).values == ["../a b?.txt"]
    assert (await complete(client, template, "id", "Ü")).values == ["Übersicht"]
    for nothing in ("gone", "*", "x" * 10_000):
        assert (await complete(client, template, "id", nothing)).values == []


async def test_ids_that_fill_an_answer_are_told_as_far_as_they_fit(client: Client) -> None:
    found = await complete(client, DOCUMENT, "id", "long")
    assert 1 < len(found.values) < 8
    assert (found.total, found.has_more) == (20, True)


async def test_ids_of_chunks_are_completed(client: Client) -> None:
    found = await complete(client, CHUNK, "id", "report 00")
    assert found.values == [f"report {number:03d}-chunk-001" for number in range(10)]
    assert (found.total, found.has_more) == (10, False)


async def test_names_of_fields_are_completed(client: Client) -> None:
    found = await complete(client, FIELD, "field", "a")
    assert found.values == ["Author"]
    everything = await complete(client, FIELD, "field", "")
    assert {"Author", "language", "content", "title"} <= set(everything.values)
    assert everything.total == len(everything.values)


async def test_languages_are_completed(client: Client) -> None:
    found = await complete(client, LANGUAGE, "language", "")
    assert set(found.values) >= {"en", "de"}
    # That of most documents comes first.
    assert found.values[0] == "en"
    assert (await complete(client, LANGUAGE, "language", "D")).values == ["de"]
    argument = await complete_argument(client, "answer_from_documents", "language", "d")
    assert argument.values == ["de"]


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("summarize_document", "document_id"),
        ("compare_documents", "first_document_id"),
        ("compare_documents", "second_document_id"),
    ],
)
async def test_ids_are_completed_in_prompts(client: Client, prompt: str, name: str) -> None:
    found = await complete_argument(client, prompt, name, "report 01")
    assert found.values == [f"report {number:03d}" for number in range(10, 20)]


async def test_what_nothing_completes_is_no_mistake(client: Client) -> None:
    assert (await complete(client, PART, "start_index", "1")).values == []
    assert (await complete_argument(client, "answer_from_documents", "question", "W")).values == []


async def test_what_does_not_exist_is_told(client: Client) -> None:
    with pytest.raises(MCPError, match=r"there is no template 'file://\{path\}'") as raised:
        await complete(client, "file://{path}", "path", "")
    assert raised.value.error.code == INVALID_PARAMS
    with pytest.raises(MCPError, match="there is no variable or argument 'name'; there are id"):
        await complete(client, DOCUMENT, "name", "")
    with pytest.raises(MCPError, match="there is no prompt 'nobody'; there are answer_from_doc"):
        await complete_argument(client, "nobody", "id", "")

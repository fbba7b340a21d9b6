"""Completion of the variables of templates and the arguments of prompts, by the real server."""

from collections.abc import AsyncIterator

import pytest
from mcp import Client, MCPError
from mcp.types import INVALID_PARAMS, Completion, PromptReference, ResourceTemplateReference

from shared import Document, Index
from tests.conftest import connected

pytestmark = [pytest.mark.soak, pytest.mark.anyio]

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

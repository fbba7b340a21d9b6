"""`mcp-lucene --normalize`: a language model rewrites what clients search for."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.configured import write
from tests.conftest import Connect
from tests.idx.test_normalize import KEY, QUERY, REWRITTEN, write_documents
from tests.model_server import ModelServer, is_silent, says, serving
from tests.programs import PROGRAMS, run
from tests.server.tool_answers import answer, told

pytestmark = pytest.mark.soak


@pytest.fixture(autouse=True)
def _documents(empty_index: Path) -> None:
    write_documents(empty_index)


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with serving(says(REWRITTEN)) as server:
        yield server


def normalizing(
    connect: Connect, model: ModelServer, timeout: float = 20.0
) -> AbstractAsyncContextManager[Client]:
    return connect(
        "--normalize",
        IDX_NORMALIZER_MODEL="small",
        IDX_NORMALIZER_URL=model.url,
        IDX_NORMALIZER_TIMEOUT=str(timeout),
        IDX_NORMALIZER_API_KEY=KEY,
    )


async def search(client: Client, **arguments: Any) -> dict[str, Any]:
    return await told(client, "Search", query=QUERY, **arguments)


async def test_a_question_finds_what_is_written_in_english(
    connect: Connect, model: ModelServer
) -> None:
    async with normalizing(connect, model) as client:
        found = await search(client)
        explained = await client.call_tool("explain_query", {"query": QUERY, "detail": "steps"})
    assert {hit["source_document"] for hit in found["results"]} == {"english", "german"}
    assert (found["query"], found["rewritten"]) == (QUERY, REWRITTEN)
    assert "diagnostics" not in found
    assert {"step": "rewritten", "query": REWRITTEN} in answer(explained)["steps"]
    assert model.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_without_the_option_no_model_is_asked(connect: Connect, model: ModelServer) -> None:
    variables = {"IDX_NORMALIZER_MODEL": "small", "IDX_NORMALIZER_URL": model.url}
    async with connect(**variables) as client:
        found = await search(client)
    assert {"rewritten", "diagnostics"}.isdisjoint(found)
    assert model.requests == []


async def test_it_can_be_switched_on_in_the_configuration(
    connect: Connect, model: ModelServer
) -> None:
    write(f"normalize = true\nnormalizer_model = 'm'\nnormalizer_url = '{model.url}'")
    async with connect() as client:
        assert (await search(client))["rewritten"] == REWRITTEN
    async with connect("--no-normalize") as client:
        assert "rewritten" not in await search(client)


async def test_who_waits_for_a_model_keeps_nobody_else_waiting(connect: Connect) -> None:
    with serving(is_silent) as server:
        async with normalizing(connect, server, 30) as client:
            waiting = [asyncio.create_task(search(client)) for _ in range(20)]
            while len(server.requests) < len(waiting):
                await asyncio.sleep(0.05)
            found = await told(client, "ListDocuments")
            assert found["total_documents"] == 2
            assert not any(task.done() for task in waiting)
            # The model's server ends, and with it the waiting.
            server.stopped.set()
            for task in waiting:
                assert (await task)["diagnostics"]


@pytest.mark.parametrize("missing", ["model", "extra"])
async def test_what_is_missing_is_said_at_the_start_and_in_the_answers(
    connect: Connect,
    tmp_path: Path,
    empty_index: Path,
    monkeypatch: pytest.MonkeyPatch,
    missing: str,
) -> None:
    if missing == "extra":
        (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['openai'] = None\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
        monkeypatch.setitem(sys.modules, "openai", None)
        monkeypatch.setenv("IDX_NORMALIZER_MODEL", "small")
    variables = {name: value for name, value in os.environ.items() if "NORMALIZER" in name}
    async with connect("--normalize", **variables) as client:
        (diagnostic,) = (await search(client))["diagnostics"]
    reason = diagnostic.removeprefix("The query was not rewritten: ").removesuffix(".")
    done = run(PROGRAMS / "mcp-lucene", empty_index, "--normalize")
    # A client's model is told whom to ask.
    assert done.stderr == f"Warning: {reason.replace('ask the user to ', '')}\n"
    assert ("[normalizer]" if missing == "extra" else "IDX_NORMALIZER_MODEL") in reason


def test_a_wrong_setting_ends_the_start(empty_index: Path) -> None:
    file = write(f"normalizer_url = 'http://me:{KEY}@localhost/v1'")
    done = run(PROGRAMS / "mcp-lucene", empty_index, "--normalize", check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: {file}: normalizer_url: ")
    assert KEY not in done.stderr


async def test_a_long_query_and_its_rewriting_leave_room_for_results(connect: Connect) -> None:
    with serving(says("notice " * 50)) as server:
        async with normalizing(connect, server) as client:
            query = "Kündigungsfrist " * 60
            found = await told(client, "Search", query=query, max_characters=2_000)
    assert found["rewritten"].startswith("notice notice")
    assert len(str(found)) < 2_500

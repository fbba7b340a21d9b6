"""What clients are known to choke on is not in the tools."""

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.types import Tool

from shared import create
from tests.conftest import connected

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def tools(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[list[Tool]]:
    path: Path = tmp_path_factory.mktemp("schemas") / "index"
    create(path)
    async with connected(path, "--admin", "--root", str(path)) as client:
        yield (await client.list_tools()).tools


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object in a schema, itself first."""
    match schema:
        case dict():
            yield schema
            for part in schema.values():
                yield from parts(part)
        case list():
            for part in schema:
                yield from parts(part)


async def test_names_and_descriptions_fit_every_client(tools: list[Tool]) -> None:
    for tool in tools:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name)
        assert tool.title
        assert tool.description
        assert len(tool.description) < 2_000
        assert "Use this" in tool.description or "Read" in tool.description


async def test_the_root_of_every_schema_is_an_object(tools: list[Tool]) -> None:
    for tool in tools:
        assert tool.output_schema is not None
        for schema in (tool.input_schema, tool.output_schema):
            assert schema["type"] == "object"
            assert not {"oneOf", "anyOf", "allOf", "enum", "not"} & schema.keys()


async def test_no_list_of_values_holds_null(tools: list[Tool]) -> None:
    for tool in tools:
        for part in parts(tool.input_schema):
            assert None not in part.get("enum", [])
            if "enum" in part:
                assert "null" not in part.get("type", "")


async def test_every_reference_leads_somewhere(tools: list[Tool]) -> None:
    for tool in tools:
        for schema in (tool.input_schema, tool.output_schema or {}):
            defined = {f"#/$defs/{name}" for name in schema.get("$defs", {})}
            used = {part["$ref"] for part in parts(schema) if "$ref" in part}
            assert used <= defined


async def test_numbers_have_bounds_and_unknown_arguments_are_refused(tools: list[Tool]) -> None:
    for tool in tools:
        assert tool.input_schema["additionalProperties"] is False
        for name, argument in tool.input_schema["properties"].items():
            assert argument["description"], name
            if argument.get("type") in ("integer", "number"):
                assert {"minimum", "maximum"} <= argument.keys(), name


async def test_every_tool_says_whether_it_only_reads(tools: list[Tool]) -> None:
    changing = {}
    for tool in tools:
        assert tool.annotations is not None
        assert tool.annotations.idempotent_hint is True
        assert tool.annotations.open_world_hint is False
        if tool.annotations.read_only_hint:
            assert tool.annotations.destructive_hint is False
        else:
            changing[tool.name] = tool.annotations.destructive_hint
    assert changing == {
        "start_crawl": True,
        "pause_crawl": False,
        "resume_crawl": True,
        "stop_crawl": True,
        "add_directory": False,
        "remove_directory": True,
        "optimize_index": False,
        "purge_index": True,
        "unlock_index": True,
    }

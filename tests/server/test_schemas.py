"""What clients are known to choke on is not in the tools."""

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.types import Tool

from tests.conftest import NewIndex, connected


@pytest.fixture(scope="module")
async def tools(new_index: NewIndex) -> AsyncIterator[list[Tool]]:
    path = new_index()
    async with connected(path, "--admin", "--root", str(path)) as client:
        yield (await client.list_tools()).tools


@pytest.mark.parametrize(
    ("options", "mode", "most"),
    [
        ((), "auto", 20_000),
        ((), "legacy", 20_000),
        (("--fence",), "auto", 21_500),
        (("--admin", "--root", "."), "auto", 34_500),
    ],
)
async def test_the_list_of_tools_is_short(
    empty_index: Path, options: tuple[str, ...], mode: str, most: int
) -> None:
    async with connected(empty_index, *options, mode=mode) as client:
        listed = await client.list_tools()
    assert len(listed.tools) >= 12
    assert len(listed.model_dump_json(by_alias=True, exclude_none=True).encode()) < most


async def test_names_and_descriptions_fit_every_client(tools: list[Tool]) -> None:
    for tool in tools:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name)
        assert tool.title
        assert tool.description
        assert 100 < len(tool.description) < 2_000
        assert "Use this" in tool.description or "Read" in tool.description


async def test_the_root_of_every_schema_is_an_object(tools: list[Tool]) -> None:
    for tool in tools:
        assert tool.output_schema is not None
        for schema in (tool.input_schema, tool.output_schema):
            assert schema["type"] == "object"
            assert not {"oneOf", "anyOf", "allOf", "enum", "not"} & schema.keys()


COMMON_WORDS = {
    *("type", "properties", "required", "additionalProperties", "items", "enum", "description"),
    *("default", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "anyOf"),
}
"""Words of JSON Schema that Claude, OpenAI, Gemini and the libraries between take."""


def schemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every schema in a schema, itself first; a property may have the name of a word."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    inner += [schema[word] for word in ("items", "additionalProperties") if schema.get(word)]
    for each in inner:
        yield from schemas(each)


async def test_schemas_have_only_words_that_all_clients_take(tools: list[Tool]) -> None:
    for tool in tools:
        for schema in (tool.input_schema, tool.output_schema or {}):
            for part in schemas(schema):
                assert part.keys() <= COMMON_WORDS, tool.name
                # Gemini takes a union only if nothing else is said.
                assert "anyOf" not in part or part.keys() == {"anyOf"}, tool.name
                assert "type" in part or "anyOf" in part, tool.name
        # What a result has is described to people in docs/tools.md.
        assert not any("description" in part for part in schemas(tool.output_schema or {}))
        for part in schemas(tool.input_schema):
            # Models take one type, and values in a list only as texts.
            assert isinstance(part.get("type", ""), str)
            assert all(isinstance(value, str) for value in part.get("enum", ()))


async def test_an_optional_part_of_a_filter_keeps_its_types(tools: list[Tool]) -> None:
    by_name = {tool.name: tool for tool in tools}
    condition = by_name["Search"].input_schema["properties"]["filters"]["items"]
    assert condition["required"] == ["field"]
    assert [part["type"] for part in condition["properties"]["value"]["anyOf"]] == [
        "string",
        "number",
        "boolean",
        "array",
    ]


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
        assert tool.annotations.open_world_hint is False
        if tool.annotations.read_only_hint:
            assert tool.annotations.destructive_hint is False
        else:
            assert tool.annotations.idempotent_hint is True
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

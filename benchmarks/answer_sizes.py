"""How long the answers of the tools are: usual ones, and the longest that documents can cause.

The real server is asked by the SDK's client, on an index of the sample documents and on one that is
as long in every place as documents may be, each without and with ``--fence``. It writes the table
of docs/measured/answer-sizes.md. The figures are numbers of characters, which are the same on every
machine but for the length of paths.
"""

import asyncio
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import TextContent

from benchmarks.longest_answers import IDX, WORST, Call, write_hostile_index
from benchmarks.page import write_figures
from server.answers.text import DEFAULT_CHARACTERS

ROOT: Final = Path(__file__).parents[1]

MANUAL: Final = "otterline-wl4-manual.pdf"

USUAL: Final[tuple[Call, ...]] = (
    ("Search", {"query": "battery warranty"}),
    ("Search", {"query": "the level of the water in the river"}),
    ("Search", {"query": "battery warranty", "content": "full"}),
    ("Search", {"query": "battery warranty", "content": "passages"}),
    ("Search", {"query": "battery warranty", "content": "none"}),
    ("explain_query", {"query": "battery warranty"}),
    ("explain_query", {"query": "battery warranty", "detail": "scores"}),
    ("ListDocuments", {}),
    ("ListDocuments", {"detail": "full"}),
    ("document_details", {"source_document_id": MANUAL}),
    ("suggest_terms", {"prefix": "batt"}),
    ("top_terms", {"min_length": 6}),
    ("list_fields", {}),
    ("list_fields", {"detail": "full"}),
    ("index_stats", {}),
    ("list_failures", {}),
    ("get_next_chunk", {"chunk_id": f"{MANUAL}-chunk-001"}),
    ("get_previous_chunk", {"chunk_id": f"{MANUAL}-chunk-002"}),
    ("get_document_chunks", {"source_document_id": MANUAL}),
)
"""What a model asks for."""


def main() -> None:
    """Measure, print the table, and write it into the page."""
    with tempfile.TemporaryDirectory() as folder:
        samples, hostile = Path(folder) / "samples", Path(folder) / "hostile"
        for arguments in (["init"], ["sync", ROOT / "test-index" / "documents"]):
            subprocess.run([IDX, *arguments, "-i", samples], check=True, capture_output=True)
        write_hostile_index(hostile, Path(folder) / "files")
        usual = [asyncio.run(lengths(samples, USUAL, *options)) for options in ((), ("--fence",))]
        listed = [asyncio.run(length_of_tools(samples, *options)) for options in ((), ("--fence",))]
        worst = [asyncio.run(lengths(hostile, WORST, *options)) for options in ((), ("--fence",))]
    longest = [longest_of(each) for each in worst]
    lines = [
        "| tool | asked for | usual | with fences | longest | with fences |",
        "|---|---|---:|---:|---:|---:|",
        f"| (list of tools) |  | {' | '.join(f'{each:,}' for each in listed)} |  |  |",
    ]
    for (tool, arguments), plain, fenced in zip(USUAL, *usual, strict=True):
        shown = ", ".join(f"{name}={value}" for name, value in arguments.items())
        # In the first row of the tool only.
        most = [each.pop(tool, None) for each in longest]
        cells = " | ".join(f"{n:,}" if n else "" for n in (plain, fenced, *most))
        lines.append(f"| `{tool}` | {shown} | {cells} |")
    print("\n".join(lines))
    write_figures("answer-sizes.md", lines)


def longest_of(lengths: list[int]) -> dict[str, int]:
    """The longest answer of each tool to the worst calls."""
    longest: dict[str, int] = {}
    for (tool, _), characters in zip(WORST, lengths, strict=True):
        longest[tool] = max(characters, longest.get(tool, 0))
    return longest


async def lengths(index: Path, calls: tuple[Call, ...], *options: str) -> list[int]:
    """Characters of the answer to each call, of a server with these options."""
    async with Client(stdio_client(server(index, *options))) as client:
        return [await length(client, call) for call in calls]


async def length_of_tools(index: Path, *options: str) -> int:
    """Characters of the list of tools, of a server with these options."""
    async with Client(stdio_client(server(index, *options))) as client:
        tools = await client.list_tools()
    return len(tools.model_dump_json(by_alias=True, exclude_none=True))


def server(index: Path, *options: str) -> StdioServerParameters:
    """The server on an index, with these options."""
    return StdioServerParameters(
        command=str(IDX.with_name("mcp-lucene")), args=[str(index), *options], env=dict(os.environ)
    )


async def length(client: Client, call: Call) -> int:
    """Characters of the answer to a call.

    Raises:
        RuntimeError: it is longer than it may be.
    """
    result = await client.call_tool(*call)
    characters = sum(len(part.text) for part in result.content if isinstance(part, TextContent))
    if characters >= DEFAULT_CHARACTERS:
        raise RuntimeError(f"{call[0]} answered with {characters:,} characters")
    return characters


if __name__ == "__main__":
    main()

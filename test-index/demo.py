"""Index the sample documents, start the real server, ask it through a real MCP client.

``make demo`` runs this. It drives the two programs as a user and an assistant would: `idx` on
the command line, `mcp-lucene` over stdio.
"""

import asyncio
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult

from idx.extraction.programs import find_libreoffice, find_tesseract

HERE = Path(__file__).parent
INDEX = HERE / "index"
PROGRAMS = Path(sys.executable).parent
QUESTIONS = ("error code meaning E17", "Kaution Werkstatt", "DEC-0054 battery")
WITHIN = (
    "litres per hour of the solar pump",
    "spare key of the boathouse",
    "shelf of the float switch",
)
"""Questions answered by an attachment, a file in an archive, and an old workbook."""
SCANNED = "mooring fee of the sloop Marigold"
"""A question answered by a scan, where Tesseract is installed."""
OLD = "loose stones of the quay wall"
"""A question answered by a document of Word 97, where LibreOffice is installed."""
IN_ANOTHER_LANGUAGE = "Quand peut-on quitter le logement ?"
"""A question that the lease of a flat answers in English."""


def index_samples() -> None:
    """Build the sample index from nothing."""
    shutil.rmtree(INDEX, ignore_errors=True)
    for command in (
        ("add", HERE / "documents"),
        ("sync", HERE / "more", *(() if find_tesseract() else ("--exclude", "*-scan.pdf"))),
    ):
        subprocess.run(
            [PROGRAMS / "idx", *command, "--index-path", INDEX],
            # The samples are not to be among the indexes that the user used lately.
            env={**os.environ, "XDG_DATA_HOME": os.devnull},
            check=True,
        )


async def ask() -> None:
    """Start the server as a process of its own, and print what it answers."""
    server = StdioServerParameters(command=str(PROGRAMS / "mcp-lucene"), args=[str(INDEX)])
    async with Client(stdio_client(server)) as client:
        for question in QUESTIONS:
            result = await client.call_tool(
                "Search", {"query": question, "limit": 3, "content": "full"}
            )
            show(question, result)
        best = (result.structured_content or {})["results"][0]
        following = await client.call_tool("get_next_chunk", {"chunk_id": best["id"]})
        chunk = (following.structured_content or {})["chunk"]
        print(f"\nThe chunk after {best['id']}: {chunk['id']}\n  {excerpt(chunk['content'])}")
        scanned, old = [SCANNED] * bool(find_tesseract()), [OLD] * bool(find_libreoffice())
        for question in (*WITHIN, *scanned, *old):
            result = await client.call_tool("Search", {"query": question, "limit": 1})
            show(question, result)
        for way, meant in (("words", "words only"), ("both", "words and meaning")):
            asked = {"query": IN_ANOTHER_LANGUAGE, "limit": 1, "search": way}
            result = await client.call_tool("Search", asked)
            print(f"\nBy {meant}:", end="")
            show(IN_ANOTHER_LANGUAGE, result, characters=400)


def show(question: str, result: CallToolResult, characters: int = 110) -> None:
    """Print the scored chunks of an answer."""
    if result.is_error or result.structured_content is None:
        sys.exit(f"The server answered with an error: {result.content}")
    answer = result.structured_content
    print(f"\nSearch({question!r}): {answer['totalHits']} chunks match")
    for hit in answer["results"]:
        found = excerpt(hit["content"] or hit["passages"][0], characters)
        mark = "  by meaning" if hit.get("matched") == "meaning" else ""
        print(f"  {hit['score']:.3f}  {hit['id']}{mark}\n         {found}")


def excerpt(text: str, characters: int = 110) -> str:
    """The beginning of a text on one line."""
    return textwrap.shorten(text, characters, placeholder="…")


if __name__ == "__main__":
    index_samples()
    asyncio.run(ask())

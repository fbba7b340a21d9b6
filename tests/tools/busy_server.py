"""A real server by stdio, and questions of every kind that it is asked."""

import random
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.programs import PROGRAMS
from tests.tools.stdio_server import stdio_server

AT_ONCE: Final = 8  # questions that wait for their answers at the same time
Question = tuple[str, dict[str, Any]]  # the name of a tool and its arguments

Ask = Callable[[list[Question]], None]
"""Asks the server at once, and waits for all answers; an unforeseen one raises a RuntimeError."""

_LASTING: Final = "lasting-{}"  # ids of documents that nobody changes


@contextmanager
def busy_server(index: Path, **variables: str) -> Iterator[tuple[int, Ask]]:
    """Run the server within a block; yields its process id, and what asks it."""
    command = (PROGRAMS / "mcp-lucene", index)
    with stdio_server(command, variables, stderr=subprocess.DEVNULL) as server:
        server.initialize()

        def ask(questions: list[Question]) -> None:
            waiting = {
                server.send("tools/call", name=tool, arguments=arguments): (tool, arguments)
                for tool, arguments in questions
            }
            while waiting:
                answer = server.receive()
                if "id" in answer:
                    _check(waiting.pop(answer["id"]), answer)

        yield server.process.pid, ask
        server.process.stdin.close()


def questions(texts: list[str], documents: int) -> Iterator[Question]:
    """Questions without end, of all kinds in turns."""
    generator = random.Random(2)  # noqa: S311 - reproducible, not secret
    while True:
        words = generator.choice(texts).split()
        begin = generator.randrange(len(words) - 3)
        first, second, third = (word.strip('.,;:"()') for word in words[begin : begin + 3])
        lasting = _LASTING.format(generator.randrange(documents))
        year = generator.randrange(2000, 2025)
        yield "Search", {"query": f"{first} {second}"}
        yield "Search", {"query": f'"{first} {second} {third}"', "content": "passages"}
        yield "Search", {"query": f"{first[:3]}* OR {second[:4]}?*", "limit": 20}
        yield "Search", {"query": f"{first[1:]} {second[:-1]}x {third[::-1]}"}
        yield "Search", {"query": f"{first}~1 AND NOT {second}", "operator": "and"}
        yield (
            "Search",
            {
                "query": f"{first} {second} {third}",
                "filters": [
                    {"field": "year", "operator": "range", "minimum": year},
                    {"field": "source_document", "operator": "prefix", "value": "lasting-"},
                ],
                "content": "none",
            },
        )
        yield "Search", {"query": first, "facets": ["year", "kind"], "sort": "-year"}
        yield "Search", {"query": "", "offset": generator.randrange(100)}
        yield "Search", {"query": f"({first}"}
        yield "get_next_chunk", {"chunk_id": f"{lasting}-chunk-001"}
        yield "get_previous_chunk", {"chunk_id": f"{lasting}-chunk-002"}
        yield "get_document_chunks", {"source_document_id": lasting}


def _check(question: Question, answer: dict[str, Any]) -> None:
    result = answer.get("result", {"isError": True, "content": answer})
    if result.get("isError") and not question[1].get("query", "").startswith("("):
        raise RuntimeError(f"{question}: {result['content']}")

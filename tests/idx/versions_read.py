"""Readers of versions: a server, a process with a searcher, and a run of `idx` for each search.

Each is driven by a thread of the test, and looks for mistakes: errors, stale and torn answers.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from tests.idx.versions_written import Writer
from tests.programs import PROGRAMS, Started, run
from tests.server.raw_client import RawClient
from tests.tools.versions import QUERY, mistake

Search = Callable[[str], dict[str, Any]]
"""What the documents are whose ids begin so: the answer to a search for the stamp."""

_SEARCHER: Final = """
import json, sys
from shared import Filter, Searcher
from shared.model.search_results import plain
with Searcher(sys.argv[1], program="server") as searcher:
    for line in sys.stdin:
        of = Filter("source_document", "prefix", line.rstrip("\\n"))
        print(json.dumps(plain(searcher.search(sys.argv[2], limit=20, filters=[of]))), flush=True)
"""


class Reader:
    """Searches for the documents of writers in turns."""

    def __init__(self, name: str, search: Search) -> None:
        self.checked = 0
        self.mistakes: list[str] = []
        self._name = name
        self._search = search
        self._seen: dict[str, int] = {}

    def read(self, writer: Writer) -> None:
        """Search once, for what is not older than the last commit, nor than what was seen."""
        least = max(writer.committed, self._seen.get(writer.prefix, 0))
        try:
            answer = self._search(writer.prefix)
        except (AssertionError, ValueError, OSError) as error:
            self.mistakes.append(f"{self._name}: {error}")
            return
        self.checked += 1
        if found := mistake(answer, least):
            self.mistakes.append(f"{self._name}: {found}")
        else:
            self._seen[writer.prefix] = int(answer["results"][0]["title"].split()[1])


@contextmanager
def readers(index: Path) -> Iterator[list[Reader]]:
    """Eight of them, within a block."""
    with ExitStack() as opened:
        yield [
            *(Reader(f"server {n}", opened.enter_context(_server(index))) for n in range(3)),
            *(Reader(f"searcher {n}", opened.enter_context(_searcher(index))) for n in range(3)),
            *(Reader(f"idx {n}", _idx(index)) for n in range(2)),
        ]


@contextmanager
def _server(index: Path) -> Iterator[Search]:
    client = RawClient(index, stderr=subprocess.DEVNULL)
    with client.process:
        client.initialize()

        def search(prefix: str) -> dict[str, Any]:
            of = {"field": "source_document", "operator": "prefix", "value": prefix}
            arguments = QUERY | {"filters": [of]}
            result = client.request("tools/call", name="Search", arguments=arguments)["result"]
            assert not result["isError"], result["content"]
            answer: dict[str, Any] = result["structuredContent"]
            return answer

        yield search
        client.end()
    assert client.process.returncode == 0


@contextmanager
def _searcher(index: Path) -> Iterator[Search]:
    with Started(sys.executable, "-c", _SEARCHER, index, QUERY["query"]) as process:

        def search(prefix: str) -> dict[str, Any]:
            process.stdin.write(f"{prefix}\n")
            process.stdin.flush()
            answer: dict[str, Any] = json.loads(process.stdout.readline())
            return answer

        yield search
    assert process.returncode == 0


def _idx(index: Path) -> Search:
    def search(prefix: str) -> dict[str, Any]:
        options = ["--json", "--limit", "20", "--filter", f"source_document^={prefix}"]
        done = run(
            *(PROGRAMS / "idx", "search", QUERY["query"], *options, "-i", index),
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    return search

"""Where the time of a server's call goes: the SDK, this project's Python, and Lucene.

Run as a program it is the server, with a clock in it, which it prints to stderr at the end.
"""

import cProfile
import json
import pstats
import re
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any, Final
from unittest.mock import patch

from benchmarks.stdio_server import StdioServer

QUERY: Final = "words"
_ARGUMENTS: Final[dict[str, Any]] = {"limit": 1, "content": "none"}
_WARM_UP: Final = 300

_JAVA_METHOD: Final = re.compile(r"<method '\w+' of '[A-Z]\w*' objects>")
"""How the profiler names methods of Java's classes: they begin with a capital, Python's do not."""


@dataclass(frozen=True)
class Breakdown:
    """Medians of one call, in seconds.

    Attributes:
        whole: from the client's request to its answer, pipes included.
        ping: the same of a request that asks nothing.
        tool: what the tool took, with the SDK's reading of arguments and writing of the answer.
        search: what `Searcher.search` took.
        lucene_share: how much of the search passed within calls of Java, from 0 to 1.
    """

    whole: float
    ping: float
    tool: float
    search: float
    lucene_share: float


def measure(index: Path, calls: int) -> Breakdown:
    """Ask a server the same fast question again and again."""
    with Popen(
        [sys.executable, "-m", "benchmarks.server_call", index],
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
    ) as process:
        server = StdioServer(process)
        server.initialize()
        whole, ping = [], []
        for turn in range(_WARM_UP + calls):
            begin = time.perf_counter()
            server.search(QUERY, **_ARGUMENTS)
            middle = time.perf_counter()
            server.ask("ping")
            if turn >= _WARM_UP:
                whole.append(middle - begin)
                ping.append(time.perf_counter() - middle)
        _, told = process.communicate()
    inside = json.loads(told.splitlines()[-1])
    return Breakdown(
        statistics.median(whole),
        statistics.median(ping),
        statistics.median(inside["tool"][-calls:]),
        statistics.median(inside["search"][-calls:]),
        lucene_share(index, calls),
    )


def lucene_share(index: Path, searches: int) -> float:
    """The share of a search's time that passes within methods of Java objects.

    The profiler slows Python down and not Java, and does not see how Java objects are made: the
    share is rather more than this.
    """
    from shared import Searcher

    with Searcher(index) as searcher:
        for _ in range(_WARM_UP):
            searcher.search(QUERY, limit=1, content="none")
        profile = cProfile.Profile()
        profile.enable()
        for _ in range(searches):
            searcher.search(QUERY, limit=1, content="none")
        profile.disable()
    in_java = whole = 0.0
    for (file, _, name), (_, _, own, _, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]  # typeshed leaves it out
        whole += own
        if file == "~" and _JAVA_METHOD.match(name):
            in_java += own
    return in_java / whole


def main() -> None:
    """Serve, and print what each call took when the client is gone."""
    from server import search_server
    from shared.reading.searcher import Searcher

    times: dict[str, list[float]] = {"tool": [], "search": []}
    call_tool, search = search_server.SearchServer.call_tool, Searcher.search

    async def timed_call(self: Any, *arguments: Any) -> Any:
        begin = time.perf_counter()
        try:
            return await call_tool(self, *arguments)
        finally:
            times["tool"].append(time.perf_counter() - begin)

    def timed_search(self: Any, *arguments: Any, **options: Any) -> Any:
        begin = time.perf_counter()
        try:
            return search(self, *arguments, **options)
        finally:
            times["search"].append(time.perf_counter() - begin)

    from server.app import app

    with (
        patch.object(search_server.SearchServer, "call_tool", timed_call),
        patch.object(Searcher, "search", timed_search),
    ):
        try:
            app([sys.argv[1]])
        finally:
            print(json.dumps(times), file=sys.stderr)


if __name__ == "__main__":
    main()

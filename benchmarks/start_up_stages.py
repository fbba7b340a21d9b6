"""Where the time of one `idx search` goes, stage by stage.

Run as a program it does what `idx search` does, one thing after the other, in a process of its
own, and prints the seconds of each stage. So nothing is imported at first that a stage needs, too.
"""

import sys
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Final

_QUERY: Final = "words"


def stages(index: str, rounds: int) -> dict[str, float]:
    """Median seconds of each stage.

    Args:
        index: the index folder.
        rounds: how many processes are run.
    """
    import json
    import statistics
    import subprocess

    times: dict[str, list[float]] = {}
    interpreter: list[float] = []
    command = [sys.executable, "-m", "benchmarks.start_up_stages", index]
    for _ in range(rounds):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        interpreter.append(time.perf_counter() - begin)
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        for name, seconds in json.loads(done.stdout.splitlines()[-1]).items():
            times.setdefault(name, []).append(seconds)
    return {
        "the interpreter, from start to end": statistics.median(interpreter),
        **{name: statistics.median(seconds) for name, seconds in times.items()},
    }


def _run(index: str) -> Iterator[str]:
    """Do the stages; each is over when its name is told."""
    import typer.main

    yield "import of typer"
    from idx.app import app

    typer.main.get_group(app).commands["search"]
    yield "the commands of `idx`"
    import_module("lucene")

    yield "import of PyLucene"
    from shared.java import vm

    vm.start()
    yield "start of the Java virtual machine"
    import_module("idx.commands.search")
    from idx.output.results import print_hit
    from shared.reading.searcher import Searcher

    yield "import of what searches and prints"
    with Searcher(index) as searcher:
        searcher.documents(limit=1)
        yield "opening the index, Lucene's first classes"
        answer = searcher.search(_QUERY, content="passages")
        yield "the search, which loads the classes of queries"
        searcher.search(_QUERY, content="passages")
        yield "the same search again"
        for rank, hit in enumerate(answer.results, start=1):
            print_hit(rank, hit)
        yield "output"


def main() -> None:
    """Print the seconds of each stage as JSON, in the last line."""
    times = {}
    begin = time.perf_counter()
    for name in _run(sys.argv[1]):
        times[name] = time.perf_counter() - begin
        begin = time.perf_counter()
    import json

    print(json.dumps(times))


if __name__ == "__main__":
    main()

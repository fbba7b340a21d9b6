"""The ahead-of-time cache that makes Lucene start in a third of the time.

JDK 25 can write down which classes a run loaded, linked and profiled, and begin the next run with
them (JEP 483, JEP 514, JEP 515). ``python -m shared.aot_cache`` trains such a cache with one run
that does what `idx` and the server do, and leaves it in the Python environment. Without one
everything works, only slower.
"""

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

import lucene

from shared.errors import JavaStartError

TRAINING_SECONDS = 120
"""Longest time that training may take; it takes about five seconds."""


def path() -> Path:
    """Where the cache of this environment lies, whether it exists or not.

    The name holds a hash of what Lucene's jars are, so that a cache trained for others is never
    used; the virtual machine itself refuses one that another version of it wrote.
    """
    jars = sorted(Path(jar) for jar in lucene.CLASSPATH.split(":"))
    state = [(jar.name, jar.stat().st_size, jar.stat().st_mtime_ns) for jar in jars]
    key = hashlib.sha256(repr(state).encode()).hexdigest()[:16]
    return Path(sys.prefix) / "share" / "mcp-lucene" / f"lucene-{key}.aot"


def options() -> tuple[str, ...]:
    """The options of the virtual machine that use the cache; none where there is no cache."""
    cache = path()
    return (f"-XX:AOTCache={cache}",) if cache.is_file() else ()


def train() -> Path:
    """Train the cache for this environment, in place of older ones.

    Returns:
        Where it lies.

    Raises:
        JavaStartError: the training run failed, and the message holds what it said; or it took
            longer than `TRAINING_SECONDS`.
    """
    cache = path()
    cache.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache.parent) as folder:
        trained = Path(folder) / "lucene.aot"
        try:
            run = subprocess.run(
                [sys.executable, "-m", "shared.aot_cache", str(trained), folder],
                capture_output=True,
                text=True,
                timeout=TRAINING_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise JavaStartError(
                f"training the start-up cache took longer than {TRAINING_SECONDS} seconds"
            ) from error
        if run.returncode or not trained.is_file():
            raise JavaStartError(f"training the start-up cache failed: {run.stdout}{run.stderr}")
        for old in cache.parent.glob("lucene-*.aot"):
            old.unlink()
        trained.replace(cache)
    return cache


def _record(output: Path, folder: Path) -> None:
    """Do once what the programs do, and have the virtual machine write the cache at its end."""
    from shared import jvm

    jvm.start("batch", f"-XX:AOTCacheOutput={output}")
    # Lucene is imported by these modules; the machine has to run before they are used.
    from java.lang import System

    from shared.document import Document
    from shared.filters import Filter
    from shared.index import Index, create
    from shared.searcher import Searcher

    index_path = folder / "index"
    create(index_path)
    text = "Every café keeps a lease, an insurance policy and v2.3.1 of the manual. " * 100
    german = "Herr Müller zahlt die Miete für seine Häuser am dritten Tag des Monats. " * 5
    for turn in range(3):
        with Index(index_path) as index:
            for number in range(20):
                index.add(Document(f"{turn}-{number}", "Title", text, {"year": 2000 + number}))
                index.add(Document(f"{turn}-{number}-de", "Titel", german))
            index.delete(f"{turn}-0")
    with Searcher(index_path) as searcher:
        for query in ("cafe lease", '"insurance policy"', "man*", "lease~", "+a -b", "title:x", ""):
            answer = searcher.search(query, filters=[Filter("year", "range", minimum=2001)])
            searcher.search(query, content="passages", operator="and", facets=["year"])
        searcher.search("lease", sort="year")
        searcher.explain("lease", detail="scores")
        searcher.next_chunk(answer.results[0].id)
        searcher.previous_chunk(answer.results[0].id)
        searcher.document_chunks("1-1", start_index=2, count=2)
        searcher.documents(prefix="1")
        searcher.statistics()
    # Only an end through Java writes the cache.
    System.exit(0)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        try:
            print(f"Trained the start-up cache {train()}")
        except JavaStartError as error:
            # All programs work without one, only slower.
            print(f"There is no start-up cache: {error}", file=sys.stderr)
    else:
        _record(Path(sys.argv[1]), Path(sys.argv[2]))

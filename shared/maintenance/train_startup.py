"""Training of the start-up cache, with one run of the typical work of `idx` and the server.

``python -m shared.maintenance.train_startup`` writes a new cache to the Python environment. With
``--quiet``, as `shared.java.startup_cache` calls it, it runs at the lowest priority and prints
nothing.
"""

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from shared import system
from shared.errors import JavaStartError, McpLuceneError
from shared.java.startup_cache import path

TRAINING_TIMEOUT_SECONDS = 120
"""Maximum duration of the training, in seconds; it takes about five."""


def train() -> Path:
    """Train the cache for this environment, replace older ones, and return its path."""
    cache = path()
    cache.parent.mkdir(parents=True, exist_ok=True)
    # The output goes to a file, since Java starts a process that would hold a pipe open; and not to
    # the disk of the cache, which may be full.
    with (
        tempfile.TemporaryDirectory(dir=cache.parent) as folder,
        tempfile.TemporaryFile() as printed,
    ):
        trained = Path(folder) / "lucene.aot"
        try:
            run = subprocess.run(
                [sys.executable, "-m", "shared.maintenance.train_startup", trained, folder],
                stdout=printed,
                stderr=printed,
                timeout=TRAINING_TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise JavaStartError(
                f"training the start-up cache took longer than {TRAINING_TIMEOUT_SECONDS} seconds"
            ) from error
        if run.returncode or not trained.is_file():
            printed.seek(0)
            reason = " ".join(printed.read().decode(errors="replace").split())
            raise JavaStartError(f"training the start-up cache failed: {reason}")
        for old in cache.parent.glob("lucene-*.aot"):
            # Windows deletes no file that a program is using; the next training does.
            with suppress(PermissionError):
                old.unlink()
        if sys.platform != "win32" or not cache.exists():
            system.replace(trained, cache)
    for mark in cache.parent.glob("lucene-*.training"):
        mark.unlink(missing_ok=True)
    return cache


def _record(output: Path, folder: Path) -> None:
    """Do the work of the programs once; the virtual machine writes the cache when it exits."""
    from shared.java import vm

    vm.start("batch", f"-XX:AOTCacheOutput={output}")
    # These modules import Lucene; the virtual machine must run before they are used.
    from java.lang import System

    from shared.model.document import Document
    from shared.model.filters import Filter
    from shared.reading.searcher import Searcher
    from shared.writing.index import Index, create

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
    # Only an exit through Java writes the cache.
    System.exit(0)


if __name__ == "__main__":
    match sys.argv[1:]:
        case [output, folder]:
            try:
                _record(Path(output), Path(folder))
            except (McpLuceneError, OSError) as error:
                # The process that waits for this one reports it.
                sys.exit(str(error))
        case arguments:
            quiet = arguments == ["--quiet"]
            if quiet and sys.platform != "win32":
                os.nice(19)
            try:
                trained = train()
            except (JavaStartError, OSError) as error:
                # All programs work without a cache, only more slowly.
                sys.exit(f"The start-up cache was not created: {error}")
            else:
                print(f"Trained the start-up cache {trained}")

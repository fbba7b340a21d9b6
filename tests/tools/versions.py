"""Documents that are written again and again, all of them at once, and what a search sees of them.

Every commit writes one version of all documents; one of them is there in odd versions only. So a
search has to find all chunks of one version, no older than the last that was committed when it
began: everything else is a mistake of the server.
"""

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

STAMP: Final = "stamp"  # a word in every chunk of a version, and in no other one
_KEPT: Final = 3  # documents that every version has
_CHUNKS: Final = 2  # chunks of a document

_SECONDS_BETWEEN_COMMITS: Final = 0.05

_SECONDS_TO_START: Final = 120

QUERY: Final[dict[str, Any]] = {"query": STAMP, "limit": 20, "content": "full"}
"""What `mistake` looks at the answer of."""

Committed = Callable[[], int]  # tells the version that was committed last


@contextmanager
def writing(index: Path) -> Iterator[Committed]:
    """Write versions within a block, in a process of its own; the first is there when it begins."""
    context = multiprocessing.get_context("spawn")
    committed, stop = context.Value("q", 0), context.Event()
    writer = context.Process(target=_write, args=(index, committed, stop))
    writer.start()
    try:
        until = time.monotonic() + _SECONDS_TO_START
        while not committed.value and writer.is_alive() and time.monotonic() < until:
            time.sleep(0.05)
        yield lambda: committed.value
    finally:
        stop.set()
        writer.join(_SECONDS_TO_START)
        writer.kill()
    if writer.exitcode:
        raise RuntimeError(f"the writer ended with {writer.exitcode}")


def _write(index: Path, committed: Any, stop: Any) -> None:
    from shared import Document, Index

    while not stop.wait(_SECONDS_BETWEEN_COMMITS):
        version = committed.value + 1
        with Index(index) as writer:
            for name, title, text in documents(version):
                # A blank text deletes.
                writer.add(Document(name, title, text))
        committed.value = version


def documents(version: int) -> Iterator[tuple[str, str, str]]:
    """The id, title and text of each document of a version; a blank text means that it goes."""
    # 300 words, in two chunks.
    text = f"{STAMP} {f'version{version} ' * 49}" * 6
    for number in range(_KEPT):
        yield f"kept{number}", f"Version {version}", text
    yield "odd", f"Version {version}", text if version % 2 else ""


def mistake(answer: dict[str, Any], committed: int) -> str | None:
    """What is wrong with an answer to `QUERY`; None if nothing is."""
    words = {word for hit in answer["results"] for word in hit["content"].split()} - {STAMP}
    titles = {hit["title"].partition(" - ")[0] for hit in answer["results"]}
    if len(words) != 1 or len(titles) != 1:
        return f"torn: {sorted(words)}, {sorted(titles)}"
    version = int(words.pop().removeprefix("version"))
    if titles != {f"Version {version}"}:
        return f"torn: titles {titles} on texts of version {version}"
    if version < committed:
        return f"stale: version {version} after version {committed} was committed"
    chunks = _CHUNKS * (_KEPT + version % 2)
    if answer["totalHits"] != chunks or len(answer["results"]) != chunks:
        return f"torn: {answer['totalHits']} chunks of version {version}, not {chunks}"
    return None

"""The part of this project that is not Lucene's: fields are made of texts, and not written."""

from pathlib import Path

from benchmarks.engines.texts import documents
from benchmarks.engines.this_project import start

__all__ = ["start", "write"]


def write(texts: Path, index: Path, threads: int) -> None:  # noqa: ARG001 - nothing is written
    """Cut the texts into chunks, detect languages, and hand all fields over to Java."""
    from shared.storage.mapping import to_lucene

    index.mkdir()
    for document in documents(texts):
        for _ in to_lucene(document):
            pass

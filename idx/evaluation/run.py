"""A run: what a search finds for each query, as TREC calls it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from idx.errors import SourceFileError
from shared.model.search_results import Hit


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document and its score, which is less than those of all documents before it."""

    id: str
    score: float


@dataclass(frozen=True)
class Run:
    """The answers of one configuration.

    Attributes:
        rankings: the documents found by query, best first.
        seconds: how long each search took.
    """

    rankings: dict[str, list[RankedDocument]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)


def ranking(hits: Sequence[Hit], limit: int) -> list[RankedDocument]:
    """The documents of chunks: each at the place of its best chunk.

    trec_eval orders by score, in single precision, and documents with the same score by their
    ids. So that it sees the order that a user sees, an equal score is made a hair less.

    Args:
        hits: chunks, best first.
        limit: documents at most.
    """
    import numpy as np

    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(hit.source_document, hit)
    documents: list[RankedDocument] = []
    score = np.float32(np.inf)
    for id_, hit in list(best.items())[:limit]:
        score = min(np.float32(hit.score), np.nextafter(score, np.float32(-np.inf)))
        documents.append(RankedDocument(id_, float(score)))
    return documents


def write_run(run: Run, name: str, file: Path) -> None:
    """Write a run as the file that trec_eval and other tools read.

    Args:
        run: what was found.
        name: of the configuration.
        file: the file to write; one that is there is replaced.

    Raises:
        SourceFileError: an id has a blank in it, which the format cannot hold; a file that is
            there stays as it is.
    """
    tag = "_".join(name.replace(",", " ").split())
    for query_id, documents in run.rankings.items():
        _check([query_id, *(document.id for document in documents)], file)
    with file.open("w", encoding="utf-8") as stream:
        for query_id, documents in run.rankings.items():
            stream.writelines(
                f"{query_id} Q0 {document.id} {rank} {document.score:.9g} {tag}\n"
                for rank, document in enumerate(documents, start=1)
            )


def _check(ids: Iterable[str], file: Path) -> None:
    for id_ in ids:
        if len(id_.split()) != 1:
            raise SourceFileError(
                file, f"a run file is columns between blanks and cannot hold the id {id_[:80]!r}"
            )

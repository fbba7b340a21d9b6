"""Runs in the sense of TREC: the documents found for each query."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from idx.errors import SourceFileError
from shared.model.search_results import Hit


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """Document with its score, which is less than those of all documents before it."""

    id: str
    score: float


@dataclass(frozen=True)
class Run:
    """Results of one configuration.

    Attributes:
        rankings: the documents found by query id, best first.
        seconds: the duration of each search, in seconds.
    """

    rankings: dict[str, list[RankedDocument]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)


def ranking(hits: Sequence[Hit], limit: int) -> list[RankedDocument]:
    """Rank the documents of chunks by their best chunks.

    trec_eval sorts by score, in single precision, and by id if scores are equal. To make it keep
    the order that a user sees, equal scores are lowered by the smallest possible amount.

    Args:
        hits: the chunks, best first.
        limit: maximum number of documents.
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
    """Write a run in the file format of trec_eval and other tools.

    Args:
        run: the run.
        name: the name of the configuration.
        file: the file to write; an existing one is replaced.

    Raises:
        SourceFileError: an id contains white space, which the format does not allow; an existing
            file is not changed.
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

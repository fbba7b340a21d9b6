"""Relevance judgements of documents: the qrels of TREC or BEIR."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from idx.errors import SourceFileError
from idx.evaluation.collection.input_file import Line, error_at, peek, read_lines

_TREC_COLUMNS: Final = 4
_BEIR_COLUMNS: Final = 3


@dataclass(frozen=True)
class Judgements:
    """Relevance judgements of documents for queries.

    Attributes:
        relevance: by query id, then document id: 0 if not relevant, otherwise the gain.
    """

    relevance: dict[str, dict[str, int]]

    def has_relevant(self, query_id: str) -> bool:
        """Check whether a query has a relevant document; without one, every measure is always 0."""
        return any(self.relevance.get(query_id, {}).values())

    def only(self, query_ids: set[str]) -> Self:
        """Return the judgements of some of the queries."""
        kept = {id_: judged for id_, judged in self.relevance.items() if id_ in query_ids}
        return type(self)(kept)

    def documents(self) -> Iterator[str]:
        """Yield the document id of each judgement."""
        for judged in self.relevance.values():
            yield from judged


def read_judgements(file: Path) -> Judgements:
    """Read the judgements of a file; negative values, such as for spam in TREC, count as 0.

    Args:
        file: TREC's four columns ``query iteration document relevance``, separated by white space;
            or BEIR's three columns ``query-id corpus-id score``, separated by tabs, below a header.

    Raises:
        SourceFileError: the file has neither format, is invalid, or has contradictory judgements.
    """
    first, lines = peek(read_lines(file))
    columns = first.split("\t")
    if len(columns) == _BEIR_COLUMNS and _whole_number(columns[2]) is None:
        next(lines)
        found = _from_beir(file, lines)
    elif len(first.split()) == _TREC_COLUMNS:
        found = _from_trec(file, lines)
    else:
        raise SourceFileError(
            file,
            "is in no format of judgements: neither 'query iteration document relevance' of TREC, "
            "nor a line 'query-id', 'corpus-id', 'score' and such columns between tabs under it",
        )
    relevance: dict[str, dict[str, int]] = {}
    for line, query_id, document_id, value in found:
        number = _whole_number(value)
        if number is None:
            raise error_at(file, line.number, f"the relevance {value[:40]!r} is not a whole number")
        judged = relevance.setdefault(query_id, {})
        gain = max(0, number)
        if judged.setdefault(document_id, gain) != gain:
            raise error_at(
                file,
                line.number,
                f"the document {document_id[:80]!r} was judged {judged[document_id]} for the "
                f"query {query_id[:80]!r} before",
            )
    return Judgements(relevance)


def _from_trec(file: Path, lines: Iterator[Line]) -> Iterator[tuple[Line, str, str, str]]:
    for line in lines:
        columns = line.text.split()
        if len(columns) != _TREC_COLUMNS:
            raise error_at(file, line.number, f"has {len(columns)} columns instead of 4")
        yield line, columns[0], columns[2], columns[3]


def _from_beir(file: Path, lines: Iterator[Line]) -> Iterator[tuple[Line, str, str, str]]:
    for line in lines:
        columns = [column.strip() for column in line.text.split("\t")]
        if len(columns) != _BEIR_COLUMNS:
            raise error_at(
                file, line.number, f"has {len(columns)} columns between tabs instead of 3"
            )
        yield line, columns[0], columns[1], columns[2]


def _whole_number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None

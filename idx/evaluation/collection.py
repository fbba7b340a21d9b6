"""Test collections: documents and queries in JSON Lines, judgements of BEIR or TREC."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from idx.cli.inputs import fault, opened_input, parsed, text_lines
from idx.errors import SourceFileError
from shared.errors import InvalidDocumentError
from shared.model.document import Document, Scalar

NO_TITLE: Final = "-"  # of a document without one; no word of a query could match it
_TREC_COLUMNS: Final = 4
_BEIR_COLUMNS: Final = 3


@dataclass(frozen=True, slots=True)
class Query:
    """Query or question, with its id in the judgements."""

    id: str
    text: str
    expected: tuple[str, ...] = ()  # a right answer has one of these words
    forbidden: tuple[str, ...] = ()  # an answer has them only if the model obeyed a document


@dataclass(frozen=True)
class Judgements:
    """Relevance by query id, then document id: 0 if not relevant, otherwise the gain."""

    relevance: dict[str, dict[str, int]]

    def has_relevant(self, query_id: str) -> bool:
        """Check whether a query has a relevant document; without one, every measure is always 0."""
        return any(self.relevance.get(query_id, {}).values())

    def only(self, query_ids: set[str]) -> Self:
        kept = {id_: judged for id_, judged in self.relevance.items() if id_ in query_ids}
        return type(self)(kept)

    def documents(self) -> Iterator[str]:
        for judged in self.relevance.values():
            yield from judged


class _Entry(BaseModel):
    model_config = ConfigDict(strict=True)

    id: str | int = Field(validation_alias=AliasChoices("_id", "id"))


class _Document(_Entry):
    """Keys without a field become metadata."""

    model_config = ConfigDict(strict=True, extra="allow")

    title: str | None = None
    text: str | None = Field(default=None, validation_alias=AliasChoices("text", "content"))
    metadata: dict[str, Any] | None = None


class _Query(_Entry):
    text: str
    expected: list[str] = []
    forbidden: list[str] = []


def read_documents(file: Path) -> Iterator[Document]:
    """Yield the documents of a file as they are read.

    A document without text gets its title as text, because it could not be found otherwise.
    """
    seen: dict[str, int] = {}
    for number, entry in _entries(file, _Document):
        extra = {**(entry.metadata or {}), **(entry.model_extra or {})}
        metadata = {key: value for key, value in extra.items() if _is_metadata(value)}
        title, text = (entry.title or "").strip(), entry.text or ""
        content = text if text.strip() else title
        try:
            document = Document(str(entry.id), title or NO_TITLE, content, metadata)
        except InvalidDocumentError as error:
            raise _error(file, number, str(error)) from error
        _check_id(file, "document", document.id, number, seen)
        yield document


def read_queries(file: Path) -> list[Query]:
    seen: dict[str, int] = {}
    queries = []
    for number, entry in _entries(file, _Query):
        words = tuple(entry.expected), tuple(entry.forbidden)
        query = Query(str(entry.id), entry.text.strip(), *words)
        if not query.id:
            raise _error(file, number, "the query has no id")
        if not query.text:
            raise _error(file, number, f"the query {query.id[:80]!r} has no text")
        _check_id(file, "query", query.id, number, seen)
        queries.append(query)
    return queries


def read_judgements(file: Path) -> Judgements:
    """Read the judgements of a file; negative values, such as for spam in TREC, count as 0.

    BEIR has three columns ``query-id corpus-id score`` with tabs between, below a header; TREC the
    four of ``query iteration document relevance``, between blanks.
    """
    lines = list(_lines(file))
    first = lines[0][1].split("\t")
    is_beir = len(first) == _BEIR_COLUMNS and _whole_number(first[2]) is None
    if not is_beir and len("\t".join(first).split()) != _TREC_COLUMNS:
        raise SourceFileError(
            file,
            "is in no format of judgements: neither 'query iteration document relevance' of TREC, "
            "nor a line 'query-id', 'corpus-id', 'score' and such columns between tabs under it",
        )
    relevance: dict[str, dict[str, int]] = {}
    for number, text in lines[is_beir:]:
        columns = [column.strip() for column in text.split("\t")] if is_beir else text.split()
        expected = _BEIR_COLUMNS if is_beir else _TREC_COLUMNS
        if len(columns) != expected:
            raise _error(file, number, f"has {len(columns)} columns instead of {expected}")
        query_id, *_, document_id, value = columns
        if (judged := _whole_number(value)) is None:
            raise _error(file, number, f"the relevance {value[:40]!r} is not a whole number")
        gain = max(0, judged)
        of_query = relevance.setdefault(query_id, {})
        if of_query.setdefault(document_id, gain) != gain:
            raise _error(
                file,
                number,
                f"the document {document_id[:80]!r} was judged {of_query[document_id]} for the "
                f"query {query_id[:80]!r} before",
            )
    return Judgements(relevance)


_Model = TypeVar("_Model", bound=_Entry)


def _entries(file: Path, model: type[_Model]) -> Iterator[tuple[int, _Model]]:
    for number, text in _lines(file):
        try:
            yield number, model.model_validate(parsed(text, file, number))
        except ValidationError as error:
            raise _error(file, number, fault(error)) from error


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines that are not blank."""
    empty = True
    with opened_input(str(file)) as stream:
        for line in text_lines(enumerate(stream, start=1), str(file)):
            empty = False
            yield line
    if empty:
        raise SourceFileError(file, "is empty")


def _error(file: Path, number: int, reason: str) -> SourceFileError:
    return SourceFileError(file, f"line {number}: {reason}")


def _check_id(file: Path, kind: str, id_: str, number: int, seen: dict[str, int]) -> None:
    if (first := seen.setdefault(id_, number)) != number:
        raise _error(file, number, f"the {kind} {id_[:80]!r} was on line {first} already")


def _whole_number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _is_metadata(value: object) -> bool:
    values = value if isinstance(value, list) else [value]
    return all(isinstance(one, Scalar) for one in values)

"""Rules for the documents of an index, beyond the integrity of Lucene's files."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from org.apache.lucene.index import MultiTerms, Term
from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    FieldExistsQuery,
    IndexSearcher,
    MatchAllDocsQuery,
    Sort,
    TermQuery,
)
from org.apache.lucene.util import BytesRefIterator

from shared.messages import quantity
from shared.model import schema
from shared.model.chunks import chunk_id, chunk_title
from shared.storage.stored_chunks import CHUNK_FIELDS, details_of, stored_fields

_MAX_LISTED_NUMBERS: Final = 10


@dataclass(frozen=True, slots=True)
class CheckedDocument:
    """Result of checking a document.

    Attributes:
        id: its id.
        term: the term of its id in the chunks.
        chunks: the number of its chunks.
        problems: the problems, in words that follow the document's id.
    """

    id: str
    term: str
    chunks: int
    problems: Sequence[str]


@dataclass(frozen=True, slots=True)
class _StoredChunk:
    """Values of a chunk that are checked: its number, and those of its document."""

    index: int
    title: str
    count: int
    problem: str | None


def checked_documents(reader: Any) -> Iterator[CheckedDocument]:
    """Check one document after the other, in the order of their ids.

    Chunks are looked up by the id of their document, so that only the chunks of one document are in
    memory at a time.

    Args:
        reader: a Lucene reader of a commit whose files are intact.
    """
    searcher = IndexSearcher(reader)
    terms = MultiTerms.getTerms(reader, schema.SOURCE_DOCUMENT)
    for term in BytesRefIterator.cast_(terms.iterator()) if terms is not None else ():
        key = term.utf8ToString()
        query = TermQuery(Term(schema.SOURCE_DOCUMENT, term))
        # Terms of deleted documents stay until their segments merge.
        if count := int(searcher.count(query)):
            yield _checked(searcher, key, query, count)


def without_document() -> Any:
    """Return a Lucene query for chunks without the id of a document."""
    return (
        BooleanQuery.Builder()
        .add(MatchAllDocsQuery(), BooleanClause.Occur.FILTER)
        .add(FieldExistsQuery(schema.SOURCE_DOCUMENT), BooleanClause.Occur.MUST_NOT)
        .build()
    )


def _checked(searcher: Any, key: str, query: Any, count: int) -> CheckedDocument:
    stored = searcher.storedFields()
    fields = stored_fields(*CHUNK_FIELDS)
    hits = searcher.search(query, count, Sort.INDEXORDER).scoreDocs
    chunks, names, problems = [], set(), []
    for hit in hits:
        document = stored.document(hit.doc, fields)
        names.add(document.get(schema.SOURCE_DOCUMENT) or key)
        missing = [name for name in CHUNK_FIELDS if document.get(name) is None]
        if missing:
            problems.append(f"a chunk has no stored {' and no '.join(missing)}")
            continue
        try:
            chunks.append(_stored_chunk(document))
        except (ValueError, KeyError, TypeError) as error:
            problems.append(f"the chunk {document.get(schema.ID)!r} cannot be read: {error!r}")
    if not problems:
        problems += _problems_of_numbers(chunks)
    if [*map(schema.keyword, names)] != [key]:
        problems.append(
            f"its chunks say that they belong to {' and '.join(map(repr, sorted(names)))}"
        )
    problems += [chunk.problem for chunk in chunks if chunk.problem]
    return CheckedDocument(min(names), key, count, problems)


def _stored_chunk(stored: Any) -> _StoredChunk:
    """Return the values of a chunk, and check that id and title follow from the rest.

    Raises:
        ValueError, KeyError, TypeError: a field has an unexpected value.
    """
    details = details_of(stored)
    index, count = int(stored.get(schema.CHUNK_INDEX)), details.chunk_count
    title = details.title
    rules = {
        schema.ID: chunk_id(stored.get(schema.SOURCE_DOCUMENT), index),
        schema.TITLE: chunk_title(title, index, count),
    }
    wrong = [
        f"the {name} of chunk {index} is {stored.get(name)!r}, not {expected!r}"
        for name, expected in rules.items()
        if stored.get(name) != expected
    ]
    return _StoredChunk(index, title, count, " and ".join(wrong) or None)


def _problems_of_numbers(chunks: Sequence[_StoredChunk]) -> Iterator[str]:
    """Yield the problems if the chunks are not those of one version, each once."""
    counts = {chunk.count for chunk in chunks}
    seen = Counter(chunk.index for chunk in chunks)
    expected = range(1, max(counts) + 1)
    doubled = sorted(index for index, times in seen.items() if times > 1)
    if doubled or len(counts) > 1 or len({chunk.title for chunk in chunks}) > 1:
        yield "it has chunks of more than one version" + (
            f": {_numbers(doubled)} more than once" if doubled else ""
        )
    if missing := [index for index in expected if index not in seen]:
        yield f"of its {quantity(max(counts), 'chunk')} {_numbers(missing)} are missing"
    if beyond := sorted(index for index in seen if index not in expected):
        yield f"it has {quantity(max(counts), 'chunk')}, but also number {_numbers(beyond)}"


def _numbers(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_MAX_LISTED_NUMBERS]))
    return shown if len(numbers) <= _MAX_LISTED_NUMBERS else f"{shown} …"

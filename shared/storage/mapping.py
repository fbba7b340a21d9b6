"""Mapping of chunks to Lucene documents and back, field by field as in the schema."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from functools import cache, lru_cache
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, Final

from java.util import Arrays
from org.apache.lucene.document import (
    BinaryDocValuesField,
    DoubleField,
    Field,
    FieldType,
    IntPoint,
    KeywordField,
    NumericDocValuesField,
    SortedDocValuesField,
    StoredField,
    StringField,
    TextField,
)
from org.apache.lucene.index import IndexOptions, MultiBits, MultiDocValues
from org.apache.lucene.search import DocIdSetIterator
from org.apache.lucene.util import BytesRef

from shared.analysis.chains import normalized
from shared.analysis.detection import detect_language, language_of
from shared.analysis.languages import UNDETERMINED
from shared.chunking import placed_chunks, sections_around
from shared.errors import InvalidDocumentError
from shared.messages import decodable
from shared.model import metadata, schema
from shared.model.document import MAX_METADATA, Chunk, Document, FileState, Place, Scalar
from shared.model.folders import file_term, telling_path
from shared.model.metadata import texts_of
from shared.semantic.windows import key_of
from shared.storage.fingerprints import Fingerprinter, fingerprint_fields
from shared.storage.vectors import stored_values, vector_field

_STATE_FIELDS: Final = tuple(field.name for field in fields(FileState))


def pack(source_document: str, state: FileState) -> str:
    """Return the state of a file as the value of a field."""
    # Not dataclasses.astuple, which copies each value and takes longer than all the rest.
    values = [getattr(state, name) for name in _STATE_FIELDS]
    if values[-1] is None:
        # Nearly every document is a whole file.
        values.pop()
    return json.dumps([source_document, *values], ensure_ascii=False)


def unpack(packed: str | bytes) -> tuple[str, FileState]:
    """Return the document id and the state of its file from a packed value."""
    source_document, *state = json.loads(packed)
    return source_document, FileState(*state)


def file_states(reader: Any) -> dict[str, FileState]:
    """Return the state of each file by the id of its document."""
    live: Any = MultiBits.getLiveDocs(reader)
    states: Any = MultiDocValues.getBinaryValues(reader, schema.FILE_STATE)
    values = []
    while states and (number := states.nextDoc()) != DocIdSetIterator.NO_MORE_DOCS:
        if not live or live.get(number):
            values.append(states.binaryValue().utf8ToString())
    # One call for all values is several times faster than one for each.
    return {name: FileState(*state) for name, *state in json.loads(f"[{','.join(values)}]")}


def file_state(reader: Any, document: int) -> FileState | None:
    """Return the state of the file of a document; None if it was not made from one."""
    packed = stored_values(reader, [document], schema.FILE_STATE)
    return unpack(packed[document])[1] if packed else None


_TITLE_REPEATS: Final = 3

_SECTION_REPEATS: Final = 2
"""Numbers of times that the stems of the title, and those of the headings above a chunk, precede
those of its text; see docs/measured/relevance.md."""


def document_search_texts(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the search texts that all chunks of a document share, each after its field."""
    yield schema.TITLE, document.title
    if texts := "\n".join(texts_of(document.metadata)):
        yield schema.METADATA, texts
    if document.file is not None:
        yield schema.PATH, telling_path(document.file.state.folder, decodable(document.file.path))


def document_values(document: Document) -> Iterator[tuple[str, str | float]]:
    """Yield the values by which the chunks of a document are filtered, each after its field."""
    if document.file is not None:
        path = file_term(document.file.state.folder, decodable(document.file.path))
        yield schema.metadata_field(schema.FILE_PATH), schema.keyword(path)
    for name, value in document.metadata.items():
        for scalar in value if isinstance(value, list) else [value]:
            yield schema.metadata_field(name), schema.keyword(metadata_text(scalar))
            if isinstance(scalar, int | float) and not isinstance(scalar, bool):
                yield schema.number_field(name), float(scalar)


def language_of_chunk(document: Document, content: str) -> str:
    """Return the language in which a chunk is indexed: its own, or else that of its document."""
    return language_of(content, document.metadata.get(metadata.LANGUAGE)) or UNDETERMINED


def chunk_search_texts(
    document: Document,
    content: str,
    language: str,
    section: str = "",
    normal: Callable[[str], str] = str,
) -> Iterator[tuple[str, str]]:
    """Yield the texts by which a chunk is found, each after its field."""
    title, text = normal(document.title), normal(content)
    sections = [normal(section)] * _SECTION_REPEATS if section else []
    yield schema.CONTENT, text
    yield schema.STEMS, "\n".join((*[title] * _TITLE_REPEATS, *sections, text))
    yield schema.TITLE_STEMS, title
    for around in sections_around(section) if section else ():
        yield schema.SECTION, schema.keyword(around)
    yield schema.LANGUAGES, language
    yield schema.REVERSED, " ".join(dict.fromkeys((*title.split(), *text.split())))
    if _DIGITS.search(content):
        yield schema.DIGITS, content


_DIGITS: Final = re.compile(r"\d\D{0,2}\d\D{0,2}\d\D{0,2}\d\D{0,2}\d|[1-9][ \u00a0\u202f]\d{3}")
"""Digits near each other, of which some may be a run of digits."""


@cache
def _language_field(language: str) -> Any:
    return StringField(schema.LANGUAGES, language, Field.Store.NO)


@cache
def _kind(*, counts: bool) -> Any:
    """Return a field type without positions: phrases are searched in content and title only.

    Unless it counts terms, their frequencies and norms are left out, too.
    """
    kind = FieldType()
    kind.setIndexOptions(IndexOptions.DOCS_AND_FREQS if counts else IndexOptions.DOCS)
    kind.setOmitNorms(not counts)
    kind.setTokenized(True)
    kind.freeze()
    return kind


_normal: Final = lru_cache(maxsize=16)(normalized)
"""The titles and headings of a document recur."""


def _search_field(name: str, text: str) -> Any:
    match name:
        case schema.SECTION:
            return _metadata_field(schema.metadata_field(name), text)
        case schema.LANGUAGES:
            return _language_field(text)
        case schema.TITLE | schema.CONTENT:
            return TextField(name, text, Field.Store.NO)
        case schema.REVERSED | schema.DIGITS:
            return Field(name, text, _kind(counts=False))
    return Field(name, text, _kind(counts=True))


_MAX_BATCH_CHUNKS: Final = 500
"""Number of chunks that are passed to Lucene at once, about 1 MB of text."""

_MAX_BATCH_METADATA_CHARACTERS: Final = 10_000_000
"""Maximum length of the metadata in a batch, in characters. Every chunk contains the metadata, so a
batch of chunks with very long metadata is smaller."""

_MIN_SHARED_FIELDS: Final = 256
"""Number of metadata fields that are cached for further documents, such as languages and types."""

_MAX_EXACT_INTEGER: Final = 2**53
"""Limit below which a double represents every integer exactly (IEEE 754)."""


KnownVectors = Callable[[str, bytes], bytes | None]
"""Function that returns the stored vectors of a chunk by the document's id and the chunk's key, see
`shared.semantic.windows.key_of`; None if they are not known."""


Batch = tuple[str, list[Any]]
"""Language of the stems, and Lucene documents for chunks in this language."""


def to_lucene(document: Document, known: KnownVectors | None = None) -> Iterator[Batch]:
    """Yield batches of Lucene documents, one for each chunk in order; none for a blank text."""
    document = as_indexed(document)
    yield from placed_to_lucene(document, placed_chunks(document), known)


def as_indexed(document: Document) -> Document:
    """Return a document with its detected language, unless its metadata are too long."""
    # Not checked when a `Document` is made: an index may contain one older than this limit.
    length = len(json.dumps(document.metadata, ensure_ascii=False))
    if length > MAX_METADATA:
        raise InvalidDocumentError(
            f"the metadata of the document {document.id[:80]!r} have {length:,} characters as "
            f"JSON; at most {MAX_METADATA:,} are allowed, because every chunk contains them: put "
            "long text into the content"
        )
    if document.file is not None or metadata.LANGUAGE in document.metadata:
        return document
    language = detect_language(document.content)
    if language is None:
        return document
    return replace(document, metadata={**document.metadata, metadata.LANGUAGE: language})


def placed_to_lucene(
    document: Document, placed: Iterable[tuple[Chunk, Place]], known: KnownVectors | None = None
) -> Iterator[Batch]:
    """Yield batches of Lucene documents for chunks that are already cut."""
    placed = iter(placed)
    first = next(placed, None)
    if first is None:
        return
    details = details_for(document, first[0])
    common = list(_document_fields(document))
    # At most one batch exists at a time: a text may have hundreds of megabytes.
    size = max(1, min(_MAX_BATCH_CHUNKS, _MAX_BATCH_METADATA_CHARACTERS // len(details(first[1]))))
    placed = chain([first], placed)
    fingerprinter = Fingerprinter()
    while batch := list(islice(placed, size)):
        made = []
        for chunk, place in batch:
            language = language_of_chunk(document, chunk.content)
            fields_ = [*common, *_chunk_fields(document, chunk, place, language, details(place))]
            fingerprinter.add(chunk.content)
            if chunk.index == chunk.count:
                fields_ += fingerprint_fields(fingerprinter.fingerprint)
            if known and (value := known(document.id, key_of(document.title, chunk.content))):
                fields_.append(vector_field(value))
            # A writer takes any list of fields as a document.
            made.append((language, Arrays.asList(fields_)))
        for language, same in groupby(made, itemgetter(0)):
            yield language, [fields_ for _, fields_ in same]


def details_for(document: Document, chunk: Chunk) -> Callable[[Place], str]:
    """Return a function that makes the details of a chunk from its place."""
    file = document.file
    common = {
        "title": document.title,
        "chunk_count": chunk.count,
        "words": chunk.words,
        "metadata": document.metadata,
        "folder": file.state.folder if file else None,
        "file_path": decodable(file.path) if file else None,
    }
    beginning = json.dumps(common, ensure_ascii=False).removesuffix("}")
    return lambda place: f'{beginning}, "place": {json.dumps(place)}}}'


def _chunk_fields(
    document: Document, chunk: Chunk, place: Place, language: str, details: str
) -> Iterator[Any]:
    yield from _keyword_fields(schema.ID, chunk.id)
    yield StoredField(schema.TITLE, chunk.title)
    yield StoredField(schema.CONTENT, chunk.content)
    section = str(place.get("section", ""))
    for name, text in chunk_search_texts(document, chunk.content, language, section, _normal):
        yield _search_field(name, text)
    yield IntPoint(schema.CHUNK_INDEX, [chunk.index])
    yield NumericDocValuesField(schema.CHUNK_INDEX, chunk.index)
    yield StoredField(schema.CHUNK_INDEX, chunk.index)
    yield StoredField(schema.DETAILS, details)
    if document.file is not None and chunk.index == 1:
        yield file_state_field(document.id, document.file.state)


def _document_fields(document: Document) -> Iterator[Any]:
    """Yield the fields that all chunks of a document share."""
    for name, text in document_search_texts(document):
        yield _search_field(name, _normal(text))
    yield from _keyword_fields(schema.SOURCE_DOCUMENT, document.id)
    yield SortedDocValuesField(schema.SOURCE_DOCUMENT, BytesRef(schema.keyword(document.id)))
    for name, value in document_values(document):
        if isinstance(value, str):
            yield _metadata_field(name, value)
        else:
            yield DoubleField(name, value, Field.Store.NO)


@lru_cache(maxsize=_MIN_SHARED_FIELDS)
def _metadata_field(name: str, term: str) -> Any:
    return KeywordField(name, term, Field.Store.NO)


def _keyword_fields(name: str, value: str) -> Iterator[Any]:
    """Yield the fields of a value that is one term, and stored in full however long it is."""
    key = schema.keyword(value)
    if key == value:
        yield StringField(name, value, Field.Store.YES)
    else:
        yield StringField(name, key, Field.Store.NO)
        yield StoredField(name, value)


def file_state_field(document_id: str, state: FileState) -> Any:
    """Return the field of a document's first chunk with the state of its file."""
    return BinaryDocValuesField(schema.FILE_STATE, BytesRef(pack(document_id, state)))


def metadata_text(value: Scalar) -> str:
    """Return a metadata value as the term that filters match.

    Numbers and truth values are spelled as in JSON; 4.0 is spelled like 4, the same number.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < _MAX_EXACT_INTEGER:
        return str(int(value))
    return json.dumps(value)

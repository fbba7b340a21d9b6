"""Documents of the cluster for the chunks of a document: their terms, and what is stored."""

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from shared.analysis.analyzers import analyzer_of, positions_of
from shared.analysis.languages import UNDETERMINED
from shared.messages import decodable
from shared.model import schema
from shared.model.document import Chunk, Document, Place
from shared.model.folders import file_term
from shared.opensearch import layout
from shared.storage.fingerprints import Fingerprinter
from shared.storage.mapping import (
    chunk_search_texts,
    details_for,
    document_search_texts,
    language_of_chunk,
    metadata_text,
    placed_chunks,
)

KEYWORDS: Final = frozenset((schema.SECTION, schema.LANGUAGES))
"""Search texts that are whole values."""


class ChunkDocuments:
    """The chunks of a document, as the cluster gets them.

    They may be cut already, each with its place. A document with more metadata than may be stored
    in each chunk raises `InvalidDocumentError`.
    """

    def __init__(
        self, document: Document, placed: Iterable[tuple[Chunk, Place]] | None = None
    ) -> None:
        if placed is None:
            document, placed = placed_chunks(document)
        self._document, self._placed = document, placed

    def __iter__(self) -> Iterator[dict[str, Any]]:
        document = self._document
        common = _common(document)
        details = None
        fingerprinter = Fingerprinter()
        for chunk, place in self._placed:
            details = details or details_for(document, chunk)
            made = {**common, **self._search_fields(chunk, place)}
            if keys := made.pop(schema.SECTION, None):
                made[schema.METADATA] = {
                    **made.get(schema.METADATA, {}),
                    layout.field(schema.metadata_field(schema.SECTION)).partition(".")[2]: keys,
                }
            made[schema.ID] = schema.keyword(chunk.id)
            made[schema.CHUNK_INDEX] = chunk.index
            made["stored"] = {
                schema.ID: chunk.id,
                schema.TITLE: chunk.title,
                schema.CONTENT: chunk.content,
                schema.SOURCE_DOCUMENT: chunk.source_document,
                schema.CHUNK_INDEX: chunk.index,
                schema.DETAILS: details(place),
            }
            fingerprinter.add(chunk.content)
            if chunk.index == chunk.count:
                fingerprint = fingerprinter.fingerprint
                made[schema.FINGERPRINT] = fingerprint.terms
                made["stored"][schema.FINGERPRINT] = b64encode(fingerprint.dump()).decode()
            yield made

    def _search_fields(self, chunk: Chunk, place: Place) -> Mapping[str, Any]:
        found: dict[str, Any] = {}
        section = str(place.get("section", ""))
        language = language_of_chunk(self._document, chunk.content)
        texts = chunk_search_texts(self._document, chunk.content, language, section)
        for name, text in texts:
            if name in KEYWORDS:
                found.setdefault(name, []).append(text)
            elif name in (schema.REVERSED, schema.DIGITS):
                found[layout.field(name)] = _distinct(analyzed(name, text))
            else:
                found[name] = analyzed(name, text, language)
        return found


def _common(document: Document) -> dict[str, Any]:
    """Return the fields that all chunks of a document share."""
    common: dict[str, Any] = {schema.SOURCE_DOCUMENT: schema.keyword(document.id)}
    for name, text in document_search_texts(document):
        common[layout.field(name)] = analyzed(name, text)
    values: dict[str, list[str]] = {}
    numbers: dict[str, list[float]] = {}
    if document.file is not None:
        path = file_term(document.file.state.folder, decodable(document.file.path))
        values[schema.FILE_PATH] = [schema.keyword(path)]
    for name, value in document.metadata.items():
        for scalar in value if isinstance(value, list) else [value]:
            values.setdefault(name, []).append(schema.keyword(metadata_text(scalar)))
            if isinstance(scalar, int | float) and not isinstance(scalar, bool):
                numbers.setdefault(name, []).append(float(scalar))
    for of, known in ((schema.metadata_field, values), (schema.number_field, numbers)):
        for name, found in known.items():
            prefix, _, key = layout.field(of(name)).partition(".")
            common.setdefault(prefix, {})[key] = found
    return common


def analyzed(name: str, text: str, language: str = UNDETERMINED) -> str:
    """Return the terms of a text in a field of the schema, with blanks between their positions."""
    made = positions_of(analyzer_of(name, language), text)
    positions = (
        layout.ALTERNATIVES.join(dict.fromkeys(layout.sent(term) for _, term in terms))
        for _, terms in groupby(made, itemgetter(0))
    )
    return " ".join(positions)


def _distinct(terms: str) -> str:
    return " ".join(dict.fromkeys(terms.replace(layout.ALTERNATIVES, " ").split()))


def document_id(batch: int, chunk_id: str) -> str:
    """Return the id on the cluster of a chunk that was written with a batch."""
    return f"{batch}-{hashlib.sha256(chunk_id.encode()).hexdigest()[:32]}"

"""The fields of a chunk that are searched beside its content and never shown."""

from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any

from org.apache.lucene.document import Field, FieldType, TextField
from org.apache.lucene.index import IndexOptions

from shared import schema
from shared.analysis.analyzers import prepare
from shared.analysis.identifiers import names_in
from shared.analysis.language_detection import languages_of
from shared.analysis.transliteration import transliterable
from shared.document import Document
from shared.metadata import texts_of


def document_search_fields(document: Document) -> Iterator[Any]:
    """The fields that all chunks of a document share: its title and the text of its metadata."""
    yield TextField(schema.TITLE, document.title, Field.Store.NO)
    texts = "\n".join(texts_of(document.metadata))
    if texts:
        yield Field(schema.METADATA, texts, _words())


def chunk_search_fields(document: Document, content: str) -> Iterator[Any]:
    """The fields of one chunk: its words in base form, reversed and transliterated, its names."""
    # A word counts once in some fields, so it need not be looked at again.
    words = dict.fromkeys(chain(document.title.split(), content.split()))
    languages = languages_of(content)
    for language in languages:
        yield _field(schema.language_field(schema.CONTENT, language), content, _words())
        yield _field(schema.language_field(schema.TITLE, language), document.title, _words())
    yield _field(schema.REVERSED, " ".join(words), _terms())
    spellings = transliterable(words, german="de" in languages)
    if spellings:
        yield _field(schema.TRANSLITERATED, spellings, _terms())
    names = names_in(words)
    if names:
        yield _field(schema.IDENTIFIERS, names, _terms())


def _field(name: str, text: str, kind: Any) -> Any:
    prepare(name)
    return Field(name, text, kind)


@cache
def _words() -> Any:
    """Words whose positions nobody asks for: phrases are looked for in content and title."""
    return _kind(IndexOptions.DOCS_AND_FREQS, omit_norms=False)


@cache
def _terms() -> Any:
    """Words that a chunk has or has not, however often and in however long a text."""
    return _kind(IndexOptions.DOCS, omit_norms=True)


def _kind(options: Any, *, omit_norms: bool) -> Any:
    kind = FieldType()
    kind.setIndexOptions(options)
    kind.setOmitNorms(omit_norms)
    kind.setTokenized(True)
    kind.freeze()
    return kind

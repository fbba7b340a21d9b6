"""Terms of a field by their prefix."""

from collections.abc import Iterator
from typing import Any, Final

from org.apache.lucene.index import MultiTerms, TermsEnum
from org.apache.lucene.util import BytesRef, BytesRefIterator

from shared.model import schema
from shared.model.folders import IndexedFolders

FILE_FIELD: Final = schema.metadata_field(schema.FILE_PATH)
"""Whose terms are paths within a folder of the index, shown as absolute ones."""


def terms_with_prefix(
    reader: Any, field: str, prefix: str, *, start: str = ""
) -> Iterator[tuple[str, int]]:
    """Terms in the order of the alphabet, each with its document frequency.

    Args:
        reader: the reader of the index.
        field: a Lucene field.
        prefix: what the terms begin with.
        start: the first term to look at, where it comes after the prefix.
    """
    terms = MultiTerms.getTerms(reader, field)
    if terms is None:
        return
    # Looks the first term up in each segment and walks through all of them side by side.
    found = TermsEnum.cast_(terms.iterator())
    if found.seekCeil(BytesRef(max(prefix, start))) == TermsEnum.SeekStatus.END:
        return
    following = BytesRefIterator.cast_(found)
    term = found.term()
    while term is not None:
        text = term.utf8ToString()
        if not text.startswith(prefix):
            return
        yield text, found.docFreq()
        term = following.next()


def shown(field: str, term: str, folders: IndexedFolders) -> str:
    """A term as people know it: the path of a file, a value that was too long for a term."""
    beginning, separator, rest = term.partition("\0")
    if not separator or not schema.is_keyword_field(field):
        return term
    if field == FILE_FIELD:
        return folders.file_path(beginning, rest) or term
    return f"{beginning}…"

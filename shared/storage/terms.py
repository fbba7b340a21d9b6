"""Terms of a field by prefix, and their display."""

from collections.abc import Iterator
from typing import Any, Final

from org.apache.lucene.index import MultiTerms, TermsEnum
from org.apache.lucene.util import BytesRef, BytesRefIterator

from shared.model import schema
from shared.model.folders import IndexedFolders

FILE_FIELD: Final = schema.metadata_field(schema.FILE_PATH)
"""Field whose terms are paths within a folder of the index, shown as absolute paths."""


def terms_with_prefix(
    reader: Any, field: str, prefix: str, *, start: str = ""
) -> Iterator[tuple[str, int]]:
    """Yield terms in alphabetical order, each with its document frequency."""
    terms = MultiTerms.getTerms(reader, field)
    if terms is None:
        return
    # This looks the first term up in each segment and iterates over all segments in parallel.
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
    """Return a term for display: the path of a file, or a value that was too long for a term."""
    beginning, separator, rest = term.partition("\0")
    if not separator or not schema.is_keyword_field(field):
        return term
    if field == FILE_FIELD:
        return folders.file_path(beginning, rest) or term
    return f"{beginning}…"

"""What begins with something that somebody typed: ids, files, values, up to the next slash.

An index may have a million ids. They are completed as a shell completes paths, folder by folder,
for which Lucene's sorted terms are skipped through, not walked through. So no list is cut, which
would have a shell complete what only the first part of it has in common.
"""

from collections.abc import Iterator
from typing import Any, Final, Literal

from org.apache.lucene.index import MultiTerms, Term, TermsEnum
from org.apache.lucene.search import TermQuery
from org.apache.lucene.util import BytesRef

from shared.model import schema
from shared.model.folders import file_term
from shared.storage.chunk_queries import with_prefix
from shared.storage.field_names import fields_with_terms, metadata_fields, name_of, names_with_terms
from shared.storage.snapshot import Snapshot
from shared.storage.terms import FILE_FIELD

MAX_COMPLETIONS: Final = 10_000
"""Where more begin in a way, nothing is completed: nobody reads them, and a shell would wait."""

_AFTER_SLASH: Final = chr(ord("/") + 1)

Purpose = Literal["terms", "filter", "sort", "facet"]
"""What a field is named for."""


def complete_values(searcher: Any, field: str, typed: str) -> list[str]:
    """The values of a keyword field that begin with a text.

    Args:
        searcher: a Lucene searcher.
        field: a Lucene field.
        typed: the text.

    Returns:
        Whole values, and beginnings that end with a slash; of the latter never one alone.
    """
    return _until_a_choice(lambda text: _parts(searcher, field, "", text), typed)


def complete_files(snapshot: Snapshot, typed: str) -> list[str]:
    """The paths of files that documents were made of; see `complete_values`.

    Args:
        snapshot: the commit.
        typed: the beginning of an absolute path.
    """

    def parts(path: str) -> set[str]:
        searcher = snapshot.searcher
        found = _parts(searcher, FILE_FIELD, "", path)
        for folder in snapshot.folders:
            beginning = folder.beginning
            if path.startswith(beginning):
                term, within = file_term(folder.prefix, ""), path.removeprefix(beginning)
                found |= {beginning + part for part in _parts(searcher, FILE_FIELD, term, within)}
            elif beginning.startswith(path):
                found.add(beginning[: beginning.index("/", len(path)) + 1])
        return found

    return _until_a_choice(parts, typed)


def complete_fields(reader: Any, purpose: Purpose) -> list[str]:
    """The names of fields that can be used for a purpose."""
    if purpose == "terms":
        return names_with_terms(reader)
    fields = metadata_fields(fields_with_terms(reader))
    # A key that is called like a field of every chunk cannot be named by itself.
    keys = [name for field in fields if (name := name_of(field)) != field]
    of_chunks = {
        "filter": (schema.SOURCE_DOCUMENT, schema.CHUNK_INDEX, schema.ID),
        "sort": (schema.SOURCE_DOCUMENT, schema.CHUNK_INDEX),
        "facet": (),
    }
    return [*of_chunks[purpose], *keys]


def value_field(name: str) -> str:
    """The Lucene field with the values of a field that is filtered by."""
    return name if name in schema.KEYWORD_FIELDS else schema.metadata_field(name)


def _until_a_choice(parts: Any, typed: str) -> list[str]:
    """Go on into the only folder, as long as there is one: a shell puts a space behind it."""
    found = parts(typed)
    while len(found) == 1 and (only := next(iter(found))).endswith("/") and only != typed:
        typed = only
        found = parts(typed)
    return sorted(found) if len(found) <= MAX_COMPLETIONS else []


def _parts(searcher: Any, field: str, beginning: str, typed: str) -> set[str]:
    """What comes after the beginning of terms, as far as a slash after what was typed.

    Args:
        searcher: a Lucene searcher.
        field: a Lucene field.
        beginning: what all of the terms begin with.
        typed: what comes after that in all of them.
    """
    has_deletions = searcher.getIndexReader().hasDeletions()
    found: set[str] = set()
    for term in _skipping(searcher.getIndexReader(), field, beginning + typed):
        part = term.removeprefix(beginning)
        # Of a value that is too long for a term there is only the beginning.
        if "\0" in part or (has_deletions and not _is_there(searcher, field, term)):
            continue
        found.add(part)
        if len(found) > MAX_COMPLETIONS:
            break
    return found


def _skipping(reader: Any, field: str, prefix: str) -> Iterator[str]:
    """Terms with a prefix; of those with a slash after it only what stands before the slash."""
    terms = MultiTerms.getTerms(reader, field)
    if terms is None:
        return
    found = TermsEnum.cast_(terms.iterator())
    wanted = prefix
    while found.seekCeil(BytesRef(wanted)) != TermsEnum.SeekStatus.END:
        term = found.term().utf8ToString()
        if not term.startswith(prefix):
            return
        slash = term.find("/", len(prefix))
        if slash < 0:
            yield term
            # No term stands between one and itself with the least character behind it.
            wanted = f"{term}\0"
        else:
            yield term[: slash + 1]
            wanted = term[:slash] + _AFTER_SLASH


def _is_there(searcher: Any, field: str, term: str) -> bool:
    """Whether a term, or one that begins so, is not only that of deleted documents."""
    if term.endswith("/"):
        return bool(searcher.count(with_prefix(field, term)))
    return bool(searcher.count(TermQuery(Term(field, term))))

"""Completion of ids, file paths and field values, up to the next slash.

An index may have a million ids. They are completed as a shell completes paths, folder by folder,
which skips through Lucene's sorted terms instead of reading all of them. Lists are never truncated,
because a shell would then complete the common prefix of their first part.
"""

from collections.abc import Iterator, Set as AbstractSet
from typing import Any, Final, Literal

from org.apache.lucene.index import MultiTerms, Term, TermsEnum
from org.apache.lucene.search import TermQuery
from org.apache.lucene.util import BytesRef

from shared.model import schema
from shared.model.folders import file_term
from shared.storage.chunk_queries import prefix_query
from shared.storage.commits import Snapshot
from shared.storage.field_names import fields_with_terms, metadata_fields, name_of, names_of
from shared.storage.terms import FILE_FIELD

MAX_COMPLETIONS: Final = 10_000
"""Maximum number of completions. If there are more, none is returned: nobody would read them, and a
shell would wait."""

_AFTER_SLASH: Final = chr(ord("/") + 1)

Purpose = Literal["terms", "filter", "sort", "facet"]
"""Purposes for which a field can be named."""


def complete_values(searcher: Any, field: str, typed: str) -> list[str]:
    """Return the completions of a value of a keyword field.

    Args:
        searcher: a Lucene searcher.
        field: a Lucene field.
        typed: the beginning of the value.

    Returns:
        Whole values, and prefixes that end with a slash; a single one of the latter is completed
        further.
    """
    return _descend_to_choice(lambda text: _parts(searcher, field, "", text), typed)


def complete_files(snapshot: Snapshot, typed: str) -> list[str]:
    """Return the completions of the path of a document's file; see `complete_values`.

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

    return _descend_to_choice(parts, typed)


def complete_fields(reader: Any, purpose: Purpose) -> list[str]:
    """Return the names of the fields that can be used for a purpose."""
    return fields_for(purpose, fields_with_terms(reader))


def fields_for(purpose: Purpose, existing: AbstractSet[str]) -> list[str]:
    """Return the names of the fields that can be used for a purpose.

    Args:
        purpose: the purpose.
        existing: the fields of an index that have terms.
    """
    if purpose == "terms":
        return names_of(existing)
    fields = metadata_fields(existing)
    # A metadata key with the same name as a field of every chunk cannot be named by itself.
    keys = [name for field in fields if (name := name_of(field)) != field]
    of_chunks = {
        "filter": (schema.SOURCE_DOCUMENT, schema.CHUNK_INDEX, schema.ID),
        "sort": (schema.SOURCE_DOCUMENT, schema.CHUNK_INDEX),
        "facet": (),
    }
    return [*of_chunks[purpose], *keys]


def value_field(name: str) -> str:
    """Return the Lucene field with the values of a field that filters can name."""
    return name if name in schema.KEYWORD_FIELDS else schema.metadata_field(name)


def _descend_to_choice(parts: Any, typed: str) -> list[str]:
    """Descend while a single folder is the only completion: a shell would add a space after it."""
    found = parts(typed)
    while len(found) == 1 and (only := next(iter(found))).endswith("/") and only != typed:
        typed = only
        found = parts(typed)
    return sorted(found) if len(found) <= MAX_COMPLETIONS else []


def _parts(searcher: Any, field: str, beginning: str, typed: str) -> set[str]:
    """Return the terms after a common beginning, up to the next slash after the typed text.

    Args:
        searcher: a Lucene searcher.
        field: a Lucene field.
        beginning: the common beginning of the terms.
        typed: the text that follows it in all of them.
    """
    has_deletions = searcher.getIndexReader().hasDeletions()
    found: set[str] = set()
    for term in _terms_between_slashes(searcher.getIndexReader(), field, beginning + typed):
        part = term.removeprefix(beginning)
        # The term of a very long value contains only its beginning.
        if "\0" in part or (has_deletions and not _has_documents(searcher, field, term)):
            continue
        found.add(part)
        if len(found) > MAX_COMPLETIONS:
            break
    return found


def _terms_between_slashes(reader: Any, field: str, prefix: str) -> Iterator[str]:
    """Yield the terms with a prefix, each cut after the next slash."""
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
            # The next possible term is this one followed by the least character.
            wanted = f"{term}\0"
        else:
            yield term[: slash + 1]
            wanted = term[:slash] + _AFTER_SLASH


def _has_documents(searcher: Any, field: str, term: str) -> bool:
    """Check whether a term, or a prefix with a slash, occurs in documents that are not deleted."""
    if term.endswith("/"):
        return bool(searcher.count(prefix_query(field, term)))
    return bool(searcher.count(TermQuery(Term(field, term))))

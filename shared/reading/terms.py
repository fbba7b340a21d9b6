"""Terms of a field: those with a prefix, and the most frequent ones.

Lucene counts replaced and deleted chunks until their segment is merged. If there are any, the best
terms are counted again.
"""

from bisect import insort
from collections.abc import Iterable
from itertools import chain, islice
from typing import Any, Final

from org.apache.lucene.index import MultiTerms, Term
from org.apache.lucene.misc import HighFreqTerms, TermStats
from org.apache.lucene.search import TermQuery

from shared.analysis.analyzers import folded
from shared.model import schema
from shared.model.index_results import TermCount, TermList
from shared.storage.commits import Snapshot
from shared.storage.field_names import field_with_terms
from shared.storage.terms import FILE_FIELD, shown, terms_with_prefix

MAX_LISTED_TERMS: Final = 10_000
"""Maximum number of terms that are compared for one answer."""

_MAX_EXAMPLE_CANDIDATES: Final = 100


def suggest_terms(snapshot: Snapshot, name: str, prefix: str, limit: int) -> TermList:
    """Return terms with a prefix; see `shared.reading.searcher.Searcher.suggest_terms`."""
    reader = snapshot.reader
    field = field_with_terms(name, reader)
    spelled = analyzed_prefix(field, prefix)
    if not spelled:
        notice = (
            "The prefix has no characters that the index keeps, so no terms match; give another "
            "prefix, or none."
        )
        return TermList(field=name, prefix=spelled, terms=[], complete=False, notice=notice)
    beginnings = snapshot.folders.term_prefixes(spelled) if field == FILE_FIELD else [spelled]
    terms = chain.from_iterable(
        terms_with_prefix(reader, field, beginning) for beginning in beginnings
    )
    found = dict(islice(terms, MAX_LISTED_TERMS))
    complete = next(terms, None) is None
    candidates = _by_descending_frequency(
        (term, frequency)
        for term, frequency in found.items()
        # The prefix of a folder in the index may begin like a path.
        if shown(field, term, snapshot.folders).startswith(spelled)
    )
    return TermList(
        field=name,
        prefix=spelled,
        terms=_term_counts(snapshot, field, candidates, limit),
        complete=complete,
        notice=None
        if complete
        else f"More than {MAX_LISTED_TERMS:,} terms have this prefix, and only the first of them "
        "in alphabetical order were compared; give a longer prefix.",
    )


def top_terms(snapshot: Snapshot, name: str, limit: int, min_length: int) -> TermList:
    """Return the most frequent terms; see `shared.reading.searcher.Searcher.top_terms`."""
    reader = snapshot.reader
    field = field_with_terms(name, reader)
    # More than requested: some are too short, have no chunk left, or tie with the last one.
    asked = max(limit, MAX_LISTED_TERMS)
    of_field = list(_most_frequent_terms(reader, field, asked))
    terms = _term_counts(
        snapshot, field, (pair for pair in of_field if len(pair[0]) >= min_length), limit
    )
    complete = len(terms) == limit or len(of_field) < asked
    return TermList(
        field=name,
        prefix="",
        terms=terms,
        complete=complete,
        notice=None
        if complete
        else f"Only the {asked:,} most frequent terms were compared; give a prefix to find rarer "
        "ones.",
    )


def example_terms(snapshot: Snapshot, field: str, count: int) -> list[str]:
    """Return some terms of a Lucene field, preferring frequent ones."""
    terms = islice(terms_with_prefix(snapshot.reader, field, ""), _MAX_EXAMPLE_CANDIDATES)
    candidates = _by_descending_frequency(terms)
    return [found.term for found in _term_counts(snapshot, field, candidates, count)]


def analyzed_prefix(field: str, prefix: str) -> str:
    """Return a prefix spelled like the terms of a field."""
    valid = schema.keyword_prefix(prefix)
    return valid if schema.is_keyword_field(field) else folded(valid.strip())


def _most_frequent_terms(reader: Any, field: str, count: int) -> list[tuple[str, int]]:
    """Return the terms with the highest document frequency, the highest first."""
    if MultiTerms.getTerms(reader, field) is None:
        return []
    # Java iterates over all terms in a fifth of the time that Python needs.
    order = HighFreqTerms.DocFreqComparator()
    found = map(TermStats.cast_, HighFreqTerms.getHighFreqTerms(reader, count, field, order))
    return _by_descending_frequency(
        (stats.termtext.utf8ToString(), stats.docFreq) for stats in found
    )


def _by_descending_frequency(terms: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted(terms, key=lambda pair: (-pair[1], pair[0]))


def _term_counts(
    snapshot: Snapshot,
    field: str,
    candidates: Iterable[tuple[str, int]],
    limit: int,
) -> list[TermCount]:
    """Return the best of some terms.

    Args:
        snapshot: the commit to count in.
        field: a Lucene field.
        candidates: terms and their document frequency, the highest first.
        limit: the maximum number of terms.
    """
    if snapshot.reader.hasDeletions():
        candidates = _without_deletions(snapshot.searcher, field, candidates, limit)
    best = islice(candidates, limit)
    return [TermCount(shown(field, term, snapshot.folders), chunks) for term, chunks in best]


def _without_deletions(
    searcher: Any, field: str, candidates: Iterable[tuple[str, int]], limit: int
) -> list[tuple[str, int]]:
    """Return the best of some terms, counting only chunks that are not deleted."""
    best: list[tuple[int, str]] = []
    for term, frequency in candidates:
        # The document frequency is an upper bound of a term's chunks.
        if len(best) >= limit and frequency <= -best[limit - 1][0]:
            break
        chunks = int(searcher.count(TermQuery(Term(field, term))))
        if chunks:
            insort(best, (-chunks, term))
    return [(term, -rank) for rank, term in best[:limit]]

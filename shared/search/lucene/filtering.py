"""Restriction of Lucene queries to the chunks that pass filters."""

from collections.abc import Sequence
from typing import Any, Final

from org.apache.lucene.search import BooleanClause, BooleanQuery

from shared.model.filters import Filter
from shared.query.compiler import Compiler
from shared.query.filters import conditions
from shared.query.lucene_terms import terms_of
from shared.storage.commits import Snapshot

_COMPILER: Final = Compiler(scores=False)


def filtered(query: Any, filters: Sequence[Filter], snapshot: Snapshot) -> Any:
    """Return a query restricted to the chunks that pass every filter.

    Args:
        query: a Lucene query; its scores are unchanged.
        filters: the filters, all of which must match.
        snapshot: the commit to be searched.

    Raises:
        FilterError: a field or a value does not fit.
    """
    if not filters:
        return query
    builder = BooleanQuery.Builder().add(query, BooleanClause.Occur.MUST)
    terms = terms_of(snapshot.reader)
    for clause in conditions(filters, terms, snapshot.folders, snapshot.collections):
        is_excluded = clause.occur == "must_not"
        occur = BooleanClause.Occur.MUST_NOT if is_excluded else BooleanClause.Occur.FILTER
        builder.add(_COMPILER.query(clause.node), occur)
    return builder.build()

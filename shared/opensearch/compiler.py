"""The last step for a cluster: compilation of a tree to its query language.

Each query scores as the one of Lucene that `shared.query.lucene` makes of the same tree.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from shared.model import schema
from shared.opensearch import layout
from shared.opensearch.state import IS_CHUNK, Query
from shared.query.lucene import SCORED_TERMS, UNSCORED_VALUE, number_of
from shared.query.tree import (
    Best,
    Between,
    Clauses,
    Everything,
    Exists,
    Expression,
    Fuzzy,
    Node,
    Nothing,
    Pattern,
    Range,
    TermPhrase,
    Terms,
    Values,
    ValueWords,
    Weighted,
    flat,
)

_RARER: Final = f"top_terms_blended_freqs_{SCORED_TERMS}"
_CONSTANT: Final = "constant_score"
"""How a pattern is scored: by its most useful terms, or all the same."""

_NOWHERE: Final = "\x02"
"""Value of a keyword field that no document has."""


def compiled(node: Node, *, ranks: bool = True, scores: bool = True) -> Query:
    """Return the query for a tree whose leaves are on fields.

    Without ranks, parts are left out that only add to scores; without scores, those do not count.
    """
    match node:
        case Weighted():
            return _boosted(compiled(node.node, ranks=ranks, scores=scores), node.weight)
        case Clauses():
            return _clauses(node, ranks=ranks, scores=scores)
        case Best():
            parts = [compiled(part, ranks=ranks, scores=scores) for part in node.nodes]
            return {"dis_max": {"queries": parts, "tie_breaker": 0.0}}
        case ValueWords() if not scores:
            return _value_words(node, _CONSTANT)
    return _CONVERSIONS[type(node)](node)


def named(nodes: Mapping[str, Node]) -> Query:
    """Return a query that matches nothing, but has the cluster say which trees each hit matches.

    Its first condition is never met, so that Lucene looks at none of the others to find hits; the
    cluster still tells of each hit which named queries it matches.
    """
    never = {"term": {schema.ID: {"value": _NOWHERE}}}
    parts = [
        {"bool": {"filter": [compiled(node, ranks=False, scores=False)], "_name": name}}
        for name, node in nodes.items()
    ]
    return {"bool": {"must": [never, *parts]}}


def _boosted(query: Query, weight: float) -> Query:
    return {"bool": {"must": [query], "boost": weight}}


def _clauses(node: Clauses, *, ranks: bool, scores: bool) -> Query:
    roles: dict[str, list[Query]] = {}
    for part, occur in flat(node, with_ranks=ranks):
        role = "should" if occur == "rank" else occur
        roles.setdefault(role, []).append(compiled(part, ranks=ranks, scores=scores))
    if not roles:
        return {"match_none": {}}
    if roles.keys() == {"must_not"}:
        roles["must"] = [_everything(Everything())]
    return {"bool": dict(roles)}


def _everything(_: Node) -> Query:
    return {"constant_score": {"filter": IS_CHUNK}}


def _terms(node: Terms) -> Query:
    name, texts = layout.field(node.field), node.texts
    if schema.is_keyword_field(node.field) or node.field == schema.LANGUAGES:
        # Of several values the best one counts, as only one of them is asked for in a search.
        parts = [{"term": {name: {"value": text}}} for text in texts]
        return parts[0] if len(parts) == 1 else {"dis_max": {"queries": parts}}
    if len(texts) == 1:
        return {"term": {name: {"value": layout.sent(texts[0])}}}
    together = layout.ALTERNATIVES.join(map(layout.sent, texts))
    return {"match": {name: {"query": together, "analyzer": "alternatives"}}}


def _phrase(node: TermPhrase) -> Query:
    positions = (layout.ALTERNATIVES.join(map(layout.sent, texts)) for texts in node.positions)
    phrase = {"query": " ".join(positions), "analyzer": "alternatives", "slop": node.slop}
    return {"match_phrase": {layout.field(node.field): phrase}}


def _pattern(node: Pattern) -> Query:
    name, rewrite = layout.field(node.field), _RARER if node.scored else _CONSTANT
    prefix, rest = node.beginning
    if rest == "*":
        return {"prefix": {name: {"value": prefix, "rewrite": rewrite}}}
    return {"wildcard": {name: {"value": node.pattern, "rewrite": rewrite}}}


def _fuzzy(node: Fuzzy) -> Query:
    parameters = {
        "value": node.text,
        "fuzziness": node.edits,
        "prefix_length": node.prefix,
        "max_expansions": 50,
    }
    return {"fuzzy": {layout.field(node.field or ""): parameters}}


def _value_words(node: ValueWords, rewrite: str) -> Query:
    parameters = {"value": node.pattern, "flags": "NONE", "rewrite": rewrite}
    return {"regexp": {layout.field(node.field or ""): parameters}}


def _scored_value_words(node: ValueWords) -> Query:
    rarest = _value_words(node, _RARER)
    rest = _boosted(_value_words(node, _CONSTANT), UNSCORED_VALUE)
    return {"dis_max": {"queries": [rarest, rest], "tie_breaker": 0.0}}


def _range(node: Range) -> Query:
    name = node.field or ""
    bounds: dict[str, Any] = {
        "gte" if node.includes_low else "gt": node.low,
        "lte" if node.includes_high else "lt": node.high,
    }
    if schema.is_number_field(name):
        bounds = {sign: number_of(bound, math.inf) for sign, bound in bounds.items()}
    bounds = {sign: of for sign, of in bounds.items() if of not in (None, -math.inf, math.inf)}
    if not bounds:
        return {"constant_score": {"filter": {"exists": {"field": layout.field(name)}}}}
    return {"range": {layout.field(name): bounds}}


def _values(node: Values) -> Query:
    if node.field == schema.CHUNK_INDEX:
        return {"terms": {node.field: list(map(int, node.texts))}}
    return {"terms": {layout.field(node.field): list(node.texts)}}


_CONVERSIONS: Final[dict[type, Callable[[Any], Query]]] = {
    Everything: _everything,
    Nothing: lambda _: {"match_none": {}},
    Terms: _terms,
    TermPhrase: _phrase,
    Pattern: _pattern,
    Fuzzy: _fuzzy,
    ValueWords: _scored_value_words,
    Expression: lambda node: {"regexp": {layout.field(node.field): {"value": node.pattern}}},
    Range: _range,
    Values: _values,
    Between: lambda node: {"range": {node.field: {"gte": node.low, "lte": node.high}}},
    Exists: lambda node: {"exists": {"field": layout.field(node.field)}},
}

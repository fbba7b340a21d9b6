"""Searches for the terms of an index on a cluster that are like another one, and for values."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from shared.model import schema
from shared.opensearch import layout
from shared.opensearch.queries import Query
from shared.opensearch.search.compiler import compiled
from shared.query.tree import ValueWords

MOST_SIMILAR: Final = 1_000
"""Maximum number of similar terms that the cluster returns."""

_KEYWORD_WORDS: Final = {
    schema.CONTENT: "word.content",
    schema.TITLE: "word.title",
    schema.STEMS: "word.stems",
    schema.REVERSED: "word.reversed",
}
"""Fields of the documents that stand for words, in which similar words are looked up."""

_ANY_VALUE: Final = ""
"""Answer that stands for any value."""


class Question(NamedTuple):
    """What is asked of the terms of a field.

    Attributes:
        kind: terms with a prefix, terms that differ by a few letters, or any value that contains
            some words.
        field: the field of the schema.
        text: the prefix, the term, the expression, or the pattern of the words.
        edits: the number of letters by which a term may differ.
        beginning: the number of letters at the beginning that may not differ.
        most: the maximum number of terms.
    """

    kind: Literal["beginning", "within", "value"]
    field: str
    text: str
    edits: int = 0
    beginning: int = 0
    most: int = MOST_SIMILAR


def search_for(question: Question, chunks: Query) -> dict[str, Any]:
    """Return the search that answers a question.

    Args:
        question: the question.
        chunks: the query for the chunks whose values are looked up.
    """
    kind, name, text = question.kind, question.field, question.text
    query: Query
    if kind == "value":
        words = compiled(ValueWords(field=name, pattern=text), scores=False)
        query = {"bool": {"filter": [chunks, words]}}
        return {"query": query, "size": 0, "terminate_after": 1}
    if kind == "beginning" and name not in _KEYWORD_WORDS:
        pattern = "".join(f"\\{sign}" if not sign.isalnum() else sign for sign in text)
        terms = {"field": layout.field(name), "size": question.most, "order": {"_key": "asc"}}
        if text:
            terms["include"] = f"{pattern}.*"
        return {"size": 0, "query": chunks, "aggs": {"terms": {"terms": terms}}}
    of = _KEYWORD_WORDS[name]
    if kind == "within":
        parameters = {
            "value": text,
            "fuzziness": question.edits,
            "prefix_length": question.beginning,
            "max_expansions": MOST_SIMILAR,
            "rewrite": "constant_score",
        }
        query = {"fuzzy": {of: parameters}}
    else:
        query = {"prefix": {of: {"value": text}}}
    return {
        "query": query,
        "size": question.most,
        "sort": [{of: "asc"}],
        "_source": False,
        "docvalue_fields": [of],
        "track_total_hits": False,
    }


def terms_in(answer: Mapping[str, Any], question: Question) -> list[str]:
    """Return the terms in the answer of the cluster to the search for a question.

    For values there is one text, which stands for any, if there is one.
    """
    if question.kind == "value":
        return [_ANY_VALUE] if answer["hits"]["total"]["value"] else []
    if "aggregations" in answer:
        return [str(bucket["key"]) for bucket in answer["aggregations"]["terms"]["buckets"]]
    of = _KEYWORD_WORDS[question.field]
    found = (hit["fields"][of][0] for hit in answer["hits"]["hits"])
    return list(dict.fromkeys(map(layout.received, found)))

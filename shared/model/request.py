"""Search requests and their options, light because the command line is built from them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Final, Literal, TypedDict, get_args, get_origin

from shared.model.filters import Filter
from shared.model.metadata import MODIFIED
from shared.model.schema import VERSION_OF
from shared.settings.defaults import MAX_COUNT

Content = Literal["full", "passages", "none"]
"""Amount of text in a hit: all of it, the passages around the matches, or none."""

Texts = Literal[Content, "both", "marked"]
"""Amount of text in a hit of the Python API: also all of it and the passages, or all of it with
the matches marked as in a passage."""

Operator = Literal["or", "and"]
"""Number of words of the query that must match: any one, or all."""

Syntax = Literal["auto", "lucene", "plain"]
"""Query syntax: chosen by rule, Lucene's syntax to the letter, or words only."""

Detail = Literal["parsed", "steps", "terms", "scores"]
"""Level of detail of an explanation: the parsed query, the query after each step, the terms with
their document frequency, and the scores of the best hits."""

Group = Literal["document", "none"]
"""Results: documents, each with its best chunks, or single chunks."""

GroupChoice = Literal["auto", Group]
"""The same, or as it suits the request: documents where only passages are shown, or where the
order is that of their modification."""

Versions = Literal["newest", "all"]
"""Versions of the same text among the results: the newest of them for all, or all of them."""

VersionsChoice = Literal["auto", Versions]
"""The same, or as it suits the request: the newest where results are documents, unless the versions
of a text are asked for."""

Search = Literal["both", "words", "meaning"]
"""Ways to rank: by words and meaning, if the index has vectors; by words only; or, to compare, by
meaning alone, without regard for words."""

BY_SCORE = "score"


MAX_DAYS: Final = 36_525
"""Maximum age at which a score is halved, in days: a hundred years."""

EXPLAINED_HITS: Final = 3
"""Default number of hits whose scores are explained."""


class SearchOptions(TypedDict, total=False):
    """Keyword arguments for the fields of `SearchRequest` that have defaults."""

    limit: int
    offset: int
    filters: Sequence[Filter]
    operator: Operator
    syntax: Syntax
    content: Texts
    sort: str
    facets: Sequence[str]
    min_confidence: float
    rewritten: str | None
    search: Search
    group: Group
    recency: float | None
    versions: Versions


@dataclass(frozen=True)
class SearchRequest:
    """A search request: the query, the conditions on its hits, and how they are shown.

    Attributes:
        query: the query as typed; a blank one matches every chunk.
        limit: the number of results to return, from 1.
        offset: the number of results to skip, from 0.
        filters: conditions that every hit must meet.
        operator: ``or`` if one of the words is enough, ``and`` if all are required.
        syntax: the rule for which characters of the query are Lucene's classic syntax.
        content: the amount of text in each hit; ``both`` is all of it and the passages, ``marked``
            all of it with the matches marked.
        sort: ``score`` for the best first, or ``source_document``, ``chunk_index`` or a metadata
            key; a minus before it reverses the order. By ``file_path``, files are grouped by
            folder, in the order of the folders' prefixes.
        facets: metadata keys whose values are counted among the matches.
        min_confidence: the least confidence of a hit, from 0 to 1.
        rewritten: the query in other words, which are also searched, as plain text.
        search: ``both`` to rank by words and meaning, ``words`` by words only.
        group: ``document`` if a result is a document with its best chunks, and facets count
            documents; ``none`` if it is a chunk.
        recency: the age of a document at which its score is halved, in days; None for scores that
            do not depend on its age. Ages are those of the metadata key ``modified``.
        versions: ``newest`` to show of several versions of the same text only the newest that
            matches as well as they do, with the number of the others.

    Raises:
        ValueError: a value is out of its range.
    """

    query: str
    limit: int = 10
    offset: int = 0
    filters: Sequence[Filter] = ()
    operator: Operator = "or"
    syntax: Syntax = "auto"
    content: Texts = "full"
    sort: str = BY_SCORE
    facets: Sequence[str] = ()
    min_confidence: float = 0.0
    rewritten: str | None = None
    search: Search = "both"
    group: Group = "none"
    recency: float | None = None
    versions: Versions = "all"

    def __post_init__(self) -> None:
        check(self.limit >= 1, "limit", self.limit)
        check(self.offset >= 0, "offset", self.offset)
        check(self.offset + self.limit <= MAX_COUNT, "offset + limit", self.offset + self.limit)
        check(0 <= self.min_confidence <= 1, "min_confidence", self.min_confidence)
        check(self.recency is None or 0 < self.recency <= MAX_DAYS, "recency", self.recency)
        for name, choices in _CHOICES.items():
            check((value := getattr(self, name)) in choices, name, value)


_CHOICES: Final = {
    part.name: get_args(part.type)
    for part in fields(SearchRequest)
    if get_origin(part.type) is Literal
}


def group_for(choice: GroupChoice, content: str, sort: str) -> Group:
    """Return the results that a choice means."""
    if choice != "auto":
        return choice
    by_time = sort.removeprefix("-") == MODIFIED
    return "document" if content == "passages" or by_time else "none"


def versions_for(choice: VersionsChoice, group: Group, filters: Sequence[Filter]) -> Versions:
    """Return the versions of a text that a choice means."""
    if choice != "auto":
        return choice
    lists_versions = any(condition.field == VERSION_OF for condition in filters)
    return "newest" if group == "document" and not lists_versions else "all"


def as_request(query: str | SearchRequest, options: SearchOptions) -> SearchRequest:
    """Return the request for a query, or a copy of a request, with options."""
    if isinstance(query, SearchRequest):
        return replace(query, **options)
    return SearchRequest(query, **options)


def check(holds: bool, name: str, value: object) -> None:
    """Raise an error if a value is out of its range."""
    if not holds:
        raise ValueError(f"{name} is out of range: {value!r}")


def check_page(offset: int, limit: int | None) -> None:
    """Raise an error if a page of a list begins below 0 or has no entries."""
    check(0 <= offset <= MAX_COUNT, "offset", offset)
    check(limit is None or limit >= 1, "limit", limit)


DocumentSort = Literal[
    "source_document",
    "-source_document",
    "modified",
    "-modified",
    "title",
    "-title",
    "chunks",
    "-chunks",
]
"""Sort orders of a list of documents; a minus reverses the order.

Documents with equal values are ordered by id, those without ``modified`` come last. Case and
accents of titles are ignored.
"""

BY_ID: DocumentSort = "source_document"

"""What a search can be asked for: light, for the command line builds its options from it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypedDict, get_args

from shared.model.filters import Filter
from shared.settings.defaults import MAX_COUNT

Content = Literal["full", "passages", "none"]
"""How much text a hit carries: all of it, the parts around the matches, or none."""

Texts = Literal[Content, "both"]
"""The same in Python, where a hit may carry the whole text and the parts around the matches."""

Operator = Literal["or", "and"]
"""Whether one word of a query is enough or all are needed."""

Syntax = Literal["auto", "lucene", "plain"]
"""How a query is read: by rule, as Lucene's syntax to the letter, or as words only."""

Detail = Literal["parsed", "steps", "terms", "scores"]
"""How much is explained of a query: what was understood, what each step made of it, the terms
with the number of chunks that have them, and how the scores of the best hits came about."""

BY_SCORE = "score"
"""The order of hits that is best first."""


EXPLAINED_HITS: Final = 3
"""Hits whose scores an explanation has, if nobody says."""


class SearchOptions(TypedDict, total=False):
    """The fields of `SearchRequest` that have defaults, as keyword arguments."""

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


@dataclass(frozen=True)
class SearchRequest:
    """A search: the query, what its hits must meet, and how they are shown.

    Attributes:
        query: what was typed; a blank one matches every chunk.
        limit: hits to return, from 1.
        offset: hits to skip, from 0.
        filters: conditions that every hit meets.
        operator: whether one of the words is enough or all are needed.
        syntax: which characters of the query count as Lucene's classic syntax.
        content: how much text each hit carries; ``both`` is all of it and the passages.
        sort: ``score`` for the best first, or ``source_document``, ``chunk_index`` or a key of the
            metadata; with a minus before it the greatest comes first. By ``file_path`` files come
            folder by folder, in the order of the folders' prefixes.
        facets: keys of the metadata whose values are counted among the matches.
        min_confidence: leaves out hits that are less likely to answer, from 0 to 1.
        rewritten: the query in other words, which are searched as plain text, too.

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

    def __post_init__(self) -> None:
        check(self.limit >= 1, "limit", self.limit)
        check(self.offset >= 0, "offset", self.offset)
        check(self.offset + self.limit <= MAX_COUNT, "offset + limit", self.offset + self.limit)
        check(0 <= self.min_confidence <= 1, "min_confidence", self.min_confidence)
        check(self.operator in get_args(Operator), "operator", self.operator)
        check(self.syntax in get_args(Syntax), "syntax", self.syntax)
        check(self.content in get_args(Texts), "content", self.content)


def as_request(query: str | SearchRequest, options: SearchOptions) -> SearchRequest:
    """The request for a query, or another request, with options.

    Raises:
        ValueError: an option is out of its range.
    """
    if isinstance(query, SearchRequest):
        return replace(query, **options)
    return SearchRequest(query, **options)


def check(holds: bool, name: str, value: object) -> None:
    """Refuse a value that is out of its range.

    Raises:
        ValueError: it is.
    """
    if not holds:
        raise ValueError(f"{name} is out of range: {value!r}")


def check_page(offset: int, limit: int | None) -> None:
    """Refuse a page of a list that begins below 0 or has no entries.

    Raises:
        ValueError: it does.
    """
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
"""What a list of documents is sorted by; with a minus the greatest value comes first.

Documents with equal values come in the order of their ids, those without ``modified`` last. Case
and accents of titles are ignored.
"""

BY_ID: DocumentSort = "source_document"
"""The default order: that of the ids."""

"""Shortening of texts to fit into a response."""

from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from pydantic_core import to_json

from shared.messages import shortened

DEFAULT_CHARACTERS: Final = 40_000
"""Default maximum length of a response, in characters."""

MAX_CHARACTERS: Final = 1_000_000
"""Upper limit of the length that a client can request, in characters."""

_QUERY_BUDGET_DIVISOR: Final = 8
"""Divisor of the budget: a query, or a form of it, takes at most this part of a response."""

MAX_BRIEF_CHARACTERS: Final = 200
"""Maximum length of a shortened title, in characters."""


def brief_query(query: str, budget: int) -> str:
    """Shorten a query or a prefix for repetition in a response with this budget."""
    longest = budget // _QUERY_BUDGET_DIVISOR
    # A character takes up to six in JSON.
    return query if json_characters(query) <= longest else shortened(query, longest // 6 - 1)


def brief(title: str) -> str:
    """Shorten a title or another short text."""
    return shortened(title, MAX_BRIEF_CHARACTERS)


def json_characters(text: str) -> int:
    """Return the length of a text in JSON, without quotes."""
    return len(to_json(text).decode()) - 2


def fitting(texts: Iterable[str], budget: int) -> int:
    """Return the number of leading texts that fit into a budget as JSON strings."""
    lengths = accumulate(json_characters(text) + 3 for text in texts)
    return sum(length <= budget for length in lengths)


def cut(text: str, excess: int) -> str:
    """Shorten a text by at least `excess` JSON characters; each character takes one or more."""
    kept = len(text) - excess - 1
    return f"{text[:kept]}…" if kept > 0 else ""

"""Texts cut to fit into an answer."""

from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from pydantic_core import to_json

from shared.messages import shortened

DEFAULT_CHARACTERS: Final = 40_000
"""Characters of an answer unless the client asks for more."""

MAX_CHARACTERS: Final = 1_000_000
"""The most a client may ask for."""

_SHARE_OF_QUERY: Final = 8
"""A query, and each form of it, takes at most this part of an answer."""

MAX_BRIEF_CHARACTERS: Final = 200
"""Characters of a title that was cut."""


def brief_query(query: str, budget: int) -> str:
    """A query, or the beginning of a word, as an answer of so many characters repeats it."""
    longest = budget // _SHARE_OF_QUERY
    # A character takes up to six in JSON.
    return query if json_characters(query) <= longest else shortened(query, longest // 6 - 1)


def brief(title: str) -> str:
    """A title, or another short text, cut where it is long."""
    return shortened(title, MAX_BRIEF_CHARACTERS)


def json_characters(text: str) -> int:
    """Characters of a text in JSON, without the quotes around it."""
    return len(to_json(text).decode()) - 2


def fitting(texts: Iterable[str], budget: int) -> int:
    """How many of some texts, from the first on, fit into a budget as strings of JSON."""
    lengths = accumulate(json_characters(text) + 3 for text in texts)
    return sum(length <= budget for length in lengths)


def cut(text: str, excess: int) -> str:
    """The text with at least `excess` characters less in JSON, where each is one or more."""
    kept = len(text) - excess - 1
    return f"{text[:kept]}…" if kept > 0 else ""

"""Scopes of requests, and the collections to which they limit a request."""

from collections.abc import Iterable
from typing import Final, Literal, get_args

Scope = Literal["read", "admin"]
"""``read`` is required for everything, ``admin`` for changes."""

SCOPES: Final[frozenset[Scope]] = frozenset(get_args(Scope))

COLLECTION_SCOPE: Final = "collection="
"""Beginning of a scope that limits a token to a collection; several allow several."""

Limit = frozenset[str] | None
"""Names of the collections that a request may see; None for the whole index."""


def limit_of(scopes: Iterable[str]) -> Limit:
    """Return the collections to which the scopes of a token limit it."""
    names = frozenset(
        scope.removeprefix(COLLECTION_SCOPE)
        for scope in scopes
        if scope.startswith(COLLECTION_SCOPE)
    )
    return names or None

"""Scopes of requests, from the token of each request."""

from typing import TYPE_CHECKING, Final, Literal, get_args

if TYPE_CHECKING:
    from server.runtime.state import ToolContext

Scope = Literal["read", "admin"]
"""``read`` is required for everything, ``admin`` for changes."""

SCOPES: Final[frozenset[Scope]] = frozenset(get_args(Scope))
"""All scopes."""


def granted_scopes(context: "ToolContext") -> frozenset[str]:
    """Return the scopes of the current request.

    Over stdio these are all, since whoever started the server owns the index. Over HTTP they are
    those of the token, or ``read`` without authentication.

    Args:
        context: the request's context.
    """
    from mcp.server.auth.middleware.auth_context import get_access_token

    token = get_access_token()
    if token is not None:
        return frozenset(token.scopes)
    return SCOPES if context.request_context.request is None else frozenset({"read"})

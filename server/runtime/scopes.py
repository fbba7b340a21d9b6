"""What a request may do: the scopes of the token that came with it."""

from typing import TYPE_CHECKING, Final, Literal, get_args

if TYPE_CHECKING:
    from server.runtime.state import ToolContext

Scope = Literal["read", "admin"]
"""``read`` is needed for everything, ``admin`` for what changes something."""

SCOPES: Final[frozenset[Scope]] = frozenset(get_args(Scope))
"""All of them."""


def granted_scopes(context: "ToolContext") -> frozenset[str]:
    """What the request that is being answered may do.

    Over stdio that is everything, for whoever started the server owns the index. Over HTTP it is
    what the token says; without authentication it is to read.

    Args:
        context: the request.
    """
    from mcp.server.auth.middleware.auth_context import get_access_token

    token = get_access_token()
    if token is not None:
        return frozenset(token.scopes)
    return SCOPES if context.request_context.request is None else frozenset({"read"})

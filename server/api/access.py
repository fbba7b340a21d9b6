"""Who may change something by the JSON API."""

from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser

from server.administration.service import Administration
from server.api.reading import State


def scopes(request: Request) -> frozenset[str]:
    """Return the scopes of a request: those of its token, or ``read`` if none is required."""
    user = request.scope.get("user")
    if isinstance(user, AuthenticatedUser):
        return frozenset(user.scopes)
    return frozenset({"read"})


def _administrator(request: Request, state: State) -> Administration:
    """Return the administration service for a request that may use it.

    Raises:
        HTTPException: the server offers none, or the token lacks the scope.
    """
    if state.administration is None:
        raise HTTPException(
            HTTPStatus.FORBIDDEN,
            "this server does not write; ask its operator to start it with --admin",
        )
    if "admin" not in scopes(request):
        raise HTTPException(
            HTTPStatus.FORBIDDEN,
            "this needs the scope 'admin', which the token of this request does not have; ask the "
            "operator for a token that has it",
        )
    return state.administration


Administrator = Annotated[Administration, Depends(_administrator)]
"""The administration service, for endpoints that change something."""

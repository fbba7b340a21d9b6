"""Sign-in and sign-out of people: a token once, then the cookie of a session."""

from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from server.http.access import Authentication, foreign, is_from_own_page
from server.http.paths import SIGN_IN_PATH, SIGN_OUT_PATH
from server.pages.rendering import as_page, page

MAX_TOKEN_CHARACTERS: Final = 12_000
"""Maximum length of a token, in characters; the access tokens of some issuers are long."""

_MAX_TARGET_CHARACTERS: Final = 12_000

_START: Final = "/"

_WRONG: Final = (
    "This token is not valid. Check that you copied all of it, or ask whoever runs the server for "
    "one."
)

_WITHOUT_SCOPE: Final = (
    "This token does not allow to search. Ask whoever runs the server for one with the scope read."
)


def sign_in_routes(authentication: Authentication) -> APIRouter:
    """Create the routes of sign-in and sign-out."""
    router = APIRouter(include_in_schema=False)
    sessions = authentication.sessions
    required = set(authentication.settings.required_scopes or [])

    @router.get(SIGN_IN_PATH)
    async def form(
        request: Request, to: Annotated[str, Query(max_length=_MAX_TARGET_CHARACTERS)] = _START
    ) -> Response:
        """Show the form."""
        return page(request, "sign_in", to=own_path(to), problem=None)

    @router.post(SIGN_IN_PATH)
    async def sign_in(
        request: Request,
        token: Annotated[str, Form(max_length=MAX_TOKEN_CHARACTERS)] = "",
        to: Annotated[str, Form(max_length=_MAX_TARGET_CHARACTERS)] = _START,
    ) -> Response:
        """Open a session, and go to the page that was asked for."""
        if not is_from_own_page(request.headers, sessions.origin):
            return as_page(request, foreign())
        target = own_path(to)
        verified = await authentication.verifier.verify_token(token.strip())
        if verified is None:
            status = HTTPStatus.UNAUTHORIZED
            return page(request, "sign_in", status, to=target, problem=_WRONG)
        if not required <= set(verified.scopes):
            status = HTTPStatus.FORBIDDEN
            return page(request, "sign_in", status, to=target, problem=_WITHOUT_SCOPE)
        # Relative, since a proxy may serve the root under any path; and so it leads nowhere else.
        response = RedirectResponse(f".{target}", HTTPStatus.SEE_OTHER)
        response.set_cookie(
            sessions.cookie,
            sessions.open(verified),
            max_age=sessions.seconds_left(verified),
            path="/",
            secure=sessions.secure,
            httponly=True,
            samesite="strict",
        )
        return response

    @router.post(SIGN_OUT_PATH)
    async def sign_out(request: Request) -> Response:
        """End the session, and delete its cookie."""
        if secret := sessions.secret_of(request.headers):
            sessions.close(secret)
        response = RedirectResponse(f".{SIGN_IN_PATH}", HTTPStatus.SEE_OTHER)
        response.delete_cookie(
            sessions.cookie, path="/", secure=sessions.secure, httponly=True, samesite="strict"
        )
        return response

    return router


def own_path(target: str) -> str:
    """Return the target of a redirect if it is a path on this server, else the start.

    Browsers take a backslash for a slash, and two slashes for the beginning of a host.
    """
    is_path = target.startswith("/") and not target.startswith("//")
    return target if is_path and "\\" not in target and target.isprintable() else _START

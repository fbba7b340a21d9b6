"""The ASGI application: the SDK's MCP endpoint, the JSON API and pages, and their middleware."""

import asyncio
from http import HTTPStatus
from typing import Annotated, Any, Final

import anyio
from fastapi import APIRouter, FastAPI, Form, Query, Request
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.api.endpoint import answer_errors
from server.api.routes import OPENAPI_PATH, add_api
from server.http import access, limits, observe
from server.pages import document, search, status
from server.pages.rendering import as_page, page
from server.search_server import SearchServer
from server.settings import HttpSettings
from server.state import ServerState
from shared.installation import software_version

MAX_TOKEN_CHARACTERS: Final = 12_000  # of a token; the access tokens of some issuers are long

_MAX_TARGET_CHARACTERS: Final = 12_000

_START: Final = "/"

_WRONG: Final = (
    "This token is not valid. Check that you copied all of it, or ask whoever runs the server for "
    "one."
)

_WITHOUT_SCOPE: Final = (
    "This token does not allow to search. Ask whoever runs the server for one with the scope read."
)


def sign_in_routes(authentication: access.Authentication) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    sessions = authentication.sessions

    @router.get(limits.SIGN_IN_PATH)
    async def form(
        request: Request, to: Annotated[str, Query(max_length=_MAX_TARGET_CHARACTERS)] = _START
    ) -> Response:
        return page(request, "sign_in", to=own_path(to), problem=None)

    @router.post(limits.SIGN_IN_PATH)
    async def sign_in(
        request: Request,
        token: Annotated[str, Form(max_length=MAX_TOKEN_CHARACTERS)] = "",
        to: Annotated[str, Form(max_length=_MAX_TARGET_CHARACTERS)] = _START,
    ) -> Response:
        if not access.is_from_own_page(request.headers, sessions.origin):
            return as_page(request, access.foreign())
        target = own_path(to)
        verified = await authentication.verify_token(token.strip())
        if verified is None:
            status = HTTPStatus.UNAUTHORIZED
            return page(request, "sign_in", status, to=target, problem=_WRONG)
        if not access.may_read(verified):
            status = HTTPStatus.FORBIDDEN
            return page(request, "sign_in", status, to=target, problem=_WITHOUT_SCOPE)
        # Relative, since a proxy may serve the root under any path; and so it leads nowhere else.
        response = RedirectResponse(f".{target}", HTTPStatus.SEE_OTHER)
        response.set_cookie(
            sessions.cookie,
            sessions.open(verified),
            max_age=sessions.seconds_left(verified),
            secure=sessions.secure,
            httponly=True,
            samesite="strict",
        )
        return response

    @router.post(limits.SIGN_OUT_PATH)
    async def sign_out(request: Request) -> Response:
        if secret := sessions.secret_of(request.headers):
            sessions.close(secret)
        response = RedirectResponse(f".{limits.SIGN_IN_PATH}", HTTPStatus.SEE_OTHER)
        response.delete_cookie(
            sessions.cookie, secure=sessions.secure, httponly=True, samesite="strict"
        )
        return response

    return router


def own_path(target: str) -> str:
    """Return the target of a redirect if it is a path on this server, else the start.

    Browsers take a backslash for a slash, and two slashes for the beginning of a host.
    """
    is_path = target.startswith("/") and not target.startswith("//")
    return target if is_path and "\\" not in target and target.isprintable() else _START


def http_application(
    state: ServerState,
    settings: HttpSettings,
    admission: limits.Admission,
    authentication: access.Authentication | None,
    urls: tuple[str, str],
) -> Starlette:
    """Create the ASGI application; the URLs are as in `access.authentication`."""
    security = access.allowed(settings, *urls)
    server = SearchServer(
        state,
        auth=authentication.settings if authentication else None,
        token_verifier=authentication,
        max_streams=settings.max_sessions,
    )
    max_bytes = int(settings.max_body * 1_000_000)
    app = server.streamable_http_app(
        streamable_http_path=limits.MCP_PATH,
        max_request_body_size=max_bytes,
        session_idle_timeout=settings.idle_timeout,
        max_sessions=settings.max_sessions,
        transport_security=security,
    )
    # The SDK does not expose the number of sessions.
    sessions = server.session_manager._server_instances  # noqa: SLF001
    metrics = observe.Metrics()
    server.middleware.append(metrics.observe_call)
    app.router.routes += [
        Route("/healthz", observe.healthz),
        Route("/readyz", observe.readyz(state.pool, admission)),
        Route("/metrics", observe.metrics_endpoint(state, metrics, admission, sessions)),
    ]
    # Not a route for all paths, which would take what the routes refuse for their methods.
    app.router.default = ended_with_client(by_encoded_path(_web_application(state, authentication)))
    app.user_middleware = [
        Middleware(observe.RequestObserver, metrics),
        Middleware(access.ProtectiveHeaders),
        Middleware(limits.WellFormed),
        Middleware(access.HostCheck, security),
        # Before authentication, since a browser's preflight request carries no token.
        Middleware(
            CORSMiddleware,
            allow_origins=access.allowed_origins(settings),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["Mcp-Session-Id", "WWW-Authenticate"],
        ),
        *(
            [Middleware(access.CookieAuthorization, authentication.sessions)]
            if authentication
            else []
        ),
        *app.user_middleware,
        # Before admission, so that requests without a token use none of the limits.
        *([Middleware(access.TokenRequired, authentication.settings)] if authentication else []),
        Middleware(limits.AdmissionControl, admission),
        Middleware(limits.LimitedBodies, max_bytes, settings.receive_timeout),
    ]
    return app


def _web_application(state: ServerState, authentication: access.Authentication | None) -> FastAPI:
    """Create the application that answers all paths but those of MCP and of operation."""
    app = FastAPI(
        title="mcp-lucene",
        summary="Search your own documents: private, offline, on Apache Lucene",
        version=software_version(),
        openapi_url=OPENAPI_PATH,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.server = state
    answer_errors(app, as_page)
    add_api(app)
    for router in (search.router, document.router, status.router):
        app.include_router(router)
    app.mount("/static", _Assets(packages=[("server.pages", "static")]))
    app.add_route("/api/docs", lambda _: RedirectResponse("openapi.json"), include_in_schema=False)
    if authentication is not None:
        app.include_router(sign_in_routes(authentication))
    return app


class _Assets(StaticFiles):
    """Styles and scripts, which browsers keep: their addresses change with the version."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def ended_with_client(app: ASGIApp) -> ASGIApp:
    """Cancel the answer to a request whose client leaves between the ends of body and answer."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        is_whole, answering = asyncio.Event(), anyio.CancelScope()

        async def cancel_when_left() -> None:
            await is_whole.wait()
            while (await receive())["type"] != "http.disconnect":
                pass
            answering.cancel()

        async def received() -> Message:
            if is_whole.is_set():
                await anyio.sleep_forever()
            message = await receive()
            if not message.get("more_body"):
                is_whole.set()
            return message

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.body" and not message.get("more_body"):
                # What is done after the answer goes on.
                listener.cancel()
            await send(message)

        # Without a body nothing else is received.
        if scope["method"] in {"GET", "HEAD"}:
            is_whole.set()
        listener = asyncio.create_task(cancel_when_left())
        with answering:
            try:
                await app(scope, received, sent)
            finally:
                listener.cancel()

    return answer


def by_encoded_path(app: ASGIApp) -> ASGIApp:
    """Route by the path as it was sent, with its percent-encoding.

    An id may contain slashes, which are percent-encoded in a path (RFC 3986, section 2.2); in the
    decoded path they could not be told from those between its parts.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "path": scope["raw_path"].decode("ascii", "replace")}, receive, send)

    return answer

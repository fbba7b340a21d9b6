"""The application for programs and people: the JSON API and the pages."""

import asyncio

import anyio
from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.api.problems import answer_errors_as_problems
from server.api.routes import OPENAPI_PATH, add_api
from server.http.access.authentication import Authentication
from server.http.access.sign_in import sign_in_routes
from server.pages.routes import add_pages
from server.runtime.state import ServerState
from shared.version import software_version


def web_application(state: ServerState, authentication: Authentication | None) -> FastAPI:
    """Create the application that answers all paths but those of MCP and of operation.

    Args:
        state: the state shared by the handlers.
        authentication: the authentication settings; None if no token is required.
    """
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
    answer_errors_as_problems(app)
    add_api(app)
    add_pages(app)
    if authentication is not None:
        app.include_router(sign_in_routes(authentication))
    return app


class EndedWithClient:
    """Middleware that cancels the answer to a request whose client has left.

    Args:
        app: the next ASGI application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with anyio.CancelScope() as answering:
            client = _Client(receive, send, answering)
            # Without a body nothing else is received.
            if scope["method"] in {"GET", "HEAD"}:
                client.listen()
            try:
                await self._app(scope, client.receive, client.send)
            finally:
                client.stop()


class _Client:
    """The client of a request; it is listened to from the end of its body to that of the answer."""

    def __init__(self, receive: Receive, send: Send, answering: anyio.CancelScope) -> None:
        self._receive = receive
        self._send = send
        self._answering = answering
        self._listener: asyncio.Task[None] | None = None

    def listen(self) -> None:
        self._listener = asyncio.create_task(self._cancel_when_left())

    async def _cancel_when_left(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._answering.cancel()

    def stop(self) -> None:
        if self._listener is not None:
            self._listener.cancel()

    async def receive(self) -> Message:
        if self._listener is not None:
            await anyio.sleep_forever()
        message = await self._receive()
        if not message.get("more_body"):
            self.listen()
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.body" and not message.get("more_body"):
            # What is done after the answer goes on.
            self.stop()
        await self._send(message)

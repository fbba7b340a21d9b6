"""The run of the HTTP server: its parts are assembled, uvicorn serves, and it stops in order."""

import asyncio
import logging
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_address
from typing import Final

import anyio
import uvicorn

from server.http.access import authentication
from server.http.application import http_application
from server.http.limits import MAX_HEADER_BYTES, MCP_PATH, Admission
from server.http.observe import start_tracing
from server.http.tokens import Token
from server.log import LOG, log_over_http
from server.pictures.renderer import Renderer
from server.settings import HttpSettings, ServerOptionError
from server.state import ServerState
from shared.messages import reason_of
from shared.settings.types import is_loopback_name
from shared.system import handle_signals, max_open_files, release_signals

_BACKLOG: Final = 128  # maximum number of connections waiting to be accepted


def run(
    state: ServerState, settings: HttpSettings, tokens: Sequence[Token], listener: socket.socket
) -> None:
    """Serve until a signal stops the server; see `http_server`."""
    log_over_http(settings.log_level, as_json=settings.json_logs)
    http_server(state, settings, tokens, listener).run(sockets=[listener])


def http_server(
    state: ServerState, settings: HttpSettings, tokens: Sequence[Token], listener: socket.socket
) -> "GracefulServer":
    url = _own_url(listener, settings)
    urls = url, settings.public_url or url
    is_shared = settings.oauth_issuer is not None or len({token.name for token in tokens}) > 1
    state = replace(
        state,
        public_base=urls[1].removesuffix(MCP_PATH),
        renderer=Renderer(is_shared=is_shared),
    )
    admission = Admission(settings.max_requests, settings.max_sessions, is_shared=is_shared)
    authenticated = authentication(settings, tokens, urls)
    app = http_application(state, settings, admission, authenticated, urls)
    config = uvicorn.Config(
        app,
        # Its parser is the one that `WellFormed` knows, also where another one is installed.
        http="h11",
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        # Half of the files that the process may open are for the index.
        limit_concurrency=max_open_files() // 2,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        # Nothing uses a proxy's headers about its clients.
        proxy_headers=False,
        server_header=False,
        backlog=_BACKLOG,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        # Requests left at that point are not waited for.
        timeout_graceful_shutdown=1,
    )
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise ServerOptionError(
            f"the certificate {settings.tls_certificate} and its key cannot be used: "
            f"{reason_of(error)}"
        ) from error
    host = listener.getsockname()[0]
    if not (settings.tls_certificate or is_loopback_name(host)):
        LOG.warning("not_encrypted", extra={"host": host})
    if ip_address(host).is_unspecified and not (settings.public_url or settings.allowed_hosts):
        LOG.warning("no_name", extra={"host": host})

    def announce() -> None:
        if settings.json_logs:
            # Logged at any log level: nothing else reports a port chosen by the system.
            event = ("listening", (), None, None, {"url": url})
            LOG.handle(LOG.makeRecord(LOG.name, logging.INFO, __file__, 0, *event))
        else:
            print(f"Listening on {url}", file=sys.stderr, flush=True)

    return GracefulServer(config, admission, announce, start_tracing())


def _own_url(listener: socket.socket, settings: HttpSettings) -> str:
    scheme = "https" if settings.tls_certificate else "http"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{scheme}://{host}:{listener.getsockname()[1]}{MCP_PATH}"


STOP_SECONDS: Final = 10.0  # for running calls to finish during shutdown


class GracefulServer(uvicorn.Server):
    """A uvicorn server that finishes running calls, refuses new ones, and exits with 0."""

    def __init__(
        self,
        config: uvicorn.Config,
        admission: Admission,
        announce: Callable[[], None],
        flush: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._admission = admission
        self._announce = announce  # once it accepts requests
        self._flush = flush  # after all calls have ended
        self._waiting: anyio.CancelScope | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        LOG.info("stopping", extra={"calls": self._admission.calls})
        with anyio.move_on_after(STOP_SECONDS) as self._waiting:
            await self._admission.stop()
        if self._admission.calls:
            LOG.warning("calls_dropped", extra={"calls": self._admission.calls})
        await asyncio.to_thread(self._flush)
        await super().shutdown(sockets)
        LOG.info("stopped")

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop gracefully at a signal, and without waiting at a second one.

        uvicorn would raise the signal again at the end, which would end the process by that signal.
        Signals reach only the main thread; a server in another one is stopped by `should_exit`.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        handle_signals(self._stop)
        try:
            yield
        finally:
            release_signals()

    def _stop(self, _number: signal.Signals) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        self.should_exit = True

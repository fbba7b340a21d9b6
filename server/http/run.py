"""The run of the HTTP server: its parts are assembled, then uvicorn serves it."""

import logging
import socket
import ssl
import sys
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_address
from typing import Final

import uvicorn

from server.http import address
from server.http.access.authentication import authentication
from server.http.access.tokens import Token
from server.http.application import http_application
from server.http.limits.admission import Admission
from server.http.limits.connection import timed_connections
from server.http.shutdown import GracefulServer
from server.http.telemetry.logs import LOG, log_to_stderr
from server.http.telemetry.tracing import start_tracing
from server.rendering.renderer import Renderer
from server.runtime.state import ServerState
from server.settings import HttpSettings, ServerOptionError
from shared.messages import reason_of
from shared.settings.types import is_loopback_name

_BACKLOG: Final = 128
"""Maximum number of connections waiting to be accepted."""


def run(
    state: ServerState, settings: HttpSettings, tokens: Sequence[Token], listener: socket.socket
) -> None:
    """Serve until a signal stops the server; see `http_server`."""
    log_to_stderr(settings.log_level, as_json=settings.json_logs)
    http_server(state, settings, tokens, listener).run(sockets=[listener])


def http_server(
    state: ServerState, settings: HttpSettings, tokens: Sequence[Token], listener: socket.socket
) -> GracefulServer:
    """Return a server that is ready to run.

    Args:
        state: the state shared by the handlers.
        settings: the settings chosen by the operator.
        tokens: the server's own tokens.
        listener: the listening socket.

    Raises:
        ServerOptionError: an option is invalid.
    """
    own_url = address.own_url(listener, settings)
    urls = own_url, settings.public_url or own_url
    is_shared = settings.oauth_issuer is not None or len({token.name for token in tokens}) > 1
    state = replace(
        state,
        public_base=urls[1].removesuffix(address.MCP_PATH),
        renderer=Renderer(is_shared=is_shared),
    )
    admission = Admission(settings.max_requests, settings.max_sessions, is_shared=is_shared)
    authenticated = authentication(settings, tokens, urls)
    app = http_application(state, settings, admission, authenticated, urls)
    config = uvicorn.Config(
        app,
        http=timed_connections(settings.receive_timeout),
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
            event = ("listening", (), None, None, {"url": own_url})
            LOG.handle(LOG.makeRecord(LOG.name, logging.INFO, __file__, 0, *event))
        else:
            print(f"Listening on {own_url}", file=sys.stderr, flush=True)

    return GracefulServer(config, admission, announce, start_tracing())

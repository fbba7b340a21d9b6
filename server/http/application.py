"""The ASGI application: the SDK's MCP endpoint, its middleware, and the operational endpoints."""

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route

from server.http.access import hosts
from server.http.access.authentication import Authentication, TokenRequired
from server.http.access.web_sessions import CookieAuthorization
from server.http.address import MCP_PATH
from server.http.headers import ProtectiveHeaders
from server.http.limits.admission import Admission, AdmissionControl
from server.http.limits.messages import DistinctIds, LimitedBodies, SubscriptionShares
from server.http.limits.sessions import SessionShares
from server.http.paths import EncodedPaths
from server.http.telemetry.health import healthz, metrics_endpoint, readyz
from server.http.telemetry.metrics import Load, Metrics
from server.http.telemetry.observation import CallObserver, RequestObserver
from server.http.web import EndedWithClient, web_application
from server.pipes.stderr_queue import dropped_messages
from server.resources.shares import Holder, holder_of
from server.resources.watcher import MAX_WATCHED
from server.runtime.state import ServerState
from server.search_server import SearchServer
from server.settings import HttpSettings


def http_application(
    state: ServerState,
    settings: HttpSettings,
    admission: Admission,
    authentication: Authentication | None,
    urls: tuple[str, str],
) -> Starlette:
    """Create the ASGI application with the MCP endpoint, middleware and operational endpoints.

    Args:
        state: the state shared by the handlers.
        settings: the settings chosen by the operator.
        admission: the limits on calls and streams.
        authentication: the authentication settings; None if no token is required.
        urls: the URL of `MCP_PATH` on the address listened on, and the one that clients see.

    Raises:
        ServerOptionError: an option is invalid.
    """
    security = hosts.allowed(settings, *urls)
    origins = hosts.allowed_origins(settings)
    server = SearchServer(
        state,
        auth=authentication.settings if authentication else None,
        token_verifier=authentication.verifier if authentication else None,
        max_streams=settings.max_sessions,
        max_watched=admission.share(MAX_WATCHED),
    )
    max_bytes = int(settings.max_body * 1_000_000)
    app = server.streamable_http_app(
        streamable_http_path=MCP_PATH,
        max_request_body_size=max_bytes,
        session_idle_timeout=settings.idle_timeout,
        max_sessions=settings.max_sessions,
        transport_security=security,
    )

    def load() -> Load:
        # The SDK does not expose the number of sessions.
        sessions = len(server.session_manager._server_instances)  # noqa: SLF001
        return Load(
            admission.calls,
            admission.streams,
            sessions,
            state.pool.abandoned_calls,
            dropped_messages(),
        )

    def holders() -> list[Holder]:
        owners = server.session_manager._session_owners.values()  # noqa: SLF001 - nor their owners
        return [holder_of(owner) for owner in owners]

    metrics = Metrics(load)
    server.middleware.append(CallObserver(metrics))
    app.router.routes += [
        Route("/healthz", healthz),
        Route("/readyz", readyz(state.pool, admission)),
        Route("/metrics", metrics_endpoint(state, metrics)),
    ]
    known = frozenset(route.path for route in app.router.routes if isinstance(route, Route))
    # Not a route for all paths, which would take what the routes refuse for their methods.
    app.router.default = EndedWithClient(EncodedPaths(web_application(state, authentication)))
    app.user_middleware = [
        Middleware(RequestObserver, metrics, known),
        Middleware(ProtectiveHeaders),
        Middleware(hosts.HostCheck, security),
        # Before authentication, since a browser's preflight request carries no token.
        Middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["Mcp-Session-Id", "WWW-Authenticate"],
        ),
        *([Middleware(CookieAuthorization, authentication.sessions)] if authentication else []),
        *app.user_middleware,
        # Before admission, so that requests without a token use none of the limits.
        *([Middleware(TokenRequired, authentication.settings)] if authentication else []),
        Middleware(AdmissionControl, admission),
        Middleware(LimitedBodies, max_bytes, known),
        Middleware(SessionShares, admission.share(settings.max_sessions), holders),
        Middleware(SubscriptionShares, server.resources.has_room),
        Middleware(DistinctIds),
    ]
    return app

"""The paths of the server over HTTP: who may ask them, what counts, and what is logged."""

from typing import Final, NamedTuple

MCP_PATH: Final = "/mcp"  # URL path of the MCP endpoint

SIGN_IN_PATH: Final = "/sign-in"

SIGN_OUT_PATH: Final = "/sign-out"


class Rules(NamedTuple):
    """What holds for a path."""

    label: str | None  # by which it is logged and counted; None for one that does not exist
    is_public: bool = False  # answered without a token
    is_limited: bool = True  # counts among the requests that run at once
    is_page: bool = False  # which a browser shows


_PATHS: Final = {
    MCP_PATH: Rules(MCP_PATH),
    # These are answered however many requests run; `readyz` limits itself.
    "/healthz": Rules("/healthz", is_public=True, is_limited=False),
    "/readyz": Rules("/readyz", is_public=True, is_limited=False),
    "/metrics": Rules("/metrics", is_limited=False),
    SIGN_IN_PATH: Rules(SIGN_IN_PATH, is_public=True, is_limited=False),
    SIGN_OUT_PATH: Rules(SIGN_OUT_PATH),
    "/": Rules("/", is_page=True),
    "/status": Rules("/status", is_page=True),
    "/search": Rules("/search"),
    "/index/status": Rules("/index/status"),
    "/index/rebuild": Rules("/index/rebuild"),
}

_BELOW: Final = {
    "/api/": Rules("/api"),
    # Ids of documents are not recorded.
    "/documents/": Rules("/documents", is_page=True),
    "/status/": Rules("/status"),
    # What clients need before they have a token: styles of the sign-in page, metadata (RFC 9728).
    "/static/": Rules("/static", is_public=True, is_limited=False),
    "/.well-known/": Rules(None, is_public=True, is_limited=False),
}
"""Rules of paths by what they begin with."""

_METADATA_PATH: Final = f"/.well-known/oauth-protected-resource{MCP_PATH}"
"""Path of the metadata that the SDK serves."""


def rules(path: str) -> Rules:
    """Return what holds for a path, also for one that does not exist."""
    if path in _PATHS:
        return _PATHS[path]
    found = next((rules for start, rules in _BELOW.items() if path.startswith(start)), Rules(None))
    return found._replace(label=path) if path == _METADATA_PATH else found

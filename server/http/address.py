"""The server's address and URL, and the refusal of exposure without authentication."""

import socket
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from server.settings import HttpSettings, ServerOptionError
from shared.messages import reason_of
from shared.settings.defaults import TOKENS_VARIABLE
from shared.settings.types import is_loopback_name

MCP_PATH: Final = "/mcp"
"""URL path of the MCP endpoint."""


@dataclass(frozen=True)
class Address:
    """An address to listen on.

    Attributes:
        family: IPv4 or IPv6.
        host: the numeric address.
        port: the port, or 0 for any free one.
    """

    family: socket.AddressFamily
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """True if only this machine can reach the address."""
        return ip_address(self.host.partition("%")[0]).is_loopback


def resolve(settings: HttpSettings) -> Address:
    """Resolve the host, which may be a name.

    Raises:
        ServerOptionError: the host cannot be resolved.
    """
    try:
        family, _, _, _, found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM
        )[0]
    # A name that is not a valid host name raises no OSError.
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ServerOptionError(
            f"there is no host {settings.host[:200]!r} to listen on: {reason}; name one of this "
            "machine's addresses with --host"
        ) from error
    return Address(family, str(found[0]), settings.port)


def refuse_exposure(address: Address, settings: HttpSettings, *, authenticated: bool) -> None:
    """Refuse to let other machines in without authentication.

    A public URL means that a proxy forwards their requests, wherever the server itself listens.

    Args:
        address: the address that the server will listen on.
        settings: the settings chosen by the operator.
        authenticated: whether every request requires a token.

    Raises:
        ServerOptionError: other machines can reach the address or the public URL, and
            ``--insecure`` was not given.
    """
    if authenticated or settings.insecure:
        return
    public = urlsplit(settings.public_url or "").hostname
    exposed = [] if address.is_loopback else [address.host]
    if public and not is_loopback_name(public):
        exposed.append(public)
    if exposed:
        raise ServerOptionError(
            f"other machines reach {' and '.join(exposed)}, and anyone there could search: give "
            f"tokens with --token-file or {TOKENS_VARIABLE}, an --oauth-issuer, or say --insecure"
        )


def listen(address: Address) -> socket.socket:
    """Listen on an address.

    Raises:
        ServerOptionError: the system refuses, for example because the port is in use.
    """
    try:
        listener = socket.create_server((address.host, address.port), family=address.family)
    except OSError as error:
        raise ServerOptionError(
            f"cannot listen on port {address.port} of {address.host}: {reason_of(error)}; choose "
            "another with --host and --port"
        ) from error
    # Accepted connections inherit it. Without it, a response's body waits 40 ms for the client to
    # acknowledge the headers; asyncio sets it only on sockets created with the protocol TCP.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def own_url(listener: socket.socket, settings: HttpSettings) -> str:
    """Return the URL of `MCP_PATH` on the listener's address."""
    scheme = "https" if settings.tls_certificate else "http"
    return f"{scheme}://{_bracketed(settings.host)}:{listener.getsockname()[1]}{MCP_PATH}"


def checked_url(url: str, option: str, *, trusted: bool = False) -> str:
    """Return the URL of an option after checking it.

    Args:
        url: the value of the option.
        option: the option's name, for the error message.
        trusted: whether the server trusts responses from the URL, so that HTTPS is required.

    Raises:
        ServerOptionError: the value is not an HTTP URL, contains a fragment or user name, or is not
            encrypted although trusted.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.fragment or parts.username:
        raise ServerOptionError(
            f"{option}: {url[:200]!r} is not a URL such as https://example.org/x"
        )
    if trusted and parts.scheme == "http" and not is_loopback_name(parts.hostname or ""):
        raise ServerOptionError(
            f"{option}: {url[:200]} is not encrypted, so anyone on the way could forge its "
            "answers; use https"
        )
    return url


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host

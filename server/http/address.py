"""Where the server listens, under which URL, and who may listen without authentication."""

import socket
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from server.settings import HttpSettings, ServerOptionError
from shared.messages import reason_of
from shared.settings.defaults import TOKENS_VARIABLE

MCP_PATH: Final = "/mcp"
"""Where MCP is spoken."""


@dataclass(frozen=True)
class Address:
    """An address that can be listened on.

    Attributes:
        family: of IPv4 or of IPv6.
        host: the numeric address.
        port: 0 for one that is free.
    """

    family: socket.AddressFamily
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        return ip_address(self.host.partition("%")[0]).is_loopback


def resolve(settings: HttpSettings) -> Address:
    """The address of the host, which may be a name.

    Raises:
        ServerOptionError: there is no such host.
    """
    try:
        family, _, _, _, found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM
        )[0]
    # A name that no host can have is no OSError.
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ServerOptionError(
            f"there is no host {settings.host[:200]!r} to listen on: {reason}; name one of this "
            "machine's addresses with --host"
        ) from error
    return Address(family, str(found[0]), settings.port)


def refuse_exposure(address: Address, settings: HttpSettings, *, authenticated: bool) -> None:
    """Refuse to let other machines in without authentication.

    A public URL says that a proxy lets them in, wherever the server itself listens.

    Args:
        address: where the server is to listen.
        settings: what else was chosen.
        authenticated: whether every request needs a token.

    Raises:
        ServerOptionError: other machines reach the address or the public URL, and nobody said
            ``--insecure``.
    """
    if authenticated or settings.insecure:
        return
    public = urlsplit(settings.public_url or "").hostname
    exposed = [] if address.is_loopback else [address.host]
    if public and not is_loopback_name(public):
        exposed.append(public)
    if exposed:
        raise ServerOptionError(
            f"other machines reach {' and '.join(exposed)}, and everyone there could search: give "
            f"tokens with --token-file or {TOKENS_VARIABLE}, an --oauth-issuer, or say --insecure"
        )


def listen(address: Address) -> socket.socket:
    """Listen on an address.

    Raises:
        ServerOptionError: the system refuses, for example since another program listens there.
    """
    try:
        listener = socket.create_server((address.host, address.port), family=address.family)
    except OSError as error:
        raise ServerOptionError(
            f"cannot listen on port {address.port} of {address.host}: {reason_of(error)}; choose "
            "another with --host and --port"
        ) from error
    # Connections take it over. Without it the body of an answer waits 40 ms for the client to
    # confirm the headers; asyncio sets it only on sockets that name TCP as their protocol.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def own_url(listener: socket.socket, settings: HttpSettings) -> str:
    """The URL of `MCP_PATH` on the address that is listened on."""
    scheme = "https" if settings.tls_certificate else "http"
    return f"{scheme}://{_bracketed(settings.host)}:{listener.getsockname()[1]}{MCP_PATH}"


def checked_url(url: str, option: str, *, trusted: bool = False) -> str:
    """The URL of an option, if it can be one.

    Args:
        url: what was given.
        option: where, for the message.
        trusted: whether what comes from there is believed, and must not be changed on its way.

    Raises:
        ServerOptionError: it is no URL of HTTP, or one of no use.
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


def is_loopback_name(name: str) -> bool:
    """Whether a host, by name or by address, is this machine itself."""
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host

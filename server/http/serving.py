"""The start of the HTTP server: its options are checked, and Java starts before slow imports."""

import os
import signal
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from server.http import tokens
from server.lucene_pool import LucenePool
from server.settings import HttpSettings, ServerOptionError, ServerSettings, checked_url
from shared.messages import reason_of
from shared.settings.defaults import TOKENS_VARIABLE
from shared.settings.types import is_loopback_name

if TYPE_CHECKING:
    from shared.answers.model import ServedAnswerModel
    from shared.rewriting import ServedModel


def serve_http(
    settings: ServerSettings, language_model: "ServedModel | None", http: HttpSettings
) -> None:
    _check(http)
    names = [collection.name for collection in settings.collections]
    own_tokens = tokens.read_tokens(http.token_file, names)
    place = resolve(http)
    is_authenticated = bool(own_tokens or http.oauth_issuer)
    refuse_exposure(place, http, authenticated=is_authenticated)
    if settings.admin:
        _refuse_without_administrator(own_tokens, http)
    listener = listen(place)
    # Java starts in a pool thread while this thread imports the MCP SDK, which takes longer.
    pool = LucenePool(settings.index_path, settings.collections)
    from server.administration.operations import Administration
    from server.http.run import run
    from server.state import ServerState

    administration = Administration.from_settings(
        settings, (http.token_file, http.tls_certificate, http.tls_key)
    )
    state = ServerState(
        settings,
        pool,
        language_model,
        administration,
        _answer_model(),
        needs_token=is_authenticated,
    )
    try:
        run(state, http, own_tokens, listener)
    except ServerOptionError:
        listener.close()
        raise


def _answer_model() -> "ServedAnswerModel":
    from shared.answers.model import ServedAnswerModel
    from shared.settings.current import settings

    values = {setting.name: setting.value for setting in settings()}
    return ServedAnswerModel.configured(
        *(values[f"answer_{part}"] for part in ("model", "url", "timeout", "max_tokens"))
    )


def _refuse_without_administrator(own_tokens: Sequence[tokens.Token], http: HttpSettings) -> None:
    """Refuse administration tools that everyone, web pages included, or no token could use."""
    if http.oauth_issuer or any({"read", "admin"} <= token.scopes for token in own_tokens):
        return
    has = "no token has the scopes read and admin" if own_tokens else "there is no authentication"
    raise ServerOptionError(
        f"--admin with --http: {has}, which administration needs; give a token with the "
        "scopes read,admin with --token-file or IDX_TOKENS, or an --oauth-issuer"
    )


def _check(http: HttpSettings) -> None:
    """Check the URLs, and that each option has those that it requires."""
    if http.public_url:
        checked_url(http.public_url, "--public-url")
    if http.oauth_issuer:
        checked_url(http.oauth_issuer, "--oauth-issuer", trusted=True)
    elif http.oauth_audience or http.oauth_jwks_url:
        raise ServerOptionError("--oauth-audience and --oauth-jwks-url need --oauth-issuer")
    if http.oauth_jwks_url:
        checked_url(http.oauth_jwks_url, "--oauth-jwks-url", trusted=True)
    if http.tls_key and not http.tls_certificate:
        raise ServerOptionError("--tls-key needs --tls-certificate")


@dataclass(frozen=True)
class Address:
    family: socket.AddressFamily
    host: str  # numeric
    port: int  # 0 for any free one

    @property
    def is_loopback(self) -> bool:
        """True if only this machine can reach the address."""
        return ip_address(self.host.partition("%")[0]).is_loopback


def resolve(settings: HttpSettings) -> Address:
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


_STDIN: Final = 0

_READ_BYTES: Final = 65_536


def end_with_stdin() -> None:
    """Stop this process in order, as Ctrl-C does, once its stdin ends.

    The other end of a pipe closes however the program that holds it ends, on each system.
    """

    def wait() -> None:
        # One that was closed from the beginning is at its end, too.
        with suppress(OSError):
            while os.read(_STDIN, _READ_BYTES):
                pass
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=wait, name="stdin", daemon=True).start()

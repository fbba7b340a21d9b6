"""The start of the HTTP server: options are checked and Java starts before slow imports."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from server.http import address
from server.http.access import tokens
from server.runtime.lucene_pool import LucenePool
from server.settings import HttpSettings, ServerOptionError, ServerSettings

if TYPE_CHECKING:
    from shared.answers.model import ServedAnswerModel
    from shared.rewriting import ServedModel


def serve_http(
    settings: ServerSettings, language_model: "ServedModel | None", http: HttpSettings
) -> None:
    """Serve until a signal stops the server.

    Args:
        settings: the settings of every server.
        language_model: the language model that rewrites queries; None for no rewriting.
        http: the settings of an HTTP server.

    Raises:
        ServerOptionError: an option is invalid.
    """
    _check(http)
    names = [collection.name for collection in settings.collections]
    own_tokens = tokens.read_tokens(http.token_file, names)
    place = address.resolve(http)
    is_authenticated = bool(own_tokens or http.oauth_issuer)
    address.refuse_exposure(place, http, authenticated=is_authenticated)
    if settings.admin:
        _refuse_without_administrator(own_tokens, http)
    listener = address.listen(place)
    # Java starts in a pool thread while this thread imports the MCP SDK, which takes longer.
    pool = LucenePool(settings.index_path, settings.collections)
    from server.administration.service import Administration
    from server.http.run import run
    from server.runtime.state import ServerState

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
    run(state, http, own_tokens, listener)


def _answer_model() -> "ServedAnswerModel":
    """Return the configured language model that answers questions.

    Raises:
        ConfigurationError: a setting is invalid.
    """
    from shared.answers.model import configured_answer_model
    from shared.settings.current import settings

    values = {setting.name: setting.value for setting in settings()}
    return configured_answer_model(
        *(values[f"answer_{part}"] for part in ("model", "url", "timeout", "max_tokens"))
    )


def _refuse_without_administrator(own_tokens: Sequence[tokens.Token], http: HttpSettings) -> None:
    """Refuse administration tools that everyone, web pages included, or no token could use.

    Raises:
        ServerOptionError: no token can have the scope ``admin``.
    """
    if http.oauth_issuer or any({"read", "admin"} <= token.scopes for token in own_tokens):
        return
    has = "no token has the scopes read and admin" if own_tokens else "there is no authentication"
    raise ServerOptionError(
        f"--admin with --http: {has}, which administration needs; give a token with the "
        "scopes read,admin with --token-file or IDX_TOKENS, or an --oauth-issuer"
    )


def _check(http: HttpSettings) -> None:
    """Check the URLs, and that each option has those that it requires.

    Raises:
        ServerOptionError: a URL is invalid, or a required option is missing.
    """
    if http.public_url:
        address.checked_url(http.public_url, "--public-url")
    if http.oauth_issuer:
        address.checked_url(http.oauth_issuer, "--oauth-issuer", trusted=True)
    elif http.oauth_audience or http.oauth_jwks_url:
        raise ServerOptionError("--oauth-audience and --oauth-jwks-url need --oauth-issuer")
    if http.oauth_jwks_url:
        address.checked_url(http.oauth_jwks_url, "--oauth-jwks-url", trusted=True)
    if http.tls_key and not http.tls_certificate:
        raise ServerOptionError("--tls-key needs --tls-certificate")

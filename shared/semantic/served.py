"""Sentence models on a server with OpenAI's protocol for embeddings, named ``URL#MODEL``.

Texts and queries are sent to the server.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from shared.errors import LanguageModelError, SemanticModelError
from shared.semantic.sentence_model import MAX_DIMENSIONS, SentenceModel
from shared.settings.defaults import SEMANTIC_API_KEY_VARIABLE

if TYPE_CHECKING:
    from shared.semantic.encoder import Vector

_QUERY_SECONDS: Final = 3.0
"""Maximum time for the vector of a query, in seconds; the search goes on without it."""

_PASSAGES_SECONDS: Final = 60.0
"""Maximum time for the vectors of some passages, in seconds."""

_ATTEMPTS: Final = 5
"""Number of requests for the vectors of some passages, if the server is overloaded or away."""

_SAMPLE: Final = "A text"
"""Text whose vector tells the number of dimensions."""


class Server(NamedTuple):
    """Server of a sentence model."""

    url: str
    model: str

    @property
    def host(self) -> str:
        """The host, with the port if the address has one."""
        return urlsplit(self.url).netloc

    @property
    def is_local(self) -> bool:
        """True if texts that are sent to it stay on this machine."""
        from shared.settings.types import is_loopback_name

        return is_loopback_name(urlsplit(self.url).hostname or "")

    @property
    def is_encrypted(self) -> bool:
        """True if nobody on the way can read the texts."""
        return urlsplit(self.url).scheme == "https"


def server_of(name: str) -> Server | None:
    """Return the server of a model; None if the model is on this machine as files."""
    if not name.startswith(("http://", "https://")):
        return None
    from shared.settings.types import url_problem

    url, _, model = name.partition("#")
    if problem := url_problem(url, SEMANTIC_API_KEY_VARIABLE):
        # Without the address, which may contain a password.
        raise SemanticModelError("with this address", problem)
    if not model:
        raise SemanticModelError(
            url, "the address names no model", f"append its name on the server: {url}#MODEL"
        )
    return Server(url, model)


class ServedEncoder:
    """Encoder by a model on a server; see `shared.semantic.encoder.Encoder`."""

    def __init__(self, model: SentenceModel) -> None:
        server_of(model.name)
        self.model = model

    def query(self, text: str) -> "Vector":
        return self._vectors([text], _QUERY_SECONDS, 1)[0]

    def passages(self, texts: Sequence[str]) -> "list[Vector]":
        """Return the vector of each passage, in one request."""
        return self._vectors(texts, _PASSAGES_SECONDS, _ATTEMPTS) if texts else []

    def _vectors(self, texts: Sequence[str], seconds: float, attempts: int) -> "list[Vector]":
        from shared.semantic.encoder import unit_vector

        found = _embeddings(self.model.name, texts, seconds, attempts)
        return [unit_vector(values, self.model) for values in found]


def installed(name: str) -> ServedEncoder:
    """Return the encoder of a model, whose server is asked for the number of its dimensions."""
    dimensions = len(_embeddings(name, [_SAMPLE], _PASSAGES_SECONDS, 1)[0])
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise SemanticModelError(
            name, f"its vectors have {dimensions:,} dimensions, not 1 to {MAX_DIMENSIONS:,}"
        )
    encoder = ServedEncoder(SentenceModel(name, "", dimensions))
    encoder.passages([_SAMPLE])
    return encoder


def _embeddings(
    name: str, texts: Sequence[str], seconds: float, attempts: int
) -> list[list[float]]:
    server = server_of(name)
    if server is None:
        raise SemanticModelError(name, "it is not an address")
    # It imports the client for HTTP, which takes a tenth of a second.
    from shared.language_models.embeddings import embeddings
    from shared.semantic.encoder import MAX_CHARACTERS

    # Half of a surrogate pair cannot be sent.
    readable = [text[:MAX_CHARACTERS].encode(errors="replace").decode() for text in texts]
    try:
        return embeddings(
            server.url,
            server.model,
            readable,
            timeout=seconds,
            attempts=attempts,
            api_key=os.environ.get(SEMANTIC_API_KEY_VARIABLE) or None,
        )
    except LanguageModelError as error:
        raise SemanticModelError(name, error.problem, error.remedy) from error

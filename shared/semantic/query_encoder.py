"""Encoders of queries: loaded once, on first use, and shared by all threads."""

import time
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Final

from shared.errors import McpLuceneError
from shared.semantic.models import check_allowed, encoder_of
from shared.semantic.sentence_model import SentenceModel
from shared.semantic.served import server_of
from shared.settings.current import sentence_model
from shared.settings.defaults import SEMANTIC_OFF

if TYPE_CHECKING:
    from shared.semantic.encoder import Encoder, Vector

_MAX_QUERIES: Final = 100
"""Number of queries whose vectors are kept: the next page of a search asks for the same one."""


_PAUSE_SECONDS: Final = 60.0
"""Time for which a server that did not answer is not asked again, in seconds, so that not every
search waits for it."""


_FIRST_QUERY: Final = "first query"


class QueryEncoder:
    """The encoder of the model of an index, if it can be used.

    A model that cannot be used is not tried again, a server not before a minute has passed. The
    reason is told once: the search goes on by words.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._model: SentenceModel | None = None
        self._encoder: Encoder | None = None
        self._vectors: OrderedDict[str, Vector | None] = OrderedDict()
        self._problem: str | None = None
        self._is_down = False
        self._resumes = 0.0

    def encoder(self, model: SentenceModel) -> "Encoder | None":
        """Return the encoder of a model; None if it cannot be used, or is switched off.

        The first call with a model loads it, which takes a fifth of a second; others wait.
        """
        with self._lock:
            if model != self._model:
                self._model, self._encoder, self._problem = model, None, None
                self._is_down, self._resumes = False, 0.0
                self._vectors.clear()
                try:
                    if sentence_model() != SEMANTIC_OFF:
                        check_allowed(model)
                        self._encoder = encoder_of(model)
                except McpLuceneError as error:
                    self._problem = str(error)
            return self._encoder

    def load(self, model: SentenceModel | None) -> bool:
        """Load a model, and return whether it can be used."""
        # The first query takes longer.
        return model is not None and self.vector(model, _FIRST_QUERY) is not None

    def vector(self, model: SentenceModel, query: str) -> "Vector | None":
        """Return the vector of a query; None if the model cannot be used."""
        encoder = self.encoder(model)
        if encoder is None:
            return None
        with self._lock:
            if query in self._vectors:
                self._vectors.move_to_end(query)
                return self._vectors[query]
            if time.monotonic() < self._resumes:
                return None
        try:
            vector = encoder.query(query)
        except McpLuceneError as error:
            self._fail(model, error)
            return None
        with self._lock:
            self._is_down = False
            self._vectors[query] = vector
            while len(self._vectors) > _MAX_QUERIES:
                self._vectors.popitem(last=False)
        return vector

    def _fail(self, model: SentenceModel, error: McpLuceneError) -> None:
        with self._lock:
            if not self._is_down:
                self._problem = str(error)
            if server_of(model.name):
                self._is_down, self._resumes = True, time.monotonic() + _PAUSE_SECONDS

    def take_problem(self) -> str | None:
        """Return why the model cannot be used, the first time; then None."""
        with self._lock:
            problem, self._problem = self._problem, None
            return problem

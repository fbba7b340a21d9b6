"""Embeddings of texts by a server with OpenAI's protocol; requests are bounded and repeated.

Ollama, llama.cpp, LM Studio, vLLM and Text Embeddings Inference are such servers.
"""

import asyncio
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2
from anyio.from_thread import start_blocking_portal

from shared.errors import LanguageModelBusyError, LanguageModelError
from shared.language_models.transport import MAX_BODY_BYTES, bounded_client

_FIRST_PAUSE: Final = 0.5
"""Time before the second request, in seconds; each later one waits twice as long."""

_MAX_PAUSE: Final = 60.0
"""Maximum time before another request, in seconds, if the server names one."""

_MAX_VECTOR_BYTES: Final = 200_000
"""Maximum size of a vector in an answer, in bytes: 4,096 numbers with 20 digits take half of it."""

_SERVER: Final = "its server"


@dataclass(frozen=True, slots=True)
class EmbeddingEndpoint:
    """A model that embeds texts, and its server."""

    url: str
    name: str
    api_key: str | None = field(default=None, repr=False)

    def embeddings(
        self, texts: Sequence[str], *, timeout: float, attempts: int
    ) -> list[list[float]]:
        """Return the vector of each text, as the server sends it."""
        for attempt in range(1, attempts):
            try:
                return self._once(texts, timeout)
            except LanguageModelBusyError as error:
                # Workers that were refused together should not come back together.
                pause = _FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(1, 1.5)  # noqa: S311 - not secret
                time.sleep(min(_MAX_PAUSE, max(pause, error.retry_after)))
        return self._once(texts, timeout)

    def _once(self, texts: Sequence[str], timeout: float) -> list[list[float]]:
        # A thread of its own, since the caller's may run an event loop. Only a loop ends requests
        # whose answer drips in byte by byte.
        with start_blocking_portal() as portal:
            body = portal.call(self._answer, texts, timeout)
        return _vectors(body, len(texts))

    async def _answer(self, texts: Sequence[str], timeout: float) -> bytes:
        most = MAX_BODY_BYTES + len(texts) * _MAX_VECTOR_BYTES
        asked = {"model": self.name, "input": list(texts), "encoding_format": "float"}
        try:
            async with (
                asyncio.timeout(timeout),
                bounded_client(self.api_key, max_bytes=most, server=_SERVER) as client,
            ):
                return (await client.post(f"{self.url.rstrip('/')}/embeddings", json=asked)).content
        except TimeoutError as error:
            raise LanguageModelBusyError(
                f"{_SERVER} did not answer within {timeout:g} s"
            ) from error
        except httpx2.TransportError as error:
            raise LanguageModelBusyError(
                f"{_SERVER} cannot be reached, or closed the connection"
            ) from error


def _vectors(body: bytes, count: int) -> list[list[float]]:
    """Return the vectors of an answer in the order of the texts."""
    try:
        items = json.loads(body)["data"]
        # A server may send them in another order.
        numbers = [item.get("index", place) for place, item in enumerate(items)]
        vectors = {
            number: _numbers(item["embedding"]) for number, item in zip(numbers, items, strict=True)
        }
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        # Without the text of the error, which may contain what a server sent.
        raise LanguageModelError(
            f"{_SERVER} sent something other than vectors ({type(error).__name__})"
        ) from error
    if len(items) != count or vectors.keys() != set(range(count)):
        raise LanguageModelError(
            f"{_SERVER} sent {len(items):,} vectors for {count:,} texts"
            if len(items) != count
            else f"{_SERVER} did not number its vectors as the texts"
        )
    return [vectors[number] for number in range(count)]


def _numbers(values: Any) -> list[float]:
    if not isinstance(values, list) or any(type(value) not in {int, float} for value in values):
        raise TypeError
    return [float(value) for value in values]

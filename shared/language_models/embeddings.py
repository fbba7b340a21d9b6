"""Embeddings of texts by a server with OpenAI's protocol; requests are bounded and repeated.

Ollama, llama.cpp, LM Studio, vLLM and Text Embeddings Inference are such servers.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from typing import Final

import httpx2
from anyio.from_thread import start_blocking_portal
from pydantic import BaseModel, ConfigDict, ValidationError

from shared.errors import LanguageModelBusyError, LanguageModelError
from shared.language_models.transport import MAX_BODY_BYTES, bounded_client

_FIRST_PAUSE: Final = 0.5
"""Time before the second request, in seconds; each later one waits twice as long."""

_MAX_PAUSE: Final = 60.0
"""Maximum time before another request, in seconds, if the server names one."""

_MAX_VECTOR_BYTES: Final = 200_000
"""Maximum size of a vector in an answer, in bytes: 4,096 numbers with 20 digits take half of it."""

_SERVER: Final = "its server"


class _Vector(BaseModel):
    model_config = ConfigDict(strict=True)

    index: int | None = None
    embedding: list[float]


class _Answer(BaseModel):
    data: list[_Vector]


def embeddings(
    url: str,
    model: str,
    texts: Sequence[str],
    *,
    timeout: float,
    attempts: int,
    api_key: str | None = None,
) -> list[list[float]]:
    """Return the vector of each text by a model, as its server sends it."""
    for attempt in range(1, attempts):
        try:
            return _requested(url, model, texts, timeout, api_key)
        except LanguageModelBusyError as error:
            # Workers that were refused together should not come back together.
            pause = _FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(1, 1.5)  # noqa: S311 - not secret
            time.sleep(min(_MAX_PAUSE, max(pause, error.retry_after)))
    return _requested(url, model, texts, timeout, api_key)


def _requested(
    url: str, model: str, texts: Sequence[str], timeout: float, api_key: str | None
) -> list[list[float]]:
    async def answer() -> bytes:
        most = MAX_BODY_BYTES + len(texts) * _MAX_VECTOR_BYTES
        asked = {"model": model, "input": list(texts), "encoding_format": "float"}
        async with (
            asyncio.timeout(timeout),
            bounded_client(api_key, max_bytes=most, server=_SERVER) as client,
        ):
            return (await client.post(f"{url.rstrip('/')}/embeddings", json=asked)).content

    try:
        # A thread of its own, since the caller's may run an event loop. Only a loop ends requests
        # whose answer drips in byte by byte.
        with start_blocking_portal() as portal:
            body = portal.call(answer)
    except TimeoutError as error:
        raise LanguageModelBusyError(f"{_SERVER} did not answer within {timeout:g} s") from error
    except httpx2.TransportError as error:
        raise LanguageModelBusyError(
            f"{_SERVER} cannot be reached, or closed the connection"
        ) from error
    return _vectors(body, len(texts))


def _vectors(body: bytes, count: int) -> list[list[float]]:
    """Return the vectors of an answer in the order of the texts."""
    try:
        found = _Answer.model_validate_json(body).data
    except ValidationError as error:
        # Without the text of the error, which may contain what a server sent.
        raise LanguageModelError(f"{_SERVER} sent something other than vectors") from error
    if len(found) != count:
        raise LanguageModelError(f"{_SERVER} sent {len(found):,} vectors for {count:,} texts")
    # A server may send them in another order.
    vectors = {
        place if each.index is None else each.index: each.embedding
        for place, each in enumerate(found)
    }
    if vectors.keys() != set(range(count)):
        raise LanguageModelError(f"{_SERVER} did not number its vectors as the texts")
    return [vectors[number] for number in range(count)]

"""A server of sentence models on this machine, good, slow, broken or hostile as a test wants it."""

import json
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Final

from tests.model_server import (
    HTTP_TROUBLES,
    Answer,
    Trouble,
    drips,
    drips_headers,
    floods,
    hangs_up,
    is_silent,
    sends,
    sends_bytes,
)

NAME: Final = "small"

Embed = Callable[[Sequence[str]], Sequence[Any]]
"""Function that returns the vector of each text."""


def embeddings(vectors: Sequence[object], **item: object) -> dict[str, Any]:
    """An answer as OpenAI's protocol has it."""
    return {
        "object": "list",
        "model": NAME,
        "data": [
            {"object": "embedding", "index": place, "embedding": vector, **item}
            for place, vector in enumerate(vectors)
        ],
    }


def embeds(embed: Embed) -> Answer:
    """Answers with the vector of each text, in an order that only their numbers tell."""

    def answer(handler: Any) -> None:
        texts = handler.server.requests[-1].body["input"]
        found = embeddings([[float(value) for value in vector] for vector in embed(texts)])
        found["data"].reverse()
        sends(found)(handler)

    return answer


def fails_at_first(times: int, failure: Answer, then: Answer) -> Answer:
    """Fails as often as this, and then answers."""
    number = count()

    def answer(handler: Any) -> None:
        (failure if next(number) < times else then)(handler)

    return answer


def counting(texts: Sequence[str]) -> list[list[float]]:
    """Vectors of four dimensions that tell texts apart."""
    return [[float(len(text)), float(text.count("e")), 1.0, 0.5] for text in texts]


NO_VECTORS: Final = "its server sent something other than vectors"
AWAY: Final = "its server cannot be reached, or closed the connection"
LATE: Final = "its server did not answer within 0.5 s"

TROUBLES: Final = HTTP_TROUBLES | {
    "silent": Trouble(is_silent, LATE, 0.5),
    "dripping": Trouble(drips, LATE, 0.5),
    "dripping headers": Trouble(drips_headers, LATE, 0.5),
    "endless": Trouble(floods, "its server answered with more than 500,000 bytes"),
    "hanging up": Trouble(hangs_up, AWAY),
    "error 400": Trouble(sends_bytes(b"secret-of-the-server", 400), "with HTTP status 400"),
    "redirect": Trouble(sends_bytes(b"", 307, Location="http://127.0.0.1:1/"), "status 307"),
    "no bytes": Trouble(sends_bytes(b""), NO_VECTORS),
    "no JSON": Trouble(sends_bytes(b"<html>secret-of-the-server</html>"), NO_VECTORS),
    "deep JSON": Trouble(sends_bytes(b"[" * 90_000), NO_VECTORS),
    "a list": Trouble(sends([1, 2]), NO_VECTORS),
    "an error": Trouble(sends({"error": {"message": "secret-of-the-server"}}), NO_VECTORS),
    "data of null": Trouble(sends({"data": None}), NO_VECTORS),
    "a text": Trouble(sends(embeddings(["AAAA", "AAAA"])), NO_VECTORS),
    "texts": Trouble(sends(embeddings([["1"], ["2"]])), NO_VECTORS),
    "truths": Trouble(sends(embeddings([[True], [False]])), NO_VECTORS),
    "fewer": Trouble(sends(embeddings([[1.0, 2.0]])), "sent 1 vectors for 2 texts"),
    "more": Trouble(sends(embeddings([[1.0]] * 3)), "sent 3 vectors for 2 texts"),
    "the same twice": Trouble(sends(embeddings([[1.0]] * 2, index=0)), "did not number"),
    "numbers from one": Trouble(
        sends({"data": [{"index": n, "embedding": [1.0]} for n in (1, 2)]}), "did not number"
    ),
    "a number of text": Trouble(sends(embeddings([[1.0]] * 2, index=[])), NO_VECTORS),
}
"""Everything but vectors of two texts, by name."""

ODD_VECTORS: Final[dict[str, tuple[Sequence[object], str]]] = {
    "NaN": ([[float("nan")] * 4], "not finite, or zero"),
    "infinite": ([[float("inf"), 1.0, 1.0, 1.0]], "not finite, or zero"),
    "too large": ([[1e300, 1.0, 1.0, 1.0]], "not finite, or zero"),
    "beyond numbers": ([[10**400, 1.0, 1.0, 1.0]], "not finite, or zero"),
    "zero": ([[0.0] * 4], "not finite, or zero"),
    "shorter": ([[1.0] * 3], "the shape (3,), not (4,)"),
    "longer": ([[1.0] * 5], "the shape (5,), not (4,)"),
    "empty": ([[]], "the shape (0,), not (4,)"),
}
"""Vectors that are none of the model, which has four dimensions, and the complaint."""


def as_json(vectors: Sequence[object]) -> Answer:
    """Answers with JSON as Python writes it, which has NaN and Infinity."""
    return sends_bytes(json.dumps(embeddings(vectors)).encode())

"""Versions of a letter, and other letters, as documents of an index."""

import random
from collections.abc import Iterator

from shared import Document
from shared.model.document import Metadata

VERSIONS = ("draft", "second", "final")  # ids of the versions, the oldest first

OTHERS = 12

_WORDS = [f"word{number}" for number in range(5_000)]


def words(seed: int, count: int) -> list[str]:
    return random.Random(seed).choices(_WORDS, k=count)  # noqa: S311 - no secret


def letters() -> Iterator[Document]:
    """Yield versions of a letter about a harbour in which a few words differ, and other letters.

    Only the draft names the party Ottermere.
    """
    text = ["harbour", *words(1, 400)]
    for number, name in enumerate(VERSIONS):
        changed = [*text[: 50 * number + 60], *words(number + 2, 8), *text[50 * number + 68 :]]
        if name == "draft":
            changed[100] = "Ottermere"
        metadata: Metadata = {"modified": f"202{number}-05-01T10:00:00Z", "kind": name}
        yield Document(name, "Letter", " ".join(changed), metadata)
    for number in range(OTHERS):
        other = ["harbour", *words(100 + number, 400)]
        yield Document(f"other-{number:02d}", "Other", " ".join(other), {"kind": "other"})

"""An index of several segments, large enough that work on it takes a moment."""

import random
from pathlib import Path

from shared import Document, Index


def fill(path: Path, documents: int = 60) -> None:
    """Add documents of six chunks each in six commits; then delete every tenth of them."""
    chosen = random.Random(4)  # noqa: S311 - words that do not compress
    with Index(path) as index:
        for number in range(documents):
            text = " ".join(f"{chosen.getrandbits(40):x}" for _ in range(1_200))
            index.add(Document(f"d{number:02}", "Title", f"common {text}", {"n": number}))
            if number % (documents // 6) == 0:
                index.commit()
        for number in range(0, documents, 10):
            index.delete(f"d{number:02}")

"""Passages: the texts of chunks that are embedded, and their keys. Without NumPy."""

import hashlib
from typing import Final

KEY_BYTES: Final = 16
"""Size of the key before a vector, in bytes; two texts with the same key are the same text."""

MAX_PASSAGE_CHARACTERS: Final = 4_000
"""Maximum length of a text that is embedded, in characters; no model reads more."""


def passage(title: str, section: str, content: str) -> str:
    """Return the text of a chunk that is embedded.

    Args:
        title: the title of its document.
        section: the headings above it; empty without any.
        content: its text.
    """
    return "\n".join(filter(None, (title, section, content)))[:MAX_PASSAGE_CHARACTERS]


def key_of(text: str) -> bytes:
    """Return the key of a passage."""
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=KEY_BYTES).digest()

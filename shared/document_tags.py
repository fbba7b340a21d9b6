"""Tags around texts of documents, so that a model can distinguish them from everything else.

A document may contain instructions for a model, or a claim that its text ends. The name of a pair
of tags ends in a random marker: the author of a document cannot know it, so nothing in a document
can close them.
"""

import secrets
from typing import Final

_TAG_PREFIX: Final = "document-text-"

_MARKER_BYTES: Final = 8
"""Size of a marker, in bytes: 64 random bits, chosen after the document was written, cannot be
guessed."""


def new_tag() -> str:
    """Return the name of a new pair of tags."""
    return _TAG_PREFIX + secrets.token_hex(_MARKER_BYTES)


def tagged(text: str, tag: str) -> str:
    """Return a text between a pair of tags, or the empty string for an empty text.

    Only the tags are added, without line breaks: the text between them is unchanged.
    """
    return f"<{tag}>{text}</{tag}>" if text else text

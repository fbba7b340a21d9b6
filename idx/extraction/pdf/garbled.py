"""Recognition of text that is none: fonts of a PDF that do not say which letters they show.

Programs then copy numbers of glyphs. Such a page would never be found, and be shown to people and
models as its text.
"""

import re
from typing import Final

from idx.errors import SourceFileError


class GarbledError(SourceFileError):
    """A file has no text but that of fonts that do not say which letters they show."""


_MIN_CHARACTERS: Final = 40
"""Minimum length of a text that is judged, in characters without white space."""

_MAX_UNKNOWN_SHARE: Final = 0.3
"""Maximum share of characters that are no letters of any script; symbols of lists are fewer."""

_UNKNOWN: Final = re.compile(
    "[\ue000-\uf8ff\ufffd\x00-\x08\x0e-\x1f\x7f-\x9f\U000f0000-\U0010ffff]"
)


def is_garbled(text: str) -> bool:
    """Check whether many characters of a page, as the engine reads it, are no letters."""
    length = sum(map(len, text.split()))
    return length >= _MIN_CHARACTERS and len(_UNKNOWN.findall(text)) > _MAX_UNKNOWN_SHARE * length

"""Tags of reparse points, by which Windows marks links, junctions, and files that lie elsewhere."""

from typing import Final

_NAME_SURROGATE: Final = 0x2000_0000
"""Bit of a tag whose entry stands for another path, such as a symbolic link or a junction; the
entries of OneDrive, deduplicated and compressed files lack it (winnt.h, IsReparseTagNameSurrogate).
"""

_LINKS_WITHOUT_THE_BIT: Final = frozenset({0x8000_001B})
"""Tag of an app execution alias, which stands for a program elsewhere."""


def is_link_tag(tag: int) -> bool:
    """Check whether the tag of a reparse point, or 0, belongs to an entry for another path."""
    return bool(tag & _NAME_SURROGATE) or tag in _LINKS_WITHOUT_THE_BIT

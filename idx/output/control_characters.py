"""Text from documents on a terminal: what could steer the terminal is shown, not obeyed.

Directions of writing are among it: they make a line appear as another than it is.
"""

from typing import Final

_DIRECTIONS: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Embeddings, overrides and isolates. Marks such as U+200F reorder nothing but what is near."""

_SHOWN: Final = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
} | {code: f"\\u{code:04x}" for code in _DIRECTIONS}

_SHOWN_ON_ONE_LINE: Final = _SHOWN | {0x0A: "\\n", 0x2028: "\\u2028", 0x2029: "\\u2029"}

_ESCAPED_IN_JSON: Final = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *_DIRECTIONS)}


def visible(text: str) -> str:
    """The text with control characters as escapes of Python; tabs and ends of lines stay."""
    return text.replace("\r\n", "\n").translate(_SHOWN)


def visible_line(text: str) -> str:
    """The text with all control characters as escapes of Python, on one line."""
    return text.translate(_SHOWN_ON_ONE_LINE)


def visible_json(text: str) -> str:
    """The same JSON with escapes for what could steer a terminal."""
    return text.translate(_ESCAPED_IN_JSON)

"""Text from documents on a terminal: what could steer the terminal is shown, not obeyed."""

from typing import Final

_DIRECTIONS: Final = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Marks that turn the direction of writing, so that a name reads like another one."""

_CONTROLS: Final = tuple(
    code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
)

_VISIBLE_FORMS: Final = {code: f"\\x{code:02x}" for code in _CONTROLS}
_SHOWN_DIRECTIONS: Final = {code: f"\\u{code:04x}" for code in _DIRECTIONS}
_ENDS_OF_LINES: Final = {0x0A: "\\n", 0x2028: "\\u2028", 0x2029: "\\u2029"}
_NO_DIRECTIONS: Final = dict.fromkeys(_DIRECTIONS)

# Those of ASCII before DEL every JSON escapes.
_IN_JSON: Final = {
    code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *_DIRECTIONS, 0x2028, 0x2029)
}


def visible(text: str, *, keep_directions: bool = False) -> str:
    """The text with control characters as escapes of Python; tabs and ends of lines stay."""
    shown = _VISIBLE_FORMS if keep_directions else _VISIBLE_FORMS | _SHOWN_DIRECTIONS
    return text.replace("\r\n", "\n").translate(shown)


def visible_line(text: str, *, keep_directions: bool = False) -> str:
    """The text with control characters and ends of lines as escapes of Python."""
    shown = _VISIBLE_FORMS if keep_directions else _VISIBLE_FORMS | _SHOWN_DIRECTIONS
    return text.translate(shown | _ENDS_OF_LINES)


def without_directions(text: str) -> str:
    """The text without marks of the direction of writing."""
    return text.translate(_NO_DIRECTIONS)


def visible_json(text: str) -> str:
    """The same JSON, in which escapes stand for what JSON need not escape, but terminals obey."""
    return text.translate(_IN_JSON)

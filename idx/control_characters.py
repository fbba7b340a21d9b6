"""Text from documents on a terminal: what could steer the terminal is shown, not obeyed."""

from typing import Final

_SHOWN: Final = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
}

_SHOWN_ON_ONE_LINE: Final = _SHOWN | {0x0A: "\\n", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def visible(text: str) -> str:
    """The text with control characters as escapes of Python; tabs and ends of lines stay."""
    return text.replace("\r\n", "\n").translate(_SHOWN)


def visible_line(text: str) -> str:
    """The text with all control characters as escapes of Python, on one line."""
    return text.translate(_SHOWN_ON_ONE_LINE)

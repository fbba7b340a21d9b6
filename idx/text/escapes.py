"""Letters that a format writes as escapes, since people search for them as letters.

Line breaks and what the format needs for itself, such as quotation marks, stay as they are written.
"""

import html
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from idx.extraction import media_types
from idx.text.decoding import without_surrogates, without_tags

_HEX: Final = "[0-9A-Fa-f]"
_JSON: Final = re.compile(rf"(?<!\\)((?:\\\\)*)((?:\\u{_HEX}{{4}})+)")
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_YAML: Final = re.compile(
    rf"(?<!\\)((?:\\\\)*)((?:\\x{_HEX}{{2}}|\\u{_HEX}{{4}}|\\U00(?:0{_HEX}|10){_HEX}{{4}})+)"
)
_SHOWN: Final = frozenset("\u00a0\u00ad\u200c\u200d\u202f")
"""Characters between and within words, which are not printable by themselves."""

_MARKS: Final = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    "=": "\u0304",
    ".": "\u0307",
    '"': "\u0308",
    "u": "\u0306",
    "r": "\u030a",
    "H": "\u030b",
    "v": "\u030c",
    "d": "\u0323",
    "c": "\u0327",
    "k": "\u0328",
    "b": "\u0331",
}
"""Combining accents by the names of LaTeX's commands."""

_NAMED_LETTERS: Final = (
    "ss:ß SS:ẞ ae:æ AE:Æ oe:œ OE:Œ aa:å AA:Å o:ø O:Ø l:ł L:Ł dh:ð DH:Ð th:þ TH:Þ dj:đ DJ:Đ "
    "ng:ŋ NG:Ŋ"
)
_LETTERS: Final = dict(pair.split(":") for pair in _NAMED_LETTERS.split())
"""Letters by the names of LaTeX's commands."""

_ACCENTED: Final = (
    # A command of a letter needs braces or a blank before its argument.
    r"(?:(?P<sign>[`'^\"~=.])[ \t]*|(?P<name>[uvHcr](?=[ \t{])|[dkb](?=\{))[ \t]*)"
    r"(?:\{[ \t]*(?:\\(?P<i>[ij])|(?P<inner>[A-Za-z]))[ \t]*\}"
    r"|\\(?P<j>[ij])(?![A-Za-z])[ \t]?|(?P<letter>[A-Za-z]))"
)
_NAMED: Final = (
    rf"(?P<command>{'|'.join(sorted(_LETTERS, key=len, reverse=True))})"
    r"(?:\{\}|(?![A-Za-z])(?:[ \t]+(?=\S)|\\(?=[ \t]))?)"
)
_LATEX: Final = re.compile(
    rf"\\\\|(?P<hyphen>(?<=[^\W\d_])\\-(?=\w))|(?P<brace>\{{)?\\(?:{_ACCENTED}|{_NAMED})(?P<end>\}})?"
)
_GERMAN: Final = re.compile(r"\\usepackage(?:\[[^\]]*\])?\{[^}]*german|german[^\]]*\]\{babel\}")
_SHORTHAND: Final = re.compile(r"(?<!\\)\"([AOUaou]|s(?!\")|-(?=\w))")

_REFERENCE: Final = re.compile(r"&(?!(?:lt|gt|#0*60|#0*62|#x0*3[ce]);)#?\w{1,32};", re.IGNORECASE)
"""Reference to a character in XML, except those of which a tag would become."""


def without_escapes(text: str, media_type: str) -> str:
    """Return a text with the letters that its format writes as escapes."""
    decode = _FORMATS.get(media_type)
    return decode(text) if decode else text


def character(reference: re.Match[str]) -> str:
    """Return the character of a reference in XML, which never begins a line."""
    return " ".join(without_tags(html.unescape(reference[0])).split("\n"))


def _json(text: str) -> str:
    return _JSON.sub(_letters, text) if "\\u" in text else text


def _yaml(text: str) -> str:
    if "\\" not in text:
        return text
    return _QUOTED.sub(lambda quoted: _YAML.sub(_letters, quoted[0]), text)


def _letters(run: re.Match[str]) -> str:
    """Return the letters of a run of escapes; others stay escapes."""
    found = run[2].encode().decode("unicode_escape")
    if all("\x80" <= letter <= "\xff" for letter in found):
        # Some programs write each byte of UTF-8 as a letter.
        with suppress(UnicodeDecodeError):
            found = found.encode("latin-1").decode()
    return run[1] + "".join(map(_letter, without_surrogates(found)))


def _letter(letter: str) -> str:
    is_shown = letter in _SHOWN or (letter.isprintable() and letter not in '"\\')
    return letter if is_shown or ord(letter) > 0xFFFF else f"\\u{ord(letter):04x}"  # noqa: PLR2004


def _latex(text: str) -> str:
    if "\\" in text:
        text = _LATEX.sub(_latex_letter, text)
    if _GERMAN.search(text):
        text = _SHORTHAND.sub(_german_letter, text)
    return text


def _latex_letter(command: re.Match[str]) -> str:
    """Return the letter of a command, without braces around it; other commands unchanged."""
    if command["hyphen"]:
        return ""
    letter = _LETTERS.get(command["command"] or "", "")
    if mark := _MARKS.get(command["sign"] or command["name"] or ""):
        base = next(filter(None, (command[name] for name in ("i", "j", "inner", "letter"))))
        letter = unicodedata.normalize("NFC", base + mark)
    if len(letter) != 1:
        return command[0]
    if command["brace"] and command["end"]:
        return letter
    return f"{command['brace'] or ''}{letter}{command['end'] or ''}"


def _german_letter(shorthand: re.Match[str]) -> str:
    letter = shorthand[1]
    return {"s": "ß", "-": ""}.get(letter, unicodedata.normalize("NFC", f"{letter}\u0308"))


_FORMATS: Final[dict[str, Callable[[str], str]]] = {
    **dict.fromkeys((media_types.JSON, media_types.JSON_LINES, media_types.PROPERTIES), _json),
    **dict.fromkeys((media_types.YAML, media_types.TOML), _yaml),
    **dict.fromkeys((media_types.LATEX, media_types.BIBTEX), _latex),
    media_types.XML: partial(_REFERENCE.sub, character),
}

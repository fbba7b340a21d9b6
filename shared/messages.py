"""Parts of messages for users of both programs, and texts of documents in them.

A document may contain what steers a terminal, which is shown there, not obeyed, and instructions
for a model, or a claim that its text ends. So its text stands between tags whose name ends in a
random marker: the author of a document cannot know it, so nothing in a document can close them.
"""

import os
import re
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

_COMPARED_CHARACTERS: Final = 256
"""Maximum length of a name that is compared, in characters: a client may send any length."""


def quantity(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun: ``1 chunk``, ``2,393 chunks``."""
    if abs(number) == 1:
        return f"{number} {noun}"
    return f"{number:,} {plural or _plural(noun)}"


def _plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def decodable(path: str) -> str:
    r"""Return a path as valid Unicode: bytes that are not UTF-8 become ``\xNN``.

    Python represents such bytes as surrogates.
    """
    return os.fsencode(path).decode(errors="backslashreplace")


def shortened(text: str, most: int) -> str:
    """Cut a text after `most` characters; an ellipsis replaces the rest."""
    return text if len(text) <= most else f"{text[:most]}…"


_PLAIN_WORD: Final = re.compile(r"[\w.:+-]{1,32}", re.ASCII)


def is_plain_word(text: str) -> bool:
    """Check whether a text is a word, number, date or code, and too short for instructions."""
    return _PLAIN_WORD.fullmatch(text) is not None


def listed(names: Iterable[str], most: int = 50) -> str:
    """Write names that documents have chosen: the first ones, and only plain words.

    A message stands among what a program says, where a model may follow instructions.
    """
    return ", ".join(islice(filter(is_plain_word, names), most))


def reason_of(error: OSError) -> str:
    """Return the reason of a system error, without the path, which the message names already."""
    return error.strerror or str(error)


def incomplete_installation(error: ImportError) -> str:
    """Describe a package that is missing or cannot be loaded, and its remedy."""
    from shared.installation import reinstall_command

    reason = " ".join(str(error).split())
    return (
        f"mcp-lucene is not installed completely: {reason}; install it again: {reinstall_command()}"
    )


def did_you_mean(name: str, known: Iterable[str], otherwise: str, *, cutoff: float = 0.6) -> str:
    """Suggest the known name that is spelled most like an unknown one."""
    near = nearest(name, known, cutoff)
    return f"did you mean {near[0]!r}?" if near else otherwise


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> list[str]:
    """Return the known name that is spelled most like an unknown one, if any is like it."""
    from difflib import get_close_matches

    return get_close_matches(name[:_COMPARED_CHARACTERS], known, 1, cutoff)


def utc_time(moment: "datetime | float | None" = None) -> str:
    """Write a moment in ISO 8601, in UTC and whole seconds, such as ``2026-01-31T12:00:00Z``."""
    from datetime import UTC, datetime, timedelta

    if moment is None:
        moment = datetime.now(UTC)
    if not isinstance(moment, datetime):
        # Unlike datetime.fromtimestamp, which on Windows knows no time before 1970.
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=moment)
    text = moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds")
    return f"{text}Z"


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


_TAG_PREFIX: Final = "document-text-"

_MARKER_BYTES: Final = 8
"""Size of a marker, in bytes: 64 random bits, chosen after the document was written, cannot be
guessed."""


def new_tag() -> str:
    """Return the name of a new pair of tags."""
    return _TAG_PREFIX + os.urandom(_MARKER_BYTES).hex()


def tagged(text: str, tag: str) -> str:
    """Return a text between a pair of tags, or the empty string for an empty text.

    Only the tags are added, without line breaks: the text between them is unchanged.
    """
    return f"<{tag}>{text}</{tag}>" if text else text

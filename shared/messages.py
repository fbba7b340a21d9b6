"""Parts of messages for users of both programs."""

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
    from difflib import get_close_matches

    near = get_close_matches(name[:_COMPARED_CHARACTERS], known, 1, cutoff)
    return f"did you mean {near[0]!r}?" if near else otherwise


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

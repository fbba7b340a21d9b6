"""Parts of messages that both programs write for people."""

import os


def quantity(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun: ``1 chunk``, ``2,393 chunks``.

    Args:
        number: the number, written with commas between thousands.
        noun: the noun in the singular; the last word takes the plural.
        plural: the plural; None for the noun with an ``s``, or ``ies`` in place of ``y``.
    """
    if abs(number) == 1:
        return f"{number} {noun}"
    return f"{number:,} {plural or _plural(noun)}"


def _plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def decodable(path: str) -> str:
    r"""A path as valid Unicode: bytes that are no UTF-8, surrogates in Python, become ``\xNN``."""
    return os.fsencode(path).decode(errors="backslashreplace")

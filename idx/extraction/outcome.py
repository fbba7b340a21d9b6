"""What comes of reading a file: its text and state, or the reason why there is none."""

from dataclasses import dataclass
from typing import Final, Literal

from idx.extraction.extracted import Extracted

CHANGED: Final = "changed while it was read; add it again"
"""The reason why a file that is still being written is not taken."""

VANISHED: Final = "there is no such file"
"""The reason why a file is not taken that is no longer there, or never was."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """What was read from a file, and the state in which it was read.

    Attributes:
        extracted: text and metadata.
        language: ISO 639-1 code of its main language; None where it cannot be told.
        size: bytes.
        modified_ns: time of its last change, in nanoseconds since 1970.
        content_hash: SHA-256 of the bytes, hexadecimal.
        is_settled: whether a change made after the file was read bears a later time for sure.
    """

    extracted: Extracted
    language: str | None
    size: int
    modified_ns: int
    content_hash: str
    is_settled: bool


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a file has no text.

    Attributes:
        kind: whether something is wrong with it, it is of a kind that is not read, or it seems to
            hold a secret.
        reason: in words.
    """

    kind: Literal["failed", "unsupported", "secret"]
    reason: str

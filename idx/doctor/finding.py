"""What a check found out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warning", "problem"]
"""Whether all is well, something is worth to be known, or something does not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found out, for one line.

    Attributes:
        check: what was looked at, in a word or two.
        status: how it is.
        message: what was found and, unless all is well, what to do.
    """

    check: str
    status: Status
    message: str


Findings = Iterator[Finding]

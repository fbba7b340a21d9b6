"""Findings of checks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warning", "problem"]
"""Result of a check: nothing to report, something worth knowing, or something broken."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding of a check, printed on one line.

    Attributes:
        check: the subject of the check, in a word or two.
        status: the result.
        message: the finding and, unless all is well, the remedy.
    """

    check: str
    status: Status
    message: str


Findings = Iterator[Finding]

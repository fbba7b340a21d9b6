"""Extraction of mailboxes in one file (.mbox), with the messages as members."""

import re
from collections.abc import Iterator
from typing import Final

from idx.extraction.containers.budget import BudgetError
from idx.extraction.types import Embedded, Extracted, Source
from shared.messages import quantity

_MAX_MESSAGES: Final = 100_000
"""Maximum number of messages that are read from one mailbox."""

# A line of a text that begins with "From " is escaped by most programs, but not by all.
_SEPARATOR: Final = re.compile(rb"(?:\A|\r?\n)From [^\r\n]*\r?\n(?=[!-9;-~]+:)")
_ESCAPED: Final = re.compile(rb"^>(>*From )", re.MULTILINE)
_MESSAGE_ID: Final = re.compile(rb"^Message-ID:\s*<([^<>\s]{1,200})>", re.IGNORECASE | re.MULTILINE)
_END_OF_HEADERS: Final = re.compile(rb"\r?\n\r?\n")

MESSAGE_NAME: Final = "message.eml"
"""Name by which a message is read."""


def extract_mailbox(source: Source) -> Extracted:
    """Extract the number of messages, with the messages as members by their Message-ID.

    Raises:
        ValueError: it has no messages.
    """
    starts = [match.end() for match in _SEPARATOR.finditer(source.data)]
    ends = [match.start() for match in _SEPARATOR.finditer(source.data)][1:]
    if not starts:
        raise ValueError("it has no messages")
    return Extracted(
        text=f"Mailbox with {quantity(len(starts), 'message')}",
        media_type=source.media_type,
        members=_messages(source.data, starts, [*ends, len(source.data)]),
    )


def _messages(data: bytes, starts: list[int], ends: list[int]) -> Iterator[Embedded]:
    for number, (start, end) in enumerate(zip(starts, ends, strict=True), start=1):
        if number > _MAX_MESSAGES:
            raise BudgetError(f"it has more than {_MAX_MESSAGES:,} messages")
        yield _message(data, start, end, number)


def _message(data: bytes, start: int, end: int, number: int) -> Embedded:
    blank = _END_OF_HEADERS.search(data, start, end)
    found = _MESSAGE_ID.search(data, start, blank.start() if blank else end)
    name = found[1].decode("ascii", "replace").replace("/", "_").lstrip(".") if found else ""
    return Embedded(
        name=name or f"message {number}",
        read=lambda: _ESCAPED.sub(rb"\1", data[start:end]),
        size=end - start,
        read_as=MESSAGE_NAME,
    )

"""Contents that are signed, as in S/MIME: taken out, but no signature is checked.

cryptography reads signatures and encrypted contents, but not what is signed, and only in DER, while
mail programs write BER: lengths that are found at the end, and strings in pieces.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_HEADER: Final = re.compile(rb"[A-Za-z][!-9;-~]{1,60}:[ \t\r\n]")

_SIGNED_DATA: Final = bytes.fromhex("2a864886f70d010702")
_SEQUENCE: Final = 0x30
_STRING: Final = 0x04
_STRING_IN_PIECES: Final = 0x24
_CONTENT: Final = 0xA0
_LONG: Final = 0x80


class EncryptedError(ValueError):
    """What is in the message is not signed, but encrypted."""


class _Element(NamedTuple):
    tag: int
    start: int
    end: int
    next: int


def signed_content(data: bytes) -> bytes:
    """Return what is signed; empty if the signature stands alone."""
    if data[:1] != bytes([_SEQUENCE]):
        data = _from_text(data)
    try:
        kind, *rest = _within(data, _element(data, 0))
        if data[kind.start : kind.end] != _SIGNED_DATA:
            raise EncryptedError("it is encrypted")
        (signed,) = _within(data, rest[0])
        _, _, described, *_ = _within(data, signed)
        content = [each for each in _within(data, described) if each.tag == _CONTENT]
        return b"".join(_strings(data, each) for each in content)
    except (IndexError, TypeError) as error:
        raise ValueError("it is cut off") from error


def is_message(content: bytes) -> bool:
    """Check whether what is signed begins with a header."""
    return _HEADER.match(content) is not None


def _from_text(data: bytes) -> bytes:
    lines = (line for line in data.splitlines() if not line.startswith(b"-----"))
    try:
        return base64.b64decode(b"".join(lines), validate=True)
    except binascii.Error as error:
        raise ValueError("it is not a message of S/MIME") from error


def _element(data: bytes, at: int) -> _Element:
    tag, length = data[at], data[at + 1]
    start = at + 2
    if length == _LONG:
        at = start
        while data[at] or data[at + 1]:
            at = _element(data, at).next
        return _Element(tag, start, at, at + 2)
    if length > _LONG:
        count = length - _LONG
        length = int.from_bytes(data[start : start + count], "big")
        start += count
    end = start + length
    if end > len(data):
        raise ValueError("it is cut off")
    return _Element(tag, start, end, end)


def _within(data: bytes, outer: _Element) -> Iterator[_Element]:
    at = outer.start
    while at < outer.end:
        element = _element(data, at)
        yield element
        at = element.next


def _strings(data: bytes, outer: _Element) -> bytes:
    pieces = []
    for each in _within(data, outer):
        if each.tag == _STRING:
            pieces.append(data[each.start : each.end])
        elif each.tag == _STRING_IN_PIECES:
            pieces.append(_strings(data, each))
    return b"".join(pieces)

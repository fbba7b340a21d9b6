"""Wire format of Protocol Buffers, in which ONNX files are written.

See https://protobuf.dev/programming-guides/encoding/. Only what ONNX files need: varints, 32-bit
and 64-bit numbers, and fields with a length.
"""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

VARINT: Final = 0
FIXED64: Final = 1
LENGTH: Final = 2
FIXED32: Final = 5

_SIZES: Final = {FIXED64: 8, FIXED32: 4}

_MAX_VARINT_BYTES: Final = 10
"""Maximum length of a varint of 64 bits."""


class WireError(ValueError):
    """The bytes are not a message of Protocol Buffers."""


class Field(NamedTuple):
    """A field of a message.

    Attributes:
        number: its number in the message.
        value: the number of a varint, or the bytes of any other field.
    """

    number: int
    value: int | memoryview


def varint(number: int) -> bytes:
    """Return a number as a varint; negative ones in two's complement of 64 bits."""
    number &= 0xFFFF_FFFF_FFFF_FFFF
    encoded = bytearray()
    while number >= 1 << 7:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def field(number: int, value: float | str | bytes) -> bytes:
    """Return a field: a varint, a 32-bit float, or a text or message with its length.

    Args:
        number: the number of the field.
        value: its value.
    """
    match value:
        case int():
            return varint(number << 3 | VARINT) + varint(value)
        case float():
            return varint(number << 3 | FIXED32) + struct.pack("<f", value)
        case str():
            value = value.encode()
    return varint(number << 3 | LENGTH) + varint(len(value)) + value


def fields(message: bytes | memoryview) -> Iterator[Field]:
    """Yield the fields of a message in order.

    Raises:
        WireError: the bytes are not a message, or end within a field.
    """
    view = memoryview(message)
    position = 0
    while position < len(view):
        tag, position = _read_varint(view, position)
        kind = tag & 7
        if kind == VARINT:
            number, position = _read_varint(view, position)
            yield Field(tag >> 3, number)
            continue
        if kind == LENGTH:
            size, position = _read_varint(view, position)
        elif kind in _SIZES:
            size = _SIZES[kind]
        else:
            raise WireError(f"a field has the unknown type {kind}")
        if position + size > len(view):
            raise WireError("it ends within a field")
        yield Field(tag >> 3, view[position : position + size])
        position += size


def _read_varint(view: memoryview, position: int) -> tuple[int, int]:
    """Return a varint and the position after it."""
    number = 0
    for index, byte in enumerate(view[position : position + _MAX_VARINT_BYTES]):
        number |= (byte & 0x7F) << 7 * index
        if byte < 1 << 7:
            return number, position + index + 1
    raise WireError("a number has no end")

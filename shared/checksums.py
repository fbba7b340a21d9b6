"""Whether a file of an index is as Lucene wrote it.

Each ends with 16 bytes: a magic number, the kind of the checksum (0 for CRC-32), and the checksum
of all that stands before it; see `CodecUtil.writeFooter` in the sources of Lucene.
"""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_FOOTER: Final = struct.Struct(">IIQ")
_FOOTER_MAGIC: Final = ~0x3FD76C17 & 0xFFFFFFFF
_CHECKSUM_BYTES: Final = 8
_BLOCK_BYTES: Final = 1 << 20


class Checksum:
    """The checksum of a file that is read from its beginning to its end, part by part."""

    def __init__(self) -> None:
        self._checksum = 0
        self._end = b""

    def update(self, part: bytes) -> None:
        """Take the next part of the file."""
        if len(part) < _FOOTER.size:
            part, self._end = self._end + part, b""
        # A view: a copy would take longer than the checksum.
        self._checksum = zlib.crc32(self._end, self._checksum)
        self._checksum = zlib.crc32(memoryview(part)[: -_FOOTER.size], self._checksum)
        self._end = part[-_FOOTER.size :]

    def damage(self) -> str | None:
        """What is wrong with a file that was read to its end; None if it is whole."""
        if len(self._end) < _FOOTER.size:
            return "it is cut short"
        magic, kind, checksum = _FOOTER.unpack(self._end)
        if magic != _FOOTER_MAGIC or kind:
            return "it has no footer, so it is cut short or changed"
        if zlib.crc32(self._end[:-_CHECKSUM_BYTES], self._checksum) != checksum:
            return "its checksum is wrong, so it was changed after Lucene wrote it"
        return None


def damage_of(file: Path) -> str | None:
    """What is wrong with a file of an index by its checksum; None if nothing is.

    Raises:
        OSError: it is gone, or cannot be read.
    """
    checksum = Checksum()
    for block in blocks(file):
        checksum.update(block)
    return checksum.damage()


def blocks(file: Path) -> Iterator[bytes]:
    """The content of a file, a megabyte at a time.

    Raises:
        OSError: the file is gone, or cannot be read.
    """
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            yield block

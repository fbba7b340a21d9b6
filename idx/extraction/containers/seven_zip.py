"""Extraction of 7z archives by py7zr, an extra of the distribution.

Its `extract` pushes all files into writers, in blocks of up to 128 MB. Here files are asked for one
after the other, so that only its list of files and its decompressors are used: a stream is unpacked
once, as far as it is read, and a limit ends a bomb at once.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Final

from idx.errors import SourceFileError, UnsupportedFileError
from idx.extraction.types import Source
from shared.errors import ExtraMissingError

_EXTRA: Final = "7z"
_LIBRARY: Final = "py7zr"

_BLOCK_BYTES: Final = 1 << 16

_PIECE_BYTES: Final = 1 << 11
"""Number of packed bytes that a decompressor gets at a time: some unpack all of them at once, to up
to 32,000 times as many."""

_MAX_IDLE_CALLS: Final = 64
"""Maximum number of calls of a decompressor, one after the other, that neither take nor return
anything: filters of programs hold back a few bytes."""


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    size: int
    crc: int | None
    modified_ns: int  # 0 if unknown
    is_file: bool


@dataclass(frozen=True, slots=True)
class Block:
    """Files that are compressed together; `stream` is all their bytes, or why they cannot be read.

    Files without bytes are in a block of their own.
    """

    entries: list[Entry]
    stream: IO[bytes] | SourceFileError


def read_archive(source: Source) -> tuple[list[Entry], Iterator[Block]]:
    """Return the files of an archive, and what they are compressed in."""
    try:
        from py7zr import SevenZipFile
    except ImportError as error:
        missing = ExtraMissingError(
            "is a 7z archive, and reading it", _EXTRA, error.name or _LIBRARY
        )
        raise UnsupportedFileError(source.file, str(missing)) from error
    with _errors(source):
        archive: Any = SevenZipFile(io.BytesIO(source.data))
        entries = [_entry(file) for file in archive.files]
    return entries, _blocks(archive, entries, source)


@contextmanager
def _errors(source: Source) -> Iterator[None]:
    """Convert all errors that py7zr and its decompressors raise on damaged and other archives."""
    from py7zr.exceptions import PasswordRequired, UnsupportedCompressionMethodError

    try:
        yield
    except MemoryError:
        raise
    except PasswordRequired as error:
        raise SourceFileError(source.file, "protected by a password") from error
    except UnsupportedCompressionMethodError as error:
        raise _unsupported(source, str(error.message).partition(".")[0]) from error
    except Exception as error:
        raise ValueError(str(error) or type(error).__name__) from error


def _entry(file: Any) -> Entry:
    if file.uncompressed < 0:
        raise ValueError("the sizes of its files are wrong")
    written = file.lastwritetime
    return Entry(
        name=file.filename,
        size=file.uncompressed,
        crc=file.crc32,
        modified_ns=0 if written is None else max(int(written.totimestamp() * 1_000_000_000), 0),
        is_file=file.is_file,
    )


def _blocks(archive: Any, entries: list[Entry], source: Source) -> Iterator[Block]:
    yield Block([entry for entry in entries if not entry.size], io.BytesIO())
    streams = archive.header.main_streams
    number = 0
    for folder in streams.unpackinfo.folders if streams else ():
        packed = [_entry(file) for file in folder.files or () if file.uncompressed]
        with _errors(source):
            begin = archive.afterheader + streams.packinfo.packpos
            begin += streams.packinfo.packpositions[number]
            size = streams.packinfo.packsizes[number]
        data = memoryview(source.data)[begin : begin + size]
        if len(data) != size:
            raise ValueError("it is cut off")
        yield Block(packed, _stream(folder, data, sum(entry.size for entry in packed), source))
        number += len(folder.packed_indices)


def _stream(
    folder: Any, data: memoryview, size: int, source: Source
) -> IO[bytes] | SourceFileError:
    """Return the unpacked bytes of a stream, which are read as they are asked for, or why not."""
    try:
        with _errors(source):
            decompressor = folder.get_decompressor(len(data))
    except SourceFileError as error:
        return error
    except ValueError as error:
        # So lzma says that it does not have this combination of methods.
        return _unsupported(source, str(error))
    unpacked = _Unpacked(decompressor, _Packed(data), size, source)
    return io.BufferedReader(unpacked, _BLOCK_BYTES)


def _unsupported(source: Source, why: str) -> UnsupportedFileError:
    reason = f"is packed with a method that is not read ({why}); unpack it"
    return UnsupportedFileError(source.file, reason)


class _Packed:
    """Packed bytes of a stream, which are given out in small pieces."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self.at = 0

    def read(self, size: int) -> bytes:
        """Return up to so many bytes.

        The last piece is never small: py7zr takes bytes for damage that follow when it needs none.
        """
        left = len(self._data) - self.at
        count = min(size, left if left < 2 * _PIECE_BYTES else _PIECE_BYTES)
        piece = bytes(self._data[self.at : self.at + count])
        self.at += count
        return piece


class _Unpacked(io.RawIOBase):
    """Unpacked bytes of a stream, up to the size that the archive says."""

    def __init__(self, decompressor: Any, packed: _Packed, size: int, source: Source) -> None:
        super().__init__()
        self._decompressor = decompressor
        self._packed = packed
        self._left = size
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), self._left)
        if not wanted:
            return 0
        with _errors(self._source):
            data = self._next(wanted)
        self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)

    def _next(self, wanted: int) -> bytes:
        idle = 0
        while idle < _MAX_IDLE_CALLS:
            before = self._packed.at
            if data := self._decompressor.decompress(self._packed, wanted):
                return bytes(data)
            idle = 0 if self._packed.at > before else idle + 1
        raise ValueError("it is cut off, or damaged")

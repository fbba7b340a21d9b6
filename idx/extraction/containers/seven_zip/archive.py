"""Extraction of 7z archives: their header, and the streams of their files.

Python's own decompressors read what 7-Zip writes by default and most of the rest; the format is
described in 7zFormat.txt of the LZMA SDK (7-zip.org/sdk.html), which is in the public domain. Files
are unpacked one after the other as they are asked for, so that a limit ends a bomb at once; py7zr
unpacks whole archives, and takes nine further packages.
"""

import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO, Final

from idx.errors import UnsupportedFileError
from idx.extraction.containers.seven_zip.header import (
    START_BYTES,
    Entry,
    Folder,
    MethodError,
    read_header,
    read_streams,
)
from idx.extraction.containers.seven_zip.reader import Reader
from idx.extraction.containers.seven_zip.streams import stream_of
from idx.extraction.types import Source

_MAX_HEADER_BYTES: Final = 20_000_000
"""Maximum size of the unpacked list of files, which has all names."""

_HEADER: Final = 0x01
_ENCODED_HEADER: Final = 0x17
"""Kinds of that list: as it is, and packed."""


@dataclass(slots=True)
class Block:
    """Files that are compressed together.

    Attributes:
        entries: the files, in order; those without bytes are in a block of their own.
        stream: their bytes, one after the other.
    """

    entries: list[Entry]
    stream: IO[bytes]


def read_archive(source: Source) -> tuple[list[Entry], Iterator[Block]]:
    """Return the files of an archive, and what they are compressed in.

    Raises:
        ValueError: it is damaged; also later.
        UnsupportedFileError: it is protected, or packed with a method that is not read; also later.
    """
    with _named(source):
        folders, entries = _read_all(source)
    return entries, _blocks(folders, entries, source)


@contextmanager
def _named(source: Source) -> Iterator[None]:
    try:
        yield
    except MethodError as error:
        reason = f"is packed with a method that is not read: {error}; unpack it"
        raise UnsupportedFileError(source.file, reason) from error


def _read_all(source: Source) -> tuple[list[Folder], list[Entry]]:
    data = source.data
    header = Reader(data[:START_BYTES])
    # The signature, two numbers of the version, and a checksum of what follows.
    header.take(START_BYTES - 20)
    offset, size, crc = header.fixed(8), header.fixed(8), header.fixed(4)
    if not size:
        return [], []
    text = data[START_BYTES + offset : START_BYTES + offset + size]
    if len(text) != size or zlib.crc32(text) != crc:
        raise ValueError("its list of files is damaged, or cut off")
    reader = Reader(text)
    kind = reader.byte()
    if kind == _ENCODED_HEADER:
        folders = read_streams(reader)
        if not folders or folders[0].unpacked > _MAX_HEADER_BYTES:
            raise ValueError("its list of files is missing, or too long")
        reader = Reader(stream_of(folders[0], source).read(folders[0].unpacked))
        kind = reader.byte()
    if kind != _HEADER:
        raise ValueError("it has no list of files")
    return read_header(reader)


def _blocks(folders: list[Folder], entries: list[Entry], source: Source) -> Iterator[Block]:
    yield Block([entry for entry in entries if not entry.size], io.BytesIO())
    full = (entry for entry in entries if entry.size)
    for folder in folders:
        count = sum(size > 0 for size, _ in folder.parts or ())
        with _named(source):
            stream = stream_of(folder, source)
        yield Block([*islice(full, count)], stream)

"""Extraction of 7z archives: their header, and the streams of their files.

Python's own decompressors read what 7-Zip writes by default and most of the rest; the format is
described in 7zFormat.txt of the LZMA SDK (7-zip.org/sdk.html), which is in the public domain. Files
are unpacked one after the other as they are asked for, so that a limit ends a bomb at once; py7zr
unpacks whole archives, and takes nine further packages.
"""

import bz2
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, Final, Protocol

from idx.errors import UnsupportedFileError
from idx.extraction.types import Source

_START_BYTES: Final = 32
_MAX_HEADER_BYTES: Final = 20_000_000
"""Length of the first header, and maximum size of the unpacked one, which has all names."""

_BLOCK_BYTES: Final = 1 << 16

_NO_NUMBER: Final = 1 << 63

_END, _HEADER, _PROPERTIES, _ADDITIONAL, _STREAMS, _FILES, _PACKED, _FOLDERS, _PARTS = range(9)
_SIZE, _CRC, _FOLDER, _UNPACKED_SIZE, _PARTS_OF_FOLDER, _EMPTY_STREAM, _EMPTY_FILE = range(9, 16)
_NAMES: Final = 0x11
_MODIFIED: Final = 0x14
_ATTRIBUTES: Final = 0x15
_ENCODED_HEADER: Final = 0x17
"""Numbers of the properties in the header."""

_COPY: Final = b"\x00"
_LZMA: Final = b"\x03\x01\x01"
_LZMA2: Final = b"\x21"
_DELTA: Final = b"\x03"
_DEFLATE: Final = b"\x04\x01\x08"
_BZIP2: Final = b"\x04\x02\x02"
_ENCRYPTION: Final = b"\x06\xf1\x07\x01"
_BRANCHES: Final = {
    b"\x03\x03\x01\x03": "FILTER_X86",
    b"\x04": "FILTER_X86",
    b"\x03\x03\x02\x05": "FILTER_POWERPC",
    b"\x03\x03\x04\x01": "FILTER_IA64",
    b"\x03\x03\x05\x01": "FILTER_ARM",
    b"\x03\x03\x07\x01": "FILTER_ARMTHUMB",
    b"\x03\x03\x08\x05": "FILTER_SPARC",
}
"""Methods by their ids, and filters of programs by their names in Python."""

_METHOD_NAMES: Final = {
    _LZMA: "LZMA with a filter",
    b"\x03\x04\x01": "PPMd",
    b"\x04\x01\x09": "Deflate64",
    b"\x04\xf7\x11\x01": "Zstandard",
}
"""Names of some methods that are not read."""

_MAX_CODERS: Final = 4
_MIN_DICTIONARY: Final = 4096
_MAX_LZMA2_PROPERTY: Final = 40

_UNIX: Final = 0x8000
_LINK: Final = 0o120000
_KIND: Final = 0o170000
"""Bits of attributes: those of Unix follow, and the kind of a file among them."""

_FOLDER_ATTRIBUTE: Final = 0x10

_TICKS_PER_SECOND: Final = 10_000_000
_SECONDS_TO_1970: Final = 11_644_473_600
"""Units of times in the archive, and the time from 1601, when they begin."""


class _MethodError(Exception):
    """A stream is packed with a method that is not read; the text names it."""


@dataclass(slots=True)
class Entry:
    """File in an archive.

    Attributes:
        name: its path, as the archive says.
        size: its size, in bytes.
        crc: the checksum of its bytes; None if unknown.
        modified_ns: its modification time, in nanoseconds since 1970; 0 if unknown.
        is_file: whether it is a regular file.
    """

    name: str
    size: int = 0
    crc: int | None = None
    modified_ns: int = 0
    is_file: bool = True


@dataclass(slots=True)
class _Coder:
    method: bytes
    properties: bytes


@dataclass(slots=True)
class _Folder:
    """Compressed stream of one or more files.

    Attributes:
        coders: how it is unpacked, in this order.
        unpacked: its size when unpacked.
        packed: begin and size in the archive.
        parts: size and checksum of each file in it.
    """

    coders: list[_Coder]
    unpacked: int
    packed: tuple[int, int] = (0, 0)
    crc: int | None = None
    parts: list[tuple[int, int | None]] | None = None


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
    except _MethodError as error:
        reason = f"is packed with a method that is not read: {error}; unpack it"
        raise UnsupportedFileError(source.file, reason) from error


def _read_all(source: Source) -> tuple[list[_Folder], list[Entry]]:
    data = source.data
    header = _Reader(data[:_START_BYTES])
    # The signature, two numbers of the version, and a checksum of what follows.
    header.take(_START_BYTES - 20)
    offset, size, crc = header.fixed(8), header.fixed(8), header.fixed(4)
    if not size:
        return [], []
    text = data[_START_BYTES + offset : _START_BYTES + offset + size]
    if len(text) != size or zlib.crc32(text) != crc:
        raise ValueError("its list of files is damaged, or cut off")
    reader = _Reader(text)
    kind = reader.byte()
    if kind == _ENCODED_HEADER:
        folders = _read_streams(reader)
        if not folders or folders[0].unpacked > _MAX_HEADER_BYTES:
            raise ValueError("its list of files is missing, or too long")
        reader = _Reader(_stream(folders[0], source).read(folders[0].unpacked))
        kind = reader.byte()
    if kind != _HEADER:
        raise ValueError("it has no list of files")
    return _read_header(reader)


def _blocks(folders: list[_Folder], entries: list[Entry], source: Source) -> Iterator[Block]:
    yield Block([entry for entry in entries if not entry.size], io.BytesIO())
    full = (entry for entry in entries if entry.size)
    for folder in folders:
        count = sum(size > 0 for size, _ in folder.parts or ())
        with _named(source):
            stream = _stream(folder, source)
        yield Block([*islice(full, count)], stream)


class _Reader:
    """Reader of the numbers and lists in a header, none of which may lead past its end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, count: int) -> bytes:
        if not 0 <= count <= self.left:
            raise ValueError("its list of files ends too early")
        self._at += count
        return self._data[self._at - count : self._at]

    def byte(self) -> int:
        return self.take(1)[0]

    def fixed(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def number(self) -> int:
        """Read a number, whose first byte says by its leading ones how many bytes follow."""
        first = self.byte()
        following = 8 - (first ^ 0xFF).bit_length()
        high = first & (0x7F >> following)
        value = self.fixed(following) | high << (8 * following)
        if value >= _NO_NUMBER:
            raise ValueError("a number in it is too large")
        return value

    def count(self) -> int:
        """Read the number of things of which each takes a bit at least."""
        value = self.number()
        if value > 8 * self.left:
            raise ValueError("its list of files ends too early")
        return value

    def bits(self, count: int) -> list[bool]:
        packed = self.take((count + 7) // 8)
        return [bool(packed[at // 8] >> (7 - at % 8) & 1) for at in range(count)]

    def defined(self, count: int) -> list[bool]:
        return [True] * count if self.byte() else self.bits(count)


def _read_header(reader: _Reader) -> tuple[list[_Folder], list[Entry]]:
    folders: list[_Folder] = []
    kind = reader.byte()
    if kind == _PROPERTIES:
        while reader.byte() != _END:
            reader.take(reader.number())
        kind = reader.byte()
    if kind == _ADDITIONAL:
        _read_streams(reader)
        kind = reader.byte()
    if kind == _STREAMS:
        folders = _read_streams(reader)
        kind = reader.byte()
    entries = _read_files(reader, folders) if kind == _FILES else []
    return folders, entries


def _read_streams(reader: _Reader) -> list[_Folder]:
    packed: list[tuple[int, int]] = []
    folders: list[_Folder] = []
    while (kind := reader.byte()) != _END:
        if kind == _PACKED:
            packed = _read_packed(reader)
        elif kind == _FOLDERS:
            folders = _read_folders(reader)
        elif kind == _PARTS:
            _read_parts(reader, folders)
        else:
            raise ValueError("its list of files has an unknown part")
    if len(packed) < len(folders):
        raise ValueError("its list of files is incomplete")
    for folder, place in zip(folders, packed, strict=False):
        folder.packed = place
        if folder.parts is None:
            folder.parts = [(folder.unpacked, folder.crc)]
    return folders


def _read_packed(reader: _Reader) -> list[tuple[int, int]]:
    begin, count = reader.number() + _START_BYTES, reader.count()
    places: list[tuple[int, int]] = []
    while (kind := reader.byte()) != _END:
        if kind == _SIZE:
            for _ in range(count):
                size = reader.number()
                places.append((begin, size))
                begin += size
        elif kind == _CRC:
            _read_checksums(reader, count)
        else:
            raise ValueError("its list of files has an unknown part")
    return places


def _read_checksums(reader: _Reader, count: int) -> list[int | None]:
    return [reader.fixed(4) if known else None for known in reader.defined(count)]


def _read_folders(reader: _Reader) -> list[_Folder]:
    _expect(reader, _FOLDER)
    count = reader.count()
    _internal(reader)
    chains = [_read_coders(reader) for _ in range(count)]
    _expect(reader, _UNPACKED_SIZE)
    folders = []
    for coders, last in chains:
        sizes = [reader.number() for _ in coders]
        folders.append(_Folder(coders, sizes[last]))
    while (kind := reader.byte()) != _END:
        if kind != _CRC:
            raise ValueError("its list of files has an unknown part")
        for folder, crc in zip(folders, _read_checksums(reader, count), strict=True):
            folder.crc = crc
    return folders


def _read_coders(reader: _Reader) -> tuple[list[_Coder], int]:
    """Read how a stream is unpacked; return the methods in this order, and the last one's place."""
    count = reader.number()
    if not 1 <= count <= _MAX_CODERS:
        raise ValueError("a stream of it has too many methods")
    coders = []
    for _ in range(count):
        flags = reader.byte()
        method = reader.take(flags & 0x0F)
        if flags & 0x10 and (reader.number(), reader.number()) != (1, 1):
            method = b""
        coders.append(_Coder(method, reader.take(reader.number()) if flags & 0x20 else b""))
    if any(not coder.method for coder in coders):
        # Several streams at once, as of programs; without it the rest cannot be read.
        raise _MethodError("BCJ2")
    into = {reader.number(): reader.number() for _ in range(count - 1)}
    following = {output: coder for coder, output in into.items()}
    at = next((number for number in range(count) if number not in into), None)
    order: list[int] = []
    while at is not None and at not in order and at < count:
        order.append(at)
        at = following.get(at)
    if len(order) != count:
        raise ValueError("the methods of a stream are no chain")
    return [coders[number] for number in order], order[-1]


def _read_parts(reader: _Reader, folders: list[_Folder]) -> None:
    kind = reader.byte()
    counts = [1] * len(folders)
    if kind == _PARTS_OF_FOLDER:
        counts = [reader.number() for _ in folders]
        kind = reader.byte()
    if sum(counts) > 8 * reader.left + len(folders):
        raise ValueError("its list of files ends too early")
    all_sizes = []
    for folder, count in zip(folders, counts, strict=True):
        sizes = [reader.number() for _ in range(count - 1)] if kind == _SIZE else []
        if count:
            sizes.append(folder.unpacked - sum(sizes))
        if len(sizes) != count or any(size < 0 for size in sizes):
            raise ValueError("the sizes of its files are wrong")
        all_sizes.append(sizes)
    if kind == _SIZE:
        kind = reader.byte()
    known = [
        count == 1 and folder.crc is not None for folder, count in zip(folders, counts, strict=True)
    ]
    checksums: Iterator[int | None] = iter(())
    while kind != _END:
        if kind != _CRC:
            raise ValueError("its list of files has an unknown part")
        missing = sum(count for count, is_known in zip(counts, known, strict=True) if not is_known)
        checksums = iter(_read_checksums(reader, missing))
        kind = reader.byte()
    for folder, sizes, is_known in zip(folders, all_sizes, known, strict=True):
        folder.parts = [(size, folder.crc if is_known else next(checksums, None)) for size in sizes]


def _read_files(reader: _Reader, folders: list[_Folder]) -> list[Entry]:
    count = reader.count()
    entries = [Entry("") for _ in range(count)]
    has_stream = [True] * count
    empty_files: list[bool] = []
    while (kind := reader.number()) != _END:
        part = _Reader(reader.take(reader.number()))
        if kind == _EMPTY_STREAM:
            has_stream = [not bit for bit in part.bits(count)]
        elif kind == _EMPTY_FILE:
            empty_files = part.bits(count - sum(has_stream))
        elif kind == _NAMES:
            _internal(part)
            names = part.take(part.left).decode("utf-16-le", "replace").split("\0")
            for entry, name in zip(entries, names, strict=False):
                entry.name = name
        elif kind in {_MODIFIED, _ATTRIBUTES}:
            _read_details(part, kind, entries)
    parts = (part for folder in folders for part in folder.parts or ())
    kinds = iter(empty_files)
    for entry, has in zip(entries, has_stream, strict=True):
        if has:
            entry.size, entry.crc = next(parts, (0, None))
        elif not next(kinds, False):
            # A folder.
            entry.is_file = False
    return entries


def _read_details(part: _Reader, kind: int, entries: list[Entry]) -> None:
    known = part.defined(len(entries))
    _internal(part)
    for entry, is_known in zip(entries, known, strict=True):
        if not is_known:
            continue
        if kind == _MODIFIED:
            seconds = part.fixed(8) / _TICKS_PER_SECOND - _SECONDS_TO_1970
            entry.modified_ns = max(int(seconds * 1_000_000_000), 0)
        else:
            bits = part.fixed(4)
            is_link = bits & _UNIX and (bits >> 16) & _KIND == _LINK
            entry.is_file = entry.is_file and not (is_link or bits & _FOLDER_ATTRIBUTE)


def _expect(reader: _Reader, kind: int) -> None:
    if reader.byte() != kind:
        raise ValueError("its list of files lacks a part")


def _internal(reader: _Reader) -> None:
    if reader.byte():
        raise ValueError("its list of files lies elsewhere")


class _Decompressor(Protocol):
    """What the decompressors of Python have in common."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Return up to so many bytes."""


class _Unpacked(io.RawIOBase):
    """Unpacked bytes of a stream, up to the size that the archive names."""

    def __init__(self, packed: memoryview, size: int, decompressor: _Decompressor) -> None:
        super().__init__()
        self._packed = packed
        self._at = 0
        self._left = size
        self._decompressor = decompressor

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer.

        Raises:
            ValueError: the stream is damaged.
        """
        wanted = min(len(buffer), self._left)
        data = b""
        while wanted and not data:
            block = bytes(self._packed[self._at : self._at + _BLOCK_BYTES])
            needs_input = getattr(self._decompressor, "needs_input", True)
            try:
                data = self._decompressor.decompress(block if needs_input else b"", wanted)
            except (OSError, EOFError) as error:
                raise ValueError(f"it is damaged: {error}") from error
            self._at += len(block) if needs_input else 0
            if not data and needs_input and not block:
                raise ValueError("it is cut off")
        self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)


class _Copy:
    """Bytes that are not compressed."""

    def __init__(self) -> None:
        self._rest = b""

    @property
    def needs_input(self) -> bool:
        return not self._rest

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        self._rest += data
        taken, self._rest = self._rest[:max_length], self._rest[max_length:]
        return taken


class _Deflate:
    """Bytes compressed by Deflate."""

    def __init__(self) -> None:
        self._unpacking = zlib.decompressobj(-zlib.MAX_WBITS)

    @property
    def needs_input(self) -> bool:
        return not self._unpacking.unconsumed_tail

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._unpacking.decompress(self._unpacking.unconsumed_tail + data, max_length)


def _stream(folder: _Folder, source: Source) -> IO[bytes]:
    begin, size = folder.packed
    packed = memoryview(source.data)[begin : begin + size]
    if len(packed) != size:
        raise ValueError("it is cut off")
    unpacked = _Unpacked(packed, folder.unpacked, _decompressor(folder, source))
    return io.BufferedReader(unpacked, _BLOCK_BYTES)


def _decompressor(folder: _Folder, source: Source) -> _Decompressor:
    methods = [coder.method for coder in folder.coders]
    if _ENCRYPTION in methods:
        raise UnsupportedFileError(source.file, "is protected by a password; unpack it")
    match methods:
        case [method] if method == _COPY:
            return _Copy()
        case [method] if method == _DEFLATE:
            return _Deflate()
        case [method] if method == _BZIP2:
            return bz2.BZ2Decompressor()
        case [first, *filters] if first == _LZMA2 or (first == _LZMA and not filters):
            return _lzma(folder, source)
    raise _MethodError(", ".join(_METHOD_NAMES.get(method, method.hex()) for method in methods))


def _lzma(folder: _Folder, source: Source) -> _Decompressor:
    try:
        import lzma
    except ImportError as error:
        # The Python of a bundle has no LZMA.
        raise UnsupportedFileError(source.file, "is compressed with LZMA; unpack it") from error
    main, *branches = folder.coders
    filters: list[dict[str, int]] = []
    for coder in reversed(branches):
        if coder.method == _DELTA:
            distance = coder.properties[0] + 1 if coder.properties else 1
            filters.append({"id": lzma.FILTER_DELTA, "dist": distance})
        elif name := _BRANCHES.get(coder.method):
            filters.append({"id": getattr(lzma, name)})
        else:
            raise _MethodError(_METHOD_NAMES.get(coder.method, coder.method.hex()))
    # A dictionary larger than the text only takes memory.
    most = max(folder.unpacked, _MIN_DICTIONARY)
    if main.method == _LZMA2:
        size = int.from_bytes(main.properties[:1], "little")
        if size > _MAX_LZMA2_PROPERTY:
            raise ValueError("a property of LZMA2 is wrong")
        dictionary = (2 | size & 1) << (size // 2 + 11)
        filters.append({"id": lzma.FILTER_LZMA2, "dict_size": min(dictionary, most)})
    else:
        if len(main.properties) < 5:  # noqa: PLR2004
            raise ValueError("a property of LZMA is missing")
        first, dictionary = main.properties[0], int.from_bytes(main.properties[1:5], "little")
        own = {"lc": first % 9, "lp": first // 9 % 5, "pb": first // 45}
        size = min(max(dictionary, _MIN_DICTIONARY), most)
        filters.append({"id": lzma.FILTER_LZMA1, "dict_size": size, **own})
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters)

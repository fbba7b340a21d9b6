"""Header of a 7z archive: its files, and the streams that they are packed in."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from idx.extraction.containers.seven_zip.reader import Reader

START_BYTES: Final = 32
"""Length of the first header, after which the streams begin."""

_END, _HEADER, _PROPERTIES, _ADDITIONAL, _STREAMS, _FILES, _PACKED, _FOLDERS, _PARTS = range(9)
_SIZE, _CRC, _FOLDER, _UNPACKED_SIZE, _PARTS_OF_FOLDER, _EMPTY_STREAM, _EMPTY_FILE = range(9, 16)
_NAMES: Final = 0x11
_MODIFIED: Final = 0x14
_ATTRIBUTES: Final = 0x15
"""Numbers of the properties in the header."""

_UNIX: Final = 0x8000
_LINK: Final = 0o120000
_KIND: Final = 0o170000
"""Bits of attributes: those of Unix follow, and the kind of a file among them."""

_FOLDER_ATTRIBUTE: Final = 0x10

_TICKS_PER_SECOND: Final = 10_000_000
_SECONDS_TO_1970: Final = 11_644_473_600
"""Units of times in the archive, and the time from 1601, when they begin."""


_MAX_CODERS: Final = 4


class MethodError(Exception):
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
class Coder:
    """Method by which a stream is packed, by its id, and what it needs to unpack it."""

    method: bytes
    properties: bytes


@dataclass(slots=True)
class Folder:
    """Compressed stream of one or more files.

    Attributes:
        coders: how it is unpacked, in this order.
        unpacked: its size when unpacked.
        packed: begin and size in the archive.
        parts: size and checksum of each file in it.
    """

    coders: list[Coder]
    unpacked: int
    packed: tuple[int, int] = (0, 0)
    crc: int | None = None
    parts: list[tuple[int, int | None]] | None = None


def read_header(reader: Reader) -> tuple[list[Folder], list[Entry]]:
    """Read the list of files after its kind: the streams, and the files in them.

    Raises:
        ValueError: it is damaged.
        MethodError: a stream is packed with a method that is not read.
    """
    folders: list[Folder] = []
    kind = reader.byte()
    if kind == _PROPERTIES:
        while reader.byte() != _END:
            reader.take(reader.number())
        kind = reader.byte()
    if kind == _ADDITIONAL:
        read_streams(reader)
        kind = reader.byte()
    if kind == _STREAMS:
        folders = read_streams(reader)
        kind = reader.byte()
    entries = _read_files(reader, folders) if kind == _FILES else []
    return folders, entries


def read_streams(reader: Reader) -> list[Folder]:
    """Read where streams are, and how they are packed; raises as `read_header`."""
    packed: list[tuple[int, int]] = []
    folders: list[Folder] = []
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


def _read_packed(reader: Reader) -> list[tuple[int, int]]:
    begin, count = reader.number() + START_BYTES, reader.count()
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


def _read_checksums(reader: Reader, count: int) -> list[int | None]:
    return [reader.fixed(4) if known else None for known in reader.defined(count)]


def _read_folders(reader: Reader) -> list[Folder]:
    _expect(reader, _FOLDER)
    count = reader.count()
    _internal(reader)
    chains = [_read_coders(reader) for _ in range(count)]
    _expect(reader, _UNPACKED_SIZE)
    folders = []
    for coders, last in chains:
        sizes = [reader.number() for _ in coders]
        folders.append(Folder(coders, sizes[last]))
    while (kind := reader.byte()) != _END:
        if kind != _CRC:
            raise ValueError("its list of files has an unknown part")
        for folder, crc in zip(folders, _read_checksums(reader, count), strict=True):
            folder.crc = crc
    return folders


def _read_coders(reader: Reader) -> tuple[list[Coder], int]:
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
        coders.append(Coder(method, reader.take(reader.number()) if flags & 0x20 else b""))
    if any(not coder.method for coder in coders):
        # Several streams at once, as of programs; without it the rest cannot be read.
        raise MethodError("BCJ2")
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


def _read_parts(reader: Reader, folders: list[Folder]) -> None:
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


def _read_files(reader: Reader, folders: list[Folder]) -> list[Entry]:
    count = reader.count()
    entries = [Entry("") for _ in range(count)]
    has_stream = [True] * count
    empty_files: list[bool] = []
    while (kind := reader.number()) != _END:
        part = Reader(reader.take(reader.number()))
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


def _read_details(part: Reader, kind: int, entries: list[Entry]) -> None:
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


def _expect(reader: Reader, kind: int) -> None:
    if reader.byte() != kind:
        raise ValueError("its list of files lacks a part")


def _internal(reader: Reader) -> None:
    if reader.byte():
        raise ValueError("its list of files lies elsewhere")

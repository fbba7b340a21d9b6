"""Extraction of archives: the list of their files, and the files themselves as members."""

import calendar
import io
import math
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import islice
from typing import IO, Any, Final, NoReturn

from idx.errors import SourceFileError, UnsupportedFileError
from idx.extraction import media_types
from idx.extraction.types import Budget, BudgetError, Embedded, Extracted, Source, limited
from idx.text.cleaning import normalize
from shared.errors import ExtraMissingError
from shared.messages import quantity

_BLOCK_BYTES: Final = 1 << 16

_MAX_LISTED: Final = 20_000  # characters of the list of files in the text of an archive
_MAX_FILES: Final = 10_000  # files that are read from one archive

_ENCRYPTED: Final = 0x1
_UTF_8: Final = 0x800  # bits of an entry's flags in a ZIP archive

_COMPRESSIONS: Final = {
    media_types.GZIP: ("gzip", "gzip"),
    media_types.BZIP2: ("bz2", "bzip2"),
    media_types.XZ: ("lzma", "XZ"),
}
"""Module that reads a type of compressed files, and what the compression is called."""

_TAR_MARK: Final = b"ustar"
_TAR_MARK_AT: Final = 257
_TAR_BLOCK: Final = 512


def extract_zip(source: Source) -> Extracted:
    """Extract the list of files of a ZIP archive, with the files as members."""
    archive = zipfile.ZipFile(io.BytesIO(source.data))
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    members = (
        Embedded(
            name=_zip_name(entry),
            read=partial(_read_zipped, archive, entry, source),
            size=entry.file_size,
            modified_ns=_zip_time(entry),
        )
        for entry in entries
        # Symbolic links, as archives made on Unix mark them.
        if not stat.S_ISLNK(entry.external_attr >> 16)
    )
    return _extracted([*map(_zip_name, entries)], members)


def _read_zipped(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, source: Source) -> bytes:
    if entry.flag_bits & _ENCRYPTED:
        raise SourceFileError(source.file, "protected by a password")
    with archive.open(entry) as stream:
        return _bounded(stream, source)


def _zip_name(entry: zipfile.ZipInfo) -> str:
    """Return the name of an entry, which many programs write in UTF-8 without saying so."""
    if entry.flag_bits & _UTF_8:
        return entry.filename
    try:
        return entry.filename.encode("cp437").decode()
    except UnicodeError:
        return entry.filename


def _zip_time(entry: zipfile.ZipInfo) -> int:
    try:
        return calendar.timegm((*entry.date_time, 0, 0, 0)) * 1_000_000_000
    except (ValueError, OverflowError):
        return 0


def extract_tar(source: Source) -> Extracted:
    """Extract the list of files of a tar archive, compressed or not, with the files as members.

    A compressed file that is no tar archive is a container with one member.
    """
    stream = _unpacked(source)
    beginning = stream.read(_TAR_BLOCK)
    is_tar = beginning[_TAR_MARK_AT:].startswith(_TAR_MARK)
    if not is_tar and source.media_type != media_types.TAR:
        file = source.file
        name = file.stem if file.suffix else f"{file.name} (unpacked)"
        whole = Embedded(name, lambda: beginning + _bounded(stream, source, is_counted=True))
        return _extracted([name], [whole])
    return _extracted(_tar_names(source), _tarred(source))


def _tarred(source: Source) -> Iterator[Embedded]:
    archive = tarfile.open(fileobj=_unpacked(source), mode="r|")  # noqa: SIM115 - a stream of bytes
    # Folders, links and devices count, too.
    for info in limited(archive, _MAX_FILES, "files"):
        if info.isreg():
            yield Embedded(
                name=info.name,
                read=partial(_read_tarred, archive, info, source),
                size=info.size,
                modified_ns=int(info.mtime * 1_000_000_000),
            )


def _tar_names(source: Source) -> list[str]:
    """Return the names of the files, up to a limit; the archive is unpacked once more for them."""
    names = []
    listed = replace(source, budget=Budget(len(source.data), math.inf))
    with suppress(BudgetError), tarfile.open(fileobj=_unpacked(listed), mode="r|") as archive:
        names += [info.name for info in islice(archive, _MAX_FILES) if info.isreg()]
    return names


def _read_tarred(archive: tarfile.TarFile, info: tarfile.TarInfo, source: Source) -> bytes:
    stream = archive.extractfile(info)
    # A sparse file may claim more than is stored of it.
    return b"" if stream is None else _bounded(stream, source, is_counted=not info.issparse())


class _Counted(io.RawIOBase):
    """Unpacked bytes of a compressed file, each counted, whether it is read or skipped."""

    def __init__(self, read: Callable[[int], bytes], budget: Budget) -> None:
        super().__init__()
        self._read = read
        self._budget = budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._read(len(buffer))
        except OSError as error:
            # So gzip and bz2 call damage.
            raise ValueError(str(error)) from error
        self._budget.take_bytes(len(data))
        buffer[: len(data)] = data
        return len(data)


def _unpacked(source: Source) -> IO[bytes]:
    packed = io.BytesIO(source.data)
    if source.media_type not in _COMPRESSIONS:
        return packed
    module, name = _COMPRESSIONS[source.media_type]
    try:
        stream = import_module(module).open(packed)
    except ImportError as error:
        # The Python of a bundle, and some that are built without it, have no bzip2 or LZMA.
        reason = f"is compressed with {name}, which this Python does not read; unpack it"
        raise UnsupportedFileError(source.file, reason) from error
    return io.BufferedReader(_Counted(stream.read, source.budget), _BLOCK_BYTES)


def _bounded(stream: "IO[bytes] | _Part", source: Source, *, is_counted: bool = False) -> bytes:
    """Read a member up to the size of a file."""
    limit = int(source.options.max_megabytes * 1_000_000)
    blocks = []
    length = 0
    while block := stream.read(_BLOCK_BYTES):
        length += len(block)
        if not is_counted:
            source.budget.take_bytes(len(block))
        if length > limit:
            raise SourceFileError(
                source.file,
                f"has more than the {source.options.max_megabytes:g} MB that are allowed; allow "
                "more with --max-size MB",
            )
        blocks.append(block)
    return b"".join(blocks)


def _extracted(names: list[str], members: Iterable[Embedded]) -> Extracted:
    listed = normalize("\n".join(names))[:_MAX_LISTED]
    return Extracted(
        text=f"{quantity(len(names), 'file')}\n\n{listed}",
        members=limited(members, _MAX_FILES, "files"),
    )


_PY7ZR: Final = "py7zr"

_PIECE_BYTES: Final = 1 << 11
"""Number of packed bytes that a decompressor gets at a time: some unpack all of them at once, to up
to 32,000 times as many."""

_MAX_IDLE_CALLS: Final = 64
"""Maximum number of calls of a decompressor, one after the other, that neither take nor return
anything: filters of programs hold back a few bytes."""


def extract_7z(source: Source) -> Extracted:
    """Extract the list of files of a 7z archive, with the files as members.

    The method of py7zr, an extra of the distribution, pushes all files into writers, in blocks of
    up to 128 MB. Here files are asked for one after the other, so that only its list of files and
    its decompressors are used: a stream is unpacked once, as far as it is read, and a limit ends a
    bomb at once.
    """
    try:
        from py7zr import SevenZipFile
    except ImportError as error:
        missing = ExtraMissingError("is a 7z archive, and reading it", "7z", error.name or _PY7ZR)
        raise UnsupportedFileError(source.file, str(missing)) from error
    with _errors(source):
        archive: Any = SevenZipFile(io.BytesIO(source.data))
        files = [*archive.files]
        if any(file.uncompressed < 0 for file in files):
            raise ValueError("the sizes of its files are wrong")
        names = [file.filename for file in files if file.is_file]
    return _extracted(names, _seven_zipped(archive, files, source))


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


def _seven_zipped(archive: Any, files: list[Any], source: Source) -> Iterator[Embedded]:
    yield from (_of_7z(file, bytes) for file in files if file.is_file and not file.uncompressed)
    streams = archive.header.main_streams
    number = 0
    for folder in streams.unpackinfo.folders if streams else ():
        packed = [file for file in folder.files or () if file.uncompressed]
        with _errors(source):
            begin = archive.afterheader + streams.packinfo.packpos
            begin += streams.packinfo.packpositions[number]
            size = streams.packinfo.packsizes[number]
        data = memoryview(source.data)[begin : begin + size]
        if len(data) != size:
            raise ValueError("it is cut off")
        yield from _packed_together(packed, folder, data, source)
        number += len(folder.packed_indices)


def _of_7z(file: Any, read: Callable[[], bytes]) -> Embedded:
    written = file.lastwritetime
    modified_ns = 0 if written is None else max(int(written.totimestamp() * 1_000_000_000), 0)
    return Embedded(file.filename, read, file.uncompressed, modified_ns)


def _packed_together(
    files: list[Any], folder: Any, data: memoryview, source: Source
) -> Iterator[Embedded]:
    """Yield the files of a stream, which is unpacked as they are read; others are skipped."""
    try:
        with _errors(source):
            decompressor = folder.get_decompressor(len(data))
    except (SourceFileError, ValueError) as error:
        # By a ValueError, lzma says that it does not have this combination of methods.
        said = error if isinstance(error, SourceFileError) else _unsupported(source, str(error))
        yield from (_of_7z(file, partial(_refuse, said)) for file in files if file.is_file)
        return
    size = sum(file.uncompressed for file in files)
    unpacked = _Unpacked(decompressor, _Packed(data), size, source)
    stream = io.BufferedReader(_Counted(unpacked.read, source.budget), _BLOCK_BYTES)
    for file in files:
        part = _Part(stream, file.uncompressed, file.crc32)
        if file.is_file:
            yield _of_7z(file, partial(_bounded, part, source, is_counted=True))
        while part.read(_BLOCK_BYTES):
            pass


def _refuse(error: SourceFileError) -> NoReturn:
    raise error


def _unsupported(source: Source, why: str) -> UnsupportedFileError:
    reason = f"is packed with a method that is not read ({why}); unpack it"
    return UnsupportedFileError(source.file, reason)


class _Part:
    """File within the bytes of several."""

    def __init__(self, stream: IO[bytes], size: int, crc: int | None) -> None:
        self._stream = stream
        self._left = size
        self._crc = crc
        self._found = 0

    def read(self, size: int) -> bytes:
        """Return up to so many bytes; none at the end."""
        data = self._stream.read(min(size, self._left))
        if self._left and not data:
            raise ValueError("it is cut off")
        self._found = zlib.crc32(data, self._found)
        self._left -= len(data)
        if data and not self._left and self._crc not in {None, self._found}:
            raise ValueError("its checksum is wrong")
        return data


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


class _Unpacked:
    """Unpacked bytes of a stream, up to the size that the archive says."""

    def __init__(self, decompressor: Any, packed: _Packed, size: int, source: Source) -> None:
        self._decompressor = decompressor
        self._packed = packed
        self._left = size
        self._source = source

    def read(self, size: int) -> bytes:
        wanted = min(size, self._left)
        idle = 0
        while wanted:
            before = self._packed.at
            with _errors(self._source):
                data = bytes(self._decompressor.decompress(self._packed, wanted))
            if data:
                self._left -= len(data)
                return data
            idle = 0 if self._packed.at > before else idle + 1
            if idle == _MAX_IDLE_CALLS:
                raise ValueError("it is cut off, or damaged")
        return b""

"""Streams of a 7z archive, unpacked as far as they are read."""

import bz2
import io
import zlib
from typing import IO, Any, Final, Protocol

from idx.errors import UnsupportedFileError
from idx.extraction.containers.seven_zip.header import Folder, MethodError
from idx.extraction.types import Source

_BLOCK_BYTES: Final = 1 << 16

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

_MIN_DICTIONARY: Final = 4096
_MAX_LZMA2_PROPERTY: Final = 40


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


def stream_of(folder: Folder, source: Source) -> IO[bytes]:
    """Return the unpacked bytes of a stream, which are read as they are asked for.

    Raises:
        ValueError: it is damaged; also later.
        MethodError: it is packed with a method that is not read.
        UnsupportedFileError: it is protected by a password, or Python has no LZMA.
    """
    begin, size = folder.packed
    packed = memoryview(source.data)[begin : begin + size]
    if len(packed) != size:
        raise ValueError("it is cut off")
    unpacked = _Unpacked(packed, folder.unpacked, _decompressor(folder, source))
    return io.BufferedReader(unpacked, _BLOCK_BYTES)


def _decompressor(folder: Folder, source: Source) -> _Decompressor:
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
    raise MethodError(", ".join(_METHOD_NAMES.get(method, method.hex()) for method in methods))


def _lzma(folder: Folder, source: Source) -> _Decompressor:
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
            raise MethodError(_METHOD_NAMES.get(coder.method, coder.method.hex()))
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

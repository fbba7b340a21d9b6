"""Lucene's files, read without Lucene: the version that wrote an index, and file integrity.

Lucene refuses what it cannot read, but does not always say what it refused. The header of the
newest ``segments_N`` file shows the version; see `CodecUtil.writeIndexHeader` and the format
constants of `SegmentInfos` in Lucene's sources.
"""

import os
import re
import struct
import zlib
from pathlib import Path
from typing import Final

from shared.messages import reason_of
from shared.system import open_shared

_CODEC_MAGIC: Final = 0x3FD76C17

_SEGMENTS: Final = b"\x08segments"

_ID_BYTES: Final = 16

_HEADER: Final = struct.Struct(">I9si")
"""Magic number, name of the codec preceded by its length, format version."""

_UNKNOWN_VERSION: Final = "an unknown version of Lucene"

_FIRST_FORMAT_WITH_VERSION: Final = 6
"""First format whose file names the release that wrote it, `SegmentInfos.VERSION_53`."""


def written_by(path: Path) -> str:
    """Return the version of Lucene that wrote the newest commit of an index, in words."""
    commits = [file for file in path.glob("segments_*") if _generation(file)]
    if not commits:
        return _UNKNOWN_VERSION
    with open_shared(max(commits, key=_generation)) as newest:
        magic, codec, format_version = _HEADER.unpack(newest.read(_HEADER.size).ljust(_HEADER.size))
        if magic != _CODEC_MAGIC or codec != _SEGMENTS:
            return _UNKNOWN_VERSION
        if format_version < _FIRST_FORMAT_WITH_VERSION:
            return "a Lucene before 5.3"
        newest.read(_ID_BYTES)
        suffix_length = newest.read(1)
        newest.read(suffix_length[0] if suffix_length else 0)
        release = newest.read(3)
    return "Lucene {}.{}.{}".format(*release) if release[2:] else _UNKNOWN_VERSION


NO_COMMIT: Final = "its segments_N file, which names the others, is missing"


_FILE_OF_LUCENE: Final = re.compile(
    r"(pending_)?segments_[0-9a-z]+|_[0-9a-z]+(_.*)?\..*|write\.lock"
)
"""Names of Lucene's files (`IndexFileNames.CODEC_FILE_PATTERN`) and of its lock."""


def is_lucene_file(name: str) -> bool:
    """Check whether Lucene may treat a file with this name as its own."""
    return _FILE_OF_LUCENE.fullmatch(name) is not None


def has_segments(path: Path) -> bool:
    """Check whether a folder contains segments of an index, with or without a commit."""
    return any(path.glob("_*.si"))


def begins_as_lucene(file: Path) -> bool:
    """Check whether a file begins with the magic number of Lucene's files."""
    with open_shared(file) as stream:
        return stream.read(4) == _CODEC_MAGIC.to_bytes(4, "big")


def commit_id(commit: Path) -> bytes | None:
    """Return the random id in the file of a commit; None once a newer commit has replaced it."""
    try:
        with open_shared(commit) as stream:
            return stream.read(_HEADER.size + _ID_BYTES)[_HEADER.size :]
    except FileNotFoundError:
        return None


def _generation(file: Path) -> int:
    """Return the generation of a ``segments_N`` file, N in base 36; 0 if it is not a number."""
    try:
        return int(file.name.removeprefix("segments_"), 36)
    except ValueError:
        return 0


_FOOTER: Final = struct.Struct(">IIQ")

_FOOTER_MAGIC: Final = ~0x3FD76C17 & 0xFFFFFFFF

_CHECKSUM_BYTES: Final = 8

_BLOCK_BYTES: Final = 1 << 20


def damage_of(file: Path) -> str | None:
    """Return the damage of an index file according to its checksum; None if it is intact."""
    checksum = 0
    with open_shared(file) as stream:
        left = os.fstat(stream.fileno()).st_size - _CHECKSUM_BYTES
        while left > 0 and (block := stream.read(min(_BLOCK_BYTES, left))):
            checksum = zlib.crc32(block, checksum)
            left -= len(block)
        stream.seek(max(0, stream.tell() + _CHECKSUM_BYTES - _FOOTER.size))
        footer = stream.read(_FOOTER.size)
    if len(footer) < _FOOTER.size:
        return "it is truncated"
    magic, kind, expected = _FOOTER.unpack(footer)
    if magic != _FOOTER_MAGIC or kind:
        return "it has no footer, so it was truncated or changed"
    if checksum != expected:
        return "its checksum is wrong, so it was changed after Lucene wrote it"
    return None


def changed_commit(path: Path) -> str | None:
    """Return which commit of an index was changed after Lucene wrote it; None if none was."""
    for commit in path.glob("segments_*"):
        if damage := damage_of(commit):
            return f"file {commit.name}: {damage}"
    return None


def damage_or_absence(file: Path) -> str | None:
    """Return the damage of an index file that should be there and readable."""
    try:
        return damage_of(file)
    except FileNotFoundError:
        return "it is missing"
    except OSError as error:
        return f"it cannot be read: {reason_of(error)}"

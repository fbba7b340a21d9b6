"""ZIP archives of XML, the packages of Office documents and e-books."""

import io
import posixpath
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from idx.errors import SourceFileError
from idx.extraction.markup.markup import Target, local_name, parse_xml
from idx.extraction.types import Source

if TYPE_CHECKING:
    from lxml import etree

_MEMBER_BLOCK_BYTES: Final = 1 << 16
_MEGABYTE: Final = 1_000_000

MIN_UNPACKED_LIMIT: Final = 100 * _MEGABYTE  # unpacked size allowed for every file, in bytes

MAX_COMPRESSION_RATIO: Final = 50
"""Unpacked size allowed for a large file, as a multiple of its size. Real documents reach 30."""

_ENCRYPTED: Final = 0x1  # bit of an entry's flags that marks encryption


class Package:
    """Opened archive with a limit on its unpacked size.

    The limit applies to the total of all entries, which stops ZIP bombs.
    """

    def __init__(self, source: Source) -> None:
        self._file = source.file
        self._archive = zipfile.ZipFile(io.BytesIO(source.data))
        self.limit: Final = max(MIN_UNPACKED_LIMIT, MAX_COMPRESSION_RATIO * len(source.data))
        self._unpacked = 0
        self._counted: set[str] = set()
        self._in_cells = 0

    def __contains__(self, name: str) -> bool:
        return name in self._archive.NameToInfo

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of an entry in chunks; a second time they do not count."""
        entry = self._archive.getinfo(name)
        if entry.flag_bits & _ENCRYPTED:
            raise SourceFileError(self._file, "protected by a password")
        with self._archive.open(entry) as stream:
            counts = name not in self._counted
            while chunk := stream.read(_MEMBER_BLOCK_BYTES):
                self._unpacked += len(chunk) * counts
                if self._unpacked > self.limit:
                    raise SourceFileError(
                        self._file,
                        f"unpacks to more than {self.limit // _MEGABYTE} MB, too much for a "
                        "document of its size",
                    )
                yield chunk
            self._counted.add(name)

    def count(self, text: str) -> None:
        """Count the text of a table cell, which may be repeated, towards the limit on the unpacked
        size.
        """
        self._in_cells += len(text)
        if self._in_cells > self.limit:
            raise ValueError("its cells repeat too much text")

    def read(self, name: str) -> bytes:
        return b"".join(self.chunks(name))

    def parse(self, name: str, target: Target) -> None:
        """Parse an XML entry as a stream; see `chunks` and `parse_xml`."""
        parse_xml(self.chunks(name), target)

    def tree(self, name: str) -> "etree._Element":
        """Parse a small XML entry as a tree; see `chunks`."""
        from lxml import etree

        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        return etree.fromstring(self.read(name), parser)

    def texts(self, name: str) -> dict[str, list[str]]:
        """Return the texts in an XML entry by local element name; empty if the entry is missing."""
        texts: dict[str, list[str]] = {}
        if name in self:
            for element in self.tree(name).iter("*"):
                if element.text and element.text.strip():
                    texts.setdefault(local_name(str(element.tag)), []).append(element.text)
        return texts


def resolve(base: str, reference: str) -> str:
    """Return the name of the entry that a reference in another entry denotes.

    It never leaves the archive.
    """
    if reference.startswith("/"):
        return reference[1:]
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), reference))

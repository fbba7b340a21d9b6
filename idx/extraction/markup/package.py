"""The files within a file: Office documents and e-books are ZIP archives of XML."""

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

_CHUNK: Final = 1 << 16
_MEGABYTE: Final = 1_000_000

LEAST_UNPACKED: Final = 100 * _MEGABYTE
"""Every file may unpack to this many bytes, …"""

MOST_TIMES: Final = 50
"""… a large one to so many times its size. Real documents come to 30 times."""

_ENCRYPTED: Final = 0x1
"""The bit of an entry's flags that says that it needs a password."""


class Package:
    """An opened archive, within limits.

    What is unpacked is counted over all entries: a ZIP bomb ends here.
    """

    def __init__(self, source: Source) -> None:
        self._file = source.file
        self._archive = zipfile.ZipFile(io.BytesIO(source.data))
        self.limit: Final = max(LEAST_UNPACKED, MOST_TIMES * len(source.data))
        self._unpacked = 0
        self._in_cells = 0

    def __contains__(self, name: str) -> bool:
        return name in self._archive.NameToInfo

    def chunks(self, name: str) -> Iterator[bytes]:
        """The bytes of an entry, in pieces.

        Raises:
            SourceFileError: it needs a password, or the archive unpacks to too much.
            KeyError: there is no such entry.
        """
        entry = self._archive.getinfo(name)
        if entry.flag_bits & _ENCRYPTED:
            raise SourceFileError(self._file, "protected by a password")
        with self._archive.open(entry) as stream:
            while chunk := stream.read(_CHUNK):
                self._unpacked += len(chunk)
                if self._unpacked > self.limit:
                    raise SourceFileError(
                        self._file,
                        f"unpacks to more than {self.limit // _MEGABYTE} MB, as no document of "
                        "its size does",
                    )
                yield chunk

    def count(self, text: str) -> None:
        """Take note of a text that stands in a cell of a table, of which there may be copies.

        Raises:
            ValueError: together they are longer than all that may be unpacked.
        """
        self._in_cells += len(text)
        if self._in_cells > self.limit:
            raise ValueError("its cells repeat too much text")

    def read(self, name: str) -> bytes:
        """The bytes of an entry; see `chunks`."""
        return b"".join(self.chunks(name))

    def parse(self, name: str, target: Target) -> None:
        """Read an XML entry as a stream; see `chunks` and `parse_xml`."""
        parse_xml(self.chunks(name), target)

    def tree(self, name: str) -> "etree._Element":
        """A small XML entry as a whole; see `chunks`."""
        from lxml import etree

        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        return etree.fromstring(self.read(name), parser)

    def texts(self, name: str) -> dict[str, list[str]]:
        """The texts in an XML entry by the local name of their element; none if it is absent."""
        texts: dict[str, list[str]] = {}
        if name in self:
            for element in self.tree(name).iter("*"):
                if element.text and element.text.strip():
                    texts.setdefault(local_name(str(element.tag)), []).append(element.text)
        return texts


def resolve(base: str, reference: str) -> str:
    """The name of the entry that another one refers to; it never leaves the archive."""
    if reference.startswith("/"):
        return reference[1:]
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), reference))

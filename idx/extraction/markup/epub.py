"""Extraction of EPUB 2 and 3."""

from collections.abc import Iterator
from itertools import chain
from typing import Final
from urllib.parse import unquote

from idx.errors import SourceFileError
from idx.extraction.markup.html import decode_hypertext, read_hypertext
from idx.extraction.markup.markup import Headed
from idx.extraction.markup.package import Package, resolve
from idx.extraction.text.headings import join_sections
from idx.extraction.text.properties import one_line, properties
from idx.extraction.types import Extracted, Source
from shared.model.document import Metadata

_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
_CHAPTER_TYPES: Final = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document"})


def extract_epub(source: Source) -> Extracted:
    """Extract the chapters of a book in reading order, without its table of contents."""
    package = Package(source)
    book = next(
        (
            root.get("full-path", "")
            for root in package.tree(_CONTAINER).iter("{*}rootfile")
            if root.get("full-path", "") in package
        ),
        None,
    )
    if book is None:
        raise ValueError("it has no list of chapters")
    named = [*_chapters(package, book)]
    chapters = [name for name in named if name in package]
    missing = [name for name in named if name not in package]
    if missing and not chapters:
        raise ValueError("its chapters are missing")
    if _encrypted(package).intersection(chapters):
        raise SourceFileError(source.file, "protected against copying (DRM)")
    title, metadata = _properties(package, book)
    hidden: list[str] = []
    text, headings = join_sections(
        chain.from_iterable(_sections(package, chapter, source, hidden) for chapter in chapters)
    )
    return Extracted(
        text=text,
        headings=headings,
        media_type=source.media_type,
        title=title,
        metadata=metadata,
        hidden=hidden,
        warnings=(f"chapters are missing: {', '.join(missing)}"[:500],) if missing else (),
    )


def _chapters(package: Package, book: str) -> Iterator[str]:
    """Yield the entry names of the chapters in reading order, each once; entries may be missing."""
    tree = package.tree(book)
    items = {item.get("id"): item for item in tree.iter("{*}item")}
    seen = set()
    for reference in tree.iter("{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _CHAPTER_TYPES:
            continue
        name = resolve(book, unquote(item.get("href", "").partition("#")[0]))
        is_contents = "nav" in item.get("properties", "").split()
        if name not in seen and not is_contents:
            seen.add(name)
            yield name


def _encrypted(package: Package) -> set[str]:
    """Return the names of encrypted entries, which often are fonts."""
    if _ENCRYPTION not in package:
        return set()
    references = package.tree(_ENCRYPTION).iter("{*}CipherReference")
    return {unquote(reference.get("URI", "")) for reference in references}


def _sections(
    package: Package, chapter: str, source: Source, hidden: list[str]
) -> Iterator[Headed]:
    page = Source(source.file, package.read(chapter), "text/html", type(source.options)())
    read = read_hypertext(decode_hypertext(page))
    hidden += read.unseen
    return read.headed()


def _properties(package: Package, book: str) -> tuple[str | None, Metadata]:
    said = package.texts(book)
    modified = next(
        (
            meta.text
            for meta in package.tree(book).iter("{*}meta")
            if meta.get("property") == "dcterms:modified"
        ),
        None,
    )
    return one_line("".join(said.get("title", ())[:1])), properties(
        author=said.get("creator"),
        subject="".join(said.get("description", ())[:1]),
        keywords=said.get("subject"),
        created="".join(said.get("date", ())[:1]),
        modified=modified,
        language="".join(said.get("language", ())[:1]),
    )

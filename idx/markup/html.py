"""HTML pages, EPUB books, which are made of them, and the text of other files of XML."""

import codecs
import html
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from idx.errors import SourceFileError
from idx.extraction.types import Extracted, Source
from idx.markup.markup import Headed, MarkupText, Package, Role, Roles, parse_html, resolve
from idx.office.workbook import extract_xml_workbook, is_xml_workbook
from idx.text.cleaning import join_sections
from idx.text.decoding import declared_codec, decode
from idx.text.escapes import character, without_escapes
from idx.text.properties import one_line, properties
from shared.model.document import Metadata

if TYPE_CHECKING:
    from lxml import etree

_TAGS_BY_ROLE: Final[dict[Role | str, str]] = {
    Role.PARAGRAPH: (
        "address article aside blockquote details dl fieldset figure footer form h1 h2 h3 h4 h5 h6 "
        "header hr main nav ol p section table ul"
    ),
    Role.LINE: "body caption center dd div dt figcaption legend li option summary",
    Role.HIDDEN: "audio canvas iframe noscript object rp rt script style svg template title video",
    Role.PREFORMATTED: "pre listing",
    Role.ROW: "tr",
    Role.CELL: "td th",
    "\n": "br",
}
_LEVELS: Final = {f"h{level}": level for level in range(1, 7)}
_ROLES: Final[Roles] = {tag: role for role, tags in _TAGS_BY_ROLE.items() for tag in tags.split()}

_CHARSET: Final = re.compile(
    rb"""<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE
)
_DECLARED_WITHIN: Final = 4096

_NOT_ON_THE_WEB: Final = ("utf-7", "utf-16", "utf-32")
"""Prefixes of codecs that browsers ignore in a declaration, since the declaration is in ASCII."""


_UNSEEN: Final = re.compile(
    r"(?<![\w-])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|(?:opacity|font-size)\s*:\s*0*(?:\.0+)?(?:%|[a-z]{1,4})?\s*(?=$|[;!}]))",
    re.IGNORECASE,
)
"""Declarations of a style by which an element is not displayed."""

_RULE: Final = re.compile(r"([^{}]{1,1000})\{([^{}]{0,10000})\}")
_ELSEWHERE: Final = re.compile(
    r"@media(?![^{}]{0,300}(?:,|\bnot\b|\bor\b))"
    r"(?=[^{}]{0,300}(?:\bprint\b|\bmax-(?:device-)?width\s*:\s*\d{1,3}px))"
    r"[^{}]{0,300}+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}",
    re.IGNORECASE,
)
"""Rules for paper and for the windows of telephones alone, such as those of newsletters."""
_SELECTED: Final = re.compile(r"[.#][\w-]+(?=\s*(?:,|$))")
"""Classes and ids at the end of the selectors of a rule."""


@dataclass(slots=True)
class HypertextText(MarkupText):
    """Parser target that collects the text of a page and the metadata in its head."""

    roles: Roles = field(default_factory=lambda: _ROLES)
    title: str | None = None
    language: str | None = None
    meta: dict[str, str] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)
    _within: list[str] | None = None
    _unseen_names: set[str] = field(default_factory=set)
    _collects: list[bool] = field(default_factory=list)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if not self._hidden:
            if tag == "style" or (tag == "title" and self.title is None):
                self._within = []
            elif tag == "meta":
                name = attributes.get("name") or attributes.get("property")
                if name:
                    self.meta.setdefault(name.lower(), attributes.get("content", ""))
            elif tag == "html":
                self.language = attributes.get("lang") or attributes.get("xml:lang")
        is_unseen = self._is_unseen(attributes)
        if self._hidden or is_unseen or self._by_tag[tag] is Role.HIDDEN:
            collects = is_unseen or (self._collects and self._collects[-1])
            self._collects.append(bool(collects) and self._by_tag[tag] is not Role.HIDDEN)
            self._hidden += 1
            return
        MarkupText.start(self, tag, attributes)
        if not self._hidden and (level := _LEVELS.get(tag)):
            self.begin_heading(level)

    def end(self, tag: str) -> None:
        if self._within is not None and tag in ("title", "style"):
            within = "".join(self._within)
            self._within = None
            if tag == "title":
                self.title = within
            else:
                for selectors, declarations in _RULE.findall(_ELSEWHERE.sub("", within)):
                    if _UNSEEN.search(declarations):
                        self._unseen_names.update(_SELECTED.findall(selectors))
        if self._hidden and self._collects.pop():
            self.unseen.append(" ")
        MarkupText.end(self, tag)

    def data(self, text: str) -> None:
        if self._within is not None:
            self._within.append(text)
        if self._collects and self._collects[-1]:
            self.unseen.append(text)
        MarkupText.data(self, text)

    def _is_unseen(self, attributes: Mapping[str, str]) -> bool:
        if attributes.get("hidden", "until-found") != "until-found":
            return True
        if self._unseen_names:
            names = {f".{name}" for name in attributes.get("class", "").split()}
            if not self._unseen_names.isdisjoint({*names, f"#{attributes.get('id')}"}):
                return True
        return _UNSEEN.search(attributes.get("style", "")) is not None


def read_hypertext(text: str) -> HypertextText:
    """Parse a page, and return its text and metadata before normalization."""
    target = HypertextText()
    parse_html(text, target)
    return target


def decode_hypertext(data: bytes, file: Path, encoding: str | None = None) -> str:
    codec = encoding or _declared_codec(data)
    try:
        return decode(data, file, codec)
    except SourceFileError:
        if codec is None or encoding:
            raise
        # Many declarations are wrong, and the bytes are better evidence.
        return decode(data, file)


def _declared_codec(data: bytes) -> str | None:
    declared = _CHARSET.search(data, 0, _DECLARED_WITHIN)
    if declared is None or data.startswith(codecs.BOM_UTF8):
        return None
    codec = declared_codec(declared[1].decode("ascii"))
    if codec == "ascii":
        return "cp1252"
    if codec is not None and codec.startswith(_NOT_ON_THE_WEB):
        return "utf-8"
    return codec


def extract_html(source: Source) -> Extracted:
    """Extract a page without scripts, styles and comments, and the metadata in its head."""
    text = decode_hypertext(source.data, source.file, source.options.encoding)
    return extracted_pages([read_hypertext(text)])


def extracted_pages(pages: Iterable[HypertextText]) -> Extracted:
    """Return the texts of pages that belong together, with the metadata of the first."""
    coming = iter(pages)
    page = next(coming, HypertextText())
    meta = page.meta
    hidden: list[str] = []

    def sections() -> Iterator[Headed]:
        # Of a book of many chapters, one is in memory at a time.
        for each in chain((page,), coming):
            yield from each.headed()
            hidden.extend(each.unseen)

    text, headings = join_sections(sections())
    return Extracted(
        text=text,
        title=one_line(page.title),
        headings=headings,
        hidden=hidden,
        metadata=properties(
            author=meta.get("author"),
            subject=meta.get("description") or meta.get("og:description"),
            keywords=meta.get("keywords"),
            creator=meta.get("generator"),
            created=meta.get("article:published_time") or meta.get("created"),
            modified=meta.get("article:modified_time") or meta.get("changed"),
            language=page.language,
        ),
    )


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
    warnings: list[str] = []
    try:
        tree = package.tree(book)
    except SyntaxError:
        tree = package.tree(book, recover=True)
        warnings.append("the list of its chapters is damaged, and some may be missing")
    named = [*_chapters(tree, book)]
    chapters = [name for name in named if name in package]
    missing = [name for name in named if name not in package]
    if missing and not chapters:
        raise ValueError("its chapters are missing")
    if _encrypted(package).intersection(chapters):
        raise SourceFileError(source.file, "protected against copying (DRM)")
    title, metadata = _properties(package, book, tree)
    pages = (
        read_hypertext(decode_hypertext(package.read(chapter), source.file)) for chapter in chapters
    )
    if missing:
        warnings.append(f"chapters are missing: {', '.join(missing)}"[:500])
    found = extracted_pages(pages)
    return replace(found, title=title, metadata=metadata, warnings=tuple(warnings))


def _chapters(tree: "etree._Element", book: str) -> Iterator[str]:
    """Yield the entry names of the chapters in reading order, each once; entries may be missing."""
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


def _properties(package: Package, book: str, tree: "etree._Element") -> tuple[str | None, Metadata]:
    said = package.texts(book)
    return one_line("".join(said.get("title", ())[:1])), properties(
        author=said.get("creator"),
        subject="".join(said.get("description", ())[:1]),
        keywords=said.get("subject"),
        created="".join(said.get("date", ())[:1]),
        modified=tree.findtext(".//{*}meta[@property='dcterms:modified']"),
        language="".join(said.get("language", ())[:1]),
    )


# Attribute values may contain ">"; a comment ends at its own mark only. A document type has no
# other one within it: each character is looked at once, however many begin and do not end.
_MARKUP: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[(?P<data>.*?)(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)"
    r"|<!DOCTYPE(?:[^<>\[]|\[(?:[^\]<]|<(?!!DOCTYPE))*+\])*+>"
    r"|</?[A-Za-z_:](?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+>",
    re.DOTALL,
)
_REFERENCE: Final = re.compile(r"&#?\w{1,32};")
_TITLE: Final = re.compile(r"<(?:\w+:)?title(?:\s[^<>]*)?>([^<>]{1,400})</")

_MIN_PROSE_SHARE: Final = 0.5
"""Minimum share of text in a file of prose; settings and data have less, and their names are
searched for."""


def extract_xml(source: Source) -> Extracted:
    """Extract the text of XML line by line as in the file; that of a workbook by its sheets.

    References to characters are resolved. If at least half of it is text, tags, comments and
    instructions are left out; else they stay. No entity of a document type is expanded.
    """
    if is_xml_workbook(source.data):
        with suppress(SyntaxError):
            return extract_xml_workbook(source)
    written = decode(source.data, source.file, source.options.encoding)
    marked = sum(
        match.end() - match.start() for match in _MARKUP.finditer(written) if match["data"] is None
    )
    letters = len(written) - marked
    # Indentation is not text.
    blank = sum(len(line) - len(line.strip()) for line in written.split("\n"))
    if letters - blank < _MIN_PROSE_SHARE * (len(written) - blank):
        text = without_escapes(written, source.media_type)
        return Extracted(text, is_own_text=True)
    title = _TITLE.search(written)
    return Extracted(
        text=_REFERENCE.sub(character, _MARKUP.sub(_without_tag, written)),
        is_own_text=True,
        title=one_line(html.unescape(title[1])) if title else None,
    )


def _without_tag(match: re.Match[str]) -> str:
    """Return what stands in place of markup: its line breaks, so that lines keep their numbers."""
    if match["data"] is not None:
        return match["data"]
    breaks = "\n" * match[0].count("\n")
    # Elements that follow each other without text, such as cells, are not one word, while letters
    # within a word, such as in H<sub>2</sub>O, are.
    stands_between = match.string[match.start() - 1 : match.start()] == ">"
    return breaks or (" " if stands_between else "")

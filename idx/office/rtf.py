"""Parser of RTF 1.9: groups in braces, control words, bytes in the code page of a font."""

import codecs
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from idx.extraction.types import Extracted, Source
from idx.markup.markup import row_text
from idx.text.cleaning import normalize
from idx.text.decoding import without_surrogates
from idx.text.properties import one_line, properties

TEXTS: Final = {
    **dict.fromkeys(("par", "sect", "page", "column"), "\n\n"),
    **dict.fromkeys(("line", "softline"), "\n"),
    **dict.fromkeys(("tab", "nestcell", "emspace", "enspace", "qmspace"), " "),
    "nestrow": "\n",
    "emdash": "\u2014",
    "endash": "\u2013",
    "bullet": "\u2022",
    "lquote": "\u2018",
    "rquote": "\u2019",
    "ldblquote": "\u201c",
    "rdblquote": "\u201d",
    "zwj": "\u200d",
    "zwnj": "\u200c",
}
"""Texts of control words."""

SYMBOLS: Final = {
    b"~": "\u00a0",
    b"_": "-",
    b"-": "\u00ad",
    b"\\": "\\",
    b"{": "{",
    b"}": "}",
    # A backslash before a line break ends a paragraph.
    b"\n": "\n\n",
    b"\r": "\n\n",
}
"""Texts of control symbols, without their backslash."""

HIDDEN: Final = frozenset(
    (
        *("fonttbl", "colortbl", "stylesheet", "info", "template", "private", "objdata", "pict"),
        *("listtable", "filetbl", "revtbl", "rsidtbl", "fldinst", "xe", "tc", "sp", "shprslt"),
        *("ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "bkmkstart", "bkmkend"),
        *("nonesttables", "nesttableprops", "atnid", "atnauthor", "atntime", "atnref", "atndate"),
    )
)
SHOWN: Final = frozenset({"shpinst", "annotation", "shptxt", "background"})

APART: Final = frozenset(
    (
        *("footnote", "annotation", "header", "headerl", "headerr", "headerf"),
        *("footer", "footerl", "footerr", "footerf"),
    )
)
"""Groups displayed elsewhere on the page, whose text follows that of the document."""

NUMBERS: Final = frozenset({"listtext", "pntext"})
"""Groups with the number or the bullet that a program has made for the paragraph after them."""

FORMS: Final = {"upr": True, "ud": False}
"""Groups with a fallback for old readers (True) and their Unicode replacement (False)."""

PROPERTIES: Final = frozenset({"title", "author", "subject", "keywords", "generator"})
"""Groups whose text is a property."""

TIMES: Final = frozenset({"creatim", "revtim"})
"""Groups whose control words are the parts of a time."""

TIME_PARTS: Final = ("yr", "mo", "dy", "hr", "min")

CODECS_OF_CHARACTER_SETS: Final = {
    0: "cp1252",
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    255: "cp437",
}
"""Codecs of fonts by the number of the character set; for 1 and 2 the document decides."""

CODECS_OF_WORDS: Final = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
"""Codecs of the document by control word."""


def time_of(parts: Mapping[str, int]) -> datetime | None:
    """Return the time given by its parts, without a time zone; None if it is missing or invalid."""
    year, month, day, hour, minute = (parts.get(part, 0) for part in TIME_PARTS)
    try:
        return datetime(year, month, day, hour, minute)
    except (OverflowError, ValueError):
        return None


_MIN_NUMBER: Final = 2
"""Minimum length of a number that has letters; a single one is a bullet of a symbol font, or o."""


@dataclass(slots=True)
class Story:
    """Separate text of a document; a row of its tables becomes a line."""

    pieces: list[str] = field(default_factory=list)
    _cells: list[str] = field(default_factory=list)
    _row_start: int | None = None
    _left_row: int | None = None
    _is_after_row: bool = False
    _number: str = ""

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def write(self, text: str) -> None:
        if self._is_after_row and self._row_start is None:
            self._is_after_row = False
            self.pieces.append("\n")
        self.pieces.append(self._number + text)
        self._number = ""

    def number(self, text: str) -> None:
        """Put a number before the text that follows, perhaps in a cell; bullets are left out."""
        text = text.strip()
        is_bullet = len(text) < _MIN_NUMBER and not text.isdecimal()
        self._number = "" if is_bullet else f"{text} "

    def begin_row(self) -> None:
        if self._row_start is None:
            self._row_start = len(self.pieces) if self._left_row is None else self._left_row

    def end_cell(self) -> None:
        if self._number:
            self.write("")
        start = len(self.pieces) if self._row_start is None else self._row_start
        self._cells.append(" ".join("".join(self.pieces[start:]).split()))
        del self.pieces[start:]
        self._row_start = start

    def end_row(self) -> None:
        if self.pieces and not self.pieces[-1].endswith("\n"):
            self.pieces.append("\n")
        self.pieces.append(f"{row_text(self._cells)}\n")
        self._cells.clear()
        self._row_start = len(self.pieces)
        self._is_after_row = True

    def end_paragraph_styles(self) -> None:
        """Reset paragraph properties, so that the next paragraph is outside a table by default."""
        if not self._cells:
            self._left_row, self._row_start = self._row_start, None


_TOKEN: Final = re.compile(
    rb"\\([A-Za-z]{1,32})(-?[0-9]{1,10})? ?"  # a control word with its number
    rb"|\\'([0-9A-Fa-f]{2})"  # a byte
    rb"|\\(.)"  # a control symbol
    rb"|([{}])"
    rb"|([^\\{}\r\n\0]+)",
    re.DOTALL,
)


_NUMBER: Final = "number"  # name of a group that contains the number of a paragraph


@dataclass(frozen=True, slots=True)
class _Group:
    """State that lasts until the end of a group.

    No story discards the text. `skip` fallback characters for old readers follow a Unicode
    character; a replaced group is a fallback as a whole. `name` is that of a time, of the fonts or
    of a number.
    """

    story: Story | None
    skip: int = 1
    codec: str | None = None
    name: str = ""
    hides: bool = False
    is_replaced: bool = False

    @property
    def shown(self) -> Story | None:
        """Where text is displayed; None if it is hidden."""
        return None if self.hides or self.is_replaced else self.story

    def write(self, text: str) -> None:
        if text and self.shown:
            self.shown.write(text)


@dataclass(slots=True)
class _Reader:
    """Parser of a document, token by token."""

    body: Story = field(default_factory=Story)
    apart: list[Story] = field(default_factory=list)
    said: dict[str, Story] = field(default_factory=dict)
    times: dict[str, dict[str, int]] = field(default_factory=lambda: {name: {} for name in TIMES})
    is_complete: bool = False
    group: _Group = field(init=False)
    _open: list[_Group] = field(default_factory=list)
    _bytes: bytearray = field(default_factory=bytearray)
    _codec: str = "cp1252"
    _codecs: dict[int, str] = field(default_factory=dict)
    _font: int = 0
    _default_font: int = 0
    _skipping: int = 0
    _is_first: bool = False
    _is_starred: bool = False

    def __post_init__(self) -> None:
        self.group = _Group(self.body)

    def read(self, data: bytes) -> None:
        """Read all tokens; text after the last brace is ignored."""
        place = 0
        while token := _TOKEN.search(data, place):
            place = token.end()
            word, number, byte, symbol, brace, text = token.groups()
            if text is not None:
                self._add_bytes(text)
            elif byte is not None:
                self._add_bytes(bytes((int(byte, 16),)))
            elif brace:
                self.is_complete = self._end_or_begin(brace)
                if self.is_complete:
                    break
            elif symbol is not None:
                if symbol == b"*":
                    self._is_starred = self._is_first
                else:
                    self._add_named(SYMBOLS.get(symbol, ""))
            elif word == b"bin":
                place += max(int(number or 0), 0)
            else:
                self._control(word.decode("ascii"), None if number is None else int(number))
        self._flush()

    def add(self, text: str) -> None:
        self._flush()
        self._is_first = False
        self.group.write(text)

    def _add_named(self, text: str) -> None:
        """Add a named character, unless it is a fallback for a preceding Unicode character."""
        if self._skipping and text.strip():
            self._skipping -= 1
            return
        self._skipping = 0
        self.add(text)

    def _add_bytes(self, data: bytes) -> None:
        self._is_first = False
        if self._skipping:
            skipped = min(self._skipping, len(data))
            self._skipping -= skipped
            data = data[skipped:]
        self._bytes += data

    def _flush(self) -> None:
        if self._bytes:
            codec = self.group.codec or self._codec
            self.group.write(self._bytes.decode(codec, errors="replace"))
            self._bytes.clear()

    def _end_or_begin(self, brace: bytes) -> bool:
        """Begin or end a group, and return whether the document ended."""
        self._flush()
        self._skipping = 0
        if brace == b"{":
            self._open.append(self.group)
            self._is_first, self._is_starred = True, False
            return False
        self._is_first = False
        if self._open:
            ended, self.group = self.group, self._open.pop()
            is_number = ended.name == _NUMBER and self.group.name != _NUMBER
            if is_number and ended.story and self.group.shown:
                self.group.shown.number(ended.story.text)
        return not self._open

    def _control(self, word: str, number: int | None) -> None:
        was_first, self._is_first = self._is_first, False
        if was_first and self._begin_destination(word):
            return
        if text := TEXTS.get(word):
            self._add_named(text)
        elif act := _ACTIONS.get(word):
            self._flush()
            act(self, number)
        elif (move := _MOVES.get(word)) and self.group.story is not None:
            self._flush()
            move(self.group.story)
        elif self.group.name in TIMES and word in TIME_PARTS:
            self.times[self.group.name][word] = number or 0
        elif word in CODECS_OF_WORDS:
            self._codec = CODECS_OF_WORDS[word]

    def _begin_destination(self, word: str) -> bool:
        """Handle the first word of a group, and return whether it determines the destination."""
        if word in FORMS:
            self.group = replace(self.group, is_replaced=FORMS[word])
        elif word in PROPERTIES:
            story = self.said.setdefault(word, Story())
            self.group = replace(self.group, story=story, skip=1, name="", hides=False)
        elif word in TIMES or word == "fonttbl":
            self.group = _Group(None, name=word)
        elif word in NUMBERS and self.group.story is not None:
            self.group = replace(self.group, story=Story(), name=_NUMBER)
        elif word in APART and self.group.story is not None:
            self.apart.append(Story())
            self.group = _Group(self.apart[-1], is_replaced=self.group.is_replaced)
        elif word in HIDDEN or (self._is_starred and word not in SHOWN):
            self.group = replace(self.group, story=None, name="")
        else:
            return False
        return True

    def set_code_page(self, number: int | None) -> None:
        with suppress(LookupError):
            self._codec = codecs.lookup(f"cp{number}").name

    def set_character_set(self, number: int | None) -> None:
        """Set the character set of the last font in the font table."""
        codec = CODECS_OF_CHARACTER_SETS.get(number or 0)
        if self.group.name == "fonttbl" and codec and number:
            self._codecs[self._font] = codec

    def set_font(self, number: int | None) -> None:
        self._font = number or 0
        if self.group.name != "fonttbl":
            self.group = replace(self.group, codec=self._codecs.get(self._font))

    def set_default_font(self, number: int | None) -> None:
        self._default_font = number or 0

    def reset(self, number: int | None) -> None:  # noqa: ARG002 - signature of all actions
        self.hide(0)
        self.set_font(self._default_font)

    def set_skip(self, number: int | None) -> None:
        """Set the number of fallback characters after a Unicode character."""
        self.group = replace(self.group, skip=min(max(number or 0, 0), 100))

    def hide(self, number: int | None) -> None:
        """Hide text until the end of the group, or until the same word with a zero."""
        self.group = replace(self.group, hides=number != 0)

    def add_unicode(self, number: int | None) -> None:
        """Add a Unicode character or a surrogate; see `set_skip`."""
        if number is not None:
            self.add(chr(number % 0x10000))
            self._skipping = self.group.skip


_ACTIONS: Final[Mapping[str, Callable[[_Reader, int | None], None]]] = {
    "ansicpg": _Reader.set_code_page,
    "fcharset": _Reader.set_character_set,
    "f": _Reader.set_font,
    "deff": _Reader.set_default_font,
    "plain": _Reader.reset,
    "uc": _Reader.set_skip,
    "u": _Reader.add_unicode,
    "v": _Reader.hide,
    "deleted": _Reader.hide,
}

_MOVES: Final[Mapping[str, Callable[[Story], None]]] = {
    "intbl": Story.begin_row,
    "cell": Story.end_cell,
    "row": Story.end_row,
    "pard": Story.end_paragraph_styles,
}


def extract_rtf(source: Source) -> Extracted:
    """Extract the text of a document, then its notes, headers and footers.

    A truncated document is read as far as it goes.
    """
    reader = _Reader()
    reader.read(_in_bytes(source.data))
    texts = [story.text for story in (reader.body, *reader.apart)]
    said = {name: without_surrogates(story.text) for name, story in reader.said.items()}
    return Extracted(
        text=normalize(without_surrogates("\n\n".join(texts))),
        title=one_line(said.get("title")),
        metadata=properties(
            author=said.get("author"),
            subject=said.get("subject"),
            keywords=said.get("keywords"),
            creator=said.get("generator", "").rstrip("; "),
            created=time_of(reader.times["creatim"]),
            modified=time_of(reader.times["revtim"]),
        ),
        warnings=() if reader.is_complete else ("it ends in the middle; the rest is missing",),
    )


def _in_bytes(data: bytes) -> bytes:
    """Return the bytes of a document, also if a text editor saved it with a byte order mark."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode("cp1252", "replace")
    return data.removeprefix(codecs.BOM_UTF8)

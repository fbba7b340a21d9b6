"""Parser of RTF 1.9: groups in braces, control words, bytes in the code page of a font."""

import codecs
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from idx.extraction.office.rtf import words
from idx.extraction.office.rtf.story import Story
from idx.extraction.text.cleaning import normalize
from idx.extraction.text.properties import one_line, properties
from idx.extraction.types import Extracted, Source

_TOKEN: Final = re.compile(
    rb"\\([A-Za-z]{1,32})(-?[0-9]{1,10})? ?"  # a control word with its number
    rb"|\\'([0-9A-Fa-f]{2})"  # a byte
    rb"|\\(.)"  # a control symbol
    rb"|([{}])"
    rb"|([^\\{}\r\n\0]+)",
    re.DOTALL,
)


_NUMBER: Final = "number"
"""Name of a group that contains the number of a paragraph."""


@dataclass(frozen=True, slots=True)
class _Group:
    """State that lasts until the end of a group.

    Attributes:
        story: the destination of its text; None to discard it.
        skip: number of fallback characters after a Unicode character, for old readers.
        codec: the codec of its bytes; None for that of the document.
        name: the name of the time that it contains, "fonttbl", or that of a paragraph's number.
        hides: whether its text is hidden or deleted.
        is_replaced: whether its text is a fallback for old readers, replaced by a later group.
    """

    story: Story | None
    skip: int = 1
    codec: str | None = None
    name: str = ""
    hides: bool = False
    is_replaced: bool = False

    def write(self, text: str) -> None:
        """Add text to the destination."""
        if text and self.story is not None and not (self.hides or self.is_replaced):
            self.story.write(text)


@dataclass(slots=True)
class _Reader:
    """Parser of a document, token by token.

    Attributes:
        body: the text of the document.
        apart: notes, headers and footers.
        said: its properties.
        times: the parts of its times.
        is_complete: whether its last brace was read.
        group: the open group.
    """

    body: Story = field(default_factory=Story)
    apart: list[Story] = field(default_factory=list)
    said: dict[str, Story] = field(default_factory=dict)
    times: dict[str, dict[str, int]] = field(default_factory=dict)
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
                    self._add_named(words.SYMBOLS.get(symbol, ""))
            elif word == b"bin":
                place += max(int(number or 0), 0)
            else:
                self._control(word.decode("ascii"), None if number is None else int(number))
        self._flush()

    def add(self, text: str) -> None:
        """Add text to the destination of the group."""
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
            if ended.name == _NUMBER and ended.story and self.group.name != _NUMBER:
                self._number_paragraph(ended.story.text)
        return not self._open

    def _number_paragraph(self, number: str) -> None:
        if self.group.story and not (self.group.hides or self.group.is_replaced):
            self.group.story.number(number)

    def _control(self, word: str, number: int | None) -> None:
        was_first, self._is_first = self._is_first, False
        if was_first and self._begin_destination(word):
            return
        if text := words.TEXTS.get(word):
            self._add_named(text)
        elif act := _ACTIONS.get(word):
            self._flush()
            act(self, number)
        elif (move := _MOVES.get(word)) and self.group.story is not None:
            self._flush()
            move(self.group.story)
        elif self.group.name in words.TIMES and word in words.TIME_PARTS:
            self.times.setdefault(self.group.name, {})[word] = number or 0
        elif word in words.CODECS_OF_WORDS:
            self._codec = words.CODECS_OF_WORDS[word]

    def _begin_destination(self, word: str) -> bool:
        """Handle the first word of a group, and return whether it determines the destination."""
        if word in words.FORMS:
            self.group = replace(self.group, is_replaced=words.FORMS[word])
        elif word in words.PROPERTIES:
            story = self.said.setdefault(word, Story())
            self.group = replace(self.group, story=story, skip=1, name="", hides=False)
        elif word in words.TIMES or word == "fonttbl":
            self.group = _Group(None, name=word)
        elif word in words.NUMBERS and self.group.story is not None:
            self.group = replace(self.group, story=Story(), name=_NUMBER)
        elif word in words.APART and self.group.story is not None:
            self.apart.append(Story())
            self.group = _Group(self.apart[-1], is_replaced=self.group.is_replaced)
        elif word in words.HIDDEN or (self._is_starred and word not in words.SHOWN):
            self.group = replace(self.group, story=None, name="")
        else:
            return False
        return True

    def set_code_page(self, number: int | None) -> None:
        """Set the code page of the document."""
        with suppress(LookupError):
            self._codec = codecs.lookup(f"cp{number}").name

    def set_character_set(self, number: int | None) -> None:
        """Set the character set of the last font in the font table."""
        codec = words.CODECS_OF_CHARACTER_SETS.get(number or 0)
        if self.group.name == "fonttbl" and codec and number:
            self._codecs[self._font] = codec

    def set_font(self, number: int | None) -> None:
        """Set the font, and with it the codec."""
        self._font = number or 0
        if self.group.name != "fonttbl":
            self.group = replace(self.group, codec=self._codecs.get(self._font))

    def set_default_font(self, number: int | None) -> None:
        """Set the default font."""
        self._default_font = number or 0

    def reset(self, number: int | None) -> None:  # noqa: ARG002 - signature of all actions
        """Reset the text to the default properties."""
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
    said = {name: _characters(story.text) for name, story in reader.said.items()}
    return Extracted(
        text=normalize(_characters("\n\n".join(texts))),
        media_type=source.media_type,
        title=one_line(said.get("title")),
        metadata=properties(
            author=said.get("author"),
            subject=said.get("subject"),
            keywords=said.get("keywords"),
            creator=said.get("generator", "").rstrip("; "),
            created=words.time_of(reader.times.get("creatim")),
            modified=words.time_of(reader.times.get("revtim")),
        ),
        warnings=() if reader.is_complete else ("it ends in the middle; the rest is missing",),
    )


def _in_bytes(data: bytes) -> bytes:
    """Return the bytes of a document, also if a text editor saved it with a byte order mark."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode("cp1252", "replace")
    return data.removeprefix(codecs.BOM_UTF8)


def _characters(text: str) -> str:
    """Join the surrogate pairs in which RTF writes characters outside the basic plane."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

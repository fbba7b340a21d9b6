"""Letters of a PDF page that PDFium returns in parts, in another order, or as codes."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from idx.errors import SourceFileError


class GarbledError(SourceFileError):
    """A file has no text but that of fonts that do not say which letters they show."""

    kind = "garbled"


_MIN_CHARACTERS: Final = 40  # of a text that is judged, without white space

_MAX_UNKNOWN_SHARE: Final = 0.3
"""Maximum share of characters that are no letters of any script; symbols of lists are fewer."""

_UNKNOWN: Final = re.compile(
    "[\ue000-\uf8ff\ufffd\x00-\x08\x0e-\x1f\x7f-\x9f\U000f0000-\U0010ffff]"
)


def is_garbled(text: str) -> bool:
    """Check whether many characters of a page, as the engine reads it, are no letters."""
    length = sum(map(len, text.split()))
    return length >= _MIN_CHARACTERS and len(_UNKNOWN.findall(text)) > _MAX_UNKNOWN_SHARE * length


_ACCENTS: Final = {
    "`": "\u0300",
    "\xa8": "\u0308",
    "\xaf": "\u0304",
    "\xb4": "\u0301",
    "\xb8": "\u0327",
    "\u02c6": "\u0302",
    "\u02c7": "\u030c",
    "\u02d8": "\u0306",
    "\u02d9": "\u0307",
    "\u02da": "\u030a",
    "\u02db": "\u0328",
    "\u02dc": "\u0303",
    "\u02dd": "\u030b",
}
"""Accents that are characters of their own, and those that combine with a letter."""

_ACCENT: Final = re.compile(f"[{''.join(_ACCENTS)}]")
_ACCENT_AND_LETTER: Final = re.compile(f"([{''.join(_ACCENTS)}]) ?([^\\W\\d_])")
_DOTTED: Final = {"\u0131": "i", "\u0237": "j"}  # letters without the dot, which have an accent

REMOVED: Final = "\ufdd2"
"""Noncharacter in place of a removed character: places in the text stay those on the page."""

_BESIDE_ACCENTS: Final = (" ", REMOVED)

_MAX_COMPARISONS: Final = 20_000_000  # of accents with letters of a page, a tenth of a second
_HEIGHT_OF_LETTER: Final = 0.4  # height within any letter, as a fraction of the font's
_NEAR: Final = 0.1  # distance of a letter from its accent, as a fraction of the font's height
_MAX_GAP_IN_WORD: Final = 0.1  # distance of letters of a word, as a fraction of the font's height


def with_accents(letters: Any, text: str) -> str:
    """Return the text of a page with each accent joined to the letter that it stands on.

    LaTeX draws accents by themselves, before or after the letter, and PDFium may move them to the
    end of the line. An accent used as a quote stands on no letter. The text keeps its length, with
    `REMOVED` in place of the accents.
    """
    accents = [*_ACCENT.finditer(text)]
    if not accents or len(accents) * len(text) > _MAX_COMPARISONS:
        return text
    joined = [*text]
    removed = []
    for accent in accents:
        for place in _places_at_accent(letters, accent.start()):
            if whole := _whole(accent[0], joined[place]):
                joined[place], joined[accent.start()] = whole, REMOVED
                removed.append(accent.start())
                break
    done = 0
    for place in sorted(removed):
        if place >= done:
            done = _close_gap(letters, joined, place)
    return "".join(joined)


def join_accents(text: str, plain: str) -> str:
    """Join accents to the letters after them if the page's text `plain` has no accent by itself."""
    if _ACCENT.search(plain):
        return text
    return _ACCENT_AND_LETTER.sub(lambda pair: _whole(*pair.groups()) or pair[0], text)


def _whole(accent: str, letter: str) -> str:
    """Return the letter with an accent; an empty text if there is no such letter."""
    whole = unicodedata.normalize("NFC", _DOTTED.get(letter, letter) + _ACCENTS[accent])
    return whole if letter.isalpha() and len(whole) == 1 else ""


def _places_at_accent(letters: Any, place: int) -> Iterator[int]:
    """Yield the places of letters that an accent may stand on, the likeliest first."""
    from pypdfium2 import raw

    left, _, right, _ = letters.get_charbox(place)
    middle = (left + right) / 2
    _, bottom, _, top = letters.get_charbox(place, loose=True)
    height, near = bottom + _HEIGHT_OF_LETTER * (top - bottom), _NEAR * (top - bottom)
    found = raw.FPDFText_GetCharIndexAtPos(letters, middle, height, near, near)
    if found >= 0:
        yield found
    if place + 1 < letters.count_chars():
        left, _, right, _ = letters.get_charbox(place + 1)
        if left < middle < right + near:
            yield place + 1


def _close_gap(letters: Any, joined: list[str], place: int) -> int:
    """Remove the spaces that PDFium adds around accents, unless words end there.

    Return the place of what follows them.
    """
    from pypdfium2 import raw

    begin, end = place, place + 1
    while begin and joined[begin - 1] in _BESIDE_ACCENTS:
        begin -= 1
    while end < len(joined) and joined[end] in _BESIDE_ACCENTS:
        end += 1
    gaps = [each for each in range(begin, end) if joined[each] == " "]
    is_within = begin and end < len(joined) and joined[begin - 1] != "\n" and joined[end] != "\r"
    if not is_within or any(raw.FPDFText_IsGenerated(letters, each) != 1 for each in gaps):
        return end
    before = letters.get_charbox(begin - 1, loose=True)
    after = letters.get_charbox(end, loose=True)
    if after[0] - before[2] < _MAX_GAP_IN_WORD * (before[3] - before[1]):
        joined[begin:end] = [REMOVED] * (end - begin)
    return end


_ALEF_AND_LAM: Final = re.compile("[\u0627\u0622\u0623\u0625]\u0644")


def with_ligatures(letters: Any, text: str) -> str:
    """Return the text of a page with the letters of the Arabic ligature lam-alef in their order.

    PDFium reverses a line from right to left together with the two letters of this one glyph, which
    have the same box.
    """
    return _ALEF_AND_LAM.sub(lambda pair: _in_order(letters, pair), text)


def _in_order(letters: Any, pair: re.Match[str]) -> str:
    one, other = (letters.get_charbox(place) for place in (pair.start(), pair.start() + 1))
    return pair[0][::-1] if one == other else pair[0]


RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
"""Pattern of right-to-left scripts, whose letters pdfplumber returns from left to right."""

_RTL_WORD: Final = re.compile(f"(?:(?![\\W\\d]){RIGHT_TO_LEFT.pattern}){{2,}}")
_RTL: Final = "\u05d0"
_MARK: Final = "\u0300"
_SIGNS: Final = {"L": "a", "EN": "1", "AN": "1", "R": _RTL, "AL": _RTL, "NSM": _MARK, "WS": " "}
"""Signs for letters, digits, marks and spaces, by their classes in the bidirectional algorithm."""

_LINE: Final = re.compile(r"[^\r\n]+")
_PIECE: Final = re.compile(f"[a1][a1{_MARK}]*|{_RTL}+|.")

_NUMBER: Final = "[$\u20ac\u20aa]?1(?:(?:[-.,:/]|, )1)*%?"
_SEPARATOR_IN_LIST: Final = " [,;:\u060c\u061b]"  # one after a word is on the right of a space
_IN_BRACKETS: Final = f"[()][^(){_RTL}]*[()]"
_PHRASE: Final = (
    f"@?(?:1[^ {_RTL}]{{,9}})?a"
    f"(?:(?:(?!{_SEPARATOR_IN_LIST})[^{_RTL}])*?(?:[a1]|{_IN_BRACKETS}))*[+#]*"
)
_RUN_FROM_LEFT: Final = re.compile(f"{_PHRASE}|{_NUMBER}|.")
_RUN_FROM_RIGHT: Final = re.compile(f"{_RTL}(?:[^a]*{_RTL})?|.")
"""Pieces of a line that are read in one direction, by their signs in the order of the page."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A word, number or other character on a line, and its place on the page."""

    text: str
    sign: str
    middle: float
    bottom: float
    height: float


def with_directions(letters: Any, text: str) -> str:
    """Return the text of a page with the words of lines in both directions in their order.

    PDFium returns the words of such a line from the right or all from the left, whichever way more
    of them run, so those that run the other way are in reverse, and so are the letters of words
    that are drawn from the right, as in Arabic by Chrome. The text keeps its length.
    """
    if not RIGHT_TO_LEFT.search(text):
        return text
    text = _RTL_WORD.sub(lambda word: _word_from_right(letters, word), text)
    signs = "".join(_SIGNS.get(unicodedata.bidirectional(each), each) for each in text)
    # Names and terms in Latin letters are long, and may be most of a page.
    is_rtl = 2 * signs.count(_RTL) > signs.count("a")

    def in_order(line: re.Match[str]) -> str:
        of_line = signs[slice(*line.span())]
        if _RTL not in of_line or not ("a" in of_line or "1" in of_line):
            return line[0]
        pieces = _pieces_from_left(letters, line, of_line)
        letter_signs = [piece.sign for piece in pieces if piece.sign in {"a", _RTL}]
        is_mostly_rtl = of_line.count(_RTL) > of_line.count("a")
        if is_mostly_rtl or (is_rtl and _RTL in {letter_signs[0], letter_signs[-1]}):
            ordered = _from_right(pieces)
        else:
            runs = _runs(_RUN_FROM_RIGHT, pieces)
            ordered = [piece for run in runs for piece in _from_right(run)]
        read = "".join(piece.text for piece in ordered)
        is_sure = _are_level(pieces) and _count_words(read) >= _count_words(line[0])
        return read if is_sure else line[0]

    return _LINE.sub(in_order, text)


def _word_from_right(letters: Any, word: re.Match[str]) -> str:
    """Return the letters of a word from the right, where PDFium has them from the left."""
    first, last = (
        letters.get_charbox(place, loose=True) for place in (word.start(), word.end() - 1)
    )
    if first[0] >= last[0]:
        return word[0]
    lefts = [letters.get_charbox(place, loose=True)[0] for place in range(*word.span())]
    order = sorted(range(len(lefts)), key=lambda place: -lefts[place])
    return "".join(word[0][place] for place in order)


def _count_words(text: str) -> int:
    """Return the number of words, which is less where a space has no right place on the page."""
    return sum(any(map(str.isalnum, word)) for word in text.split())


def _pieces_from_left(letters: Any, line: re.Match[str], signs: str) -> list[_Piece]:
    pieces = []
    for found in _PIECE.finditer(signs):
        places = (line.start() + found.start(), line.start() + found.end() - 1)
        one, other = (letters.get_charbox(place, loose=True) for place in places)
        middle = (min(one[0], other[0]) + max(one[2], other[2])) / 2
        text, sign = line[0][slice(*found.span())], "a" if "a" in found[0] else found[0][0]
        pieces.append(_Piece(text, sign, middle, one[1], one[3] - one[1]))
    return sorted(pieces, key=lambda piece: piece.middle)


def _are_level(pieces: Sequence[_Piece]) -> bool:
    bottoms = [piece.bottom for piece in pieces]
    return max(bottoms) - min(bottoms) < max(piece.height for piece in pieces) / 2


def _runs(pattern: re.Pattern[str], pieces: Sequence[_Piece]) -> list[Sequence[_Piece]]:
    signs = "".join(piece.sign for piece in pieces)
    return [pieces[slice(*run.span())] for run in pattern.finditer(signs)]


def _from_right(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Return pieces from the right, but words and numbers that run from the left in their order."""
    return [piece for run in reversed(_runs(_RUN_FROM_LEFT, pieces)) for piece in run]


_LETTER: Final = r"[^\W\d_]"
_CODE: Final = "[\x0b\x0c\x0e-\x1f]"
_LOST: Final = re.compile(f"{_CODE}(?:(?={_LETTER}{_LETTER})|(?<={_LETTER}{_LETTER}.))")
_TORN_WORD: Final = re.compile(f"(?<!{_LETTER}){_LETTER}*+(?:{_CODE}{_LETTER}*+)+")
_MAX_TORN_WORDS: Final = 500  # words of a page whose letters are looked for

_LIGATURE: Final = "(?:ff[ijlt]?|f[bhijklt]|t[itz]|c[hkt]|s[pt]|Qu|Th)"
_CORK_LIGATURES: Final = {"\x1b": "ff", "\x1c": "fi", "\x1d": "fl", "\x1e": "ffi", "\x1f": "ffl"}
"""Ligatures of fonts, and those of the encoding T1 of LaTeX by their codes."""

_EIGHT_BIT_CODE: Final = re.compile(r"\(cid:(?:12[89]|1[3-9]\d|2[0-4]\d|25[0-5])\)")
_NOT_CORK: Final = re.compile("[\x03-\x08\x17\x18\x1a]")
"""Placeholder of pdfplumber for a letter that fonts of LaTeX have in the encoding T1 alone, and
characters that no text in it has: codes of a font of another kind."""


def loses_letters(text: str) -> bool:
    """Check whether PDFium returns control characters for letters, as for some ligatures."""
    return _LOST.search(text) is not None


def with_lost_letters(plain: str, other: str) -> str:
    """Return the text of a page by PDFium with the ligatures of its words as pdfplumber reads them.

    pdfplumber knows glyphs by more names. Bitmap fonts of LaTeX have no names but their encoding.
    """
    if _EIGHT_BIT_CODE.search(other) and not _NOT_CORK.search(plain):
        plain = _LOST.sub(lambda code: _ligature(code[0], other), plain)
    words = {*_TORN_WORD.findall(plain)}
    if len(words) > _MAX_TORN_WORDS:
        return plain
    wholes = {word: _in_full(word, other) for word in words}
    return _TORN_WORD.sub(lambda word: wholes[word[0]], plain)


def _in_full(torn: str, text: str) -> str:
    """Return the word of a text that has ligatures in place of control characters."""
    parts = re.split(_CODE, torn)
    word = f"(?<!{_LETTER}){_LIGATURE.join(map(re.escape, parts))}(?!{_LETTER})"
    found = {*re.findall(word, text)} if any(parts) else {torn}
    return found.pop() if len(found) == 1 else torn


def _ligature(code: str, other: str) -> str:
    return _CORK_LIGATURES.get(code, code) if f"(cid:{ord(code)})" in other else code

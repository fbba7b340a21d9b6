"""Text that came out of a format, made plain for search and for reading.

PDFs and Office files carry marks of their layout in their text: ligatures, hyphens at line ends,
invisible characters. Someone who searches does not type them.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from shared.model.document import Section, Unit

CELL_SEPARATOR: Final = " | "
"""Between the cells of a table's row; a row is a line."""

_SECTION_SEPARATOR: Final = "\n\n"

_LINE_BREAK: Final = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028]")

# The scripts in which a joiner changes the letters beside it, and emoji, which it makes one of.
_JOINING: Final = (
    "\u0600-\u0dff"  # Arabic, Syriac, N'Ko; the scripts of India and Sri Lanka
    "\u0f00-\u109f"  # Tibetan, Myanmar
    "\u1780-\u18af"  # Khmer, Mongolian
    "\u1a20-\u1aaf\u1b00-\u1c4f\ua840-\ua87f\ua8e0-\ua8ff\ua980-\ua9df\uaa60-\uaa7f\uabc0-\uabff"
    "\U00010a00-\U00010fff\U00011000-\U00011fff\U0001e900-\U0001e95f"
    "\u200d\ufe0f\u2600-\u27bf\U0001f000-\U0001faff"
)
# The scripts without spaces, whose writers mark the ends of words with a zero-width space.
_SPACELESS: Final = "\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u1980-\u1aaf"

_COMPATIBLE: Final = re.compile(
    "[^\xb2\xb3\xb9\u2070-\u207f"  # superscripts
    "\xbc-\xbe\u2150-\u215f\u2189"  # fractions
    "\xa8\xaf\xb4\xb8\u02d8-\u02dd"  # accents that stand for themselves
    "\u0e33\u0eb3]+"  # the am of Thai and Lao, which is typed as one
)
"""What may take its compatibility form: 10⁶ is not 106, and there is no blank in don\u00b4t."""

_SOFT_HYPHEN: Final = re.compile("\u00ad(?:[ \t]*\n[ \t]*)?")

_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f"  # control characters but tab and line feed
    "\u034f\u180e\u2060-\u2064\ufeff"  # other characters without width
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # directions of writing
    "\ufff9-\ufffd"  # annotations, and what stands for a character that could not be read
    "\uf000-\uf0ff"  # what symbol fonts draw, such as bullets
    "\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]+"  # no characters at all
)
_NEEDLESS_JOINER: Final = re.compile(f"[\u200c\u200d](?<![{_JOINING}].)")
_NEEDLESS_BREAK: Final = re.compile(f"\u200b(?<![{_SPACELESS}].)")

_HYPHENATION: Final = re.compile(
    r"[-\u2010]\n(?<=(\w)..)(?=(\w))"
    # "pre- and post-war", "Vor- und Nachteile": the hyphen stands for the rest of the word.
    r"(?!(?:and|or|to|nor|und|oder|bis|sowie|bzw|en|of|och|og|eller|et|ou)\b)",
    re.DOTALL,
)
_BLANK_LINES: Final = re.compile(r"\n{3,}")


def normalize(text: str) -> str:
    """Text as it is searched and shown.

    - Unicode's compatibility form NFKC: ligatures become letters, wide and styled letters plain.
      Superscripts, fractions and accents by themselves stay as they are.
    - Soft hyphens go. A hyphen at a line end goes with the line break where both letters beside
      it are lower case ("exam-", "ple"), unless a conjunction follows ("pre-", "and post-war").
    - Characters without a meaning go: control characters, directions of writing, zero-width ones,
      U+FFFD, the bullets of symbol fonts. Joiners stay in the scripts and emoji that need them,
      zero-width spaces in the scripts that mark the ends of words with them.
    - Blank space is one space or one line break, or one blank line between paragraphs.

    Args:
        text: what came out of a file's format; surrogates are allowed and go.

    Returns:
        the text, without blank space at its ends.
    """
    text = _LINE_BREAK.sub("\n", text.replace("\u2029", _SECTION_SEPARATOR))
    if not text.isascii():
        text = _SOFT_HYPHEN.sub("", _COMPATIBLE.sub(_compatible, text))
        text = _NEEDLESS_BREAK.sub("", _NEEDLESS_JOINER.sub("", text))
    text = _INVISIBLE.sub("", text)
    # Splitting and joining is ten times faster than an expression for blank space.
    text = "\n".join([" ".join(line.split()) for line in text.split("\n")])
    text = _HYPHENATION.sub(_joined, text)
    return _BLANK_LINES.sub(_SECTION_SEPARATOR, text).strip()


def join_sections(
    unit: Unit, parts: Iterable[tuple[int | str, str]]
) -> tuple[str, tuple[Section, ...]]:
    """The normalized text of a file from its parts, and where each part begins in it.

    Args:
        unit: what the parts are.
        parts: the label and the text of each, in order; they are normalized here.

    Returns:
        the parts with a blank line between two, and a section for each, blank ones too.
    """
    texts: list[str] = []
    sections: list[Section] = []
    blank: list[int | str] = []
    length = 0
    for label, part in parts:
        blank.append(label)
        text = normalize(part)
        if not text:
            continue
        start = length + len(_SECTION_SEPARATOR) if texts else 0
        sections.extend(Section(unit, waiting, start) for waiting in blank)
        blank.clear()
        texts.append(text)
        length = start + len(text)
    sections.extend(Section(unit, waiting, length) for waiting in blank)
    return _SECTION_SEPARATOR.join(texts), tuple(sections)


def _compatible(text: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", text[0])


def _joined(hyphenation: re.Match[str]) -> str:
    before, after = hyphenation.groups()
    return "" if before.islower() and after.islower() else hyphenation[0]

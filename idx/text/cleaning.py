"""Normalization of extracted text for search and display.

The text of PDF and Office files contains traces of layout that nobody types into a query:
ligatures, hyphens at line ends, invisible characters.
"""

import re
import unicodedata
from typing import Final

CELL_SEPARATOR: Final = " | "  # separator of the cells in a table row, which is one line

PAGE_SEPARATOR: Final = "\n\n"

_LINE_BREAK: Final = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028]")

# Scripts in which a joiner changes the adjacent letters, and emoji, which it combines.
_JOINING: Final = (
    "\u0600-\u0dff"  # Arabic, Syriac, N'Ko; the scripts of India and Sri Lanka
    "\u0f00-\u109f"  # Tibetan, Myanmar
    "\u1780-\u18af"  # Khmer, Mongolian
    "\u1a20-\u1aaf\u1b00-\u1c4f\ua840-\ua87f\ua8e0-\ua8ff\ua980-\ua9df\uaa60-\uaa7f\uabc0-\uabff"
    "\U00010a00-\U00010fff\U00011000-\U00011fff\U0001e900-\U0001e95f"
    "\u200d\ufe0f\u2600-\u27bf\U0001f000-\U0001faff"
)
# Scripts without spaces, which mark the ends of words with a zero-width space.
_SPACELESS: Final = "\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u1980-\u1aaf"

_COMPATIBLE: Final = re.compile(
    "[^\xb2\xb3\xb9\u2070-\u207f"  # superscripts
    "\xbc-\xbe\u2150-\u215f\u2189"  # fractions
    "\xa8\xaf\xb4\xb8\u02d8-\u02dd"  # spacing accents
    "\u0e33\u0eb3]+"  # the vowel am of Thai and Lao, which is typed as one character
)
"""Characters that may take their compatibility form.

The others keep their form: NFKC turns 10⁶ into 106, and a spacing accent into a space with an
accent.
"""

_SOFT_HYPHEN: Final = re.compile("\u00ad(?:[ \t]*\n[ \t]*)?")

_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f"  # control characters except tab and line feed
    "\u034f\u180e\u2060-\u2064\ufeff"  # other characters without width
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # bidirectional controls
    "\ufff9-\ufffd"  # annotations, and U+FFFD for undecodable characters
    "\uf000-\uf0ff"  # symbols of symbol fonts, such as bullets
    "\ufdd2-\ufdef\ufffe\uffff\ud800-\udfff"  # noncharacters and surrogates
    "\U000e0000-\U000e0fff]+"  # tags, which models read
)
_NEEDLESS_JOINER: Final = re.compile(f"[\u200c\u200d](?<![{_JOINING}].)")
_NEEDLESS_BREAK: Final = re.compile(f"\u200b(?<![{_SPACELESS}].)")

_HYPHENATION: Final = re.compile(
    r"[-\u2010]\n(?<=(\w)..)(?=(\w))"
    # "pre- and post-war", "Vor- und Nachteile": the hyphen replaces the rest of the word.
    r"(?!(?:and|or|to|nor|und|oder|bis|sowie|bzw|en|of|och|og|eller|et|ou)\b)",
    re.DOTALL,
)
_BLANK_LINES: Final = re.compile(r"\n{3,}")
_KEPT_BLANK: Final = "\ufdd0"
_KEPT_TAB: Final = "\ufdd1"
"""Noncharacters of Unicode in place of white space that is kept; no text has them."""

_KEPT: Final = str.maketrans({" ": _KEPT_BLANK, "\t": _KEPT_TAB})
_RESTORED: Final = str.maketrans({_KEPT_BLANK: " ", _KEPT_TAB: "\t"})


def preformatted(text: str) -> str:
    """Return a text in which `normalize` keeps blanks and tabs, such as source code."""
    return text.translate(_KEPT)


def normalize(text: str) -> str:
    """Normalize text for search and display.

    - Unicode's compatibility form NFKC: ligatures become letters, wide and styled letters plain.
      Superscripts, fractions and spacing accents are kept.
    - Soft hyphens are removed. A hyphen at a line end is removed with the line break if both
      adjacent letters are lower case ("exam-", "ple"), unless a conjunction follows ("pre-", "and
      post-war").
    - Characters without meaning are removed: control characters, bidirectional controls, zero-width
      characters, U+FFFD, the bullets of symbol fonts. Joiners are kept in the scripts and emoji
      that need them, zero-width spaces in the scripts that mark the ends of words with them.
    - White space is reduced to one space, one line break, or one blank line between paragraphs,
      except within lines of `preformatted` text.
    """
    text = _LINE_BREAK.sub("\n", text.replace("\u2029", PAGE_SEPARATOR))
    if not text.isascii():
        text = _COMPATIBLE.sub(lambda part: unicodedata.normalize("NFKC", part[0]), text)
        text = _SOFT_HYPHEN.sub("", text)
        text = _NEEDLESS_BREAK.sub("", _NEEDLESS_JOINER.sub("", text))
    text = _INVISIBLE.sub("", text)
    # Splitting and joining is ten times faster than a regular expression.
    text = "\n".join([" ".join(line.split()) for line in text.split("\n")])
    text = _HYPHENATION.sub(_joined, text)
    if _KEPT_BLANK in text or _KEPT_TAB in text:
        restored = text.translate(_RESTORED)
        text = "\n".join([line.rstrip(" \t") for line in restored.split("\n")])
    return _BLANK_LINES.sub(PAGE_SEPARATOR, text).strip("\n")


def _joined(hyphenation: re.Match[str]) -> str:
    before, after = hyphenation.groups()
    return "" if before.islower() and after.islower() else hyphenation[0]

"""Words in scripts that have no blanks between them: Chinese, Japanese, Thai and others."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

# Scripts that ICU divides by dictionaries.
_SCRIPTS: Final = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_RUN: Final = re.compile(f"[{_SCRIPTS}][^ \\t\\n\\r]*+")

_BLANKS: Final = " \t\n\r"


@dataclass(frozen=True, slots=True)
class Separated:
    """A text with a blank between all its words.

    Attributes:
        text: the text.
        inserted: the offsets in it of the blanks that the original text does not have, ascending.
    """

    text: str
    inserted: Sequence[int]

    def original(self, offset: int) -> int:
        """Return the offset in the original text of a character of this one."""
        return offset - bisect_left(self.inserted, offset)


def separate(text: str) -> Separated:
    """Insert a blank between neighbouring words of scripts that have none.

    The words are those of Unicode's text segmentation (UAX #29) with the dictionaries of ICU
    (Lucene's ``ICUTokenizer``); signs belong to the word before them.
    """
    starts = [
        start
        for run in _RUN.finditer(text)
        for start in (run.start() + offset for offset in _word_starts(run[0]))
        if start and text[start - 1] not in _BLANKS
    ]
    if not starts:
        return Separated(text, ())
    ends = [*starts, len(text)]
    parts = (text[start:end] for start, end in zip([0, *starts], ends, strict=True))
    return Separated(" ".join(parts), [start + number for number, start in enumerate(starts)])


def _word_starts(run: str) -> Iterator[int]:
    """Yield the offsets where the words of a text begin, except signs."""
    import lucene  # noqa: F401 - makes the packages java and org importable
    from java.io import StringReader
    from org.apache.lucene.analysis.icu.segmentation import ICUTokenizer
    from org.apache.lucene.analysis.tokenattributes import OffsetAttribute

    stream = ICUTokenizer()
    stream.setReader(StringReader(run))
    offset = OffsetAttribute.cast_(stream.getAttribute(OffsetAttribute.class_))
    # Java counts a character beyond U+FFFF as two.
    units = list(accumulate((1 + (character > "\uffff") for character in run), initial=0))
    try:
        stream.reset()
        while stream.incrementToken():
            yield bisect_left(units, offset.startOffset())
        stream.end()
    finally:
        stream.close()

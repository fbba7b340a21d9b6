"""Words in scripts that have no blanks between them: Chinese, Japanese, Thai and others."""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

SCRIPTS_WITHOUT_BLANKS: Final = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
"""Scripts that ICU divides into words by dictionaries, as the inside of a character class."""

_RUN: Final = re.compile(f"[{SCRIPTS_WITHOUT_BLANKS}][^ \\t\\n\\r]*+")

_BLANKS: Final = " \t\n\r"


_BEYOND_16_BITS: Final = re.compile("[\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Separated:
    """A text with a blank between all its words.

    Attributes:
        text: the text.
        starts: the offsets in the original text of the words that have no blank before them there.
    """

    text: str
    starts: Sequence[int]

    def original(self, offset: int) -> int:
        """Return the offset in the original text of a character of this one."""
        # Each blank inserted before a word moves those after it.
        inserted = range(len(self.starts))
        return offset - bisect_left(inserted, offset, key=lambda blank: self.starts[blank] + blank)


def separate(text: str) -> Separated:
    """Insert a blank between neighbouring words of scripts that have none.

    The words are those of Unicode's text segmentation (UAX #29) with the dictionaries of ICU
    (Lucene's ``ICUTokenizer``); signs belong to the word before them.
    """
    # An array, since a text may have millions of words.
    starts = array(
        "Q",
        (
            start
            for run in _RUN.finditer(text)
            for start in (run.start() + offset for offset in _word_starts(run[0]))
            if start and text[start - 1] not in _BLANKS
        ),
    )
    if not starts:
        return Separated(text, starts)
    ends = chain(starts, [len(text)])
    parts = (text[start:end] for start, end in zip(chain([0], starts), ends, strict=True))
    return Separated(" ".join(parts), starts)


def _word_starts(run: str) -> Iterator[int]:
    """Yield the offsets where the words of a text begin, except signs."""
    import lucene  # noqa: F401 - makes the packages java and org importable
    from java.io import StringReader
    from org.apache.lucene.analysis.icu.segmentation import ICUTokenizer
    from org.apache.lucene.analysis.tokenattributes import OffsetAttribute

    stream = ICUTokenizer()
    stream.setReader(StringReader(run))
    offset = OffsetAttribute.cast_(stream.getAttribute(OffsetAttribute.class_))
    # Java counts these characters as two.
    doubled = [match.start() for match in _BEYOND_16_BITS.finditer(run)]
    passed = 0
    try:
        stream.reset()
        while stream.incrementToken():
            start = offset.startOffset()
            while passed < len(doubled) and doubled[passed] + passed < start:
                passed += 1
            yield start - passed
        stream.end()
    finally:
        stream.close()

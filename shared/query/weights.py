"""What a match counts for, by field and by kind: the one table of ranking.

Scores are BM25 (Robertson et al. 1994, with Lucene's k1 = 1.2 and b = 0.75) times these weights,
summed over the fields; of the fields of languages only the best counts.
"""

from typing import Final

from shared import schema

CONTENT: Final = 2.0
"""The word itself in the content."""

TITLE: Final = 1.0
"""The word itself in the title."""

LEAST_LANGUAGE: Final = 0.3
MOST_LANGUAGE: Final = 1.0
"""A form of the word, in a language that hardly any chunk is in, and in one that all are in."""

TITLE_LANGUAGE: Final = 0.5
"""A form of the word in the title, in proportion to one in the content."""

OTHER_FIELDS: Final = {
    schema.TRANSLITERATED: 0.5,
    schema.IDENTIFIERS: 0.5,
    schema.METADATA: 0.5,
}
"""Another spelling of the word; the word as part of a name; the word in the metadata."""

IDENTIFIER: Final = 3.0
"""A name with signs in it, as it was typed."""

PARTS_IN_A_ROW: Final = 1.5
"""The words that such a name consists of, side by side."""

EXACT_PHRASE: Final = 2.0
NEAR_PHRASE: Final = 1.0
"""A phrase as it was typed, and its words near each other."""

NEAR: Final = 3
"""How many moves the words of a near phrase are from the phrase."""

PROXIMITY: Final = 0.25
"""Two words of the query near each other, unless they are in quotes."""

PATTERN: Final = 0.1
"""A match of a pattern beyond the terms that are scored."""


def of_language(share: float) -> float:
    """The weight of a form of a word in a language.

    Args:
        share: of the chunks that are in the language, from 0 to 1.
    """
    return LEAST_LANGUAGE + (MOST_LANGUAGE - LEAST_LANGUAGE) * share

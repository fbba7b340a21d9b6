"""Weights of matches by field and kind, the one table of ranking.

Scores are BM25 (Robertson et al. 1994, as in Lucene's ``BM25Similarity``) times these weights,
summed over the fields; of the language fields only the best counts. docs/measured/relevance.md
shows the effect of each weight.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of a search; 0 switches a kind of match off.

    Attributes:
        content: the word itself in the content.
        title: the word itself in the title.
        least_language: a form of the word, in a language that hardly any chunk is written in.
        most_language: a form of the word, in a language that all chunks are written in.
        title_language: a form of the word in the title, relative to one in the content.
        transliterated: another spelling of the word.
        identifier_parts: the word as part of an identifier.
        metadata: the word in the metadata.
        identifier: an identifier, which is a name with punctuation in it, as it was typed.
        parts_in_a_row: the words of an identifier next to each other.
        exact_phrase: a phrase as it was typed.
        near_phrase: the words of a phrase near each other.
        proximity: two words of the query near each other, unless they are in quotes.
        whole_phrase: three words or more, which are the whole query, next to each other.
        feedback: the terms that the best hits of a longer query have in common, relative to the
            words of the query; less if the best hit matches nearly the whole query.
        similar: a word similar to one that no chunk contains, relative to the weight of the word.
        compound: a German compound with a word that no chunk contains by itself, relative to the
            weight of the word.
        pattern: a match of a pattern beyond the terms that are scored one by one.
        rewritten: the query as rewritten by a language model, relative to the query.
        k1: BM25's saturation of the term frequency, from 0.
        b: BM25's length normalization, from 0 to 1.
    """

    content: float = 0.75
    title: float = 1.0
    least_language: float = 0.9
    most_language: float = 3.0
    title_language: float = 0.5
    transliterated: float = 1.0
    identifier_parts: float = 0.5
    metadata: float = 0.5
    identifier: float = 3.0
    parts_in_a_row: float = 1.5
    exact_phrase: float = 2.0
    near_phrase: float = 1.0
    proximity: float = 0.5
    whole_phrase: float = 6.0
    feedback: float = 1.0
    similar: float = 1.0
    compound: float = 0.5
    pattern: float = 0.1
    rewritten: float = 0.5
    k1: float = 1.2
    b: float = 0.75

    def language(self, share: float) -> float:
        """Return the weight of a form of a word in a language.

        Args:
            share: the share of the chunks that are written in the language, from 0 to 1.
        """
        return self.least_language + (self.most_language - self.least_language) * share


DEFAULT_WEIGHTS = Weights()

"""What a match counts for, by field and by kind: the one table of ranking.

Scores are BM25 (Robertson et al. 1994, as in Lucene's ``BM25Similarity``) times these weights,
summed over the fields; of the fields of languages only the best counts. docs/relevance.md tells
what each of them is worth.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of a search; 0 switches off what a weight is of.

    Attributes:
        content: the word itself in the content.
        title: the word itself in the title.
        least_language: a form of the word, in a language that hardly any chunk is in.
        most_language: the same in a language that all chunks are in.
        title_language: a form of the word in the title, in proportion to one in the content.
        transliterated: another spelling of the word.
        identifier_parts: the word as part of a name with signs in it.
        metadata: the word in the metadata.
        identifier: a name with signs in it, as it was typed.
        parts_in_a_row: the words that such a name consists of, side by side.
        exact_phrase: a phrase as it was typed.
        near_phrase: the words of a phrase near each other.
        proximity: two words of the query near each other, unless they are in quotes.
        whole_phrase: three words or more, which are the whole query, side by side.
        feedback: the terms that the best hits of a longer query have in common, in proportion to
            the words of the query; less where the best hit has nearly all that was asked for.
        similar: a word that is similar to one that no chunk has, where 1 is as much as the word.
        compound: a German compound that has a word in it which no chunk has by itself, where 1 is
            as much as the word.
        pattern: a match of a pattern beyond the terms that are scored one by one.
        rewritten: the query as a language model has rewritten it, where 1 is as much as the query.
        k1: how much it counts that a word is there again and again, from 0.
        b: how much less it counts in a long text, from 0 to 1.
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
        """The weight of a form of a word in a language.

        Args:
            share: of the chunks that are in the language, from 0 to 1.
        """
        return self.least_language + (self.most_language - self.least_language) * share


DEFAULT_WEIGHTS = Weights()

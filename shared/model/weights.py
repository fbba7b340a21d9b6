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
        stems: a form of a word in the title, the headings above the chunk, or its content.
        title_stems: a form of a word in the title, in addition.
        irregular: an irregular form, such as "mice" for "mouse", relative to other forms.
        content: a phrase or a pattern in the content.
        title: a phrase or a pattern in the title.
        metadata: a word in the metadata.
        identifier: an identifier, which is a name with punctuation in it, as it was typed.
        exact_phrase: a phrase as it was typed.
        near_phrase: the words of a phrase near each other.
        exact: a word as it was typed, for the best hits.
        proximity: two words of the query near each other, for the best hits.
        whole_phrase: three words or more, which are the whole query, next to each other, for the
            best hits.
        feedback: the terms that the best hits of a longer query have in common, relative to the
            words of the query; less if the best hits match nearly the whole query.
        similar: a word similar to one that no chunk contains, relative to the weight of the word.
        compound: a German compound with a word that no chunk contains by itself.
        pattern: a match of a pattern beyond the terms that are scored one by one.
        rewritten: the query as rewritten by a language model, relative to the query.
        k1: BM25's saturation of the term frequency, from 0.
        b: BM25's length normalization, from 0 to 1.
    """

    stems: float = 1.0
    title_stems: float = 0.3
    irregular: float = 0.3
    content: float = 1.0
    title: float = 0.3
    metadata: float = 0.15
    identifier: float = 1.0
    exact_phrase: float = 1.0
    near_phrase: float = 0.5
    exact: float = 0.05
    proximity: float = 0.2
    whole_phrase: float = 2.0
    feedback: float = 0.5
    similar: float = 1.0
    compound: float = 0.5
    pattern: float = 0.1
    rewritten: float = 0.5
    k1: float = 1.2
    b: float = 0.75


DEFAULT_WEIGHTS = Weights()

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
        exact: a word as it was typed, in addition to its forms.
        content: a phrase or a pattern in the content, or a word without forms.
        title: a phrase or a pattern in the title, or a word without forms.
        path: a word in the path of the file.
        metadata: a word in the metadata.
        part: a part of a word, such as "node" of "node.js", relative to a whole word.
        short_part: a letter or a number as a part of a word, relative to other parts.
        row: the parts of a word next to each other.
        joined: the parts of a word as one, such as "email" for "e-mail", for each of the parts.
        digits: the same digits as in a number of five digits and more, whatever is between them.
        exact_phrase: a phrase as it was typed.
        near_phrase: the words of a phrase near each other.
        whole: all words of the query next to each other.
        feedback: the terms that the best hits have in common, for the hits after the first, if the
            best ones lack some of the query's words.
        language: a chunk in the language of the query, if the index has several.
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
    exact: float = 0.15
    content: float = 1.0
    title: float = 0.3
    path: float = 1.0
    metadata: float = 0.15
    part: float = 0.7
    short_part: float = 0.4
    row: float = 0.3
    joined: float = 0.7
    digits: float = 8.0
    exact_phrase: float = 1.0
    near_phrase: float = 0.5
    whole: float = 2.0
    feedback: float = 0.5
    language: float = 1.5
    similar: float = 1.0
    compound: float = 0.5
    pattern: float = 0.1
    rewritten: float = 0.5
    k1: float = 1.2
    b: float = 0.75


DEFAULT_WEIGHTS = Weights()

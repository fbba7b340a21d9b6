"""Meaning of a query: whether its vector has a say, and how great a one.

Vectors rank texts that say the same in other words; they know no names, numbers and rare words. So
a query with anything but words, or in another language than the model's, is ranked by its words
only, and one with a digit or a name mostly.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from shared.analysis.detection import VOTING, detect_language
from shared.analysis.stop_words import function_words_in
from shared.model.request import BY_SCORE, SearchRequest
from shared.query.pipeline import ParsedQuery, clauses_of
from shared.query.tree import Clause, Weighted, Word
from shared.semantic.sentence_model import SentenceModel
from shared.storage.commits import Snapshot

if TYPE_CHECKING:
    from shared.semantic.vectors import Vector

_MOST_WITH_NAMES: Final = 0.3
"""Greatest weight of the meaning of a query with a digit or a name with signs in it."""

_WORD: Final = re.compile(r"\W*[^\W\d_]+(?:['\u2019/-][^\W\d_]+)*\W*|[\W_]*")
"""A word of letters, or of several with hyphens between them, with any punctuation around it."""

_MOST_PIECES: Final = 3.0
"""Number of pieces of a word, on the mean, beyond which a query is in a language that the model's
tokenizer does not know."""


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """Meaning of a query.

    Attributes:
        vector: its vector, of length 1.
        most: the greatest weight of the meaning, from 0 to 1.
        adds: whether chunks without any word of the query are found, too.
        alone: whether words have no say at all, to compare.
        searcher: Lucene's searcher of the chunks with vectors.
        allowed: a query for the chunks that pass the filters; None without filters.
    """

    vector: "Vector"
    most: float
    adds: bool
    searcher: Any
    alone: bool = False
    allowed: Any | None = None


def meaning_of(snapshot: Snapshot, query: ParsedQuery, request: SearchRequest) -> Meaning | None:
    """Return the meaning of a query; None if it is ranked by its words only.

    Args:
        snapshot: the commit to be searched.
        query: the query after all steps.
        request: the request.
    """
    model, encoder, searcher = snapshot.model, snapshot.encoder, snapshot.searcher
    if request.search == "words" or model is None or encoder is None or not query.parts:
        return None
    if request.search == "meaning":
        vector = encoder.vector(model, request.query)
        return None if vector is None else Meaning(vector, 1.0, True, searcher, alone=True)
    clauses = clauses_of(query.telling)
    most = _most(clauses) if _is_known_language(request.query, model) else 0.0
    loaded = encoder.encoder(model) if most else None
    if loaded is None or loaded.pieces_per_word(request.query) > _MOST_PIECES:
        return None
    vector = encoder.vector(model, request.query)
    adds = all(clause.occur == "should" for clause in clauses) and request.sort == BY_SCORE
    return None if vector is None else Meaning(vector, most, adds, searcher)


def _most(clauses: Sequence[Clause]) -> float:
    """Return the greatest weight that the meaning of some parts of a query may have."""
    words = [word.text for word in map(_plain_word, clauses) if word]
    names = [word for word in words if not _WORD.fullmatch(word)]
    if len(words) != len(clauses) or len(names) == len(words):
        return 0.0
    return _MOST_WITH_NAMES if names else 1.0


def _plain_word(clause: Clause) -> Word | None:
    """Return a part of a query if it is a word that a chunk may have in any field."""
    # A word that occurs twice weighs more.
    node = clause.node.node if isinstance(clause.node, Weighted) else clause.node
    if clause.occur == "must_not" or not isinstance(node, Word) or node.field is not None:
        return None
    return node


def _is_known_language(text: str, model: SentenceModel) -> bool:
    """Check whether a query may be in a language of the model.

    In short queries function words tell.
    """
    if not model.languages:
        return True
    detected = detect_language(text)
    if detected is not None:
        return model.knows(detected)
    words = text.lower().split()
    known = _function_words(words, model.languages)
    others = _function_words(words, [c for c in VOTING if c not in model.languages])
    return known >= others


def _function_words(words: Sequence[str], languages: Sequence[str]) -> int:
    """Return the greatest number of words that are function words of one of some languages."""
    return max(
        (
            sum(code in function_words_in(word) for word in words)
            for code in languages
            if code in VOTING
        ),
        default=0,
    )

"""The chunks nearest in meaning, and fusion of the scores by words and by meaning. Imports NumPy.

A chunk is as near as the nearest of its windows.

A cosine by itself says little: those of texts that have nothing to do with the query lie around a
mean that depends on the model and the index. So its distance from that mean counts, in standard
deviations: its nearness is ``(cosine - mean) / (SPREAD * deviation)``, from 0 to about 1.

A hit's score is (1 - w) times its score by words, plus w times its nearness times the best score by
words. Scores are combined, never ranks: a hit that is far better by words stays far better. Words
count the more, the rarer they are and the more of them the best hit has. Where that lacks some, a
chunk that has none may say the same in another language: w is 1 for it.
docs/measured/semantic.md has the effect of each constant.
"""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from shared.analysis.detection import VOTING, detect_language
from shared.analysis.languages import function_words_in
from shared.model.request import BY_SCORE, SearchRequest
from shared.query.tree import Clause, clauses_of, plain_word
from shared.search.confidence import coverages
from shared.search.selection import (
    ChunkVectors,
    Fusion,
    Meaning,
    Nearness,
    RankedHit,
    Selection,
)
from shared.semantic.encoder import Vector
from shared.semantic.query_encoder import QueryEncoder
from shared.semantic.sentence_model import SentenceModel
from shared.storage.vectors import unit_rows

RESCORED: Final = 200
"""Number of hits by words that are scored by meaning, too."""

NEAREST: Final = 50
"""Number of chunks nearest in meaning that are added, whatever words they have."""

LEAST: Final = 0.2
"""Nearness below which a chunk without a word of the query has nothing to do with it."""

SPREAD: Final = 6.5
"""Standard deviations of unrelated texts' cosines by which the nearness of a text rises by 1."""

_MANY: Final = 100
"""Number of chunks from which on their own cosines tell what is unrelated to a query."""

_FEW_COMPARED: Final = 500
"""Number of windows up to which chance makes none nearer; confidence was fitted to so many."""

_WORDS: Final = 0.38
"""Weight of the words beside 1 for the meaning, if the best hit by words has a score of 1 and
nearly all of the query. It rises with the root of the score, and with the share of the query."""

_MOST_WITH_ALL_WORDS: Final = 0.4
"""Greatest weight of the meaning if the best hit has all of the query, as if somebody quoted it."""

_ALL_WORDS: Final = 0.999
"""Share of the query from which on a hit has all of it."""

_MOST_WITH_IDENTIFIERS: Final = 0.05
"""Greatest weight of the meaning of a query with an identifier."""

_TELLING: Final = re.compile(r"(?=.*[^\W\d_])\D+")
"""A word of letters: vectors tell nothing of numbers, nor of signs beside them, as in 19 %."""

_IDENTIFIER: Final = re.compile(r"(?=.*[^\W\d_])(?=.*\d)\S+")
"""A word with letters and digits, such as B-17: vectors hardly tell it from B-18."""

_NUMBER: Final = re.compile(r"\W*\d+\W*")
_NUMBERS_OF_A_DATE: Final = 2  # its day and year; vectors hardly tell it from another one


def fused(
    selection: Selection, meaning: Meaning, hits: Sequence[RankedHit]
) -> tuple[list[RankedHit], Fusion] | None:
    """Order hits by words and meaning, and add those that are nearest in meaning.

    The hits by words are best first: `RESCORED` of them if there are so many, or more. None if
    nothing is known of their meaning.
    """
    nearby = _Nearby(meaning)
    near = nearby.nearest(NEAREST, LEAST) if meaning.adds else {}
    head, tail = hits[:RESCORED], hits[RESCORED:]
    new = [RankedHit(doc, 0.0, 0.0) for doc in near.keys() - {hit.doc for hit in head}]
    added = selection.scored_again(new, selection.query.tree) if new else []
    together = [*head, *added]
    near |= nearby.of([hit.doc for hit in head if hit.doc not in near])
    if not near:
        return None
    best = head[0].words if head else 0.0
    share = coverages(selection, head[:1])[0] if best else 0.0
    weight = min(meaning.most, _weight(share, best))
    fusion = Fusion(
        weight=weight,
        without_words=meaning.most if share < _ALL_WORDS else weight,
        scale=best or 1.0,
        unknown=max(0.0, *(one.value for one in near.values())),
        compared=meaning.vectors.compared if meaning.adds else 0,
        added=sum(not hit.words and hit.doc in near for hit in together),
    )
    scored = [fusion.scored(hit, near.get(hit.doc)) for hit in together]
    ordered = sorted(scored, key=lambda hit: (-hit.score, hit.doc))
    moved = {hit.doc for hit in added}
    return [*ordered, *(hit for hit in tail if hit.doc not in moved)], fusion


def nearest_only(meaning: Meaning, count: int) -> list[RankedHit]:
    """Return so many of the nearest chunks in meaning, whatever words they have."""
    near = nearest(meaning, count, float("-inf"))
    return [RankedHit(doc, max(0.0, near[doc].value), 0.0, near[doc]) for doc in near]


def nearest(meaning: Meaning, count: int, least: float) -> dict[int, Nearness]:
    """Return so many of the nearest chunks, by Lucene's number, the nearest first."""
    return _Nearby(meaning).nearest(count, least)


def chunk_vector(vectors: ChunkVectors, chunk: int) -> Vector | None:
    """Return the mean of the vectors of a chunk, with length 1; None if it has none."""
    found = unit_rows(vectors.of([chunk]).rows)
    mean: Vector = found.sum(axis=0)
    length = float(np.linalg.norm(mean))
    return mean / length if length else None


def _weight(share: float, words: float) -> float:
    """Return the weight of the meaning by the best hit: its share of the query, and its score."""
    weight = 1 / (1 + _WORDS * share * math.sqrt(words))
    return weight if share < _ALL_WORDS else min(weight, _MOST_WITH_ALL_WORDS)


class _Nearby:
    """Chunks of a commit, as near as their nearest windows are to a query."""

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning
        self._mean, self._deviation = self._unrelated()
        # Of many normal values the greatest is about sqrt(2 ln n) deviations above the mean.
        count = max(_FEW_COMPARED, meaning.vectors.compared)
        self._by_chance = math.sqrt(2 * math.log(count)) / SPREAD

    def of(self, documents: Iterable[int]) -> dict[int, Nearness]:
        """Return how near those of some chunks are that have vectors."""
        found, cosines, places = self._best(documents)
        return self._nearness(found, cosines, places)

    def nearest(self, count: int, least: float) -> dict[int, Nearness]:
        """Return so many of the nearest chunks, the nearest first."""
        meaning = self._meaning
        if not meaning.vectors.compared:
            return {}
        found, cosines, places = self._best(meaning.vectors.similar(meaning.vector))
        order = np.lexsort((found, -cosines))[:count]
        near = self._nearness(found[order], cosines[order], places[order])
        return {document: one for document, one in near.items() if one.value >= least}

    def _best(
        self, documents: Iterable[int]
    ) -> tuple[npt.NDArray[np.int64], Vector, npt.NDArray[np.uint32]]:
        """Return the chunks with vectors, and the cosine and the place of their best windows."""
        windows = self._meaning.vectors.of(documents)
        cosines = unit_rows(windows.rows) @ self._meaning.vector
        order = np.lexsort((-cosines, windows.documents))
        best = order[np.flatnonzero(np.diff(windows.documents[order], prepend=-1))]
        return windows.documents[best], cosines[best], windows.places[best]

    def _nearness(
        self,
        documents: npt.NDArray[np.int64],
        cosines: Vector,
        places: npt.NDArray[np.uint32],
    ) -> dict[int, Nearness]:
        usual, spread = self._meaning.unrelated
        values = (cosines - self._mean) / (SPREAD * self._deviation)
        unusual = (cosines - usual) / spread
        columns = (array.tolist() for array in (documents, values, cosines, unusual, places))
        return {
            document: Nearness(value, cosine, above, self._by_chance, (begin, end))
            for document, value, cosine, above, (begin, end) in zip(*columns, strict=True)
        }

    def _unrelated(self) -> tuple[float, float]:
        """Return mean and standard deviation of the cosines of texts of the index with a query.

        Nearly all of them have nothing to do with it. Of few texts that is not sure, so that what
        the model usually gives counts the more, the fewer there are.
        """
        found = self._meaning.vectors.sample()
        mean, deviation = self._meaning.unrelated
        count = len(found.starts)
        if not count:
            return mean, deviation
        cosines = np.maximum.reduceat(found.rows @ self._meaning.vector, found.starts)
        known = min(1.0, count / _MANY)
        return (
            known * float(cosines.mean()) + (1 - known) * mean,
            max(0.001, known * float(cosines.std()) + (1 - known) * deviation),
        )


def meaning_by(
    selection: Selection, model: SentenceModel, encoder: QueryEncoder, request: SearchRequest
) -> Meaning | None:
    """Return the meaning of a query by a model; None if it is ranked by its words only."""
    query = selection.query
    if not query.parts:
        return None
    if request.search == "meaning":
        vector = encoder.vector(model, request.query)
        if vector is None:
            return None
        return Meaning(vector, model.unrelated, 1.0, True, selection.vectors(), alone=True)
    clauses = clauses_of(query.telling)
    most = _most(clauses) if _is_known_language(request.query, model) else 0.0
    vector = encoder.vector(model, request.query) if most else None
    if vector is None:
        return None
    adds = all(clause.occur == "should" for clause in clauses) and request.sort == BY_SCORE
    return Meaning(vector, model.unrelated, most, adds, selection.vectors())


def _most(clauses: Sequence[Clause]) -> float:
    """Return the greatest weight that the meaning of some parts of a query may have.

    It is 0 unless all are words that a chunk may have in any field, and one is a word of letters.
    """
    words = [plain_word(clause) or "" for clause in clauses if clause.occur != "must_not"]
    if "" in words or not any(map(_TELLING.fullmatch, words)):
        return 0.0
    numbers = len(list(filter(_NUMBER.fullmatch, words)))
    is_exact = numbers >= _NUMBERS_OF_A_DATE or any(map(_IDENTIFIER.fullmatch, words))
    return _MOST_WITH_IDENTIFIERS if is_exact else 1.0


def _is_known_language(text: str, model: SentenceModel) -> bool:
    """Check whether a query may be in a language of the model."""
    if not model.languages:
        return True
    detected = detect_language(text)
    if detected is not None:
        return model.knows(detected)
    # In short queries function words tell.
    words = text.lower().split()
    known, others = VOTING.intersection(model.languages), VOTING.difference(model.languages)
    return _function_words(words, known) >= _function_words(words, others)


def _function_words(words: Sequence[str], languages: Iterable[str]) -> int:
    """Return the greatest number of words that are function words of one of some languages."""
    known = [sum(code in function_words_in(word) for word in words) for code in languages]
    return max(known, default=0)

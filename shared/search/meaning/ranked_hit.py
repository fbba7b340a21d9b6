"""A hit with its scores by words and by meaning."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RankedHit:
    """A hit with its scores.

    Attributes:
        doc: Lucene's number of the chunk.
        score: its score, by which hits are ordered.
        words: its score by words; 0 if it has none of them.
        cosine: the cosine of its vector and the query's; None if it is not known.
    """

    doc: int
    score: float
    words: float
    cosine: float | None = None

    @property
    def is_by_meaning(self) -> bool:
        """True if it has no word of the query."""
        return self.cosine is not None and not self.words

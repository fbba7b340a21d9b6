"""What every engine is asked, in Lucene's classic syntax."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from benchmarks.search import KINDS as ALL_KINDS

WORDS: Final = ("two words", "six words")
KINDS: Final = (*WORDS, "a phrase", "a prefix")


@dataclass(frozen=True)
class Queries:
    """What an engine is asked: the kinds take turns."""

    kinds: Sequence[str] = KINDS
    measured: int = 200
    warm_up: int = 500

    def for_measuring(self) -> list[str]:
        """Those whose answers count."""
        return list(self._between(0, self.measured))

    def for_warming_up(self) -> list[str]:
        """Those that are asked before."""
        return list(self._between(self.measured, self.measured + self.warm_up))

    def by_kind(self, answers: Sequence[tuple[float, int]]) -> dict[str, list[tuple[float, int]]]:
        """The answers of each kind, to all of its queries that there was time for."""
        return {
            kind: list(answers[number :: len(self.kinds)]) for number, kind in enumerate(self.kinds)
        }

    def _between(self, begin: int, end: int) -> Iterator[str]:
        return chain.from_iterable(
            zip(*(islice(ALL_KINDS[kind](), begin, end) for kind in self.kinds), strict=True)
        )

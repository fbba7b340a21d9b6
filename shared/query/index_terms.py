"""Terms of an index as queries need them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final, TypeVar, cast

from shared.analysis.languages import LANGUAGES, UNDETERMINED
from shared.model import schema
from shared.query.tree import Best, Clauses, Node, TermPhrase, Terms, Values, ValueWords, Weighted

Result = TypeVar("Result")

_MOST_WORDS: Final = 10_000  # in the cache of a commit, with some kilobytes each
_LONGEST_WORD: Final = 64  # in characters; longer ones do not recur


class IndexTerms(ABC):
    """Terms and fields of a commit; threads may share it.

    The steps of a query ask nothing else of an index, whichever kind it is. Numbers of chunks
    include deleted ones that are not merged yet.
    """

    def __init__(self) -> None:
        self._results: dict[Callable[[Any], Any], Any] = {}
        self.words: dict[Any, Any] = {}  # what words of queries become, in this commit

    def remember(self, key: tuple[Any, ...], value: Any) -> None:
        """Add to the cache for words of queries, unless the word is a long one."""
        if len(self.words) >= _MOST_WORDS:
            # Another thread may be reading the old one.
            self.words = {}
        if len(str(key[0])) <= _LONGEST_WORD:
            self.words[key] = value

    @abstractmethod
    def frequency(self, field: str, text: str) -> int:
        """Return the number of chunks that have a term."""

    @abstractmethod
    def chunks(self, field: str) -> int:
        """Return the number of chunks that have a field."""

    @abstractmethod
    def dictionary(self, field: str) -> int:
        """Return the approximate number of terms of a field."""

    @property
    @abstractmethod
    def total(self) -> int:
        """Number of chunks."""

    @property
    @abstractmethod
    def fields(self) -> frozenset[str]:
        """All fields of the index, by their names in `shared.model.schema`."""

    @abstractmethod
    def beginning_with(self, field: str, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield the terms with a prefix in alphabetical order, each with its frequency."""

    def may_begin(self, field: str, prefix: str) -> bool:  # noqa: ARG002 - for subclasses
        """Check whether a term may have a prefix, where that takes less than to look one up."""
        return True

    @abstractmethod
    def within(self, field: str, text: str, edits: int, beginning: int) -> Mapping[str, int]:
        """Return the terms that differ from a text by a few letters, with their frequencies.

        Edits, 1 or 2, are the maximum distance of Damerau and Levenshtein; so many letters at the
        beginning must match.
        """

    @abstractmethod
    def has_value(self, words: ValueWords) -> bool:
        """Check whether any value of a field contains some words."""

    @abstractmethod
    def look_up(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Prepare to be asked for the frequencies of several terms, each after its field."""

    def once(self, work: "Callable[[IndexTerms], Result]") -> Result:
        """Return the result of a function of these terms, which runs once for each commit."""
        if work not in self._results:
            self._results[work] = work(self)
        return cast("Result", self._results[work])

    def rarity_of(self, frequency: int) -> float:
        """Return the inverse document frequency of a term that some chunks have."""
        return math.log(1 + (self.total - frequency + 0.5) / (frequency + 0.5))

    @cached_property
    def languages(self) -> Mapping[str, float]:
        """Languages of the index, each with the share of its chunks, from 0 to 1."""
        counts = {
            code: self.frequency(schema.LANGUAGES, code) for code in (*LANGUAGES, UNDETERMINED)
        }
        return {code: min(1.0, count / self.total) for code, count in counts.items() if count}

    def rarity(self, node: Node) -> float:
        """Return the inverse document frequency of a part, as in Lucene's ``BM25Similarity``.

        Of alternatives the most common one counts. It is the greatest possible if the frequency is
        not known, or no chunk has the part.
        """
        match node:
            case Terms(field, texts) | Values(field, texts) if texts:
                found = self.rarity_of(max(self.frequency(field, text) for text in texts))
            case TermPhrase(field, positions):
                found = sum(self.rarity(Terms(field, texts)) for texts in positions)
            case Weighted(part):
                found = self.rarity(part)
            case Best(nodes):
                found = min(map(self.rarity, nodes))
            case Clauses(clauses) if required := [c.node for c in clauses if c.occur == "must"]:
                found = sum(map(self.rarity, required))
            case Clauses(clauses):
                optional = (self.rarity(c.node) for c in clauses if c.occur == "should")
                found = min(optional, default=self.rarity_of(0))
            case _:
                found = self.rarity_of(0)
        return found

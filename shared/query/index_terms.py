"""Terms of an index as queries need them, and the step that removes terms that no chunk has."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final, TypeVar, cast

from shared.analysis.languages import LANGUAGES, UNDETERMINED
from shared.model import schema
from shared.query.tree import Best, Clauses, Node, TermPhrase, Terms, Values, Weighted
from shared.query.values import ValueWords

Result = TypeVar("Result")

_MOST_WORDS: Final = 10_000
"""Maximum number of words of queries in the cache of a commit, with some kilobytes each."""

_LONGEST_WORD: Final = 64
"""Maximum length of such a word, in characters; longer ones do not recur."""


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


def rarity(node: Node, terms: IndexTerms) -> float:
    """Return the inverse document frequency of a part on fields, as in Lucene's ``BM25Similarity``.

    Of alternatives the most common one counts. It is the greatest possible if the frequency is not
    known, or no chunk has the part.
    """
    match node:
        case Terms(field, texts):
            found = terms.rarity_of(max(terms.frequency(field, text) for text in texts))
        case TermPhrase(field, positions):
            found = sum(rarity(Terms(field, texts), terms) for texts in positions)
        case Weighted():
            found = rarity(node.node, terms)
        case Best(nodes):
            found = min(rarity(part, terms) for part in nodes)
        case Clauses(clauses):
            roles = [(clause.node, clause.occur) for clause in clauses]
            required, optional = (
                [rarity(part, terms) for part, occur in roles if occur == wanted]
                for wanted in ("must", "should")
            )
            found = sum(required) if required else min(optional, default=terms.rarity_of(0))
        case Values(field, texts) if texts:
            found = rarity(Terms(field, texts), terms)
        case _:
            found = terms.rarity_of(0)
    return found

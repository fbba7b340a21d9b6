"""Terms of an index on a cluster, as one call asks for them."""

from collections.abc import Iterable, Iterator, Mapping

from shared.model import schema
from shared.opensearch.search.known_terms import KnownTerms, Pair
from shared.opensearch.search.similar import MOST_SIMILAR, Question
from shared.query.index_terms import IndexTerms
from shared.query.tree import ValueWords


class ClusterTerms(IndexTerms):
    """Terms of an index on a cluster, as one call asks for them.

    While lookups are deferred, an unknown term counts as one that a chunk has, and no term has
    similar ones; `fetch` then asks for all of them at once. Whoever defers them repeats its work
    until nothing is missing.

    Args:
        known: what is known of the state that the call sees.
    """

    def __init__(self, known: KnownTerms) -> None:
        super().__init__()
        self._known = known
        self._missing: dict[Pair, None] = {}
        self._questions: dict[Question, None] = {}
        self.is_deferring = False
        if schema.ID not in known.chunks:
            known.fetch((), ())

    def fetch(self) -> bool:
        """Ask for what was missing; return false if nothing was."""
        if not self._missing and not self._questions:
            return False
        self._known.fetch(self._missing, self._questions)
        # They may be made of frequencies that were not known.
        self._results.clear()
        self.words.clear()
        self._missing.clear()
        self._questions.clear()
        return True

    def frequency(self, field: str, text: str) -> int:
        """Return the number of chunks that have a term."""
        found = self._known.frequencies.get((field, text))
        if found is not None:
            return found
        if self.is_deferring:
            self._missing[field, text] = None
            return 1
        return self._known.fetch([(field, text)], ())[field, text]

    def look_up(self, pairs: Iterable[Pair]) -> None:
        """Ask for the frequencies of several terms in one request."""
        self.frequencies(pairs)

    def frequencies(self, pairs: Iterable[Pair]) -> dict[tuple[str, str], int]:
        """Return the frequencies of several terms, each after its field, in one request."""
        asked = list(pairs)
        counts = self._known.fetch(asked, ())
        return {pair: counts[pair] for pair in asked}

    def chunks(self, field: str) -> int:
        """Return the number of chunks that have a field."""
        if field not in self._known.chunks:
            if self.is_deferring:
                self._missing[field, "?"] = None
                return 1
            self._known.fetch([(field, "?")], ())
        return self._known.chunks[field]

    @property
    def total(self) -> int:
        """Number of chunks, with deleted ones that are not merged yet."""
        return self._known.chunks[schema.ID]

    def dictionary(self, field: str) -> int:  # noqa: ARG002 - as every index has it
        """Return 0: the cluster bounds by time how many terms a pattern looks at."""
        return 0

    @property
    def fields(self) -> frozenset[str]:
        """All fields of the index."""
        return self._known.fields

    def beginning_with(
        self, field: str, prefix: str, most: int = MOST_SIMILAR
    ) -> Iterator[tuple[str, int]]:
        """Yield the terms with a prefix in alphabetical order, each with its frequency.

        Args:
            field: the field.
            prefix: the prefix.
            most: the maximum number of terms.
        """
        if field == schema.ID:
            # It has no doc values that could be counted.
            return iter(())
        return iter(self._similar(Question("beginning", field, prefix, most=most)).items())

    def has_more(self, field: str, prefix: str, most: int) -> bool:
        """Check whether there may be more terms than `beginning_with` yields."""
        question = Question("beginning", field, prefix, most=most)
        self._similar(question)
        return question in self._known.cut

    def within(self, field: str, text: str, edits: int, beginning: int) -> Mapping[str, int]:
        """Return the terms that differ from a text by a few letters, with their frequencies."""
        return self._similar(Question("within", field, text, edits, beginning))

    def has_value(self, words: ValueWords) -> bool:
        """Check whether any value of a field contains some words."""
        question = Question("value", words.field or "", words.pattern)
        return bool(self._similar(question)) or question in self._questions

    def _similar(self, question: Question) -> Mapping[str, int]:
        # Another call may drop the answer before it is read.
        while (found := self._known.similar.get(question)) is None:
            if self.is_deferring:
                self._questions[question] = None
                return {}
            self._known.fetch((), [question])
        return found

"""Terms of a Lucene index, with a cache for each commit."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, Final

from org.apache.lucene.index import LeafReaderContext, MultiTerms, Term, TermsEnum, TermStates
from org.apache.lucene.search import FuzzyQuery, IndexSearcher, TermQuery
from org.apache.lucene.search.spell import DirectSpellChecker, SuggestMode
from org.apache.lucene.util import BytesRefIterator

from shared.java.cancellation import check
from shared.model import schema
from shared.query.compiler import values_with
from shared.query.index_terms import IndexTerms
from shared.query.limits import running
from shared.query.values import ValueWords
from shared.storage.commits import cached_per_commit, is_limited
from shared.storage.field_names import all_fields
from shared.storage.terms import terms_with_prefix

_MOST_TERMS: Final = 10_000
"""Maximum number of cached terms, with some hundred bytes each."""

_LONGEST: Final = 200
"""Maximum length of a cached term, in characters."""

_REMEMBERED_AUTOMATA: Final = 4
"""Number of automata that are cached, since each is asked of several fields in a row."""


class LuceneTerms(IndexTerms):
    """Cache of the terms and fields of a commit.

    Args:
        reader: the reader of the searchers that will run the queries.

    Attributes:
        reader: the same.
    """

    def __init__(self, reader: Any) -> None:
        super().__init__()
        self.reader = reader
        self._searcher = IndexSearcher(reader)
        self._terms: dict[tuple[str, str], tuple[Any | None, int]] = {}
        self._chunks: dict[str, int] = {}
        self._dictionaries: dict[str, int] = {}

    def query(self, field: str, text: str) -> Any | None:
        """Return a query for a term with its looked-up states; None if no chunk has it."""
        return self._known(field, text)[0]

    def frequency(self, field: str, text: str) -> int:
        """Return the number of chunks that have a term."""
        if field == schema.FINGERPRINT:
            # Not cached: each document has other ones.
            return int(self.reader.docFreq(Term(field, text)))
        return self._known(field, text)[1]

    def _known(self, field: str, text: str) -> tuple[Any | None, int]:
        key = (field, text)
        try:
            return self._terms[key]
        except KeyError:
            if not self.chunks(field):
                return None, 0
            term = Term(field, text)
            states = TermStates.build(self._searcher, term, True)
            frequency = states.docFreq()
            known = (TermQuery(term, states) if frequency else None, frequency)
            if len(self._terms) >= _MOST_TERMS:
                self._terms.clear()
            if len(text) <= _LONGEST:
                self._terms[key] = known
            return known

    def look_up(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Do nothing: to look one term up takes microseconds."""

    def chunks(self, field: str) -> int:
        """Return the number of chunks that have a field."""
        if field not in self._chunks:
            self._chunks[field] = self.reader.getDocCount(field)
        return self._chunks[field]

    @cached_property
    def total(self) -> int:
        """Number of chunks, with deleted ones that are not merged yet."""
        return int(self.reader.maxDoc())

    @property
    def fields(self) -> frozenset[str]:
        """All fields of the index."""
        return all_fields(self.reader)

    def dictionary(self, field: str) -> int:
        """Return the number of terms of a field, counted in each segment."""
        if field not in self._dictionaries:
            segments = (LeafReaderContext.cast_(leaf) for leaf in self.reader.leaves())
            terms = (segment.reader().terms(field) for segment in segments)
            self._dictionaries[field] = sum(max(0, of.size()) for of in terms if of is not None)
        return self._dictionaries[field]

    def beginning_with(self, field: str, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield the terms with a prefix in alphabetical order, each with its frequency."""
        return terms_with_prefix(self.reader, field, prefix)

    def within(self, field: str, text: str, edits: int, beginning: int) -> Mapping[str, int]:
        """Return the terms that differ from a text by a few letters, with their frequencies."""
        # Not DirectSpellChecker, which makes a new automaton for each field and number of edits.
        return self._accepted(field, _fuzzy_automaton(text, edits, beginning))

    def _accepted(self, field: str, automaton: Any) -> dict[str, int]:
        """Return the terms of a field that an automaton accepts, with their frequencies."""
        frequencies: dict[str, int] = {}
        terms = MultiTerms.getTerms(self.reader, field)
        if terms is None:
            return frequencies
        found = TermsEnum.cast_(terms.intersect(automaton, None))
        following = BytesRefIterator.cast_(found)
        while (term := following.next()) is not None:
            check()
            frequencies[term.utf8ToString()] = found.docFreq()
        return frequencies

    def more_frequent(self, text: str, above: int) -> str | None:
        """Return the most similar word of the content one edit away in more chunks than a number.

        None if there is no such word.
        """
        checker = DirectSpellChecker()
        checker.setMaxEdits(1)
        checker.setMinPrefix(1)
        checker.setThresholdFrequency(float(above))
        found = checker.suggestSimilar(
            Term(schema.CONTENT, text), 1, self.reader, SuggestMode.SUGGEST_ALWAYS
        )
        return str(found[0].string) if found else None

    def has_value(self, words: ValueWords) -> bool:
        """Check whether any value of a field contains some words."""
        terms = MultiTerms.getTerms(self.reader, words.field or "")
        if terms is None:
            return False
        with running():
            automaton = values_with(words, scored=False).getCompiled()
        found = TermsEnum.cast_(automaton.getTermsEnum(terms))
        return BytesRefIterator.cast_(found).next() is not None


class LiveTerms(LuceneTerms):
    """Terms of a part of an index: only those of chunks that are not deleted, and counted there.

    Otherwise suggestions and explanations would tell which words the rest of the index has.
    """

    def __init__(self, reader: Any) -> None:
        super().__init__(reader)
        self._live: dict[tuple[str, str], int] = {}

    def frequency(self, field: str, text: str) -> int:
        """Return the number of chunks that have a term."""
        if not super().frequency(field, text):
            return 0
        key = (field, text)
        if key not in self._live:
            if len(self._live) >= _MOST_TERMS:
                self._live.clear()
            self._live[key] = int(self._searcher.count(TermQuery(Term(field, text))))
        return self._live[key]

    def query(self, field: str, text: str) -> Any | None:
        """Return a query for a term with its looked-up states; None if no chunk has it."""
        return super().query(field, text) if self.frequency(field, text) else None

    @cached_property
    def total(self) -> int:
        """Number of chunks."""
        return int(self.reader.numDocs())

    def beginning_with(self, field: str, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield the terms with a prefix in alphabetical order, each with its frequency."""
        for text, _ in super().beginning_with(field, prefix):
            if frequency := self.frequency(field, text):
                yield text, frequency

    def more_frequent(self, text: str, above: int) -> str | None:
        """Return the most similar word of the content one edit away in more chunks than a number.

        None if there is no such word.
        """
        near = self.within(schema.CONTENT, text, 1, 1)
        found = [(count, word) for word, count in near.items() if count > above and word != text]
        return max(found)[1] if found else None

    def has_value(self, words: ValueWords) -> bool:
        """Check whether any value of a field contains some words."""
        with running():
            query = values_with(words, scored=False)
        return super().has_value(words) and bool(self._searcher.count(query))

    def _accepted(self, field: str, automaton: Any) -> dict[str, int]:
        accepted = super()._accepted(field, automaton)
        counts = ((text, self.frequency(field, text)) for text in accepted)
        return {text: count for text, count in counts if count}


@cached_per_commit
def terms_of(reader: Any) -> LuceneTerms:
    """Return the terms of an index, with a cache that all queries on the same commit share."""
    return LiveTerms(reader) if is_limited(reader) else LuceneTerms(reader)


@lru_cache(maxsize=_REMEMBERED_AUTOMATA)
def _fuzzy_automaton(text: str, edits: int, beginning: int) -> Any:
    return FuzzyQuery.getFuzzyAutomaton(text, edits, beginning, True)

"""Terms of an index on a cluster: their frequencies, and those that a pattern stands for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from shared.analysis.languages import LANGUAGES, UNDETERMINED
from shared.model import schema
from shared.model.filters import Names
from shared.opensearch import layout
from shared.opensearch.cluster_errors import part_missing
from shared.opensearch.compiler import compiled
from shared.opensearch.state import IS_CHUNK, Query
from shared.opensearch.store import Store
from shared.query.terms import IndexTerms
from shared.query.tree import Fuzzy, Pattern, ValueWords, escaped
from shared.storage.vectors import Sample

MOST_TERMS_OF_A_PATTERN: Final = 1_000

_MOST_TERMS: Final = 100_000  # that are remembered
_MOST_PATTERNS: Final = 1_000  # whose terms are remembered
_MOST_COUNTED: Final = 1_000  # conditions whose chunks one search counts

_VALUES: Final = (schema.LANGUAGES, schema.FINGERPRINT)
"""Fields of the chunks whose terms are whole values, besides ids and metadata."""

_LANGUAGE_TERMS: Final = [(schema.LANGUAGES, code) for code in (*LANGUAGES, UNDETERMINED)]

Pair = tuple[str, str]
"""Field of the schema, and a term."""

TermPattern = Pattern | Fuzzy | ValueWords


class KnownTerms:
    """What is known of the terms of one state of an index; threads share it.

    It takes a routing value for each shard, and the query for the chunks that are counted.
    """

    def __init__(
        self,
        store: Store,
        routings: Sequence[str | None],
        fields: frozenset[str],
        chunks: Query = IS_CHUNK,
    ) -> None:
        self._store = store
        self._chunks = chunks
        self.routings = routings
        self.fields = fields
        self.total: int | None = None
        self.sample: Sample | None = None  # of the vectors of the chunks
        self.frequencies: dict[Pair, int] = {}
        self.matched: dict[TermPattern, Mapping[str, int]] = {}
        # The chunks of some collections, and what is known of their terms.
        self.parts: dict[Names, tuple[Query, PartTerms]] = {}

    def fetch(self, terms: Iterable[Pair], patterns: Iterable[TermPattern]) -> Mapping[Pair, int]:
        """Ask the cluster for terms, and for those of patterns, in a request for each of both.

        Returns the frequencies of the terms.
        """
        asked = [pattern for pattern in patterns if pattern not in self.matched]
        bodies = list(map(self._search_for, asked))
        answers = self._store.connection.search(bodies) if bodies else []
        found = {of: _terms_in(answer, of) for of, answer in zip(asked, answers, strict=True)}
        pairs = {(str(of.field), term) for of, matched in found.items() for term in matched}
        counts = self._counts_of({*terms, *pairs})
        # Others may still read the old ones.
        if len(self.matched) > _MOST_PATTERNS:
            self.matched = {}
        for of, matched in found.items():
            known = {term: counts[str(of.field), term] for term in matched}
            self.matched[of] = {term: count for term, count in known.items() if count}
        return counts

    def _search_for(self, pattern: TermPattern) -> dict[str, Any]:
        """Return a search whose profile has the first terms that a pattern stands for."""
        ((kind, of_field),) = compiled(pattern, scores=False).items()
        ((name, parameters),) = of_field.items()
        rewritten = {**parameters, "rewrite": f"top_terms_{MOST_TERMS_OF_A_PATTERN}"}
        if isinstance(pattern, Fuzzy):
            rewritten["max_expansions"] = MOST_TERMS_OF_A_PATTERN
        query = {kind: {name: rewritten}}
        return {"query": query, "size": 0, "terminate_after": 1, "profile": True}

    def _counts_of(self, pairs: set[Pair]) -> Mapping[Pair, int]:
        """Return the frequencies of terms, of which those that are not known are asked for."""
        known = self.frequencies
        counts = {pair: count for pair in pairs if (count := known.get(pair)) is not None}
        # The cluster would add fields that it does not know to its mapping.
        counts |= {pair: 0 for pair in pairs if pair[0] not in self.fields}
        wanted = pairs - counts.keys()
        if wanted or self.total is None:
            languages = _LANGUAGE_TERMS if self.total is None else ()
            counts |= self._fetch_frequencies([*wanted, *languages])
        if len(self.frequencies) > _MOST_TERMS:
            self.frequencies = {}
        self.frequencies.update(counts)
        return counts

    def _fetch_frequencies(self, wanted: list[Pair]) -> Mapping[Pair, int]:
        """Ask each shard for the statistics of terms, as of a document that would have them."""
        document: dict[str, Any] = {schema.ID: ["?"]}
        for name, group in groupby(sorted(wanted), key=itemgetter(0)):
            values = [_as_sent(name, text) for _, text in group]
            outer, _, inner = layout.field(name).partition(".")
            value = values if _is_value(name) else " ".join(values)
            document[outer] = {**document.get(outer, {}), inner: value} if inner else value
        names = dict.fromkeys((schema.ID, *(layout.field(name) for name, _ in wanted)))
        asked = [
            {
                "_index": self._store.name,
                "doc": document,
                "fields": [*names],
                "term_statistics": True,
                "positions": False,
                "offsets": False,
                "payloads": False,
                **({} if routing is None else {"routing": routing}),
            }
            for routing in self.routings
        ]
        answer = self._store.connection.request("POST", "/_mtermvectors", {"docs": asked})
        if any("error" in shard for shard in answer["docs"]):
            raise part_missing(self._store.path)
        vectors = [shard["term_vectors"] for shard in answer["docs"]]
        ids = (of.get(schema.ID, {}).get("field_statistics", {}) for of in vectors)
        self.total = sum(max(0, of.get("doc_count", 0)) for of in ids)
        frequencies = {}
        for name, text in wanted:
            terms = (of.get(layout.field(name), {}).get("terms", {}) for of in vectors)
            each = (of.get(_as_sent(name, text), {}).get("doc_freq", 0) for of in terms)
            frequencies[name, text] = sum(each)
        return frequencies


class PartTerms(KnownTerms):
    """What is known of the terms of a part of an index: only those of its chunks, counted there.

    Otherwise suggestions and explanations would tell which words the rest of the index has.
    """

    def __init__(self, store: Store, fields: frozenset[str], chunks: Query) -> None:
        super().__init__(store, (), fields, chunks)
        prefixes = (schema.metadata_field(""), schema.number_field(""))
        keys = sorted(field for field in fields if field.startswith(prefixes))
        counts = self._counts([{"exists": {"field": layout.field(key)}} for key in keys])
        self.fields -= {key for key, count in zip(keys, counts, strict=True) if not count}

    def _search_for(self, pattern: TermPattern) -> dict[str, Any]:
        """Return a search for the values of its chunks: those of the rest may be too many."""
        # Ids of chunks have no doc values that could be counted.
        has_values = schema.is_keyword_field(str(pattern.field)) and pattern.field != schema.ID
        if isinstance(pattern, Fuzzy) or not has_values:
            return super()._search_for(pattern)
        expression = pattern.pattern
        if isinstance(pattern, Pattern):
            letters, _ = pattern.beginning
            expression = f"{schema.literal(letters)}.*"
        values = {"field": layout.field(str(pattern.field)), "include": expression}
        terms = {**values, "size": MOST_TERMS_OF_A_PATTERN, "order": {"_key": "asc"}}
        return {"query": self._chunks, "size": 0, "aggs": {"values": {"terms": terms}}}

    def _fetch_frequencies(self, wanted: list[Pair]) -> Mapping[Pair, int]:
        """Count the chunks that have each term."""
        terms = [{"term": {layout.field(name): _as_sent(name, text)}} for name, text in wanted]
        self.total, *counts = self._counts([IS_CHUNK, *terms])
        return dict(zip(wanted, counts, strict=True))

    def _counts(self, conditions: Sequence[Query]) -> list[int]:
        """Return the number of chunks that meet each of some conditions."""
        blocks = [
            conditions[first : first + _MOST_COUNTED]
            for first in range(0, len(conditions), _MOST_COUNTED)
        ]
        search = {"query": self._chunks, "size": 0, "track_total_hits": False}
        bodies = [{**search, "aggs": {"each": {"filters": {"filters": of}}}} for of in blocks]
        answers = self._store.connection.search(bodies) if bodies else []
        buckets = (answer["aggregations"]["each"]["buckets"] for answer in answers)
        return [int(bucket["doc_count"]) for of in buckets for bucket in of]


def _terms_in(answer: Mapping[str, Any], pattern: TermPattern) -> list[str]:
    """Return the terms in an answer, in alphabetical order.

    In a profile the shards describe their queries as ``ConstantScore(content:rent content:rents)``.
    """
    if aggregations := answer.get("aggregations"):
        return [str(of["key"]) for of in aggregations["values"]["buckets"]]
    searches = (search for of in answer["profile"]["shards"] for search in of["searches"])
    described = (query["description"] for search in searches for query in search["query"])
    inner = (of.removeprefix("ConstantScore(").removesuffix(")") for of in described)
    # Between the terms; values may have blanks, too.
    name = f" {layout.field(str(pattern.field))}:"
    return sorted({layout.received(term) for of in inner for term in f" {of}".split(name)[1:]})


def _is_value(name: str) -> bool:
    return schema.is_keyword_field(name) or name in _VALUES


def _as_sent(name: str, text: str) -> str:
    """Return a term of a field of the schema as the cluster has it."""
    return text if _is_value(name) else layout.sent(text)


class ClusterTerms(IndexTerms):
    """Terms of an index on a cluster, as one call asks for them.

    While lookups are deferred, an unknown term counts as one that a chunk has, and no pattern has
    terms; `fetch` then asks for all of them at once. Whoever defers them repeats its work until
    nothing is missing.
    """

    def __init__(self, known: KnownTerms) -> None:
        super().__init__()
        self._known = known
        self._missing: dict[Pair, None] = {}
        self._patterns: dict[TermPattern, None] = {}
        self.is_deferring = False
        if known.total is None:
            # With the languages, which are never deferred.
            known.fetch((), ())

    def fetch(self) -> bool:
        """Ask for what was missing; return false if nothing was."""
        if not self._missing and not self._patterns:
            return False
        self._known.fetch(self._missing, self._patterns)
        # They may be made of frequencies that were not known.
        for made in (self._results, self.words, self._missing, self._patterns):
            made.clear()
        return True

    def frequency(self, field: str, text: str) -> int:
        found = self._known.frequencies.get((field, text))
        if found is not None:
            return found
        if self.is_deferring:
            self._missing[field, text] = None
            return 1
        return self._known.fetch([(field, text)], ())[field, text]

    def look_up(self, pairs: Iterable[Pair]) -> None:
        self._known.fetch(pairs, ())

    def frequencies(self, pairs: Iterable[Pair]) -> dict[Pair, int]:
        asked = list(pairs)
        counts = self._known.fetch(asked, ())
        return {pair: counts[pair] for pair in asked}

    def chunks(self, field: str) -> int:  # noqa: ARG002 - the texts are in all of them
        return self.total

    def dictionary(self, field: str) -> int:  # noqa: ARG002 - as every index has it
        """Return 0: the cluster bounds by time how many terms a pattern looks at."""
        return 0

    @property
    def total(self) -> int:
        return self._known.total or 0

    @property
    def fields(self) -> frozenset[str]:
        return self._known.fields

    def beginning_with(self, field: str, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield terms as every index does, but only so many."""
        pattern = Pattern(field, f"{escaped(prefix)}*", scored=False)
        return iter(self._matched(pattern).items())

    def within(self, field: str, text: str, edits: int, beginning: int) -> Mapping[str, int]:
        return self._matched(Fuzzy(text, edits, beginning, field))

    def has_value(self, words: ValueWords) -> bool:
        return bool(self._matched(words)) or words in self._patterns

    def _matched(self, pattern: TermPattern) -> Mapping[str, int]:
        # Another call may drop the terms before they are read.
        while (found := self._known.matched.get(pattern)) is None:
            if self.is_deferring:
                self._patterns[pattern] = None
                return {}
            self._known.fetch((), [pattern])
        return found

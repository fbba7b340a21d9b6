"""What is known of the terms of one state of an index on a cluster, fetched many at once."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from threading import Lock
from typing import Any, Final

from shared.analysis.languages import LANGUAGES, UNDETERMINED
from shared.model import schema
from shared.opensearch import layout
from shared.opensearch.cluster_errors import part_missing
from shared.opensearch.queries import IS_CHUNK, Query
from shared.opensearch.search.similar import Question, search_for, terms_in
from shared.opensearch.store import Store

_MOST_TERMS: Final = 100_000
"""Maximum number of cached terms."""

_MOST_QUESTIONS: Final = 1_000
"""Maximum number of cached answers about similar terms."""

_VALUES: Final = (schema.LANGUAGES, schema.FINGERPRINT)
"""Fields of the chunks whose terms are whole values, besides ids and metadata."""

_LANGUAGE_TERMS: Final = [(schema.LANGUAGES, code) for code in (*LANGUAGES, UNDETERMINED)]

Pair = tuple[str, str]
"""Field of the schema, and a term."""


class KnownTerms:
    """What is known of the terms of one state of an index; threads share it.

    Args:
        store: the index.
        routings: a routing value for each shard.
        fields: the fields of the index.
        chunks: the query for the chunks whose values are looked up.
    """

    def __init__(
        self,
        store: Store,
        routings: Iterable[str | None],
        fields: frozenset[str],
        chunks: Query = IS_CHUNK,
    ) -> None:
        self._store = store
        self._chunks = chunks
        self._routings = list(routings)
        self._lock = Lock()
        self.fields = fields
        self.frequencies: dict[Pair, int] = {}
        self.chunks: dict[str, int] = {}
        self.similar: dict[Question, Mapping[str, int]] = {}
        self.cut: set[Question] = set()

    def fetch(self, terms: Iterable[Pair], questions: Iterable[Question]) -> Mapping[Pair, int]:
        """Ask the cluster for terms and similar terms, in a request for each of both.

        Returns:
            The frequencies of the terms, and of the similar ones.
        """
        asked = [question for question in questions if question not in self.similar]
        found = dict(zip(asked, self._ask(asked), strict=True))
        terms_of = {of: names for of, names in found.items() if of.kind != "value"}
        similar = {(of.field, term) for of, names in terms_of.items() for term in names}
        counts = self._counts_of({*terms, *similar})
        with self._lock:
            if len(self.similar) > _MOST_QUESTIONS:
                self.similar, self.cut = {}, set()
            for question in found.keys() - terms_of.keys():
                self.similar[question] = dict.fromkeys(found[question], 1)
            for question, names in terms_of.items():
                if len(names) >= question.most:
                    self.cut.add(question)
                known = {name: counts[question.field, name] for name in names}
                self.similar[question] = {name: count for name, count in known.items() if count}
        return counts

    def _counts_of(self, pairs: set[Pair]) -> Mapping[Pair, int]:
        """Return the frequencies of terms, of which those that are not known are asked for."""
        known = self.frequencies
        counts = {pair: count for pair in pairs if (count := known.get(pair)) is not None}
        # The cluster would add fields that it does not know to its mapping.
        unknown = {pair for pair in pairs - counts.keys() if pair[0] not in self.fields}
        self.chunks |= {name: 0 for name, _ in unknown}
        counts |= dict.fromkeys(unknown, 0)
        wanted = pairs - counts.keys()
        if wanted or schema.ID not in self.chunks:
            languages = _LANGUAGE_TERMS if schema.ID not in self.chunks else ()
            counts |= self._fetch_frequencies([*wanted, *languages])
        with self._lock:
            if len(self.frequencies) > _MOST_TERMS:
                # Others may still read the old ones.
                self.frequencies = {}
            self.frequencies |= counts
        return counts

    def _fetch_frequencies(self, wanted: list[Pair]) -> Mapping[Pair, int]:
        """Ask each shard for the statistics of terms, as of a document that would have them.

        Raises:
            ClusterUnreachableError: a shard did not answer.
        """
        document: dict[str, Any] = {schema.ID: ["?"]}
        of_field: dict[str, list[str]] = {}
        for name, group in groupby(sorted(wanted), key=itemgetter(0)):
            texts = [text for _, text in group]
            of_field[name] = texts
            values = [as_sent(name, text) for text in texts]
            _put(document, layout.field(name), values if _is_value(name) else " ".join(values))
        names = [schema.ID, *map(layout.field, of_field)]
        asked = [
            {
                "_index": self._store.name,
                "doc": document,
                "fields": list(dict.fromkeys(names)),
                "term_statistics": True,
                "positions": False,
                "offsets": False,
                "payloads": False,
                **({} if routing is None else {"routing": routing}),
            }
            for routing in self._routings
        ]
        answer = self._store.connection.request("POST", "/_mtermvectors", {"docs": asked})
        if any("error" in shard for shard in answer["docs"]):
            raise part_missing(self._store.connection.address.path)
        vectors = [shard["term_vectors"] for shard in answer["docs"]]
        frequencies: dict[Pair, int] = {}
        for name in (schema.ID, *of_field):
            there = [of.get(layout.field(name), {}) for of in vectors]
            counts = (of.get("field_statistics", {}).get("doc_count", 0) for of in there)
            self.chunks[name] = sum(max(0, count) for count in counts)
            for text in of_field.get(name, ()):
                key = as_sent(name, text)
                each = (of.get("terms", {}).get(key, {}).get("doc_freq", 0) for of in there)
                frequencies[name, text] = sum(each)
        return frequencies

    def _ask(self, questions: list[Question]) -> Iterator[list[str]]:
        if not questions:
            return iter(())
        bodies = [search_for(question, self._chunks) for question in questions]
        answers = self._store.connection.search(bodies)
        return (terms_in(answer, of) for of, answer in zip(questions, answers, strict=True))


def _put(document: dict[str, Any], name: str, value: Any) -> None:
    outer, _, inner = name.partition(".")
    if inner:
        document.setdefault(outer, {})[inner] = value
    else:
        document[name] = value


def _is_value(name: str) -> bool:
    """Check whether the terms of a field are whole values."""
    return schema.is_keyword_field(name) or name in _VALUES


def as_sent(name: str, text: str) -> str:
    """Return a term of a field of the schema as the cluster has it."""
    return text if _is_value(name) else layout.sent(text)

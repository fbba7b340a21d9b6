"""Terms of an index on a cluster, fetched many at once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from threading import Lock
from typing import Any, Final

from shared.analysis.languages import LANGUAGES, UNDETERMINED
from shared.model import schema
from shared.opensearch.search.compiler import compiled
from shared.opensearch.storage import layout
from shared.opensearch.storage.connection import part_missing
from shared.opensearch.storage.queries import IS_CHUNK, Query
from shared.opensearch.storage.store import Store
from shared.query.index_terms import IndexTerms
from shared.query.steps.metadata_values import ValueWords

_MOST_TERMS: Final = 100_000
"""Maximum number of cached terms."""

_MOST_QUESTIONS: Final = 1_000
"""Maximum number of cached answers about similar terms."""

_VALUES: Final = (schema.LANGUAGES, schema.FINGERPRINT)
"""Fields of the chunks whose terms are whole values, besides ids and metadata."""

_MOST_SIMILAR: Final = 1_000
"""Maximum number of similar terms that the cluster returns."""

_LANGUAGE_TERMS: Final = [(schema.LANGUAGES, code) for code in (*LANGUAGES, UNDETERMINED)]

_KEYWORD_WORDS: Final = {
    schema.CONTENT: "word.content",
    schema.TITLE: "word.title",
    schema.STEMS: "word.stems",
    schema.REVERSED: "word.reversed",
}
"""Fields of the documents that stand for words, in which similar words are looked up."""

_VALUE: Final = "value"
"""Kind of a question for any value of a field with some words."""

_ANY_VALUE: Final = ""
"""Answer that stands for any value."""

_NO_LETTER: Final = "\x04"
"""Sign that no term has."""

_SUGGESTING: Final = {
    "suggest_mode": "always",
    "max_edits": 1,
    "min_word_length": 1,
    "accuracy": 0.0,
    **dict.fromkeys(("size", "shard_size"), _MOST_SIMILAR),
}
"""How the cluster is asked for similar terms, to learn the frequency of a term."""

Pair = tuple[str, str]
"""Field of the schema, and a term."""

Question = tuple[str, str, str, int, int]
"""Kind of a search for similar terms or values, the field, the text, and two numbers."""


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
        terms_of = {of: names for of, names in found.items() if of[0] != _VALUE}
        similar = {(of[1], term) for of, names in terms_of.items() for term in names}
        counts = self._counts_of({*terms, *similar})
        with self._lock:
            if len(self.similar) > _MOST_QUESTIONS:
                self.similar, self.cut = {}, set()
            for question in found.keys() - terms_of.keys():
                self.similar[question] = dict.fromkeys(found[question], 1)
            for question, names in terms_of.items():
                if len(names) >= _most(question):
                    self.cut.add(question)
                known = {name: counts[question[1], name] for name in names}
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

    def frequencies_besides(self, terms: Iterable[Pair]) -> dict[str, Any]:
        """Return what a search has to ask besides to tell the frequencies of unknown terms.

        The cluster's suggestions of similar terms come with frequencies. What is similar to a term
        with another sign behind it, and begins with the term, is the term itself among others.
        """
        unknown = {pair for pair in terms if pair not in self.frequencies}
        asked: dict[str, Any] = {}
        for (name, length), pairs in groupby(sorted(unknown, key=_by_length), key=_by_length):
            texts = (f"{layout.sent(text)}{_NO_LETTER}" for _, text in pairs)
            similar = {**_SUGGESTING, "field": layout.field(name), "prefix_length": length}
            asked[f"{name} {length}"] = {"text": " ".join(texts), "term": similar}
        return asked

    def note_besides(self, terms: Iterable[Pair], suggested: Mapping[str, Sequence[Any]]) -> None:
        """Remember the frequencies of terms from the answer to `frequencies_besides`."""
        found = {
            (name.partition(" ")[0], entry["text"].removesuffix(_NO_LETTER)): {
                option["text"]: option["freq"] for option in entry["options"]
            }
            for name, entries in suggested.items()
            for entry in entries
        }
        with self._lock:
            for name, text in terms:
                if (options := found.get((name, layout.sent(text)))) is not None:
                    self.frequencies[name, text] = options.get(layout.sent(text), 0)

    def _ask(self, questions: list[Question]) -> Iterator[list[str]]:
        if not questions:
            return iter(())
        bodies = [_body(question, self._chunks) for question in questions]
        answers = self._store.connection.search(bodies)
        return (_terms(of, answer) for of, answer in zip(questions, answers, strict=True))


def _by_length(pair: Pair) -> tuple[str, int]:
    """Return the field of a term, and its length on the cluster."""
    return pair[0], len(layout.sent(pair[1]))


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


def _body(question: Question, chunks: Query) -> dict[str, Any]:
    """Return the search for similar terms, or for the values of a metadata key.

    Args:
        question: the question.
        chunks: the query for the chunks whose values are looked up.
    """
    kind, name, text, edits, beginning = question
    query: Query
    if kind == _VALUE:
        words = compiled(ValueWords(field=name, pattern=text), scores=False)
        query = {"bool": {"filter": [chunks, words]}}
        return {"query": query, "size": 0, "terminate_after": 1}
    if kind == "beginning" and name not in _KEYWORD_WORDS:
        pattern = "".join(f"\\{sign}" if not sign.isalnum() else sign for sign in text)
        terms = {"field": layout.field(name), "size": edits, "order": {"_key": "asc"}}
        if text:
            terms["include"] = f"{pattern}.*"
        return {"size": 0, "query": chunks, "aggs": {"terms": {"terms": terms}}}
    of = _KEYWORD_WORDS[name]
    if kind == "within":
        parameters = {
            "value": text,
            "fuzziness": edits,
            "prefix_length": beginning,
            "max_expansions": _MOST_SIMILAR,
            "rewrite": "constant_score",
        }
        query = {"fuzzy": {of: parameters}}
    elif kind == "spelled":
        query = {"regexp": {of: {"value": text}}}
    else:
        query = {"prefix": {of: {"value": text}}}
    return {
        "query": query,
        "size": _most(question),
        "sort": [{of: "asc"}],
        "_source": False,
        "docvalue_fields": [of],
        "track_total_hits": False,
    }


def _most(question: Question) -> int:
    """Return the maximum number of terms in the answer to a question."""
    kind, _, _, most, _ = question
    return most if kind == "beginning" else _MOST_SIMILAR


def _terms(question: Question, answer: Mapping[str, Any]) -> list[str]:
    if question[0] == _VALUE:
        return [_ANY_VALUE] if answer["hits"]["total"]["value"] else []
    if "aggregations" in answer:
        return [str(bucket["key"]) for bucket in answer["aggregations"]["terms"]["buckets"]]
    of = _KEYWORD_WORDS[question[1]]
    found = (hit["fields"][of][0] for hit in answer["hits"]["hits"])
    return list(dict.fromkeys(map(layout.received, found)))


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
        self._missing.clear()
        self._questions.clear()
        return True

    def frequencies_besides(self, pairs: Iterable[Pair]) -> dict[str, Any]:
        """Return what a search has to ask besides; see `KnownTerms.frequencies_besides`."""
        return self._known.frequencies_besides(pairs)

    def note_besides(self, pairs: Iterable[Pair], suggested: Mapping[str, Sequence[Any]]) -> None:
        """Remember what the cluster has answered to it."""
        self._known.note_besides(pairs, suggested)

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
        self, field: str, prefix: str, most: int = _MOST_SIMILAR
    ) -> Iterator[tuple[str, int]]:
        """Yield the terms with a prefix in alphabetical order, each with its frequency.

        Args:
            field: the field.
            prefix: the prefix.
            most: the maximum number of terms.
        """
        return iter(self._similar(("beginning", field, prefix, most, 0)).items())

    def has_more(self, field: str, prefix: str, most: int) -> bool:
        """Check whether there may be more terms than `beginning_with` yields."""
        question = ("beginning", field, prefix, most, 0)
        self._similar(question)
        return question in self._known.cut

    def within(self, field: str, text: str, edits: int, beginning: int) -> Mapping[str, int]:
        """Return the terms that differ from a text by a few letters, with their frequencies."""
        return self._similar(("within", field, text, edits, beginning))

    def spelled_as(self, field: str, expression: str) -> Mapping[str, int]:
        """Return the terms that a regular expression matches, with their frequencies."""
        return self._similar(("spelled", field, expression, 0, 0))

    def more_frequent(self, text: str, above: int) -> str | None:
        """Return the most similar word of the content one edit away in more chunks than a number.

        None if there is no such word.
        """
        found = self.within(schema.CONTENT, text, 1, 1)
        others = [(count, other) for other, count in found.items() if count > above]
        return max(others)[1] if others else None

    def has_value(self, words: ValueWords) -> bool:
        """Check whether any value of a field contains some words."""
        question = (_VALUE, words.field or "", words.pattern, 0, 0)
        return bool(self._similar(question)) or question in self._questions

    def _similar(self, question: Question) -> Mapping[str, int]:
        # Another call may drop the answer before it is read.
        while (found := self._known.similar.get(question)) is None:
            if self.is_deferring:
                self._questions[question] = None
                return {}
            self._known.fetch((), [question])
        return found

"""The chunks of an index folder that a query selects, and their values by chunk.

The hits after the first one are reordered by the terms that the best ones have in common
(pseudo-relevance feedback, as in Rocchio 1971, Relevance feedback in information retrieval). Lucene
chooses the terms by their frequency in the best hits and their rarity.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import groupby
from typing import Any, Final

from java.util import Arrays, Collections, HashSet
from org.apache.lucene.facet import FacetsCollectorManager
from org.apache.lucene.index import (
    DirectoryReader,
    LeafReader,
    SortedDocValues,
    SortedSetDocValues,
    Term,
)
from org.apache.lucene.queries.mlt import MoreLikeThis
from org.apache.lucene.search import (
    BooleanClause,
    BooleanQuery,
    BoostQuery,
    ConstantScoreQuery,
    Explanation,
    MatchAllDocsQuery,
    QueryVisitor,
    ScoreDoc,
    Sort,
    TermInSetQuery,
    TermQuery,
    TotalHits,
)
from org.apache.lucene.search.grouping import GroupDocs, GroupingSearch
from org.apache.lucene.util import BytesRef

from shared.analysis.analyzers import topic_analyzer
from shared.analysis.languages import WITH_FUNCTION_WORDS
from shared.java.cancellation import check, guarded
from shared.model import schema
from shared.model.metadata import FILE_MODIFIED, MODIFIED
from shared.model.request import BY_SCORE, SearchRequest
from shared.model.search_results import ExplainedTerm, Facet
from shared.query.filters import in_folder
from shared.query.limits import check_allowed, is_costly, running
from shared.query.lucene import Compiler, LuceneTerms, scored_again, terms_of
from shared.query.pipeline import parse_query
from shared.query.tree import Exists, Node, TermPhrase, Values, all_of
from shared.search.facets import count_documents, count_facets, document_order, filtered, order
from shared.search.grouping import resolved
from shared.search.selection import (
    ChunkVectors,
    Fingerprinted,
    Found,
    RankedHit,
    ScoreExplanation,
    Selection,
    time_of_change,
)
from shared.storage.commits import Snapshot
from shared.storage.fingerprints import Fingerprint, fingerprints_of
from shared.storage.stored_chunks import SHOWN_FIELDS, stored_fields, values_from_lucene

_FEW_CONDITIONS: Final = 10
"""Maximum number of prefix and range filters that do not make a query costly; each reads all values
of a metadata key."""

_BITS: Final = 24  # of a score (``float``, IEEE 754), each of which can represent one part
REORDERED: Final = 50  # hits that are reordered
_HITS: Final = 4  # best hits that are assumed to be relevant
_TERMS: Final = 10  # most significant terms that are used
_FEWEST_PARTS: Final = 5  # words of a query on a topic; few words have to match as they are

_MEAN_SUM: Final = 18.0  # of the weights that Lucene gives ten terms, the least of which has 1
_LEAST_OCCURRENCES: Final = 2  # of a term in the best hits
_COMMON: Final = 30  # share of the chunks in per cent beyond which a term is not significant


class LuceneSelection(Selection):
    """The chunks of a commit that match a query and pass the filters of a search.

    A document is named by its term, which is its id unless that is too long for a term.
    """

    terms: LuceneTerms
    searcher: Any  # Lucene's, which can be stopped if the query is costly
    ranked: Any  # the query that finds and ranks the hits, without the filters

    def __init__(self, snapshot: Snapshot, request: SearchRequest) -> None:
        self.terms = terms_of(snapshot.reader)
        of_values = sum(each.operator in {"prefix", "range"} for each in request.filters)
        with running():
            self.query = parse_query(request, self.terms, snapshot.weights)
            is_slow = of_values > _FEW_CONDITIONS or is_costly(self.query.leaves)
            if is_slow:
                check_allowed()
            self._compiler = Compiler(self.terms, guard=guarded if is_slow else None)
            self.ranked = self._compiler.query(self.query.tree)
        self.shares = {}
        self.model, self.encoder = snapshot.model, snapshot.encoder
        self._shows_content = request.content != "none"
        self._documents: dict[int, Any] = {}
        self._told: tuple[Sequence[Node], list[Any]] = ([], [])
        self._snapshot = snapshot.stoppable() if is_slow else snapshot
        self.searcher = self._snapshot.searcher
        filters = (*request.filters, *self.query.read.filters)
        self._filters = resolved(self, filters) if filters else ()
        self._selected = self._filtered(self.ranked)

    @cached_property
    def _matching(self) -> Any:
        """A query that matches the same chunks and counts them faster."""
        return replace(self._compiler, ranks=False).query(self.query.tree)

    def _filtered(self, query: Any) -> Any:
        return filtered(query, self._filters, self._snapshot) if self._filters else query

    def best(self, count: int, *, by_topic: bool = True) -> Found:
        if all(isinstance(leaf, TermPhrase) for leaf in self.query.leaves):
            # All hits are counted in the same pass: comparing positions is the costliest part, and
            # among so few hits hardly any can be skipped.
            found = FacetsCollectorManager.search(
                self.searcher, self._selected, count, FacetsCollectorManager()
            )
            return _found(found.topDocs())
        language = self._topic_language if by_topic else None
        top = self.searcher.search(self._selected, max(count, REORDERED) if language else count)
        found, hits = _found(top, count), list(map(ScoreDoc.cast_, top.scoreDocs))
        if language is None or len(hits) <= _HITS:
            return found
        topic = self._topic(_ranked(hits[:_HITS]), language)
        first, words = found.hits[0], {hit.doc: hit.score for hit in hits}
        moved = [
            RankedHit(hit.doc, min(hit.score, first.score), words[hit.doc])
            for hit in scored_again(self.searcher, hits[1:REORDERED], topic)[: count - 1]
        ]
        return replace(found, hits=[first, *moved, *found.hits[REORDERED:]])

    @property
    def _topic_language(self) -> str | None:
        """Language of a query of several words on a topic; None for others, without feedback.

        Without a list of function words, the terms that texts share say little.
        """
        query = self.query
        shares = {code: by for code, by in query.languages.items() if code in WITH_FUNCTION_WORDS}
        is_on_topic = query.is_plain and len(query.parts) >= _FEWEST_PARTS
        has_feedback = is_on_topic and query.weights.feedback > 0
        return max(shares, key=shares.__getitem__) if shares and has_feedback else None

    def _topic(self, best: Sequence[RankedHit], language: str) -> Any:
        """Return a query for the terms that the best hits share."""
        likely = MoreLikeThis(self.searcher.getIndexReader())
        likely.setAnalyzer(topic_analyzer(language))
        likely.setFieldNames([schema.STEMS])
        likely.setMinTermFreq(_LEAST_OCCURRENCES)
        likely.setMinDocFreq(1)
        likely.setMaxDocFreqPct(_COMMON)
        likely.setMaxQueryTerms(_TERMS)
        likely.setBoost(True)
        weight = self.query.weights.feedback * len(self.query.parts) / _MEAN_SUM
        likely.setBoostFactor(float(weight))
        texts = Arrays.asList(self.contents(best))
        return likely.like(Collections.singletonMap(schema.STEMS, texts))

    def in_order(self, sort: str, count: int) -> Found:
        in_order = document_order() if sort == BY_SCORE else order(sort, self._snapshot.reader)
        return _found(self.searcher.search(self._selected, count, in_order, True))

    def count(self) -> int:
        return int(self.searcher.count(self._filtered(self._matching)))

    def count_documents(self) -> int:
        return count_documents(self.searcher, self._filtered(self._matching))

    def documents(self, hits: Sequence[RankedHit]) -> list[str]:
        found = _documents_of(self.searcher.getIndexReader(), {hit.doc for hit in hits})
        return [found[hit.doc] for hit in hits]

    def modified(self, hits: Sequence[RankedHit]) -> list[str | None]:
        chunks = {hit.doc for hit in hits}
        found = _greatest_values(self.searcher.getIndexReader(), MODIFIED, chunks)
        return [found.get(hit.doc) for hit in hits]

    def in_documents(self, documents: Sequence[str], count: int) -> Mapping[str, Found]:
        if not documents:
            return {}
        chunks = TermInSetQuery(schema.SOURCE_DOCUMENT, Arrays.asList([*map(BytesRef, documents)]))
        within = BooleanQuery.Builder()
        within.add(self._selected, BooleanClause.Occur.MUST)
        within.add(chunks, BooleanClause.Occur.FILTER)
        grouping = GroupingSearch(schema.SOURCE_DOCUMENT)
        grouping.setGroupDocsLimit(count)
        found = grouping.search(self.searcher, within.build(), 0, len(documents))
        groups = map(GroupDocs.cast_, found.groups if found else ())
        return {
            str(BytesRef.cast_(group.groupValue()).utf8ToString()): Found(
                _ranked(group.scoreDocs()), int(group.totalHits().value()), is_exact=True
            )
            for group in groups
        }

    def fingerprints(self, documents: Sequence[str]) -> list[Fingerprinted]:
        if not documents or schema.FINGERPRINT not in self.terms.fields:
            return []
        chunks = Values(schema.SOURCE_DOCUMENT, tuple(documents))
        tree = all_of(chunks, Exists(schema.FINGERPRINT))
        return self._fingerprinted(tree, len(documents), lambda _: True)

    def fingerprints_sharing(
        self, terms: Sequence[str], count: int, is_wanted: Callable[[Fingerprint], bool]
    ) -> list[Fingerprinted]:
        tree = Values(schema.FINGERPRINT, tuple(terms))
        return self._fingerprinted(tree, count, is_wanted)

    def _fingerprinted(
        self, tree: Node, count: int, is_wanted: Callable[[Fingerprint], bool]
    ) -> list[Fingerprinted]:
        query = Compiler(scores=False).query(tree)
        hits = self.searcher.search(query, count, Sort.INDEXORDER).scoreDocs
        chunks = [ScoreDoc.cast_(hit).doc for hit in hits]
        return fingerprinted(self.searcher, chunks, is_wanted)

    def scored_again(self, hits: Sequence[RankedHit], tree: Node) -> list[RankedHit]:
        query = Compiler(self.terms).query(tree)
        before = [ScoreDoc(hit.doc, hit.score) for hit in hits]
        return _ranked(scored_again(self.searcher, before, query))

    def matches(self, trees: Sequence[Node], hits: Sequence[RankedHit]) -> list[list[int]]:
        found: dict[int, list[int]] = {hit.doc: [] for hit in hits}
        # The same trees are asked for the best hits and for all that are shown.
        if trees != self._told[0]:
            self._told = trees, self._telling(trees)
        for number, telling in enumerate(self._told[1]):
            check()
            unscored = [ScoreDoc(doc, 0.0) for doc in found]
            for hit in scored_again(self.searcher, unscored, telling):
                bits, begin = int(hit.score), number * _BITS
                found[hit.doc] += [
                    begin + bit for bit in range(bits.bit_length()) if bits >> bit & 1
                ]
        return [found[hit.doc] for hit in hits]

    def _telling(self, trees: Sequence[Node]) -> list[Any]:
        """Return queries whose scores have a bit for each of some trees that a hit matches."""
        compiler = Compiler(self.terms, ranks=False, guard=partial(guarded, ends=False))
        made = []
        for begin in range(0, len(trees), _BITS):
            builder = BooleanQuery.Builder()
            for bit, tree in enumerate(trees[begin : begin + _BITS]):
                telling = BoostQuery(ConstantScoreQuery(compiler.query(tree)), float(1 << bit))
                builder.add(telling, BooleanClause.Occur.SHOULD)
            made.append(builder.build())
        return made

    def contents(self, hits: Sequence[RankedHit]) -> list[str]:
        found = self._loaded(hits, shows_content=True)
        return [document.get(schema.CONTENT) or "" for document in found]

    def chunks(self, hits: Sequence[RankedHit]) -> Iterator[tuple[dict[str, Any], int]]:
        folders = self._snapshot.folders
        found = self._loaded(hits, shows_content=self._shows_content)
        return (values_from_lucene(document, folders) for document in found)

    def _loaded(self, hits: Sequence[RankedHit], *, shows_content: bool) -> Iterator[Any]:
        stored = self.searcher.storedFields()
        fields = stored_fields(*(SHOWN_FIELDS if shows_content else SHOWN_FIELDS[:-1]))
        for hit in hits:
            if hit.doc not in self._documents:
                self._documents[hit.doc] = stored.document(hit.doc, fields)
            yield self._documents[hit.doc]

    def facets(self, names: Sequence[str], *, of_documents: bool = False) -> list[Facet]:
        if not names:
            return []
        return count_facets(
            self._snapshot, self._matching, names, self._filters, of_documents=of_documents
        )

    def explained_terms(self) -> list[ExplainedTerm]:
        found = HashSet()
        # Rewritten, patterns have terms, too.
        rewritten = self.searcher.rewrite(Compiler().query(self.query.tree))
        rewritten.visit(QueryVisitor.termCollector(found))
        terms = ((term.field(), term.text()) for term in map(Term.cast_, found))
        return [
            ExplainedTerm(field, text, frequency)
            for field, text in terms
            if (frequency := self.terms.frequency(field, text))
        ]

    def explained(self, hits: Sequence[RankedHit]) -> list[ScoreExplanation]:
        return [_explanation(self.searcher.explain(self.ranked, hit.doc)) for hit in hits]

    def texts_with(self, field: str, term: str, count: int) -> Iterator[str]:
        found = self.searcher.search(TermQuery(Term(field, term)), count).scoreDocs
        stored, loaded = self.searcher.storedFields(), stored_fields(field)
        documents = (stored.document(ScoreDoc.cast_(hit).doc, loaded) for hit in found)
        return (document.get(field) or "" for document in documents)

    def has_no_file_in(self, folder: str) -> bool:
        query = Compiler(scores=False).query(in_folder(folder, self._snapshot.folders))
        return not self.searcher.count(query)

    def vectors(self) -> ChunkVectors:
        # NumPy is imported only where meaning takes part.
        from shared.search.lucene_vectors import FolderVectors

        allowed = self._filtered(MatchAllDocsQuery()) if self._filters else None
        return FolderVectors(self.searcher, allowed)

    @property
    def is_stopped(self) -> bool:
        return bool(self.searcher.timedOut())


def _found(top: Any, count: int | None = None) -> Found:
    total = top.totalHits
    is_exact = total.relation() == TotalHits.Relation.EQUAL_TO
    return Found(_ranked(top.scoreDocs[:count]), total.value(), is_exact)


def _ranked(hits: Iterable[Any]) -> list[RankedHit]:
    return [RankedHit(hit.doc, hit.score, hit.score) for hit in map(ScoreDoc.cast_, hits)]


def _explanation(found: Any) -> ScoreExplanation:
    return ScoreExplanation(
        str(found.getDescription()),
        float(found.getValue().doubleValue()) if found.isMatch() else 0.0,
        lambda: [_explanation(Explanation.cast_(part)) for part in found.getDetails()],
    )


def fingerprinted(
    searcher: Any,
    chunks: Iterable[int],
    is_wanted: Callable[[Fingerprint], bool] = lambda _: True,
) -> list[Fingerprinted]:
    reader = searcher.getIndexReader()
    every = fingerprints_of(reader, chunks)
    fingerprints = {chunk: found for chunk, found in every.items() if is_wanted(found)}
    documents = _documents_of(reader, fingerprints)
    times = {key: _greatest_values(reader, key, fingerprints) for key in (FILE_MODIFIED, MODIFIED)}
    return [
        Fingerprinted(
            documents[chunk],
            _id(searcher, chunk, documents[chunk]),
            found,
            time_of_change({key: values.get(chunk) for key, values in times.items()}),
        )
        for chunk, found in fingerprints.items()
    ]


def _id(searcher: Any, chunk: int, term: str) -> str:
    """Return the id of a document, which may be too long to be its term."""
    if "\0" not in term:
        return term
    stored = searcher.storedFields().document(chunk, stored_fields(schema.SOURCE_DOCUMENT))
    return str(stored.get(schema.SOURCE_DOCUMENT))


def _documents_of(reader: Any, chunks: Iterable[int]) -> dict[int, str]:
    found = {}
    for leaf, base, of_leaf in _by_segment(reader, chunks):
        values = SortedDocValues.cast_(leaf.getSortedDocValues(schema.SOURCE_DOCUMENT))
        for chunk in of_leaf:
            values.advanceExact(chunk - base)
            found[chunk] = str(values.lookupOrd(values.ordValue()).utf8ToString())
    return found


def _greatest_values(reader: Any, key: str, chunks: Iterable[int]) -> dict[int, str]:
    """Return the greatest value of a metadata key of each chunk that has one."""
    found = {}
    for leaf, base, of_leaf in _by_segment(reader, chunks):
        values: Any = leaf.getSortedSetDocValues(schema.metadata_field(key))
        if values is None:
            continue
        values = SortedSetDocValues.cast_(values)
        for chunk in of_leaf:
            if values.advanceExact(chunk - base):
                ordinal = max(values.nextOrd() for _ in range(values.docValueCount()))
                found[chunk] = str(values.lookupOrd(ordinal).utf8ToString())
    return found


def _by_segment(reader: Any, chunks: Iterable[int]) -> Iterator[tuple[Any, int, Iterator[int]]]:
    """Yield each segment that has some of the chunks, its first number, and these chunks."""
    segments = list(DirectoryReader.cast_(reader).leaves())
    bases = [int(segment.docBase) for segment in segments]
    for place, of_segment in groupby(sorted(chunks), lambda chunk: bisect_right(bases, chunk) - 1):
        yield LeafReader.cast_(segments[place].reader()), bases[place], of_segment

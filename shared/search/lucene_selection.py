"""The chunks of an index folder that a query selects: their order, and their values by chunk."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from typing import Any, Final

from java.lang import Double
from org.apache.lucene.facet import FacetsCollectorManager
from org.apache.lucene.index import (
    DirectoryReader,
    LeafReader,
    SortedDocValues,
    SortedSetDocValues,
    Term,
)
from org.apache.lucene.search import (
    MatchAllDocsQuery,
    ScoreDoc,
    Sort,
    SortedNumericSelector,
    SortedNumericSortField,
    SortedSetSelector,
    SortedSetSortField,
    SortField,
    TermQuery,
    TotalHits,
)

from shared.analysis.fingerprints import Fingerprint
from shared.errors import FilterError
from shared.java.cancellation import guarded
from shared.model import schema
from shared.model.filters import Filter
from shared.model.metadata import MODIFIED
from shared.model.request import BY_SCORE, SearchRequest
from shared.model.search_results import ChunkText, Facet
from shared.query.compiler import Compiler
from shared.query.folders import in_folder
from shared.query.limits import check_allowed, check_patterns, is_costly, running
from shared.query.lucene_terms import LuceneTerms, terms_of
from shared.query.pipeline import ParsedQuery, parse_query
from shared.query.tree import Node, TermPhrase, leaves, ranks
from shared.search.facets import best_by_document, count_documents, count_facets, filtered
from shared.search.feedback import REORDERED, applies, matches, reordered, scored_again
from shared.search.ranking import meaning_of
from shared.search.selection import (
    DocumentHits,
    Fingerprinted,
    Found,
    Meaning,
    RankedHit,
    Selection,
)
from shared.search.versions import resolved
from shared.storage.commits import Snapshot
from shared.storage.field_names import all_fields, metadata_field_of
from shared.storage.fingerprints import fingerprints_of, sharing, with_fingerprint
from shared.storage.mapping import SHOWN_FIELDS, counted_from_lucene, stored_fields

_FEW_CONDITIONS: Final = 10
"""Maximum number of prefix and range filters that do not make a query costly; each reads all values
of a metadata key."""


class LuceneSelection(Selection):
    """The chunks of a commit that match a query and pass the filters of a search.

    Args:
        snapshot: the commit to be searched.
        request: the search request.

    Attributes:
        filters: the filters of the request and of the query.
        searcher: Lucene's searcher of the commit, which can be stopped if the query is costly.
        ranked: the query that finds and ranks the hits, without the filters.

    Raises:
        QueryParseError: the query is not valid syntax.
        QueryError: the query is too long or too large, or cannot be run now.
        InvalidTextError: the query is not valid Unicode.
        FilterError: a filter does not fit the index.
    """

    terms: LuceneTerms

    def __init__(self, snapshot: Snapshot, request: SearchRequest) -> None:
        self.terms = terms_of(snapshot.reader)
        self.query = parse_query(request, self.terms, snapshot.weights)
        with running():
            is_slow = self._compile(self.query, request.filters)
        self.shares = {}
        self._shows_content = request.content != "none"
        self._documents: dict[int, Any] = {}
        self._snapshot = snapshot.stoppable() if is_slow else snapshot
        self.searcher = self._snapshot.searcher
        self.filters = resolved(self, (*request.filters, *self.query.read.filters))
        self._selected = self.filtered(self.ranked)

    def _compile(self, query: ParsedQuery, filters: Sequence[Filter]) -> bool:
        """Make the Lucene queries; return true if they can take long."""
        tree = query.tree
        is_slow = is_costly(tree) or sum(map(_looks_at_values, filters)) > _FEW_CONDITIONS
        if is_slow:
            check_patterns(tree, self.terms)
            check_allowed()
        compiler = Compiler(self.terms.query, guard=guarded if is_slow else None)
        self.ranked = compiler.query(tree)
        self._compiler = compiler
        return is_slow

    @cached_property
    def matching(self) -> Any:
        """A query that matches the same chunks and counts them faster."""
        tree = self.query.tree
        return replace(self._compiler, ranks=False).query(tree) if ranks(tree) else self.ranked

    def filtered(self, query: Any) -> Any:
        """Return a Lucene query restricted to the chunks that pass the filters.

        Raises:
            FilterError: a field or a value does not fit.
        """
        return filtered(query, self.filters, self._snapshot)

    def best(self, count: int) -> Found:
        """Return the hits with the highest scores by the tree that finds them, best first.

        If the query consists of phrases, all hits are counted in the same pass: comparing positions
        is the costliest part, and among so few hits hardly any can be skipped.
        """
        if all(isinstance(leaf, TermPhrase) for leaf in leaves(self.query.tree)):
            found = FacetsCollectorManager.search(
                self.searcher, self._selected, count, FacetsCollectorManager()
            ).topDocs()
        else:
            reorders = applies(self.query)
            most = max(count, REORDERED) if reorders else count
            found = self._found(self.searcher.search(self._selected, most))
            if reorders:
                hits = reordered(self, self.searcher, found.hits)
                found = replace(found, hits=hits[:count])
            return found
        return self._found(found)

    def in_order(self, sort: str, count: int) -> Found:
        """Return the first hits in an order, without scores."""
        reader = self._snapshot.reader
        in_order = document_order() if sort == BY_SCORE else order(sort, reader)
        return self._found(self.searcher.search(self._selected, count, in_order, True))

    def _found(self, top: Any) -> Found:
        hits = [_ranked(ScoreDoc.cast_(hit)) for hit in top.scoreDocs]
        total = top.totalHits
        is_exact = total.relation() == TotalHits.Relation.EQUAL_TO
        return Found(hits, total.value(), is_exact)

    def count(self) -> int:
        """Return the number of hits."""
        return int(self.searcher.count(self.filtered(self.matching)))

    def count_documents(self) -> int:
        """Return the number of documents that have hits."""
        return count_documents(self.searcher, self.filtered(self.matching))

    def documents(self, hits: Sequence[RankedHit]) -> list[str]:
        """Return the document of each hit, by its term."""
        found = documents_of(self.searcher.getIndexReader(), {hit.doc for hit in hits})
        return [found[hit.doc] for hit in hits]

    def values(self, key: str, hits: Sequence[RankedHit]) -> list[str | None]:
        """Return the greatest value of a metadata key of each hit; None for one without any."""
        found = greatest_values(self.searcher.getIndexReader(), key, {hit.doc for hit in hits})
        return [found.get(hit.doc) for hit in hits]

    def in_documents(self, documents: Sequence[str], count: int) -> Mapping[str, DocumentHits]:
        """Return the best hits in each of some documents; those without hits are left out."""
        if not documents:
            return {}
        found = best_by_document(self.searcher, self._selected, documents, count)
        return {
            document: DocumentHits([_ranked(ScoreDoc.cast_(hit)) for hit in hits], total)
            for document, total, hits in found
        }

    def fingerprints(self, documents: Sequence[str]) -> list[Fingerprinted]:
        """Return some documents of the index with their fingerprints, those that have one."""
        if not documents or schema.FINGERPRINT not in self.terms.fields:
            return []
        return documents_matching(self.searcher, with_fingerprint(documents), len(documents))

    def fingerprints_sharing(
        self, terms: Sequence[str], count: int, is_wanted: Callable[[Fingerprint], bool]
    ) -> list[Fingerprinted]:
        """Return documents of the index whose fingerprints have one of some terms."""
        return documents_matching(self.searcher, sharing(terms), count, is_wanted)

    def scored_again(self, hits: Sequence[RankedHit], tree: Node) -> list[RankedHit]:
        """Return hits reordered after the scores of a tree are added to theirs."""
        query = Compiler(self.terms.query).query(tree)
        before = [ScoreDoc(hit.doc, hit.score) for hit in hits]
        return list(map(_ranked, scored_again(self.searcher, before, query)))

    def matches(self, trees: Sequence[Node], hits: Sequence[RankedHit]) -> list[list[int]]:
        """Return for each hit the positions of the trees that it matches."""
        return matches(self.searcher, trees, hits)

    def contents(self, hits: Sequence[RankedHit]) -> list[str]:
        """Return the text of each hit."""
        found = self._loaded(hits, shows_content=True)
        return [document.get(schema.CONTENT) or "" for document in found]

    def chunks(self, hits: Sequence[RankedHit]) -> Iterator[tuple[ChunkText, int]]:
        """Yield the chunk of each hit, and the number of chunks of its document."""
        folders = self._snapshot.folders
        found = self._loaded(hits, shows_content=self._shows_content)
        return (counted_from_lucene(document, folders) for document in found)

    def _loaded(self, hits: Sequence[RankedHit], *, shows_content: bool) -> Iterator[Any]:
        """Yield the stored fields of hits, each of which is read once."""
        stored = self.searcher.storedFields()
        fields = stored_fields(*(SHOWN_FIELDS if shows_content else SHOWN_FIELDS[:-1]))
        for hit in hits:
            if hit.doc not in self._documents:
                self._documents[hit.doc] = stored.document(hit.doc, fields)
            yield self._documents[hit.doc]

    def facets(self, names: Sequence[str], *, of_documents: bool = False) -> list[Facet]:
        """Count the values of metadata keys among the hits, or among their documents."""
        return count_facets(
            self._snapshot, self.matching, names, self.filters, of_documents=of_documents
        )

    def texts_with(self, field: str, term: str, count: int) -> Iterator[str]:
        """Yield stored texts of some chunks that have a term in a field."""
        found = self.searcher.search(TermQuery(Term(field, term)), count).scoreDocs
        stored, loaded = self.searcher.storedFields(), stored_fields(field)
        documents = (stored.document(ScoreDoc.cast_(hit).doc, loaded) for hit in found)
        return (document.get(field) or "" for document in documents)

    def has_no_file_in(self, folder: str) -> bool:
        """Check whether no file of the index lies in a folder, given by name or path."""
        query = Compiler(scores=False).query(in_folder(folder, self._snapshot.folders))
        return not self.searcher.count(query)

    def meaning(self, request: SearchRequest) -> Meaning | None:
        """Return the meaning of the query; None if it is ranked by its words only."""
        meaning = meaning_of(self._snapshot, self.query, request)
        if meaning is None or not self.filters:
            return meaning
        return replace(meaning, allowed=self.filtered(MatchAllDocsQuery()))

    def take_problem(self) -> str | None:
        """Return the reason why hits are ranked by words only, if nobody was told of it yet."""
        encoder = self._snapshot.encoder
        return encoder.take_problem() if encoder else None

    @property
    def is_stopped(self) -> bool:
        """True if a search ended early, so that hits may be missing."""
        return bool(self.searcher.timedOut())


def _looks_at_values(condition: Filter) -> bool:
    return condition.operator in {"prefix", "range"}


def _ranked(hit: Any) -> RankedHit:
    return RankedHit(hit.doc, hit.score, hit.score)


def document_order(*, is_descending: bool = False) -> Any:
    """Return a sort order by document id, then by position in the document."""
    return Sort(_document_order(is_descending=is_descending))


def order_by_text(field: str, *, is_descending: bool) -> Any:
    """Return a sort order by the text values of a field; ties are in document order.

    Args:
        field: a Lucene field of the metadata; chunks without it come last.
        is_descending: true to sort the greatest value first.
    """
    return Sort([_text_field(field, is_descending), *_document_order()])


def order(name: str, reader: Any) -> Any:
    """Return the sort order that a name means; ties are in document order.

    Args:
        name: ``source_document``, ``chunk_index`` or a metadata key; a minus before it reverses the
            order. Of several values, the one that comes first in that order counts. Chunks without
            a value come last. Files are sorted by the prefix of their folder, then by their path.
        reader: the reader to be searched, which knows the fields that exist.

    Raises:
        FilterError: no document has the field.
    """
    key, reverse = name.removeprefix("-"), name.startswith("-")
    if key == BY_SCORE:
        raise FilterError("hits are sorted best first; -score is not an order")
    return Sort([_field(key, reverse, reader), *_document_order()])


def _document_order(*, is_descending: bool = False) -> list[Any]:
    return [
        SortField(schema.SOURCE_DOCUMENT, SortField.Type.STRING, is_descending),
        SortField(schema.CHUNK_INDEX, SortField.Type.INT),
    ]


def _field(key: str, reverse: bool, reader: Any) -> Any:
    if key == schema.SOURCE_DOCUMENT:
        return SortField(key, SortField.Type.STRING, reverse)
    if key == schema.CHUNK_INDEX:
        return SortField(key, SortField.Type.INT, reverse)
    text = metadata_field_of(key, all_fields(reader), (schema.SOURCE_DOCUMENT, schema.CHUNK_INDEX))
    number = schema.number_field(key)
    if number in all_fields(reader):
        of_several = SortedNumericSelector.Type.MAX if reverse else SortedNumericSelector.Type.MIN
        field = SortedNumericSortField(number, SortField.Type.DOUBLE, reverse, of_several)
        field.setMissingValue(Double(float("-inf") if reverse else float("inf")))
        return field
    return _text_field(text, reverse)


def _text_field(name: str, reverse: bool) -> Any:
    of_several = SortedSetSelector.Type.MAX if reverse else SortedSetSelector.Type.MIN
    field = SortedSetSortField(name, reverse, of_several)
    # Lucene also reverses the position of missing values.
    field.setMissingValue(SortField.STRING_FIRST if reverse else SortField.STRING_LAST)
    return field


def documents_of(reader: Any, chunks: Iterable[int]) -> dict[int, str]:
    """Return the document of each of some chunks, by Lucene's number of the chunk.

    A document is named by its term, which is its id unless that is too long for a term.

    Args:
        reader: a Lucene reader of a commit.
        chunks: Lucene's numbers of the chunks.
    """
    found = {}
    for leaf, base, of_leaf in _by_segment(reader, chunks):
        values = SortedDocValues.cast_(leaf.getSortedDocValues(schema.SOURCE_DOCUMENT))
        for chunk in of_leaf:
            values.advanceExact(chunk - base)
            found[chunk] = str(values.lookupOrd(values.ordValue()).utf8ToString())
    return found


def greatest_values(reader: Any, key: str, chunks: Iterable[int]) -> dict[int, str]:
    """Return the greatest value of a metadata key of each chunk that has one.

    Args:
        reader: a Lucene reader of a commit.
        key: the metadata key, which no document needs to have.
        chunks: Lucene's numbers of the chunks.
    """
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


def documents_matching(
    searcher: Any,
    query: Any,
    count: int,
    is_wanted: Callable[[Fingerprint], bool] = lambda _: True,
) -> list[Fingerprinted]:
    """Return the documents whose fingerprints are in the chunks that a query matches.

    Args:
        searcher: a Lucene searcher.
        query: the query, see `shared.storage.fingerprints`.
        count: the maximum number of documents to look at, from 1: the first ones of the index.
        is_wanted: chooses among them by their fingerprints.
    """
    hits = searcher.search(query, count, Sort.INDEXORDER).scoreDocs
    return fingerprinted(searcher, [ScoreDoc.cast_(hit).doc for hit in hits], is_wanted)


def fingerprinted(
    searcher: Any,
    chunks: Iterable[int],
    is_wanted: Callable[[Fingerprint], bool] = lambda _: True,
) -> list[Fingerprinted]:
    """Return the documents of some chunks that have fingerprints.

    Args:
        searcher: a Lucene searcher.
        chunks: Lucene's numbers of the chunks; those without a fingerprint are left out.
        is_wanted: chooses among the documents by their fingerprints.
    """
    reader = searcher.getIndexReader()
    every = fingerprints_of(reader, chunks)
    fingerprints = {chunk: found for chunk, found in every.items() if is_wanted(found)}
    documents = documents_of(reader, fingerprints)
    modified = greatest_values(reader, MODIFIED, fingerprints)
    return [
        Fingerprinted(
            documents[chunk], _id(searcher, chunk, documents[chunk]), found, modified.get(chunk)
        )
        for chunk, found in fingerprints.items()
    ]


def _id(searcher: Any, chunk: int, term: str) -> str:
    """Return the id of a document, which may be too long to be its term."""
    if "\0" not in term:
        return term
    stored = searcher.storedFields().document(chunk, stored_fields(schema.SOURCE_DOCUMENT))
    return str(stored.get(schema.SOURCE_DOCUMENT))

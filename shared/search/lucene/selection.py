"""The chunks of an index folder that a query selects."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from org.apache.lucene.facet import FacetsCollectorManager
from org.apache.lucene.index import Term
from org.apache.lucene.search import MatchAllDocsQuery, ScoreDoc, TermQuery, TotalHits

from shared.analysis.fingerprints import Fingerprint
from shared.java.cancellation import guarded
from shared.model import schema
from shared.model.filters import Filter
from shared.model.request import BY_SCORE, SearchRequest
from shared.model.search_results import ChunkText, Facet
from shared.query.compiler import Compiler
from shared.query.folders import in_folder
from shared.query.limits import check_allowed, check_patterns, is_costly, running
from shared.query.lucene_terms import LuceneTerms, terms_of
from shared.query.pipeline import ParsedQuery, parse_query
from shared.query.tree import Node, TermPhrase, leaves, ranks
from shared.search.grouping.versions import resolved
from shared.search.lucene.doc_values import documents_of, greatest_values
from shared.search.lucene.facets import count_documents, count_facets
from shared.search.lucene.feedback import REORDERED, applies, reordered
from shared.search.lucene.filtering import filtered
from shared.search.lucene.grouping import best_by_document
from shared.search.lucene.rescoring import matches, scored_again
from shared.search.lucene.sorting import document_order, order
from shared.search.lucene.versions import documents_matching
from shared.search.meaning.query_meaning import Meaning, meaning_of
from shared.search.meaning.ranked_hit import RankedHit
from shared.search.selection import DocumentHits, Fingerprinted, Found, Selection
from shared.storage.commits import Snapshot
from shared.storage.fingerprints import sharing, with_fingerprint
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

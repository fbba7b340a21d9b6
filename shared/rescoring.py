"""Hits scored again by a further query, in which nothing is looked for but these hits."""

from typing import Any

from org.apache.lucene.search import QueryRescorer, ScoreDoc, TopDocs, TotalHits


def scored_again(searcher: Any, hits: list[Any], query: Any) -> list[Any]:
    """Hits (``ScoreDoc``) in the order of their scores with those of a query of Lucene added."""
    # The class has a method of this name, too, hence JCC's underscore.
    before = TopDocs(TotalHits(len(hits), TotalHits.Relation.EQUAL_TO), hits)
    again = QueryRescorer.rescore_(searcher, before, query, 1.0, len(hits))
    return [ScoreDoc.cast_(hit) for hit in again.scoreDocs]

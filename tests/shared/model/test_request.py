"""Requests: keyword arguments are the fields of a request, and a request can be changed by them."""

from dataclasses import fields
from pathlib import Path

from shared import Document, Index, Searcher
from shared.model.request import SearchOptions, SearchRequest


def test_every_field_beside_the_query_is_an_option() -> None:
    named = {field.name for field in fields(SearchRequest)}
    assert named == SearchOptions.__annotations__.keys() | {"query"}


def test_a_whole_request_is_searched_and_explained_as_its_parts_are(empty_index: Path) -> None:
    with Index(empty_index) as index:
        index.add(Document("lease", "Lease", "The rent is due on the third."))
        index.add(Document("menu", "Menu", "Rent a table."))
    request = SearchRequest("rent", limit=1, sort="source_document", content="none")
    with Searcher(empty_index) as searcher:
        by_parts = searcher.search("rent", limit=1, sort="source_document", content="none")
        assert searcher.search(request) == by_parts
        assert len(searcher.search(request, limit=2).results) == 2
        assert len(searcher.explain(request, detail="scores").hits) == 1
        assert len(searcher.explain("rent", detail="scores").hits) == 2

"""Queries that name a key of the metadata."""

import pytest

from shared import Document, Searcher
from shared.model.document import Metadata
from tests.conftest import NewIndex

DOCUMENTS: dict[str, Metadata] = {
    "2020": {"year": 2020, "author": "Ann Lee"},
    "2022": {"year": 2022.5},
    "2024": {"year": 2024},
    "text": {"year": "2020", "author": "nan"},
    "word": {"year": "unknown"},
}


@pytest.fixture(scope="module")
def searcher(new_index: NewIndex) -> Searcher:
    path = new_index(
        *(Document(name, "A", "text", metadata) for name, metadata in DOCUMENTS.items())
    )
    return Searcher(path)


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("year:[2020 TO 2024]", ["2020", "2022", "2024"]),
        ("year:{2020 TO 2024}", ["2022"]),
        ("year:{2020 TO 2024]", ["2022", "2024"]),
        ("year:[2020 TO 2024}", ["2020", "2022"]),
        ("year:{2020 TO *]", ["2022", "2024"]),
        ("year:[* TO 2022.5}", ["2020"]),
        ("year:[* TO *]", ["2020", "2022", "2024", "text", "word"]),
        # A year may have been written as text.
        ("year:2020", ["2020", "text"]),
        ("year:2020.0", ["2020"]),
        ("+year:2020 -author:nan", ["2020"]),
        ("year:unknown", ["word"]),
        ("year:[a TO z]", ["word"]),
        # Python would take these for numbers.
        ("year:nan", []),
        ("year:2_020", []),
        ("author:nan", ["text"]),
        ('author:"Ann Lee"', ["2020"]),
        ("author:Ann", ["2020"]),
        ("author:LEE", ["2020"]),
        ("author:An", []),
        ("author:An*", ["2020"]),
    ],
)
def test_a_key_of_the_metadata_is_a_field(searcher: Searcher, query: str, ids: list[str]) -> None:
    found = searcher.search(query).results
    assert sorted(hit.source_document for hit in found) == ids

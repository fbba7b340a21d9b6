"""Counting the values of fields among the matches, and the order of hits."""

from pathlib import Path

import pytest

from shared import (
    Document,
    Facet,
    FileState,
    Filter,
    FilterError,
    Index,
    IndexedFolder,
    IndexedFolders,
    Searcher,
    SourceFile,
)
from shared.maintenance.upkeep import optimize
from shared.model.document import Scalar
from tests.conftest import add_documents

DOCUMENTS = [
    Document("a", "A", "the rent", {"author": "Ann", "year": 2020, "modified": "2024-05-01"}),
    Document("b", "B", "the rent", {"author": "Ben", "year": 3, "modified": "2024-05-31T10:00:00"}),
    Document("c", "C", "the rent", {"author": ["Ann", "Cid"], "year": 100}),
    Document("d", "D", "the flat", {"author": "Dan", "modified": "2023-01-01T00:00:00Z"}),
]


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    path = tmp_path_factory.mktemp("order") / "index"
    with Index(path, create=True) as index:
        for document in DOCUMENTS:
            index.add(document)
            index.commit()
    return Searcher(path)


def counts(searcher: Searcher, query: str, *filters: Filter) -> dict[str, int]:
    (facet,) = searcher.search(query, facets=["author"], filters=filters).facets
    assert facet.field == "author"
    assert facet.distinct == len(facet.values)
    return {entry.value: entry.count for entry in facet.values}


def order(searcher: Searcher, sort: str, query: str = "") -> list[str]:
    return [hit.source_document for hit in searcher.search(query, sort=sort).results]


def test_values_are_counted_among_the_matches(searcher: Searcher) -> None:
    assert counts(searcher, "rent") == {"Ann": 2, "Ben": 1, "Cid": 1}
    assert counts(searcher, "") == {"Ann": 2, "Ben": 1, "Cid": 1, "Dan": 1}
    assert counts(searcher, "absent") == {}


def test_a_filter_on_the_field_leaves_its_other_values(searcher: Searcher) -> None:
    only_ben = Filter("author", value="Ben")
    assert searcher.search("rent", filters=[only_ben]).totalHits == 1
    assert counts(searcher, "rent", only_ben) == {"Ann": 2, "Ben": 1, "Cid": 1}


def test_a_filter_on_another_field_counts(searcher: Searcher) -> None:
    assert counts(searcher, "rent", Filter("year", "range", minimum=100)) == {"Ann": 2, "Cid": 1}


def test_so_does_one_with_a_list_of_values(searcher: Searcher) -> None:
    assert counts(searcher, "rent", Filter("year", "in", value=[2020, 100])) == {"Ann": 2, "Cid": 1}


def test_the_most_frequent_values_come_first_and_ten_at_most(tmp_path: Path) -> None:
    with Index(tmp_path / "index", create=True) as index:
        for number in range(30):
            index.add(Document(f"{number}", "T", "rent", {"kind": f"k{number % 15 % 12:02}"}))
    with Searcher(tmp_path / "index") as searcher:
        (facet,) = searcher.search("rent", facets=["kind"]).facets
    assert [entry.count for entry in facet.values] == [4, 4, 4] + [2] * 7
    assert facet.distinct == 12


def test_an_unknown_field_is_named(searcher: Searcher) -> None:
    with pytest.raises(FilterError, match=r"no document has the field 'colour'.*author"):
        searcher.search("rent", facets=["colour"])
    with pytest.raises(FilterError, match=r"no document has the field 'colour'.*author"):
        searcher.search("rent", sort="-colour")
    with pytest.raises(FilterError, match="-score is not an order"):
        searcher.search("rent", sort="-score")
    message = "'id' cannot be used here; the fields are source_document, chunk_index, author, mod"
    with pytest.raises(FilterError, match=message):
        searcher.search("rent", sort="id")
    message = "'chunk_index' cannot be used here; the fields are author, modified, year$"
    with pytest.raises(FilterError, match=message):
        searcher.search("rent", facets=["chunk_index"])


def test_an_empty_index_has_no_fields_yet(empty_index: Path) -> None:
    with (
        Searcher(empty_index) as searcher,
        pytest.raises(FilterError, match="'colour'; no document has metadata yet"),
    ):
        searcher.search("rent", facets=["colour"])


def test_a_facet_of_no_hits_has_no_values(searcher: Searcher) -> None:
    assert searcher.search("nothing", facets=["author"]).facets == [Facet("author", [], 0)]


def test_a_facet_of_a_key_that_only_deleted_chunks_had_has_no_values(empty_index: Path) -> None:
    with Index(empty_index) as index:
        index.add(Document("kept", "T", "text"))
        index.add(Document("gone", "T", "text", {"key": "value"}))
        index.commit()
        index.delete("gone")
    optimize(empty_index)
    add_documents(empty_index, Document("another", "T", "text"))
    with Searcher(empty_index) as searcher:
        assert searcher.search("text", facets=["key"]).facets == [Facet("key", [], 0)]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("year", "bcad"),
        ("-year", "acbd"),
        ("author", "acbd"),
        ("-author", "dcba"),
        ("modified", "dabc"),
        ("-modified", "badc"),
        ("source_document", "abcd"),
        ("-source_document", "dcba"),
    ],
)
def test_the_order_of_hits(searcher: Searcher, sort: str, expected: str) -> None:
    assert order(searcher, sort) == list(expected)


@pytest.mark.parametrize("values", [(1, 5, 9), ("1", "5", "9")])
def test_of_several_values_the_first_in_the_order_counts(
    empty_index: Path, values: tuple[Scalar, Scalar, Scalar]
) -> None:
    least, middle, greatest = values
    with Index(empty_index) as index:
        index.add(Document("wide", "T", "text", {"key": [greatest, least]}))
        index.add(Document("narrow", "T", "text", {"key": middle}))
    with Searcher(empty_index) as searcher:
        for sort in ("key", "-key"):
            hits = searcher.search("text", sort=sort).results
            assert [hit.source_document for hit in hits] == ["wide", "narrow"]


def test_files_come_folder_by_folder(empty_index: Path, tmp_path: Path) -> None:
    with Index(empty_index) as index:
        # Their paths have another order than their prefixes.
        index.folders = IndexedFolders(
            (IndexedFolder("b/", tmp_path / "1"), IndexedFolder("a/", tmp_path / "2"))
        )
        for prefix, name in (("b/", "x"), ("a/", "y"), ("a/", "x")):
            file = SourceFile(name, FileState(prefix, 4, 0, "hash"))
            index.add(Document(prefix + name, "T", "text", file=file))
    with Searcher(empty_index) as searcher:
        assert order(searcher, "file_path") == ["a/x", "a/y", "b/x"]
        assert order(searcher, "-file_path") == ["b/x", "a/y", "a/x"]


@pytest.mark.parametrize(
    ("sort", "expected"), [("chunk_index", [1, 2, 3]), ("-chunk_index", [3, 2, 1])]
)
def test_chunks_by_their_place(empty_index: Path, sort: str, expected: list[int]) -> None:
    add_documents(empty_index, Document("a", "A", "word " * 600))
    with Searcher(empty_index) as searcher:
        hits = searcher.search("word", sort=sort).results
    assert [hit.chunk_index for hit in hits] == expected


def test_hits_sorted_by_a_field_have_their_scores(searcher: Searcher) -> None:
    by_score = {hit.id: hit.score for hit in searcher.search("rent").results}
    by_year = {hit.id: hit.score for hit in searcher.search("rent", sort="year").results}
    assert by_score == by_year


def test_pages_follow_each_other(searcher: Searcher) -> None:
    pages = [
        searcher.search("rent", sort="-year", offset=offset, limit=1).results[0].source_document
        for offset in range(3)
    ]
    assert pages == order(searcher, "-year", "rent")


@pytest.mark.parametrize(
    ("minimum", "maximum", "found"),
    [
        ("2024", None, "ab"),
        (2024, None, "ab"),
        (2023.0, "2024-05-30", "ad"),
        (None, "2023", "d"),
        ("2024-05", "2024-05", "ab"),
        ("2024-05-31", "2024-05-31", "b"),
        ("2024-05-31T10:00", "2024-05-31T10:00", "b"),
        (None, "2023-01-01T00:00:00+00:00", "d"),
        ("2024-06-01", None, ""),
    ],
)
def test_a_date_includes_all_of_its_day_month_or_year(
    searcher: Searcher, minimum: Scalar | None, maximum: str | None, found: str
) -> None:
    dates = Filter("modified", "range", minimum=minimum, maximum=maximum)
    hits = searcher.search("", filters=[dates]).results
    assert [hit.source_document for hit in hits] == list(found)

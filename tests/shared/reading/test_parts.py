"""An index, and one limited to collections, which answers as one with only their documents."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from shared import Document, FilterError, Index, Searcher, create
from shared.errors import (
    ChunkNotFoundError,
    DocumentNotFoundError,
    IndexPathError,
    InvalidTextError,
    McpLuceneError,
)
from shared.model.document import Metadata
from shared.model.filters import Collection, Filter
from tests.conftest import add_documents

OPEN: Final = [
    Document(
        "lease", "Lease of the workshop", "The rent is due on the third. " * 60, {"year": 2021}
    ),
    Document(
        "recipe", "Mirabelle tart", "Stone the mirabelles and roll the pastry.", {"year": 2023}
    ),
    Document("letter", "Letter to the landlord", "The heating of the workshop is broken."),
]

SECRET: Final = [
    Document(
        "secret/nightingale",
        "Project Nightingale",
        "The merger with Zanzibarium is worth nine millions. The rent of the workshops is a cover. "
        * 40,
        {"clearance": "topmost", "year": 2030, "author": "Quenby"},
    ),
    Document("lease-old", "Leasing", "workshap workshap workshap", {"clearance": "lower"}),
]

COLLECTIONS: Final = [
    Collection("open", "What everybody may read.", (Filter("access", value="all"),)),
    Collection("closed", "What few may read.", (Filter("access", value="few"),)),
    Collection("recent", "", (Filter("year", "range", minimum=2022),)),
    Collection("foreign", "Of a key that nothing has.", (Filter("country", value="fr"),)),
]

SECRETS: Final = ("nightingale", "zanzibarium", "clearance", "topmost", "quenby", "workshap")


def with_access(document: Document, access: str) -> Document:
    """A document with the metadata by which it is in a collection."""
    return Document(
        document.id, document.title, document.content, {**document.metadata, "access": access}
    )


@pytest.fixture(scope="module")
def searchers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Searcher, Searcher]]:
    folder = tmp_path_factory.mktemp("parts")
    with part_and_alone(folder / "whole", folder / "alone") as both:
        yield both


@contextmanager
def part_and_alone(whole: Path | str, alone: Path | str) -> Iterator[tuple[Searcher, Searcher]]:
    """The part of an index with secrets, and an index that never had any."""
    for path, documents in ((whole, [*OPEN, *SECRET]), (alone, OPEN)):
        with Index(path, create=True) as index:
            for document in documents:
                index.add(with_access(document, "all" if document in OPEN else "few"))
    with (
        Searcher(whole, collections=COLLECTIONS) as everything,
        Searcher(alone, collections=COLLECTIONS[:1]) as reference,
    ):
        yield everything.within(["open"]), reference


QUESTIONS: Final[dict[str, Callable[[Searcher], Any]]] = {
    "everything": lambda s: s.search("", sort="source_document"),
    "words of both": lambda s: s.search("rent workshop", facets=["year", "access", "collection"]),
    "words of the secrets": lambda s: s.search("nightingale merger zanzibarium"),
    "misspelled secret": lambda s: s.search("nightingal zanzibariums"),
    "misspelled word": lambda s: s.search("wrkshop"),
    "word that is rare here": lambda s: s.search("workshop", limit=1),
    "phrase": lambda s: s.search('"is a cover" "is due"', sort="chunk_index"),
    "wildcard": lambda s: s.search("zanz* OR work*"),
    "expression": lambda s: s.search("/wor.*/", syntax="lucene"),
    "secret value of a known key": lambda s: [s.search(f"access:{v} rent") for v in ("few", "fe*")],
    "secret value among words": lambda s: s.explain("few rent", detail="steps").steps,
    "grouped": lambda s: s.search("workshop", group="document"),
    "filter on a year": lambda s: s.search("", filters=[Filter("year", "range", minimum=2000)]),
    "documents": lambda s: s.documents(),
    "documents by prefix": lambda s: s.documents(prefix="lease"),
    "documents by title": lambda s: s.documents(sort="title"),
    "details": lambda s: s.document_details("lease"),
    "chunks": lambda s: s.document_chunks("lease"),
    "next": lambda s: s.next_chunk("lease-chunk-001"),
    "similar": lambda s: [c.id for c in s.similar_chunks("lease-chunk-001").results],
    "terms": lambda s: s.top_terms(limit=1_000),
    "titles": lambda s: s.top_terms(field="title", limit=1_000),
    "values": lambda s: s.top_terms(field="year"),
    "ids": lambda s: s.top_terms(field="source_document"),
    "suggested words": lambda s: [s.suggest_terms(letter) for letter in "nzwqcl"],
    "fields": lambda s: s.fields(),
    "counts": lambda s: (s.statistics().documents, s.statistics().chunks),
    "deleted": lambda s: s.statistics().deleted_chunks,
    "languages": lambda s: s.statistics().languages,
    "failures": lambda s: s.failures(),
    "folders": lambda s: s.folders(),
    "files": lambda s: s.files(),
    "listed": lambda s: s.catalog.documents(limit=10),
    "ids with a prefix": lambda s: s.catalog.document_ids("", 10),
    "chunk ids": lambda s: s.catalog.chunk_ids("", 100),
    "completed fields": lambda s: [s.catalog.complete_fields(p) for p in ("filter", "facet")],
    "field names": lambda s: s.catalog.field_names(),
    "digest": lambda s: s.catalog.digest_of_ids(),
    "versions": lambda s: s.catalog.digests(["secret/nightingale", "lease"]),
    "explained": lambda s: [
        s.explain(query, detail="terms").terms
        for query in ("nightingale rent", "nightingal", "zan* wor*", "rent~ zanzibari~")
    ],
    "steps": lambda s: s.explain("nightingale workshap rent zanz*", detail="steps").steps,
    "unknown document": lambda s: s.document_chunks("secret/nightingale"),
    "nearly an id": lambda s: s.document_chunks("secret/nightingal"),
    "unknown chunk": lambda s: s.chunk("secret/nightingale-chunk-001"),
    "unknown file": lambda s: s.document_file("secret/nightingale"),
    "unknown field": lambda s: s.top_terms(field="clearance"),
    "misspelled field": lambda s: s.top_terms(field="clearence"),
    "unknown filter": lambda s: s.search("", filters=[Filter("clearance", value="topmost")]),
    "unknown facet": lambda s: s.search("", facets=["clearance"]),
    "unknown order": lambda s: s.search("", sort="clearance"),
    "another collection": lambda s: s.search("", filters=[Filter("collection", value="closed")]),
    "documents of another collection": lambda s: s.documents(collection="closed"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_part_answers_as_an_index_of_its_own(
    searchers: tuple[Searcher, Searcher], question: str
) -> None:
    check_question(searchers, question)


def check_question(searchers: tuple[Searcher, Searcher], question: str) -> None:
    """Check that both answer the same, and nothing of the secrets."""
    part, alone = (answer_of(searcher, question) for searcher in searchers)
    assert part == alone
    for secret in SECRETS:
        # What was asked for may be repeated in the answer.
        assert secret not in str(part).lower() or secret in asked(question)


def asked(question: str) -> str:
    """The constants of a question, which an answer may repeat."""
    code = QUESTIONS[question].__code__
    nested = [part.co_consts for part in code.co_consts if hasattr(part, "co_consts")]
    return str([code.co_consts, nested]).lower()


def answer_of(searcher: Searcher, question: str) -> Any:
    try:
        return plain(QUESTIONS[question](searcher))
    except McpLuceneError as error:
        return type(error).__name__, str(error)


def plain(value: Any) -> Any:
    """A value without scores and times, which depend on more than the chunks."""
    match value:
        case dict():
            return {
                key: plain(part)
                for key, part in value.items()
                if key not in {"score", "confidence", "place"}
            }
        case list() | tuple():
            return [plain(part) for part in value]
        case _ if is_dataclass(value) and not isinstance(value, type):
            return plain(asdict(value))
    return str(value)


def test_collections_are_filters_facets_and_lists(searchers: tuple[Searcher, Searcher]) -> None:
    part, _ = searchers
    with Searcher(part.path, collections=COLLECTIONS) as whole:
        found = whole.search("", facets=["collection"], group="document")
        counts = {value.value: value.count for value in found.facets[0].values}
        assert counts == {"open": 3, "closed": 2, "recent": 2}
        recent = Filter("collection", "in", ["recent", "foreign"])
        hits = whole.search("", filters=[recent], group="document").results
        assert {hit.source_document for hit in hits} == {"recipe", "secret/nightingale"}
        other = Filter("collection", "ne", "open")
        hits = whole.search("", filters=[other], group="document").results
        assert {hit.source_document for hit in hits} == {"lease-old", "secret/nightingale"}
        listed = whole.documents(collection="recent").documents
        assert [document.source_document for document in listed] == ["recipe", "secret/nightingale"]
        assert not whole.documents(collection="foreign").documents
        with pytest.raises(FilterError, match="there is no collection 'recnt'; did you mean 'rec"):
            whole.documents(collection="recnt")
        with pytest.raises(FilterError, match="it takes no 'prefix'"):
            whole.search("", filters=[Filter("collection", "prefix", "re")])


def test_limits_of_limits_are_what_both_allow(searchers: tuple[Searcher, Searcher]) -> None:
    part, _ = searchers
    both = part.within(["recent", "closed"])
    assert [summary.source_document for summary in both.documents().documents] == ["recipe"]
    with Searcher(part.path, collections=COLLECTIONS) as whole:
        few = whole.within(["open", "recent"]).within(["recent"])
        ids = [summary.source_document for summary in few.documents().documents]
        assert ids == ["recipe", "secret/nightingale"]
        assert list(few.collections) == ["recent"]
        assert not whole.within(["nothing", "foreign"]).documents().documents


def test_a_part_sees_every_commit(tmp_path: Path) -> None:
    path = tmp_path / "index"
    create(path)
    with Searcher(path, collections=COLLECTIONS) as whole:
        part = whole.within(["open"])
        assert part.documents().total_documents == 0
        before = part.commit()
        add_documents(path, with_access(OPEN[0], "all"), with_access(SECRET[0], "few"))
        assert part.documents().total_documents == 1
        assert part.commit() not in (before, whole.commit())
        add_documents(path, with_access(OPEN[0], "few"))
        with pytest.raises(DocumentNotFoundError):
            part.document_chunks("lease")
        with pytest.raises(ChunkNotFoundError):
            part.chunk("lease-chunk-001")
        assert whole.documents().total_documents == 2


def test_an_index_is_only_read(searchers: tuple[Searcher, Searcher]) -> None:
    part, _ = searchers
    before = state_of(part.path)
    assert part.search("rent").totalHits
    part.within(["recent"]).search("rent")
    assert state_of(part.path) == before


def state_of(folder: Path) -> dict[str, tuple[int, int]]:
    files = {file.name: file.stat() for file in folder.iterdir()}
    return {name: (state.st_size, state.st_mtime_ns) for name, state in files.items()}


def test_no_folder_with_links_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Not the index of other tests, whose files are in use.
    path, temporary = tmp_path / "index", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    add_documents(path, with_access(OPEN[0], "all"), with_access(SECRET[0], "few"))
    with Searcher(path, collections=COLLECTIONS) as whole:
        for name in ("open", "closed", "recent"):
            assert whole.within([name]).statistics().documents == 1
    assert list(temporary.iterdir()) == []


def test_the_total_is_exact_above_lucenes_own_threshold(empty_index: Path) -> None:
    with Index(empty_index) as index:
        for number in range(1500):
            index.add(Document(str(number), "T", "common " * (1 + number % 7)))
    with Searcher(empty_index) as searcher:
        assert searcher.search("common", limit=3).totalHits == 1500


@pytest.mark.parametrize(
    ("start", "count", "expected"),
    [(1, 2, [1, 2]), (4, 10, [4, 5]), (5, None, [5]), (6, 5, []), (1, None, [1, 2, 3, 4, 5])],
)
def test_reading_a_document_from_a_place_on(
    filled_index: Path, start: int, count: int | None, expected: list[int]
) -> None:
    with Searcher(filled_index) as searcher:
        answer = searcher.document_chunks("long", start_index=start, count=count)
    assert answer.total_chunks == 5
    assert [chunk.chunk_index for chunk in answer.chunks] == expected


def test_statistics_tell_nothing_of_deleted_documents(empty_index: Path) -> None:
    with Index(empty_index) as index:
        # Lucene merges a segment as soon as a fifth of its chunks are deleted.
        for number in range(9):
            english: Metadata = {"language": "en", "file_extension": "txt"}
            index.add(Document(f"{number}", "T", "text", english))
        index.add(Document("gone", "T", "text", {"language": "de", "file_extension": "pdf"}))
    with Index(empty_index) as index:
        index.delete("gone")
    with Searcher(empty_index) as searcher:
        figures = searcher.statistics()
    assert figures.deleted_chunks == 1
    assert (figures.languages, figures.formats) == ({"en": 9}, {"txt": 9})


@pytest.mark.parametrize(
    "arguments",
    [
        *({"limit": 0}, {"offset": -1}, {"offset": 2**31}, {"operator": "AND"}, {"syntax": "sql"}),
        *({"content": "half"}, {"min_confidence": -0.1}, {"min_confidence": 1.1}),
    ],
)
def test_arguments_out_of_range_are_refused(filled_index: Path, arguments: dict[str, Any]) -> None:
    with Searcher(filled_index) as searcher, pytest.raises(ValueError, match="is out of range"):
        searcher.search("x", **arguments)


def test_no_chunk_has_a_number_beyond_lucenes_count(filled_index: Path) -> None:
    with Searcher(filled_index) as searcher:
        assert searcher.document_chunks("long", start_index=2**32 + 1).chunks == []
        with pytest.raises(ValueError, match="count is out of range"):
            searcher.document_chunks("long", count=0)


def test_text_that_is_no_unicode_is_named(filled_index: Path) -> None:
    with Searcher(filled_index) as searcher:
        for look in (
            searcher.next_chunk,
            searcher.document_chunks,
            searcher.search,
            searcher.explain,
        ):
            with pytest.raises(InvalidTextError, match="lone surrogate at character 1"):
                look("a\udcff")
        with pytest.raises(InvalidTextError):
            searcher.documents(prefix="a\udcff")
    with pytest.raises(IndexPathError, match="its name is not valid Unicode"):
        Searcher(f"{filled_index}\udcff")

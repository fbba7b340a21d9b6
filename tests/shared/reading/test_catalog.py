from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from java.nio.file import Paths
from org.apache.lucene.index import IndexWriter, IndexWriterConfig, NoMergePolicy, Term
from org.apache.lucene.store import FSDirectory

from shared import Document, Index, InvalidTextError, Searcher
from shared.maintenance.rebuild import rebuild
from shared.model.schema import SOURCE_DOCUMENT
from shared.reading.catalog import Catalog
from tests.conftest import add_documents
from tests.shared.conftest import LONG


@pytest.fixture
def catalog(empty_index: Path) -> Iterator[Catalog]:
    with Searcher(empty_index) as searcher:
        yield searcher.catalog


def delete(path: Path, *ids: str) -> None:
    with Index(path) as index:
        index.delete_documents(ids)


def ids(
    catalog: Catalog, after: str | None = None, prefix: str = "", limit: int = 100
) -> list[str]:
    found = catalog.documents(after=after, prefix=prefix, limit=limit)
    return [document.source_document for document in found]


def test_pages_go_on_where_the_last_one_ended_whatever_happens_in_between(
    catalog: Catalog, empty_index: Path
) -> None:
    add_documents(empty_index, *(Document(name, name, "text") for name in "bdfhj"))
    assert ids(catalog, limit=2) == ["b", "d"]
    # Before the place: a new one, and one that goes; it itself; after it.
    add_documents(empty_index, Document("a", "A", "text"), Document("g", "G", "text"))
    delete(empty_index, "b", "d", "h")
    assert ids(catalog, after="d") == ["f", "g", "j"]
    assert ids(catalog, after="j") == []
    assert ids(catalog, prefix="g") == ["g"]
    assert ids(catalog, prefix="g", after="a") == ["g"]
    assert ids(catalog, prefix="g", after="h") == []


def test_ids_of_any_length_and_characters_are_listed_once_each(
    catalog: Catalog, empty_index: Path
) -> None:
    names = ["\0", "a\nb", "../x", "\U0001f600" * 10_000, "\U0001f600" * 9_999, "é", "z"]
    add_documents(empty_index, *(Document(name, "T", "text") for name in names))
    listed, last = [], None
    while page := ids(catalog, after=last, limit=1):
        listed += page
        last = page[0]
    assert sorted(listed) == sorted(names)
    assert catalog.document_ids("\U0001f600", 100).total == 2
    with pytest.raises(InvalidTextError):
        catalog.documents(after="\ud800", limit=1)


def test_names_that_begin_in_a_certain_way(catalog: Catalog, empty_index: Path) -> None:
    add_documents(empty_index, Document("report 1", "R", LONG), Document("report 2", "R", "text"))
    add_documents(empty_index, Document("other", "O", "text"), Document("report 3", "R", "text"))
    delete(empty_index, "report 3")
    found = catalog.document_ids("report", 1)
    assert (found.total, found.values) == (2, ["report 1"])
    found = catalog.document_ids("", 10)
    assert (found.total, found.values) == (3, ["other", "report 1", "report 2"])
    found = catalog.chunk_ids("report", 10)
    assert found.values == [*(f"report 1-chunk-00{n}" for n in range(1, 6)), "report 2-chunk-001"]
    assert found.total == 6
    assert catalog.chunk_ids("report 1", 2).total == 5
    assert {"content", "title", "source_document"} <= set(catalog.field_names())


def test_the_digest_of_the_ids_changes_with_them_only(catalog: Catalog, empty_index: Path) -> None:
    seen = [catalog.digest_of_ids()]

    def changed() -> bool:
        seen.append(catalog.digest_of_ids())
        return seen[-1] != seen[-2]

    add_documents(empty_index, Document("a", "A", LONG), Document("b", "B", "text"))
    assert changed()
    assert not changed()
    add_documents(empty_index, Document("a", "New", "other text"))
    assert not changed()
    # As a merge of segments does, this moves everything.
    rebuild(empty_index)
    assert not changed()
    # As many documents as before.
    with Index(empty_index) as index:
        index.delete("b")
        index.add(Document("c", "C", "text"))
    assert changed()
    delete(empty_index, "c")
    assert changed()
    delete(empty_index, "a")
    assert changed()
    assert seen[-1] == seen[0]


def test_the_digest_of_the_ids_does_not_depend_on_what_was_deleted(
    catalog: Catalog, empty_index: Path
) -> None:
    names = [f"{number:04d}" for number in range(2_000)]
    add_documents(empty_index, *(Document(name, "T", "text") for name in names))
    directory = FSDirectory.open(Paths.get(str(empty_index)))
    configuration = IndexWriterConfig().setMergePolicy(NoMergePolicy.INSTANCE)
    with closing(directory), closing(IndexWriter(directory, configuration)) as writer:
        writer.deleteDocuments([Term(SOURCE_DOCUMENT, name) for name in names[100:]])
    # Of so many terms so few have documents that Lucene counts them in another order.
    few = catalog.digest_of_ids()
    rebuild(empty_index)
    assert catalog.digest_of_ids() == few


def test_a_digest_tells_whether_what_is_shown_of_a_document_changed(
    catalog: Catalog, empty_index: Path
) -> None:
    known: dict[str, str | None] = {"a": None, "b": None}

    def changed() -> set[str]:
        nonlocal known
        before, known = known, catalog.digests(known)
        return {name for name in known if known[name] != before[name]}

    assert changed() == set()
    add_documents(empty_index, Document("a", "A", LONG, {"year": 1}), Document("b", "B", "text"))
    assert changed() == {"a", "b"}
    steps = count()

    def step(document: Document) -> set[str]:
        add_documents(empty_index, document, Document(f"other {next(steps)}", "O", "text"))
        return changed()

    assert step(Document("a", "A", LONG, {"year": 1})) == set()
    assert step(Document("a", "A", LONG, {"year": 2})) == {"a"}
    assert step(Document("a", "Another", LONG, {"year": 2})) == {"a"}
    assert step(Document("a", "Another", f"{LONG} end", {"year": 2})) == {"a"}
    # When it was read is not shown.
    assert step(Document("a", "Another", f"{LONG} end", {"year": 2, "indexed": "now"})) == set()
    rebuild(empty_index)
    assert changed() == set()
    delete(empty_index, "a")
    assert changed() == {"a"}
    assert known["a"] is None
    assert known["b"] is not None

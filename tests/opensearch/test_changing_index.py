"""What a call sees of an index that others change before it or meanwhile."""

from itertools import count, islice
from typing import Any

import pytest

from shared import Document, Index, Searcher
from shared.errors import FilterError
from shared.model.document import FileState
from shared.model.filters import Filter
from shared.opensearch import rebuild, snapshot as opening
from shared.opensearch.backend import ClusterBackend, IndexOnCluster
from shared.opensearch.connection import Connection
from shared.reading.documents import list_documents
from tests.opensearch.conftest import file_of, store_of, write

pytestmark = pytest.mark.opensearch


def test_a_search_knows_a_field_that_was_written_since_the_last_one(address: str) -> None:
    with Index(address, create=True) as index:
        index.add(Document("d", "D", "text", {"year": 2021}))
    branded = Filter("brand", value="Otter")
    with Searcher(address) as searcher:
        with pytest.raises(FilterError):
            searcher.search("", filters=[branded])
        with Index(address) as index:
            index.add(Document("e", "E", "text", {"brand": "Otter"}))
        assert searcher.search("", filters=[branded], facets=["brand"]).totalHits == 1
        assert searcher.explain("", filters=[branded]).total_hits == 1
        with pytest.raises(FilterError):
            searcher.search("", filters=[Filter("brnad", value="Otter")])


def test_no_state_of_a_file_is_missing_while_others_replace_it(address: str) -> None:
    """Those of the beginning are seen, of one commit, and not only once nobody writes any more."""

    with Index(address, create=True) as index:
        for name in "de":
            index.add(Document(name, "D", "text", file=file_of(1)))
    sizes = count(2)

    def files_while_they_are_touched(snapshot: ClusterBackend) -> dict[str, FileState]:
        for size in islice(sizes, 2):
            with Index(address) as index:
                for name in "de":
                    index.update_file_state(name, file_of(size).state)
        return snapshot.file_states()

    cluster = IndexOnCluster(address, "command")
    assert cluster.call(files_while_they_are_touched) == dict.fromkeys("de", file_of(1).state)
    assert cluster.call(lambda of: of.file_states()) == dict.fromkeys("de", file_of(3).state)
    cluster.close()


def test_a_long_list_is_read_once_however_often_others_write_meanwhile(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:

    names = [f"d{number}" for number in range(5)]
    with Index(address, create=True) as index:
        for name in names:
            index.add(Document(name, "D", "text", file=file_of(1)))
    monkeypatch.setattr(opening, "MOST_PER_PAGE", 2)
    others, sizes = Index(address), count(2)
    cluster = IndexOnCluster(address, "command")
    ask = Connection.request

    def while_others_write(self: Connection, method: str, path: str, *body: Any, **of: Any) -> Any:
        answer = ask(self, method, path, *body, **of)
        if self is cluster.store.connection and path in {"/_search/scroll", "/_msearch"}:
            others.update_file_state("d1", file_of(next(sizes)).state)
            others.commit()
            # From the second page on the time is over for which a call goes by one state.
            monkeypatch.setattr(opening, "_MOST_SECONDS", 0.0 if "scroll" in path else 15.0)
        return answer

    monkeypatch.setattr(Connection, "request", while_others_write)
    assert cluster.call(lambda of: of.file_states()) == dict.fromkeys(names, file_of(1).state)
    assert next(sizes) > 3
    listed = cluster.call(lambda of: list_documents(of, "", 0, None, "source_document"))
    assert [of.source_document for of in listed.documents] == names
    assert listed.total_chunks == 5
    others.__exit__(None, None, None)
    cluster.close()


def test_a_rebuild_may_take_longer_than_a_call_goes_by_one_state(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Index(address, create=True) as index:
        for number in range(5):
            index.add(Document(f"d{number}", "D", "text"))
    monkeypatch.setattr(opening, "_MOST_SECONDS", 0.0)
    monkeypatch.setattr(rebuild, "_MOST_READ", 2)
    assert rebuild.rebuild(address).documents == 5
    with Searcher(address) as searcher:
        assert searcher.search("text").totalHits == 5


def test_an_index_that_is_made_anew_has_other_commits(address: str) -> None:
    store = store_of(address)
    commits = []
    for _ in range(2):
        write(address, d="text")
        with Searcher(address) as searcher:
            commits.append(searcher.commit())
        store.remove()
    assert commits[0] != commits[1]


def test_an_index_that_is_made_anew_may_have_more_shards(address: str) -> None:
    def fill() -> None:
        with Index(address, create=True) as index:
            for number in range(12):
                words = "rare common" if number == 7 else "common"
                index.add(Document(f"d{number}", "D", f"{words} word{number}"))

    def scores(searcher: Searcher) -> dict[str, float]:
        found = searcher.search("rare common word3", limit=12).results
        return {hit.id: hit.score for hit in found}

    fill()
    with Searcher(address) as searcher:
        before = scores(searcher)
        store_of(address).remove()
        store_of(address).create(shards=3)
        fill()
        assert scores(searcher) == pytest.approx(before, abs=1e-6)

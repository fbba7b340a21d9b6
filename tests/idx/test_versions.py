"""`idx search` shows of several versions of a text the newest."""

import json
from pathlib import Path
from typing import Any

import pytest

from shared import Filter, Index, Searcher
from shared.errors import FilterError
from shared.model.filters import Collection
from shared.model.search_results import SimilarDocuments
from tests.conftest import Idx, add_documents
from tests.idx.files import searched
from tests.idx.letters import OTHERS, VERSIONS, letters

INDEXES = Path(__file__).parents[2] / "test-index"


@pytest.fixture(autouse=True)
def _documents(empty_index: Path) -> None:
    add_documents(empty_index, *letters())


def documents(answer: dict[str, Any]) -> list[str]:
    return [hit["source_document"] for hit in answer["results"]]


def test_people_see_the_newest_version_and_which_others_there_are(idx: Idx) -> None:
    shown = idx("search", "harbour", "--limit", "15")
    lines = shown.stdout.splitlines()
    assert lines.count("   and 2 similar documents:") == 1
    place = lines.index("   and 2 similar documents:")
    assert lines[place + 1 : place + 3] == ["     second", "     draft"]
    assert sum("final-chunk" in line for line in lines) == 1
    # All that match are counted.
    total = len(VERSIONS) + OTHERS
    counted = f"{total} chunks match; shown: 1 to {total - 2}"
    assert shown.stderr == f"{counted}, for 2 similar documents, too.\n"
    every = idx("search", "harbour", "--limit", "15", "--versions", "all")
    assert "similar document" not in every.stdout
    assert every.stderr.endswith(f"; shown: 1 to {total}.\n")


def test_programs_get_the_ids_if_they_ask_for_documents(idx: Idx) -> None:
    plain = searched(idx, "harbour", "--limit", "20")
    assert {*VERSIONS} <= {*documents(plain)}
    assert "similar_documents" not in json.dumps(plain)
    grouped = searched(idx, "harbour", "--limit", "20", "--group", "document")
    assert {*VERSIONS} & {*documents(grouped)} == {"final"}
    assert grouped["total_documents"] == len(VERSIONS) + OTHERS
    assert grouped["totalHits"] == plain["totalHits"]
    similar = {hit["source_document"]: hit.get("similar_documents") for hit in grouped["results"]}
    assert similar.pop("final") == {"count": 2, "ids": ["second", "draft"]}
    assert {*similar.values()} == {None}
    # Chunks of older versions can be left out, too.
    chunks = searched(idx, "harbour", "--limit", "20", "--versions", "newest")
    assert {*VERSIONS} & {*documents(chunks)} == {"final"}


def test_pages_follow_each_other(idx: Idx) -> None:
    options = ("--group", "document", "--limit", "4", "--offset")
    pages = [documents(searched(idx, "harbour", *options, offset)) for offset in (0, 4, 8, 12)]
    assert [len(page) for page in pages] == [4, 4, 4, 1]
    assert len({name for page in pages for name in page}) == OTHERS + 1


def test_a_version_that_matches_better_is_shown_itself(idx: Idx) -> None:
    answer = searched(idx, "harbour Ottermere", "--group", "document", "--limit", "20")
    assert documents(answer)[0] == "draft"
    assert "similar_documents" not in answer["results"][0]
    (final,) = [hit for hit in answer["results"] if hit["source_document"] == "final"]
    assert final["similar_documents"] == {"count": 1, "ids": ["second"]}


def test_only_versions_that_pass_the_filters_count(idx: Idx) -> None:
    older = ("--filter", "modified<=2021-12-31", "--group", "document")
    (hit,) = searched(idx, "harbour", *older)["results"]
    assert (hit["source_document"], hit["similar_documents"]["ids"]) == ("second", ["draft"])


def test_a_part_of_an_index_tells_nothing_of_versions_elsewhere(empty_index: Path) -> None:
    older = Collection("older", "", (Filter("kind", "in", ["draft", "second", "other"]),))
    with Searcher(empty_index, collections=[older]) as searcher:
        part = searcher.within(["older"])
        answer = part.search("harbour", group="document", versions="newest", limit=20)
        similar = {hit.source_document: hit.similar_documents for hit in answer.results}
        assert similar["second"] == SimilarDocuments(1, ["draft"])
        assert "final" not in similar
        for name in ("final", "draft"):
            listed = part.search("", filters=[Filter("version_of", "eq", name)])
            found = {hit.source_document for hit in listed.results}
            assert found == ({"draft", "second"} if name == "draft" else set())


def test_a_filter_lists_the_versions_of_a_document(idx: Idx) -> None:
    listed = searched(idx, "", "--filter", "version_of=second", "--group", "document")
    assert {*documents(listed)} == {*VERSIONS}
    others = searched(idx, "", "--filter", "version_of!=second", "--limit", "50")
    assert {*documents(others)} == {f"other-{number:02d}" for number in range(OTHERS)}
    alone = searched(idx, "harbour", "--filter", "version_of=other-03|draft", "--limit", "50")
    assert {*documents(alone)} == {*VERSIONS, "other-03"}
    assert searched(idx, "harbour", "--filter", "version_of=nothing")["totalHits"] == 0
    assert "version_of" in idx("search", "x", "--filter", "version_of^=dr", code=1).stderr


def test_an_order_by_a_field_stays_that_order(idx: Idx, empty_index: Path) -> None:
    newest = documents(searched(idx, "harbour", "--sort", "-modified", "--limit", "3"))
    assert newest[0] == "final"
    assert not {"second", "draft"} & {*newest}
    with Searcher(empty_index) as searcher:
        for sort in ("source_document", "modified"):
            answer = searcher.search(
                "harbour", sort=sort, group="document", versions="newest", limit=20
            )
            names = [hit.source_document for hit in answer.results]
            everything = searcher.search("harbour", sort=sort, group="document", limit=20)
            left = [hit.source_document for hit in everything.results]
            assert names == [name for name in left if name not in {"second", "draft"}]
        with pytest.raises(FilterError, match="takes the id of a document"):
            searcher.search("harbour", filters=[Filter("version_of", "exists")])


def test_many_copies_take_one_place(idx: Idx, empty_index: Path) -> None:
    with Index(empty_index) as index:
        copy = next(letters())
        for number in range(120):
            index.add(type(copy)(f"copy-{number:03d}", "Copy", copy.content))
    answer = searched(idx, "harbour Ottermere", "--group", "document", "--limit", "5")
    first = answer["results"][0]
    assert first["source_document"] == "draft"
    assert first["similar_documents"]["count"] == 120
    assert len(first["similar_documents"]["ids"]) == 5
    assert not any(name.startswith("copy") for name in documents(answer))

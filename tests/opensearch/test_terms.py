"""Terms of an index on a cluster, of which only some are remembered."""

from pathlib import Path

import pytest

from shared import Document, Index, Searcher
from shared.model.filters import Collection, Filter
from shared.opensearch import backend, terms
from tests.conftest import Idx

pytestmark = pytest.mark.opensearch

WORDS = ["garden", "lease", "rent", "tenant", "workshop"]

QUERIES = ["rent lease", "tenants workshop", "rant", "leese gardn", "rent", "worksohp"]


@pytest.mark.parametrize("is_part", [False, True])
def test_answers_are_the_same_when_terms_are_forgotten(
    address: str, monkeypatch: pytest.MonkeyPatch, *, is_part: bool
) -> None:
    with Index(address, create=True) as index:
        for number in range(3):
            index.add(Document(f"d{number}", "D", " ".join(WORDS), {"access": "all"}))
    everything = Collection("open", "", (Filter("access", value="all"),))

    def answers(searcher: Searcher) -> list[object]:
        asked = searcher.within(["open"]) if is_part else searcher
        suggested = [vars(asked.suggest_terms(letter)) for letter in "glrt"]
        return [*suggested, vars(asked.top_terms()), *(vars(asked.search(of)) for of in QUERIES)]

    with Searcher(address, collections=[everything]) as searcher:
        expected = answers(searcher)
        assert [term.term for term in searcher.top_terms().terms] == WORDS
    monkeypatch.setattr(terms, "_MOST_TERMS", 3)
    monkeypatch.setattr(terms, "_MOST_PATTERNS", 2)
    with Searcher(address, collections=[everything]) as searcher:
        assert answers(searcher) == expected
        assert answers(searcher) == expected


def test_words_are_counted_in_chunks_chosen_by_chance(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Index(address, create=True) as index:
        for number in range(80):
            word = "early" if number < 60 else "later"
            index.add(Document(f"d{number}", "D", f"common {word}"))
    monkeypatch.setattr(backend, "_MOST_READ", 40)
    with Searcher(address) as searcher:
        found = searcher.top_terms()
        assert [(of.term, of.chunks) for of in found.terms] == [
            ("common", 80),
            ("early", 60),
            ("later", 20),
        ]
        assert not found.complete
        assert found.notice is not None
        assert "give a prefix to find rarer ones" in found.notice
        # A word of chunks that were not looked at may have more of them.
        first = searcher.top_terms(limit=1)
        assert [(of.term, of.chunks) for of in first.terms] == [("common", 80)]
        assert not first.complete
        assert first.notice == found.notice
        assert "10,000" not in first.notice
        assert searcher.suggest_terms("l").complete
        # Every id has one chunk, and all values of a keyword field were counted.
        for field in ("id", "source_document"):
            assert searcher.top_terms(field=field, limit=3).complete
        monkeypatch.setattr(backend, "MOST_TERMS_OF_A_PATTERN", 2)
        cut = searcher.suggest_terms("")
        assert not cut.complete
        assert cut.notice is not None
        assert "10,000" not in cut.notice


def test_a_folder_with_many_files_of_the_rest_is_a_folder_of_a_part(
    idx: Idx, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.txt", "b.txt", "c.txt", "open/z.txt"):
        file = tmp_path / "papers" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"A paper, which is {name}")
    idx("sync", "-i", address, tmp_path / "papers")
    monkeypatch.setattr(terms, "MOST_TERMS_OF_A_PATTERN", 2)
    shown = f"{tmp_path / 'papers' / 'open'}/"
    part = Collection("open", "", (Filter("file_path", "prefix", shown),))
    with Searcher(address, collections=[part]) as searcher:
        asked = searcher.within(["open"])
        assert [folder.path for folder in asked.folders()] == [tmp_path / "papers"]
        (hit,) = asked.search("file_name:z paper").results
        assert hit.file_path == f"{shown}z.txt"
        assert asked.search("file_name:z").note is None

"""The words of a language of very few chunks are found like all others."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import Document, Filter, Index, Searcher

LETTER = Document(
    "brev",
    "Brev",
    "Kære mor, jeg skriver til dig fra København, hvor jeg har lejet en lille lejlighed tæt ved "
    "havnen og arbejder i en boghandel sammen med to andre studerende.",
    {"language": "da"},
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rare") / "index"


@pytest.fixture(
    scope="module", params=[50, pytest.param(10_000, marks=pytest.mark.soak)], ids=["few", "many"]
)
def others(request: pytest.FixtureRequest) -> int:
    """How many English chunks stand beside the letter."""
    return int(request.param)


@pytest.fixture(scope="module")
def searcher(folder: Path, others: int) -> Iterator[Searcher]:
    path = folder / str(others)
    folder.mkdir(exist_ok=True)
    with Index(path, create=True) as index:
        index.add(LETTER)
        for number in range(others):
            text = f"The minutes of meeting {number} were approved by everyone who was there."
            index.add(Document(f"minutes-{number}", "Minutes", text, {"language": "en"}))
    with Searcher(path) as searcher:
        yield searcher


def found(searcher: Searcher, query: str, *filters: Filter) -> list[str]:
    # This syntax leaves similar words out.
    answer = searcher.search(query, filters=filters, syntax="lucene")
    return [hit.source_document for hit in answer.results]


def test_the_words_as_written_are_always_found(searcher: Searcher) -> None:
    assert found(searcher, "boghandel") == ["brev"]


def test_other_forms_are_found_too(searcher: Searcher) -> None:
    assert found(searcher, "lejligheder") == ["brev"]


def test_other_forms_are_always_found_under_the_filter_on_the_language(searcher: Searcher) -> None:
    assert found(searcher, "lejligheder", Filter("language", "eq", "da")) == ["brev"]

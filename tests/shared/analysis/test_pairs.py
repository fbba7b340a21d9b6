"""Which words are forms of one word, and which only look so, in each language."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from shared import Document, Searcher
from tests.conftest import NewIndex


class Pair(NamedTuple):
    """A word that is searched, and one that stands in a text.

    Attributes:
        text: the text around the word, with braces for it.
        table: the language of the text, behind "across" if that of the words is another one.
        searched: the word of the query.
        written: the word in the text.
    """

    text: str
    table: str
    searched: str
    written: str

    def __str__(self) -> str:
        return f"{self.table}: {self.searched}, {self.written}"

    @property
    def document(self) -> Document:
        """The text, in which no other word of the table stands."""
        return Document(f"{self.table} {self.written}", "1", self.text.format(self.written))


def read(kind: str) -> list[Pair]:
    """The pairs that must meet, or stay apart."""
    content = tomllib.loads(Path(__file__).with_name("pairs.toml").read_text("utf-8"))
    across = {f"across {code}": table for code, table in content.pop("across").items()}
    return [
        Pair(table["text"], code, *row.split())
        for code, table in (content | across).items()
        for row in table[kind].splitlines()
        if row
    ]


MEET: Final = read("meet")
APART: Final = read("apart")


@pytest.fixture(scope="module")
def searcher(new_index: NewIndex) -> Iterator[Searcher]:
    path = new_index(*(pair.document for pair in (*MEET, *APART)))
    with Searcher(path) as searcher:
        yield searcher


def finds(searcher: Searcher, pair: Pair) -> bool:
    """Whether the word finds the other as its form, not as what may be meant by a mistyped word."""
    answer = searcher.search(pair.searched, limit=100, syntax="lucene", content="none")
    assert answer.suggestion is None
    assert answer.totalHits <= len(answer.results)
    return pair.document.id in {hit.source_document for hit in answer.results}


@pytest.mark.parametrize("pair", MEET, ids=str)
def test_a_word_finds_its_other_form(searcher: Searcher, pair: Pair) -> None:
    assert finds(searcher, pair)


@pytest.mark.parametrize("pair", APART, ids=str)
def test_a_word_does_not_find_another_word(searcher: Searcher, pair: Pair) -> None:
    assert not finds(searcher, pair)


def test_the_table_is_large_and_has_no_pair_twice() -> None:
    pairs = [*MEET, *APART]
    assert len(pairs) >= 200
    assert len({pair.table for pair in pairs}) >= 12
    assert len({str(pair) for pair in pairs}) == len(pairs)

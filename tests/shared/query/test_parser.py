"""What Lucene's parser understands, as a tree of plain values, and how each part of it is told."""

from pathlib import Path

import pytest

from shared import create
from shared.model.request import Operator
from shared.query.parser import parse
from shared.query.tree import (
    Clause,
    Clauses,
    Everything,
    Expression,
    Fuzzy,
    Node,
    Phrase,
    Range,
    Weighted,
    Wildcard,
    Word,
)


@pytest.fixture(autouse=True)
def _java(tmp_path: Path) -> None:
    create(tmp_path / "index")


@pytest.mark.parametrize(
    ("text", "tree", "told"),
    [
        ("Roam", Word("Roam"), "Roam"),
        ("title:roam", Word("roam", "title"), "title:roam"),
        ('"a b"', Phrase(("a", "b")), '"a b"'),
        ('title:"a b"~2', Phrase(("a", "b"), 2, "title"), 'title:"a b"~2'),
        ("ma*", Wildcard("ma*"), "ma*"),
        ("title:ma*", Wildcard("ma*", "title"), "title:ma*"),
        (r"a\*b*", Wildcard(r"a\*b*"), r"a\*b*"),
        (r"title:m\?a?c*", Wildcard(r"m\?a?c*", "title"), r"title:m\?a?c*"),
        ("roam~", Fuzzy("roam", 2), "roam~2"),
        ("title:roam~1", Fuzzy("roam", 1, 0, "title"), "title:roam~1"),
        ("/jo[hn]/", Expression("jo[hn]"), "/jo[hn]/"),
        ("title:/jo[hn]/", Expression("jo[hn]", "title"), "title:/jo[hn]/"),
        ("[a TO b]", Range("a", "b"), "[a TO b]"),
        ("{a TO b]", Range("a", "b", includes_low=False), "{a TO b]"),
        ("[a TO b}", Range("a", "b", includes_high=False), "[a TO b}"),
        ("title:[* TO b]", Range(None, "b", field="title"), "title:[* TO b]"),
        ("title:[a TO *]", Range("a", None, field="title"), "title:[a TO *]"),
        ("a^2.5", Weighted(Word("a"), 2.5), "a^2.5"),
        ("*:*", Everything(), "*:*"),
        (
            "+a -b c",
            Clauses((Clause(Word("a"), "must"), Clause(Word("b"), "must_not"), Clause(Word("c")))),
            "+a -b c",
        ),
        # A word that is there several times counts so many times.
        ("a b a", Clauses((Clause(Weighted(Word("a"), 2)), Clause(Word("b")))), "a^2 b"),
    ],
)
def test_each_kind_of_query_becomes_a_part_of_its_own(text: str, tree: Node, told: str) -> None:
    found = parse(text, text, "or")
    assert found == tree
    assert str(found) == told


def test_the_operator_decides_of_words_without_a_sign() -> None:
    assert str(parse("a b", "a b", "and")) == "+a +b"
    assert str(parse("a b", "a b", "or")) == "a b"


@pytest.mark.parametrize(
    "text", ["rent", "rent rent", "rent deposit rent", "Öl 2024 не", "to or and"]
)
@pytest.mark.parametrize("operator", ["or", "and"])
def test_plain_words_are_parsed_as_in_parentheses(text: str, operator: Operator) -> None:
    assert parse(text, text, operator) == parse(f"({text})", f"({text})", operator)

"""What each step makes of a query, on trees of plain values."""

from functools import partial
from pathlib import Path

import pytest

from shared import Document, Index, QueryParseError, Searcher, create
from shared.model.weights import Weights
from shared.query.parser import parse
from shared.query.steps import phrases, wildcards
from shared.query.steps.function_words import without_function_words
from shared.query.steps.words import WordsOnFields
from shared.query.syntax import to_lucene_syntax
from shared.query.tree import (
    Clause,
    Clauses,
    Node,
    Nothing,
    Phrase,
    Terms,
    Weighted,
    Wildcard,
    Word,
    any_of,
    best_of,
    leaves,
    rewrite,
    weighted,
)

GERMAN_AND_ENGLISH = ("de", "en")
WEIGHTS = Weights(content=2.0, title=1.0, identifier=3.0, proximity=0.25)
ON_FIELDS = partial(wildcards.on_fields, weights=WEIGHTS)


def on_fields(node: Node, *, requires_all: bool = False) -> str:
    return str(rewrite(node, WordsOnFields(GERMAN_AND_ENGLISH, requires_all, WEIGHTS)))


@pytest.fixture(autouse=True)
def _java(tmp_path: Path) -> None:
    create(tmp_path / "index")


def test_a_phrase_also_matches_words_near_each_other() -> None:
    phrase = Phrase(("notice", "period"))
    assert str(rewrite(phrase, phrases.near)) == '"notice period"~3^0.5 ~"notice period"'
    titled = rewrite(Phrase(("notice", "period"), field="title"), phrases.near)
    assert {leaf.field for leaf in leaves(titled) if isinstance(leaf, Phrase)} == {"title"}


@pytest.mark.parametrize("phrase", [Phrase(("notice", "period"), slop=5)])
def test_a_phrase_that_says_how_near_stays_as_it_is(phrase: Phrase) -> None:
    assert rewrite(phrase, phrases.near) == phrase


def test_a_phrase_that_must_not_match_is_the_phrase_alone() -> None:
    excluded = Clauses((Clause(Word("rent")), Clause(Phrase(("a", "b")), "must_not")))
    assert str(rewrite(excluded, phrases.near)) == 'rent -"a b"'


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("Verträg*", "(content:vertrag* content:vertrag* (constant)^0.1)^2"),
        ("ver*", "content:ver* (constant)^2"),
        ("*VERTRAG", "(content.reversed:gartrev* content.reversed:gartrev* (constant)^0.1)^2"),
        ("*tr?g", "(content:*tr?g content:*tr?g (constant)^0.1)^2"),
        (r"a\*b*", r"(content:a\*b* content:a\*b* (constant)^0.1)^2"),
        (r"*a\?b", r"(content.reversed:b\?a* content.reversed:b\?a* (constant)^0.1)^2"),
    ],
)
def test_wildcards_are_folded_and_put_where_they_are_fast(pattern: str, expected: str) -> None:
    assert str(rewrite(Wildcard(pattern), ON_FIELDS)).startswith(expected)


def test_stars_on_both_sides_match_beginnings_ends_and_what_is_within() -> None:
    found = {str(leaf) for leaf in leaves(rewrite(Wildcard("*trag*"), ON_FIELDS))}
    assert {
        "content:trag*",
        "content.reversed:gart*",
        "content:*trag* (constant)",
    } <= found


def test_a_star_alone_is_everything() -> None:
    assert str(rewrite(Wildcard("*"), ON_FIELDS)) == "*:*"


def test_a_word_is_searched_by_its_stems() -> None:
    found = on_fields(Word("Häuser"))
    stems = "(de:haus | en:hauser | en:haus | de:haeus | de:haeuser | en:haeuser)"
    assert found == f"stems:{stems} title_stems:{stems}^0.3 metadata:hauser^0.15"


def test_an_irregular_form_counts_less() -> None:
    assert "stems:(en:mous | de:maus)" not in on_fields(Word("mouse"))
    assert "stems:en:mice^0.3" in on_fields(Word("mouse"))


def test_a_function_word_is_searched_as_it_is() -> None:
    assert "content:die title:die" in on_fields(Word("die"))
    assert on_fields(Word("the")).endswith("metadata:the^0.15")


@pytest.mark.parametrize(
    ("query", "telling"),
    [
        ("how long is the warranty", "warranty"),
        ("How long? the warranty", "warranty"),
        ("wie lange gilt die Garantie", "gilt Garantie"),
        ("wie viel kostet Bier", "kostet Bier"),
        ("combien coûte le billet", "coûte billet"),
        ("cuántos días de vacaciones", "días vacaciones"),
        ("сколько стоит билет", "стоит билет"),
        # About something long, and about nothing else.
        ("a long report", "long report"),
        ('how "long" is it', "long"),
        ("how long", "how long"),
        ("title:how long", "title:how long"),
    ],
)
def test_words_that_ask_for_a_measure_are_no_topic(query: str, telling: str) -> None:
    classic = to_lucene_syntax(query)
    languages = dict.fromkeys(("de", "en", "es", "fr", "ru"), 0.2)
    tree = parse(query, classic, "or")
    assert str(without_function_words(tree, classic, "should", languages)) == telling


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("DEC-0054", ["identifiers:dec-0054^3", 'content:"dec 0054"']),
        ("anna@example.com", ["identifiers:anna@example.com^3", 'content:"anna example.com"']),
        ("C++", ["identifiers:c++^3"]),
        ("v2.3.1", ["identifiers:v2.3.1^3", "stems:(de:v2.3.1 | en:v2.3.1)"]),
    ],
)
def test_a_name_with_signs_is_looked_for_as_it_is_written(text: str, parts: list[str]) -> None:
    found = on_fields(Word(text))
    assert all(part in found for part in parts)


@pytest.mark.parametrize("text", ["DEC-0054", "anna@example.com", "C++"])
def test_the_parts_of_a_precise_name_alone_are_no_match(text: str) -> None:
    tree = rewrite(Word(text), WordsOnFields(GERMAN_AND_ENGLISH, weights=WEIGHTS))
    alone = {leaf.texts for leaf in leaves(tree) if isinstance(leaf, Terms)}
    assert alone <= {(text.lower(),)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (".NET", "identifiers:.net^3"),
        ("a-b", 'identifiers:a-b^3 (content:"a b"^2 title:"a b") (content:ab^2 title:ab)'),
        ("AB-12", 'identifiers:ab-12^3 (content:"ab 12"^2 title:"ab 12")'),
    ],
)
def test_of_a_name_that_is_no_words_only_the_whole_is_looked_for(text: str, found: str) -> None:
    assert on_fields(Word(text)) == found


@pytest.mark.parametrize("text", ["TCP/IP", "tcp-ip"])
def test_words_joined_by_a_sign_are_words_too(text: str) -> None:
    found = on_fields(Word(text))
    assert found.startswith(f"identifiers:{text.lower()}^0.9 (stems:(de:tcpip | en:tcpip) ")
    assert "(stems:(de:tcp | en:tcp) title_stems:(de:tcp | en:tcp)^0.3 " in found
    assert "+" not in found
    assert "+(stems:(de:tcp | en:tcp)" in on_fields(Word(text), requires_all=True)


def test_a_name_of_words_is_searched_as_a_name_and_by_its_words() -> None:
    found = on_fields(Word("annual.report"))
    assert found.startswith("identifiers:annual.report^3")
    assert "stems:(de:annual.report | en:annual.report)" in found


def test_a_name_that_must_not_match_excludes_only_the_whole() -> None:
    tree = Clauses((Clause(Word("TCP/IP"), "must_not"), Clause(Word("node.js"), "must_not")))
    assert on_fields(tree) == (
        '-(identifiers:tcp/ip^3 (content:"tcp ip"^2 title:"tcp ip")) -identifiers:node.js^3'
    )


def test_a_sentence_without_blanks_is_a_row_of_characters_and_its_pairs() -> None:
    tree = rewrite(Word("契約書"), WordsOnFields(("ja", "en"), weights=WEIGHTS))
    assert 'content:"契 約 書"^2' in str(tree)
    assert "stems:ja:契約 stems:ja:約書" in str(tree)
    assert "en:" not in str(tree)


def test_a_named_field_is_the_only_one() -> None:
    assert on_fields(Word("Lease", "source_document")) == "source_document:Lease"
    assert on_fields(Word("Ann", "metadata.author")) == "metadata.author:Ann"
    assert on_fields(Word("2020", "number.year")) == "number.year:[2020 TO 2020]"
    assert "content" not in on_fields(Word("lease", "title"))
    assert on_fields(Word("ab cd", "metadata")) == "metadata:ab metadata:cd"


def test_a_phrase_of_one_word_is_the_word_and_one_of_none_is_nothing() -> None:
    assert on_fields(Phrase(("one",))) == "content:one^2 title:one"
    assert on_fields(Phrase(("...",))) == "(nothing)"


def test_a_phrase_is_found_with_either_spelling_of_an_umlaut() -> None:
    assert 'content:"hans muller|mueller"' in on_fields(Phrase(("Hans", "Müller")))
    assert 'content:"hans mueller|muller"' in on_fields(Phrase(("Hans", "Mueller")))


def test_neighbouring_words_are_searched_near_each_other() -> None:
    words = Clauses((Clause(Word("notice")), Clause(Word("period")), Clause(Word("x"), "must_not")))
    assert list(map(str, phrases.neighbours(words, WEIGHTS))) == ['"notice period"~3^0.25']


def test_not_all_neighbours_of_a_long_text_are_looked_at() -> None:
    words = Clauses(tuple(Clause(Word(f"word{number}")) for number in range(100)))
    pairs = phrases.neighbours(words, WEIGHTS)
    assert len(pairs) == phrases.MOST_PAIRS


def test_a_word_alone_has_no_neighbours() -> None:
    assert phrases.neighbours(Word("notice"), WEIGHTS) == []


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("end of the end", '"end of the end"^2'),
        ("the end", "(nothing)"),
        ("the end -lease", "(nothing)"),
        ("the end of*", "(nothing)"),
        ("the end\u00a0of it", '"the end of it"^2'),
        ('the end (of) "it"', '"the end (of) "it""^2'),
        ("end AND lease", "(nothing)"),
        ("+the +end +of", "(nothing)"),
        ("the end^3 of", "(nothing)"),
        ("the end title:lease", "(nothing)"),
        ("end " * 251, "(nothing)"),
    ],
)
def test_a_query_of_words_only_counts_as_a_phrase(text: str, phrase: str) -> None:
    assert str(phrases.whole(parse(text, text, "or"), text)) == phrase


def test_a_word_without_letters_is_no_condition() -> None:
    tree = Clauses((Clause(Word("rent"), "must"), Clause(Word("---"), "must")))
    assert on_fields(tree).count("+") == 1
    assert on_fields(Word("---")) == "(nothing)"


def test_all_terms_of_a_field_are_shown() -> None:
    assert str(Terms("content", ("a",))) == "content:a"
    assert str(Terms("content", ("a", "b"))) == "content:(a | b)"


def test_weights_multiply() -> None:
    assert weighted(weighted(Word("a"), 2), 3) == Weighted(Word("a"), 6)
    assert weighted(Word("a"), 1) == Word("a")


def test_parts_that_match_nothing_are_left_out() -> None:
    assert any_of(Nothing(), Word("a")) == Word("a")
    assert best_of(Nothing(), Nothing()) == Nothing()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("rent absent", ["a"]),
        ("+rent +absent", []),
        ("rent -absent", ["a"]),
        ("-absent", ["a", "b"]),
        ("+rent (absent OR missing)", ["a"]),
        ("+(absent OR missing)", []),
        ('rent "absent words"', ["a"]),
        ('+"absent words" rent', []),
    ],
)
def test_terms_that_no_chunk_has_change_nothing(
    tmp_path: Path, query: str, found: list[str]
) -> None:
    with Index(tmp_path / "index") as index:
        index.add(Document("a", "A", "the rent"))
        index.add(Document("b", "B", "the flat"))
    with Searcher(tmp_path / "index") as searcher:
        assert [hit.source_document for hit in searcher.search(query).results] == found


def test_a_range_of_numbers_needs_numbers(tmp_path: Path) -> None:
    with (
        Searcher(tmp_path / "index") as searcher,
        pytest.raises(QueryParseError, match="is not a number"),
    ):
        searcher.search("number.year:[new TO old]")

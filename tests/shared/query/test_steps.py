"""What the steps make of a query on a real index."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared import Document, QueryParseError, Searcher
from shared.model.request import Operator
from shared.query.parser import parse
from shared.query.pipeline import quoted_words, without_function_words
from shared.query.syntax import to_lucene_syntax
from shared.query.tree import Nothing, Terms, Weighted, Word, any_of, best_of, weighted
from tests.conftest import NewIndex, add_documents

TEXTS = {
    "lease": "The notice period of the lease is three months, and the rent is due in May.",
    "names": "See DEC-0054, node.js and user_id in C:\\Users\\Anna, and call (030) 123 45 67.",
    "other": "DEC-0055 was signed by the USA; a user of the account has the number 12 345 678.",
    "mouse": "Two mice and one mouse were seen by the children in the kitchen of the house.",
    "haus": "Die Häuser am See und der Mietvertrag sind alt, sagt Frau Müller aus Köln.",
    "ja": "太平洋中部の海水温が上昇する現象について説明します。",
}


@pytest.fixture(scope="module")
def searcher(new_index: NewIndex) -> Iterator[Searcher]:
    documents = (
        Document(id_, f"About {id_}", text, {"author": "Ann"}) for id_, text in TEXTS.items()
    )
    with Searcher(new_index(*documents)) as searcher:
        yield searcher


def on_fields(searcher: Searcher, query: str) -> str:
    """Return the tree that finds the hits of a query."""
    return searcher.explain(query, detail="steps").steps[-1].query


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # Stems in the languages of the index, the word as typed, and other fields that have it.
        ("periods", ["stems:en:period"]),
        ("Häuser", ["stems:de:haus", "content:hauser^0.15"]),
        ("lease", ["stems:en:leas", "title_stems:en:leas^0.3", "content:lease^0.15"]),
        ("Ann", ["metadata:ann^0.15"]),
        # Irregular forms count less.
        ("mouse", ["stems:en:mous", "stems:en:mice^0.3"]),
        # Capitals are a name, and have no forms.
        ("USA", ["content:usa"]),
        # The parts of a word, next to each other and joined.
        ("node.js", ['content:"node js"^0.3', "stems:en:node ", "stems:en:nodej^0.3"]),
        ("DEC-0054", ['content:"dec 0054"^0.3', "^0.28", "content:dec0054^0.3"]),
        # Digits, whatever is between them, and by their end.
        ("0301234567", ["digits:[7654321030]", "digits:765432103* (constant)"]),
        ("+4930 123 45 67", ["digits:[7654321030]"]),
        ("12345678", ["digits:[87654321]"]),
        # Wildcards on the fields where they are fast.
        ("hous*", ["content:hous* content:hous* (constant)^0.1"]),
        ("ho*", ["content:ho* (constant)"]),
        ("*ouse", ["content.reversed:esuo*"]),
        ("m?use", ["content:m?use"]),
        ("DEC-00*", ["content:dec00*"]),
        # Phrases, also with the words near each other.
        ('"notice period"', ['content:"notice period"~3^0.5', '~content:"notice period"']),
        ('"notice lease"~5', ['content:"notice lease"~5']),
        ('"frau mueller"', ['content:"frau muller"']),
        ('"DEC-0054"', ['content:"dec 0054"']),
        # The whole query as a phrase, and its language.
        ("the notice period", ['~content:"the notice period"^2', "~languages:[en und]^1.5"]),
        ("perioud~", ["content:perioud~2"]),
        ("*", ["*:*"]),
        ("title:lease", ["title_stems:en:leas^0.3", "title:lease^0.3"]),
        ("author:Ann", ["metadata.author:Ann"]),
        ("海水温", ["stems:ja:海水", "stems:ja:水温"]),
    ],
)
def test_a_query_is_put_on_the_fields(searcher: Searcher, query: str, expected: list[str]) -> None:
    found = on_fields(searcher, query)
    assert [part for part in expected if part not in found] == [], found


@pytest.mark.parametrize(
    ("query", "unexpected"),
    [
        ("USA", "stems:"),
        ('"DEC-0054"', "stems:"),
        ("-DEC-0054 lease", "stems:en:dec "),
        ("title:lease", "content:"),
        ("absent", "absent"),
    ],
)
def test_what_is_not_searched(searcher: Searcher, query: str, unexpected: str) -> None:
    assert unexpected not in on_fields(searcher, query)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("DEC-0054", "names"),
        ("dec 0055", "other"),
        ("nodejs", "names"),
        ("userid", "names"),
        ("anna", "names"),
        ("notice period", "lease"),
        ("(030) 1234567", "names"),
        ("+49 30 1234567", "names"),
        ("345678", None),
        ("5345678", None),
        ("12345678", "other"),
    ],
)
def test_the_whole_comes_first(searcher: Searcher, query: str, first: str | None) -> None:
    hits = searcher.search(query).results
    assert next((hit.source_document for hit in hits), None) == first


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
        # Names, and operators.
        ("the IT team", "IT team"),
        ("and/or e.g. rent", "rent"),
        ("+the rent", "+the rent"),
        ("to-do list", "to-do list"),
    ],
)
@pytest.mark.usefixtures("searcher")
def test_function_words_are_no_topic(query: str, telling: str) -> None:
    classic = to_lucene_syntax(query)
    languages = dict.fromkeys(("de", "en", "es", "fr", "ru"), 0.2)
    tree = parse(query, classic, "or")
    found, _ = without_function_words(tree, quoted_words(classic), "should", languages)
    assert str(found) == telling


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("how long is the warranty", "en"),
        ("wie lange gilt die Garantie", "de"),
        ("warranty", None),
        ("in", None),
    ],
)
@pytest.mark.usefixtures("searcher")
def test_function_words_tell_the_language(query: str, language: str | None) -> None:
    tree = parse(query, query, "or")
    languages = {"de": 0.5, "en": 0.5}
    assert without_function_words(tree, (), "should", languages)[1] == language


def test_a_minus_before_an_option_of_the_index_is_text(new_index: NewIndex) -> None:
    option = Document("option", "1", "Type tar -extract archive.tar in a terminal.")
    other = Document("other", "2", "Every archive has its draft.")
    with Searcher(new_index(option, other)) as searcher:
        assert searcher.search("archive -extract").results[0].source_document == "option"
        assert searcher.search("archive -extract").note is None
        answer = searcher.search("archive -draft")
    assert [hit.source_document for hit in answer.results] == ["option"]
    assert answer.note == "'-draft' excluded chunks; in quotes, it is searched as text."


def test_a_word_without_letters_is_no_condition(searcher: Searcher) -> None:
    assert searcher.search("+rent +---").totalHits == 1
    assert searcher.search("---").totalHits == 0


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
    add_documents(
        tmp_path / "index", Document("a", "A", "the rent"), Document("b", "B", "the flat")
    )
    with Searcher(tmp_path / "index") as searcher:
        assert [hit.source_document for hit in searcher.search(query).results] == found


def test_a_range_of_numbers_needs_numbers(searcher: Searcher) -> None:
    with pytest.raises(QueryParseError, match="is not a number"):
        searcher.search("number.year:[new TO old]")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        *(
            (text, text)
            for text in (
                *("Roam", "title:roam", '"a b"', 'title:"a b"~2', "ma*", "title:ma*", r"a\*b*"),
                *(r"title:m\?a?c*", "title:roam~1", "/jo[hn]/", "title:/jo[hn]/", "[a TO b]"),
                *("{a TO b]", "[a TO b}", "title:[* TO b]", "title:[a TO *]", "a^2.5", "*:*"),
                "+a -b c",
            )
        ),
        ("roam~", "roam~2"),
        # A word that is there several times counts so many times.
        ("a b a", "a^2 b"),
    ],
)
@pytest.mark.usefixtures("searcher")
def test_each_kind_of_query_is_told_as_it_was_understood(text: str, told: str) -> None:
    assert str(parse(text, text, "or")) == told


@pytest.mark.usefixtures("searcher")
def test_the_operator_decides_of_words_without_a_sign() -> None:
    assert str(parse("a b", "a b", "and")) == "+a +b"
    assert str(parse("a b", "a b", "or")) == "a b"


@pytest.mark.parametrize(
    "text", ["rent", "rent rent", "rent deposit rent", "Öl 2024 не", "to or and"]
)
@pytest.mark.parametrize("operator", ["or", "and"])
@pytest.mark.usefixtures("searcher")
def test_plain_words_are_parsed_as_in_parentheses(text: str, operator: Operator) -> None:
    assert parse(text, text, operator) == parse(f"({text})", f"({text})", operator)

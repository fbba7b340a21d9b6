import math

import pytest

from shared import Document, Searcher
from shared.errors import QueryError, QueryParseError
from shared.query.limits import MAX_BOOST, MAX_QUERY_LENGTH
from tests.conftest import NewIndex


@pytest.fixture(scope="module")
def searcher(new_index: NewIndex) -> Searcher:
    path = new_index(
        Document("menu", "Menu of the week", "Café au lait and Crème brûlée"),
        Document("lease", "Lease", "The rent of the cafe is due on the third"),
        Document("haus", "Häuser", "Straße und Häuser in Köln"),
        Document("quick", "Fox", "the quick brown fox jumps over the lazy dog"),
    )
    return Searcher(path)


def found(searcher: Searcher, query: str, **options: str) -> list[str]:
    answer = searcher.search(query, **options)  # type: ignore[arg-type] # spelled in each test
    return [hit.source_document for hit in answer.results]


@pytest.mark.parametrize("word", ["café", "cafe", "CAFÉ", "Cafe\u0301"])
def test_case_and_accents_make_no_difference(searcher: Searcher, word: str) -> None:
    assert sorted(found(searcher, word)) == ["lease", "menu"]


def test_folding_holds_for_other_letters_too(searcher: Searcher) -> None:
    assert found(searcher, "strasse") == ["haus"]
    assert found(searcher, "hauser") == ["haus"]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("ค่าเช่า", {"rent", "water"}),
        ("ห้อง -ค่าเช่า", {"water"}),
        ("title:ค่าเช่า", {"rent"}),
        ("content:ค่าเช่?ห้อง", set()),
        ("ค่าเช* ห้อง", {"rent", "water"}),
    ],
)
def test_syntax_holds_where_words_have_no_blanks(
    new_index: NewIndex, query: str, ids: set[str]
) -> None:
    path = new_index(
        Document("rent", "ค่าเช่า", "ผู้เช่าห้องจ่ายค่าเช่าทุกเดือน"),
        Document("water", "น้ำ", "ค่าน้ำของห้องรวมค่าไฟ"),
    )
    with Searcher(path) as searcher:
        assert set(found(searcher, query)) == ids


def test_a_word_finds_texts_in_its_language_before_those_on_the_word_of_another_one(
    new_index: NewIndex,
) -> None:
    path = new_index(
        Document(
            "uhr", "Uhr", "Die Batterie für die Uhr ist leer, sagt der Uhrmacher aus der Stadt."
        ),
        Document(
            "auto", "Auto", "Der Wagen startet nicht, weil die Batterie im Winter zu kalt war."
        ),
        Document("shop", "Shop", "You can buy the battery at the shop near the station."),
        Document("flat", "Flat", "The battery is flat and the car does not start any more."),
        Document("box", "Box", "Batteries are not included in the box, please buy them."),
    )
    with Searcher(path) as searcher:
        assert set(found(searcher, "Batterie")[:2]) == {"uhr", "auto"}


@pytest.mark.parametrize(
    ("query", "first"),
    [("2024-0815", "file"), ("nach", "after"), ("lägenhet 6", "sixth"), ("file NOT vi", "page")],
)
def test_a_rule_about_numbers_and_forms_does_not_hide_the_word_as_typed(
    new_index: NewIndex, query: str, first: str
) -> None:
    path = new_index(
        Document("file", "Akte", "Der Vertrag gilt ab 2024, siehe Akte 2024-0815 im Schrank."),
        Document("numbers", "Zahlen", "2024 gab es 0815 Anträge, 2024 und 0815 sind Zahlen, 2024."),
        Document(
            "seamstress", "Mode", "Die Näherin ändert das Kleid, und die Näherin ist schnell."
        ),
        Document(
            "after", "Arbeit", "Nach der Arbeit gehen wir alle zusammen in den Park am Fluss."
        ),
        Document("sixth", "Hyra", "Hyran för lägenhet 6 höjs i maj, skriver hyresvärden till oss."),
        Document("we", "Vi", "Vi bor i en lägenhet och vi trivs, men vi flyttar snart igen."),
        Document("page", "Page", "See page 6 of the file, and keep it with the other papers."),
    )
    with Searcher(path) as searcher:
        assert found(searcher, query)[0] == first


def test_no_word_is_too_common_to_be_found(searcher: Searcher) -> None:
    assert sorted(found(searcher, "the")) == ["lease", "menu", "quick"]


def test_a_word_of_the_title_is_found_beside_the_content(searcher: Searcher) -> None:
    assert found(searcher, "week") == ["menu"]
    assert found(searcher, "lease") == ["lease"]


def test_one_word_is_enough_by_default_and_and_needs_all(searcher: Searcher) -> None:
    assert sorted(found(searcher, "cafe dog")) == ["lease", "menu", "quick"]
    assert found(searcher, "cafe dog", operator="and") == []
    assert found(searcher, "cafe rent", operator="and") == ["lease"]


@pytest.mark.parametrize("query", ["quick,lazy,___", "quick,lazy,★"])
def test_and_needs_nothing_that_has_no_letter(searcher: Searcher, query: str) -> None:
    assert [hit.id for hit in searcher.search(query, operator="and").results] == ["quick-chunk-001"]


def test_and_may_be_met_by_title_and_content_together(searcher: Searcher) -> None:
    assert found(searcher, "week lait", operator="and") == ["menu"]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ('"quick brown"', ["quick"]),
        ('"brown quick"', ["quick"]),
        ('"quick jumps"', ["quick"]),
        ('"quick dog"', []),
        ('"quick fox"~1', ["quick"]),
        ('"quick jumps"~1', []),
        ("jum*", ["quick"]),
        ("*umps", ["quick"]),
        ("j?mps", ["quick"]),
        ("BRÛ*", ["menu"]),
        ("jumsp~", ["quick"]),
        ("cafe -rent", ["menu"]),
        ("cafe AND NOT lait", ["lease"]),
        ("+cafe +(lait OR nothing)", ["menu"]),
        ("title:lease", ["lease"]),
        ("source_document:quick", ["quick"]),
        ('id:"quick-chunk-001"', ["quick"]),
        ("[jumo TO jumq]", ["quick"]),
        ("content:JUMSP~1", ["quick"]),
        ("content:[Jumo TO JUMQ]", ["quick"]),
        ("title:[Jumo TO JUMQ]", []),
        (f"{'(quick ' * 40}{')' * 40}", ["quick"]),
        ("/j.mps/", ["quick"]),
        ("lazy AND over", ["quick"]),
        ("lazy AND (- /)", ["quick"]),
        ("lazy \u0301~", ["quick"]),
        (f'　~ jumsp~ "{"a " * 600}b"~3', ["quick"]),
    ],
)
def test_lucenes_classic_syntax(searcher: Searcher, query: str, ids: list[str]) -> None:
    assert found(searcher, query) == ids


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
def test_an_empty_query_browses_all_chunks_in_order(searcher: Searcher, query: str) -> None:
    answer = searcher.search(query)
    assert [hit.source_document for hit in answer.results] == ["haus", "lease", "menu", "quick"]
    assert answer.totalHits == 4
    assert {hit.score for hit in answer.results} == {1.0}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("foo AND", r"Parse error: the query ends too early, at character 7: 'foo AND'"),
        ('say "hello', r"Parse error: the query ends too early, at character 10"),
        ("(a b", r"Parse error: the query ends too early, at character 4"),
        ("a AND AND b", r"Parse error: unexpected 'AND' at character 7, after 'a AND '"),
        ("a ) b", r"Parse error: unexpected '\)' at character 3, after 'a '"),
        ("title:", r"Parse error: the query ends too early, at character 6"),
        ("/a[/", r"Parse error: unexpected end-of-string"),
        ("at line 1, column 99 )", r"Parse error: unexpected '\)' at character 22"),
        ("🦦🦦 AND AND b", r"Parse error: unexpected 'AND' at character 8, after '🦦🦦 AND '"),
    ],
)
def test_a_parse_error_says_where(searcher: Searcher, query: str, message: str) -> None:
    with pytest.raises(QueryParseError, match=message):
        searcher.search(query, syntax="lucene")


MANY = "".join(map(chr, range(0x4E00, 0x4E00 + 200, 2)))
"""A hundred characters, no two of which are neighbours."""


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("x" * 100_000, "the query has 100,000 characters; at most 20,000"),
        ("\ufdfa" * 2_000, "the query has 36,000 characters; at most 20,000"),
        (" ".join(f"w{n}" for n in range(3000)), "comes to more than 2,048 terms"),
        (f"{'(a ' * 250}{')' * 250}", "nested too deeply"),
        (f"{'(' * 60}a{' b)^2' * 60}", "nested too deeply"),
        (f"{'(' * 60}a{')^2' * 60}", "nested too deeply"),
        (f"{'ab' * 33}~", "words with ~ may have 64 letters each, and 500 in all"),
        # Lucene separates words at few of the spaces that there are.
        (f"{'中' * 2_000}\u00a0b~", "words with ~ may have 64 letters each"),
        (f"fox -{'ab' * 33}~", "words with ~ may have 64 letters each"),
        (" ".join(f"word{n:04}~1" for n in range(100)), "words with ~ may have 64 letters each"),
        # One character that is eighteen in the index.
        (20 * "\ufdfa" + "~", "words with ~ may have 64 letters each"),
        (40 * "ß" + "~", "words with ~ may have 64 letters each"),
        ("fox^1" + 38 * "0", "weights of the query come to more than 1e"),
        ("((fox^10000000 dog)^1000000 cat)^1000000", "weights of the query come to more than 1e"),
        ("/a{1,100000}/", "repeats too much"),
        ("/(a{90}b){90}/ x", "repeats too much"),
        (r"/a\/b{1,100000}/", "repeats too much"),
        ('"a/b" /(a{1000}){1000}/', "repeats too much"),
        ("[a/b TO c] /a{1,100000}/", "repeats too much"),
        ("/(a{0,2}&b{0,2})/", "repeats too much"),
        (f"/{'(' * 12}@{')+' * 12}/", "repeats too much"),
        (" ".join(f"/a{{99}}{n}{'b' * 90}/" for n in range(30)), "may have 200 letters, and all"),
        (f"/{'ab' * 101}/", "may have 200 letters"),
        ("title:ju" + "*" * 10_000 + "ps", "or more \\* in a row"),
        ("/[ab]*a[ab]{18}/", "a pattern that is too complex"),
    ],
)
def test_a_query_that_is_too_much_is_refused(searcher: Searcher, query: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        searcher.search(query)


def test_the_greatest_weight_still_makes_a_number(searcher: Searcher) -> None:
    query = " ".join(f"{word}^{MAX_BOOST:.0f}" for word in ("jumps", "over", "lazy"))
    (hit, *_) = searcher.search(query).results
    assert math.isfinite(hit.score)


@pytest.mark.parametrize("end", [r"\\", r"\""])
def test_an_escape_hides_no_word_that_is_too_long(searcher: Searcher, end: str) -> None:
    with pytest.raises(QueryError, match="words with ~ may have 64 letters each"):
        searcher.search(f"{'ab' * 33}{end}~", syntax="lucene")


@pytest.mark.parametrize(
    "query",
    [
        f'"{"a" * 70}/~smith"',
        f"{'(' * 40}jumps{' lazy)^2' * 40}",
        "jumps~1",
        '"/(a{1000}){1000}/"',
        "/a{0,100}/",
        "jumps" + "*" * 10_000,
        f'"jumps {"*" * 10_000}"',
        "/((jumps).*&.*(s))/",
        f"/{'.?' * 100}/",
        f"/{'(' * 90}a{')' * 90}/",
    ],
)
def test_what_only_looks_like_too_much_is_a_query(searcher: Searcher, query: str) -> None:
    searcher.search(query)


def test_an_escaped_backslash_hides_no_regular_expression(searcher: Searcher) -> None:
    with pytest.raises(QueryError, match="repeats too much"):
        searcher.search(r"\\/a{1,100000}/", syntax="lucene")


def test_a_page_of_text_is_a_query_still(searcher: Searcher) -> None:
    page = " ".join(f"word{number}" for number in range(1500)) + " jumps"
    assert len(page) < MAX_QUERY_LENGTH
    assert found(searcher, page) == ["quick"]


def test_the_longest_words_are_words(searcher: Searcher) -> None:
    assert found(searcher, f"{'ab' * 120} jumps") == ["quick"]


@pytest.mark.parametrize("text", ["a-" * 9_000, "ab," * 6_000, "a/b_c" * 4_000, "ab-" * 80])
def test_a_word_of_very_many_parts_is_looked_for_as_a_row(searcher: Searcher, text: str) -> None:
    steps = {step.step: step.query for step in searcher.explain(text, detail="steps").steps}
    assert len(steps["fields"]) < 20 * len(text)
    assert found(searcher, text) == []


def test_a_time_counts_once_whatever_sign_is_behind_it(new_index: NewIndex) -> None:
    path = new_index(Document("dentist", "Dates", "The dentist is in on Thursday, 15:00."))
    with Searcher(path) as searcher:
        bare, ended = (
            searcher.search(query).results[0].score for query in ("3pm dentist", "3pm, dentist")
        )
    assert ended == pytest.approx(bare)

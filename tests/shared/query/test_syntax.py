"""Natural language survives the query parser, and what is meant as syntax stays syntax."""

import subprocess
import sys

import pytest

from shared import Document, Searcher
from shared.errors import QueryParseError
from shared.model.request import Syntax
from shared.query.syntax import is_number, is_plain, original_position, to_lucene_syntax
from tests.conftest import NewIndex

TEXTS = {
    "notice": "The notice period is three months.",
    "network": "TCP/IP is a family of protocols, see http://example.org/a?b=c",
    "languages": "Written in C++ and C#, with main() and f(x).",
    "company": "AT&T said: don't call at 12:30, write to user@host.example",
    "screen": 'A 5" screen with a label (see [1]) and a path ~/notes/-old-',
    "contract": "contract number CVE-2026-1234, contracts of all kinds",
    "capitals": "what NOT to do AND why",
}


@pytest.fixture(scope="module")
def searcher(new_index: NewIndex) -> Searcher:
    path = new_index(*(Document(name, name, text) for name, text in TEXTS.items()))
    return Searcher(path)


def found(searcher: Searcher, query: str, syntax: Syntax = "auto") -> list[str]:
    return [hit.source_document for hit in searcher.search(query, syntax=syntax).results]


@pytest.mark.parametrize(
    "query",
    [
        "What is the notice period?",
        "why ???",
        "Hello!",
        "TCP/IP",
        "C++",
        "C++ and C#",
        "AT&T",
        "a&&b a||b",
        "don't call",
        "at 12:30",
        "note: this",
        "http://example.org/a?b=c",
        "/usr/lib/python",
        "user@host.example",
        '5" screen',
        'the " sign',
        "2 * 3 - 4",
        "page?id=77",
        "array[0] {x}",
        "see [1]",
        "main() f(x)",
        "contract(s)",
        "1) first",
        ":)",
        "~/notes",
        "--verbose",
        "50 %, 3 ^ 2",
        "ends with \\",
        "store at -18 °C",
        "account balance -84,00 EUR",
        "tar -xzf archive",
        "git commit -m",
        "ls -la",
        "git log --oneline -n 5",
        "+49 30 123 45 67",
        r"C:\Users\Anna",
        r"CORP\jsmith",
    ],
)
def test_natural_language_is_words(query: str) -> None:
    assert to_lucene_syntax(query) == to_lucene_syntax(query, "plain")


@pytest.mark.parametrize(
    "query",
    [
        "rent deposit",
        '"notice period"',
        '"notice period"~3',
        '"a b"^2 OR "a b"~3',
        "+rent -garage !cellar",
        '-"two words" +(a b)',
        "rent AND (flat OR house)",
        "rent && flat || house",
        "contract* *contract *contract* contr?ct ?ontract",
        "contrakt~ contrakt~1",
        "title:lease -source_document:x",
        'title:"a lease"^2 title:(a b)',
        "metadata.year:2020 number.file_size:[1 TO 5]",
        "[alpha TO omega] {a TO b}",
        "rent^3 deposit^0.5",
        "/contract(s|ual)/",
        "*:*",
        "*",
        r"1\+1 a\:b",
        "हिन्दी* शब्?द ไม่?ทราบ cafe\u0301*",
        "हिन्दी~ cafe\u0301~1",
    ],
)
def test_syntax_stays_syntax(query: str) -> None:
    assert to_lucene_syntax(query) == query


@pytest.mark.parametrize(
    ("query", "classic"),
    [
        ("-rent? -e-mail", r"-rent\? -e\-mail"),
        ("contr?ct?", r"contr?ct\?"),
        ("tar -xzf -archive", r"tar \-xzf -archive"),
        ("-中国 -18", r"-中国 \-18"),
        (r'"C:\Users\Anna" -"a \"b\""', r'"C:\\Users\\Anna" -"a \"b\""'),
        ('is "notice period" C++?', r'is "notice period" C\+\+\?'),
        ("(what? why)", r"(what\? why)"),
        ("title:who? foo:bar", r"title:who\? foo\:bar"),
    ],
)
def test_both_may_stand_in_one_query(query: str, classic: str) -> None:
    assert to_lucene_syntax(query) == classic


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("What is the notice period?", "notice"),
        ("TCP/IP", "network"),
        ("http://example.org/a?b=c", "network"),
        ("f(x) main()", "languages"),
        ("AT&T", "company"),
        ("12:30", "company"),
        ("user@host.example", "company"),
        ('5" screen', "screen"),
        ("~/notes", "screen"),
        ("CVE-2026-1234", "contract"),
        ("contract(s)", "contract"),
    ],
)
def test_people_find_what_they_type(searcher: Searcher, query: str, first: str) -> None:
    assert found(searcher, query)[0] == first


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("screen -network", "'-network' excluded chunks; in quotes, it is searched as text."),
        ("screen -network -e-mail", "'-network' and '-e-mail' excluded"),
        ('screen "-network"', ""),
        ("screen -18 -xzf", ""),
        ("screen NOT network", ""),
        ("screen -title:network", ""),
    ],
)
def test_what_a_minus_excluded_is_said(searcher: Searcher, query: str, note: str) -> None:
    said = searcher.search(query).note or ""
    assert note in said
    assert bool(note) == bool(said)


def test_an_error_says_where_in_the_text_that_was_typed(searcher: Searcher) -> None:
    with pytest.raises(QueryParseError, match=r"'OR' at character 15, after 'C\+\+ TCP/IP OR '"):
        searcher.search("C++ TCP/IP OR OR title:x")


def test_positions_are_those_of_the_original() -> None:
    text = r"a? \+ b:c \x"
    classic = to_lucene_syntax(text)
    for position, character in enumerate(text):
        where = next(
            place
            for place in range(len(classic) + 1)
            if original_position(text, classic, place) == position
        )
        assert classic[where:].lstrip("\\")[:1] == character or character == "\\"


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "part", ["[", "(", ")", '"', '"a', "/", "/a ", "?", "*a", "a*?", ":", "-", "\\"]
)
def test_no_text_takes_time_out_of_proportion(part: str) -> None:
    to_lucene_syntax(part * (20_000 // len(part)))
    to_lucene_syntax((part + " ") * (20_000 // (len(part) + 1)))


@pytest.mark.parametrize(
    ("text", "syntax", "plain"),
    [
        ("notice period?", "auto", True),
        ("C++ and AT&T", "auto", True),
        ("noti*", "auto", False),
        ('"notice period"', "auto", False),
        # It would name a field in an index that has this key.
        ("author:Ann", "auto", False),
        ('"notice period"', "plain", True),
        ("notice period", "lucene", False),
    ],
)
def test_a_query_is_plain_if_nothing_in_it_can_be_syntax(
    text: str, syntax: Syntax, plain: bool
) -> None:
    assert is_plain(text, syntax) is plain


@pytest.mark.parametrize(
    ("texts", "are_numbers"),
    [
        (["0", "2024", "-1.5", "+.5", "4.", "1e3", "2.5E-10"], True),
        (["", ".", "nan", "inf", "2_020", "1e", "1e1000", "0x10", "٣", "1 "], False),
    ],
)
def test_numbers_are_told_from_words(texts: list[str], are_numbers: bool) -> None:
    assert [text for text in texts if is_number(text) != are_numbers] == []


def test_a_million_digits_are_read_but_once() -> None:
    # Tried at every digit, it would take hours, and a process of its own can be ended.
    code = "from shared.query.syntax import is_number; assert not is_number('1' * 10**6 + 'x')"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

"""Passages of a hit, as far as no server is needed to see them."""

import re
from pathlib import Path

import pytest

from shared import Document, Index, Searcher
from tests.conftest import add_documents

ENGLISH = "The decision DEC-0054 says that Mueller pays the deposit of two months of rent."
GERMAN_LEASE = "Die Kaution der Wohnung ist am Ende der Miete in voller Höhe zurückzuzahlen."
ENGLISH_LEASE = "The end of the lease of the flat is the end of the year, and of the rent."
KOREAN = "서울에서 임대료를 냅니다."
CHINESE = "租金在每月三日支付。"
GERMAN = "Die Häuser wurden an Koehler vermietet."


@pytest.mark.parametrize(
    ("content", "passage"),
    [
        ("Rent is due on the third.", "Rent is due on the third."),
        ("x" * 200, "x" * 200),
        ("x" * 199 + " yy", "x" * 199),
        ("word " * 41, ("word " * 39).rstrip()),
        ("x" * 201, "x" * 200),
        ("字" * 250, "字" * 200),
    ],
    ids=["short", "as long", "a word too long", "many words", "one long word", "without blanks"],
)
def test_where_only_the_title_matches_the_beginning_is_shown(
    empty_index: Path, content: str, passage: str
) -> None:
    add_documents(empty_index, Document("a", "Lease", content))
    with Searcher(empty_index) as searcher:
        (hit,) = searcher.search("lease", content="passages").results
    assert hit.passages == [passage]


@pytest.mark.parametrize(
    ("query", "content", "marked"),
    [
        ("rent", ENGLISH, ["rent"]),
        ("content:rent", ENGLISH, ["rent"]),
        ("deposits", ENGLISH, ["deposit"]),
        ("depoist~", ENGLISH, ["deposit"]),
        ("depo*", ENGLISH, ["deposit"]),
        ("*posit", ENGLISH, ["deposit"]),
        ("*posi*", ENGLISH, ["deposit"]),
        ("d*posit", ENGLISH, ["deposit"]),
        ('"two months"', ENGLISH, ["two", "months"]),
        ('"two rent"~5', ENGLISH, ["two", "rent"]),
        ("DEC-0054", ENGLISH, ["DEC-0054"]),
        ("Müller", ENGLISH, ["Mueller"]),
        # Another amount with the same sign is another one.
        ("£100", "Gifts from £0 to £100, not £250, in pounds.", ["100", "pounds"]),
        ("Haus", GERMAN, ["Häuser"]),
        ("Köhler", GERMAN, ["Koehler"]),
        ("Mueller", "Frau Müller pays the rent.", ["Müller"]),
        # In English it is no spelling of another word, and is not found by one.
        ("pot", "The poet has a pot in the garden.", ["pot"]),
        ("poet", "The poet has a pot in the garden.", ["poet"]),
        ("임대료", KOREAN, ["임대료를"]),
        ("대료", KOREAN, ["임대료를"]),
        ("租金", CHINESE, ["租金"]),
        ("月三", CHINESE, ["月三"]),
        # Next to each other, words without a blank between them are one mark.
        ("ค่าเช่า", "ผู้เช่าชำระค่าเช่าทุกเดือน", ["เช่า", "ค่าเช่า"]),
        # Other words have these letters: colour, four; leave, time.
        ("สี", "เสื้อสีแดงสี่ตัว", ["สี"]),
        ("ลา", "เวลาลาของพนักงาน", ["ลา"]),
        ("Excel", "เปิดไฟล์Excelด้วย", ["Excel"]),
        ("किराया", "हर महीने किराया देना।", ["किराया"]),
    ],
)
def test_the_words_that_matched_are_marked(
    empty_index: Path, query: str, content: str, marked: list[str]
) -> None:
    add_documents(empty_index, Document("a", "Title", content))
    with Searcher(empty_index) as searcher:
        (hit,) = searcher.search(query, content="passages").results
    assert hit.passages is not None
    assert re.findall("<mark>(.*?)</mark>", hit.passages[0]) == marked


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("Kaution der Wohnung", ["Kaution", "Wohnung"]),
        ("end of the lease", ["end", "lease", "end"]),
        ('"of" lease', ["of", "lease", "of", "of", "of"]),
        ('"lease of the flat"', ["lease", "of", "the", "flat"]),
        ("of the", ["The", "of", "the", "of", "the", "the", "of", "the", "of", "the"]),
        ("content:of lease", ["of", "lease", "of", "of", "of"]),
    ],
)
def test_function_words_are_marked_only_in_quotes_or_where_there_is_nothing_else(
    empty_index: Path, query: str, marked: list[str]
) -> None:
    with Index(empty_index) as index:
        index.add(Document("de", "Vertrag", GERMAN_LEASE))
        index.add(Document("en", "Contract", ENGLISH_LEASE))
    with Searcher(empty_index) as searcher:
        hit = searcher.search(query, content="passages").results[0]
    assert re.findall("<mark>(.*?)</mark>", " ".join(hit.passages or [])) == marked


def test_passages_are_those_with_the_rare_words(empty_index: Path) -> None:
    common = "The rent of the flat and the rent of the garage are due on the third of each month. "
    text = common * 5 + "A penalty is owed for a late payment. " + common * 3
    with Index(empty_index) as index:
        index.add(Document("lease", "Lease", text))
        for number in range(20):
            index.add(Document(f"{number}", "Letter", f"{common} Flat {number} has a garage."))
    with Searcher(empty_index) as searcher:
        hit = searcher.search("what penalty is on the rent of a flat", content="passages").results[
            0
        ]
    assert hit.passages is not None
    assert "<mark>penalty</mark>" in hit.passages[0]
    assert "<mark>the</mark>" not in " ".join(hit.passages)


def test_a_hit_may_carry_its_whole_text_and_the_passages(empty_index: Path) -> None:
    add_documents(empty_index, Document("a", "Lease", ENGLISH))
    with Searcher(empty_index) as searcher:
        (hit,) = searcher.search("deposit", content="both").results
    assert hit.content == ENGLISH
    assert hit.passages == [ENGLISH.replace("deposit", "<mark>deposit</mark>")]


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ("Cable, breaking load 1,100 N. ", "The warranty lasts three years."),
        ("Cable, breaking load\n", "The warranty lasts three years."),
        ("电缆断裂载荷很大。", "保修期 warranty 为三年。"),
    ],
)
def test_a_passage_begins_with_the_sentence_and_goes_on_behind_the_match(
    empty_index: Path, before: str, sentence: str
) -> None:
    with Index(empty_index) as index:
        index.add(Document("a", "Logger", before * 9 + sentence + "\nMore of it." * 40))
    with Searcher(empty_index) as searcher:
        (hit,) = searcher.search("warranty", content="passages").results
    (passage,) = hit.passages or []
    assert re.sub("</?mark>", "", passage).startswith(sentence)
    assert 190 < len(passage) < 220

import time

import pytest

from idx.text.cleaning import join_pages, normalize
from shared.model.document import Page


@pytest.mark.parametrize(
    ("text", "normalized"),
    [
        ("ﬁne ｗｉｄｅ Å", "fine wide Å"),  # noqa: RUF001
        ("10⁶ Ω, 5½ %, foo¹ and H₂O", "10⁶ Ω, 5½ %, foo¹ and H2O"),
        ("don\u00b4t ﬁnd", "don\u00b4t find"),
        ("น้ำ ນ້ຳ", "น้ำ ນ້ຳ"),
        ("exam-\nple", "example"),
        ("exam-  \n  ple", "example"),
        ("exam\u2010\nple", "example"),
        ("Straßen-\nbähnchen", "Straßenbähnchen"),
        ("twenty-\nOne", "twenty-\nOne"),
        ("Anglo-\nSaxon", "Anglo-\nSaxon"),
        ("2024-\n25", "2024-\n25"),
        ("pre-\nand post-war", "pre-\nand post-war"),
        ("a full band-\nand", "a full band-\nand"),
        ("brass-\nandiron", "brassandiron"),
        ("end -\nnext", "end -\nnext"),
        ("a-\n\nb", "a-\n\nb"),
        ("well-known", "well-known"),
        ("exam\u00adple exam\u00ad\nple Exam\u00ad\nPle", "example example ExamPle"),
        ("a\u200bb\u2060c\ufeffd", "abcd"),
        ("a\u200cb\u200dc", "abc"),
        ("می\u200cخواهم", "می\u200cخواهم"),  # noqa: RUF001
        ("क्\u200dष", "क्\u200dष"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("ភាសា\u200bខ្មែរ", "ភាសា\u200bខ្មែរ"),
        ("\u202eabc\u202c \u200fd\u2066e\u2069", "abc de"),
        ("a\0b\x07c\x7fd\x9be", "abcde"),
        ("caf\ufffd\ufffe \uf0b7 item", "caf item"),
        ("half \ud83d of a pair", "half of a pair"),
        ("a  b\t\tc\u00a0\u00a0d\u3000e", "a b c d e"),
        (" a \n b ", "a\nb"),
        ("a\n\n\n \n\nb", "a\n\nb"),
        ("a\r\nb\rc\x0cd\u2028e\u2029f", "a\nb\nc\nd\ne\n\nf"),
        ("", ""),
        (" \n\t\u200b ", ""),
    ],
)
def test_text_of_formats_is_made_plain(text: str, normalized: str) -> None:
    assert normalize(text) == normalized


def test_normalized_text_stays_as_it_is() -> None:
    text = "One line\nanother-\nAnd | a | row\n\nA paragraph ١٢٣ 日本語"
    assert normalize(normalize(text)) == normalize(text) == text


@pytest.mark.parametrize(
    "text",
    [" " * 2_000_000, "-\n" * 1_000_000, "\n" * 2_000_000, "a" * 2_000_000, "\u00ad\n " * 700_000],
    ids=["blanks", "hyphens", "lines", "letters", "soft hyphens"],
)
def test_no_text_takes_time_out_of_proportion(text: str) -> None:
    began = time.perf_counter()
    normalize(text)
    assert time.perf_counter() - began < 5


def test_sections_begin_where_their_text_does() -> None:
    text, pages = join_pages(
        "page", [(1, ""), (2, " First  page "), (3, "\n"), (4, "\ufb01rst"), (5, "last"), (6, " ")]
    )
    assert text == "First page\n\nfirst\n\nlast"
    assert pages == (
        Page("page", 1, 0),
        Page("page", 2, 0),
        Page("page", 3, 12),
        Page("page", 4, 12),
        Page("page", 5, 19),
        Page("page", 6, 23),
    )
    assert text[12:].startswith("first")


def test_sections_without_text_are_there() -> None:
    assert join_pages("sheet", [("A", " ")]) == ("", (Page("sheet", "A", 0),))
    assert join_pages("slide", []) == ("", ())

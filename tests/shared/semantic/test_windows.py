"""Windows of texts, which are embedded."""

import struct
import time

import pytest
from hypothesis import given, settings, strategies as st

from shared.semantic.windows import (
    KEY_BYTES,
    MAX_WINDOWS,
    WORDS,
    heading_of,
    key_of,
    overlap,
    packed,
    windows_of,
)

SENTENCES = [
    f"Sentence number {number} of this report says little of note." for number in range(90)
]


def texts_of(*chunks: str, title: str = "Report") -> list[str]:
    """The text of each window without the title, which is that of its places."""
    found = []
    for window in windows_of(title, chunks):
        before, _, text = window.text.partition("\n")
        assert before == title
        for number, begin, end in window.places:
            assert chunks[number][begin:end].strip() in text
            assert 0 <= begin < end <= len(chunks[number])
        found.append(text)
    return found


def test_windows_are_whole_sentences_of_about_as_many_words() -> None:
    windows = texts_of(" ".join(SENTENCES))
    assert " ".join(windows) == " ".join(SENTENCES)
    assert all(window.endswith("note.") for window in windows)
    assert all(0.8 * WORDS < len(window.split()) < 1.2 * WORDS for window in windows)


def test_a_short_text_is_one_window() -> None:
    assert texts_of("Rent is due in May. It is paid in advance.") == [
        "Rent is due in May. It is paid in advance."
    ]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u3000"])
def test_a_blank_text_has_none(text: str) -> None:
    assert windows_of("Report", [text]) == []
    assert windows_of("Report", []) == []


def test_what_two_chunks_share_is_in_both_and_embedded_once() -> None:
    text = " ".join(SENTENCES[:60])
    first, second = (
        text[: text.index("Sentence number 35")].strip(),
        text[text.index(" number 25") :],
    )
    assert overlap(first, second) > WORDS
    windows = windows_of("Report", [first, second])
    assert " ".join(texts_of(first, second)) == text
    shared = [window for window in windows if len(window.places) > 1]
    assert shared
    for window in shared:
        own, other = (
            chunk[begin:end]
            for chunk, (_, begin, end) in zip((first, second), window.places, strict=True)
        )
        # A window may begin in one of them, and end in the other.
        assert own.endswith(other) or other.endswith(own) or own.startswith(other)
    assert {place[0] for window in windows for place in window.places} == {0, 1}


def test_chunks_that_share_nothing_stay_apart_and_all_have_windows() -> None:
    chunks = [" ".join(SENTENCES[begin : begin + 20]) for begin in (0, 30, 60)]
    numbers = [number for window in windows_of("", chunks) for number, _, _ in window.places]
    assert set(numbers) == {0, 1, 2}
    assert numbers == sorted(numbers)
    assert overlap(chunks[0], chunks[1]) == 0


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("解雇された従業員は、給与二か月分の退職金を受け取る。" * 40, "。"),
        ("被解雇的员工可获得两个月工资的遣散费。" * 40, "。"),
        ("พนักงานที่ถูกเลิกจ้างจะได้รับเงินชดเชย " * 40, ""),
        ("해고된 직원은 두 달치 급여를 퇴직금으로 받습니다. " * 40, "."),
    ],
)
def test_texts_without_blanks_between_words_are_cut_by_their_length(text: str, ends: str) -> None:
    windows = texts_of(text)
    assert len(windows) > 3
    assert all(window.endswith(ends) for window in windows)
    assert max(map(len, windows)) < 2 * min(map(len, windows))


@pytest.mark.parametrize("text", ["word " * 1_000, "x" * 20_000, "0," * 10_000, "漢" * 5_000])
def test_a_text_without_the_end_of_a_sentence_is_cut_into_equal_parts(text: str) -> None:
    windows = texts_of(text)
    assert len(windows) > 10
    assert max(map(len, windows)) < 1.2 * min(map(len, windows))
    assert "".join(window.replace(" ", "") for window in windows) == text.replace(" ", "")


@pytest.mark.parametrize("piece", ["x", "word ", '."', "\n", "?\n\n"])
def test_a_line_of_a_megabyte_takes_seconds(piece: str) -> None:
    began = time.process_time()
    for window in windows_of("Report", [piece * (1_000_000 // len(piece))]):
        assert len(window.text) < 2_000
    assert time.process_time() - began < 20


def test_a_long_title_is_cut_and_changes_the_key_only_where_it_is_read() -> None:
    assert heading_of("t" * 500, "") == "t" * 120
    assert key_of("t" * 120, "Rent is due.") == key_of("t" * 500, "Rent is due.")
    assert len({key_of("a", "b"), key_of("", "a\nb"), key_of("a", "c"), key_of("ab", "")}) == 4
    assert len(key_of("\ud800", "\udfff")) == KEY_BYTES


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("Müller_GmbH/2024/Angebot-7.pdf", "Müller GmbH 2024 Angebot 7"),
        ("mail.zip!/a/offer.eml", "mail zip a offer"),
        ("notes", "notes"),
        ("हिन्दी/สัญญา.md", "हिन्दी สัญญา"),
        (f"{'/'.join(map(str, range(100, 200)))}.txt", " ".join(map(str, range(170, 200)))),
        ("Reports/REPORT 7/report.md", "Reports 7"),
    ],
)
def test_the_words_of_the_path_come_before_the_title(path: str, words: str) -> None:
    assert heading_of("Report", path) == f"{words} - Report"


def test_a_value_has_the_key_the_places_and_the_vectors() -> None:
    key = key_of("Report", "Rent is due.")
    value = packed(key, [(0, 5, b"\x01\x02"), (5, 12, b"\x03\x04")])
    assert value == key + b"\x02" + struct.pack("<IIII", 0, 5, 5, 12) + b"\x01\x02\x03\x04"
    assert packed(key, []) == key + b"\0"
    assert packed(key, [(0, 1, b"")] * MAX_WINDOWS)[KEY_BYTES] == MAX_WINDOWS


_TEXT = st.text(st.sampled_from("ab。 .\n漢\u3000\u00a0\U0001f642\ud800"), max_size=400)


@settings(deadline=None)
@given(st.lists(_TEXT | st.text(max_size=200), max_size=4), st.integers(0, 60))
def test_every_place_lies_within_its_chunk(texts: list[str], shared: int) -> None:
    ends = ["", *(text[len(text) - shared :] for text in texts)]
    chunks = [end + text for end, text in zip(ends, texts, strict=False)]
    windows = windows_of("", chunks)
    for window in windows:
        for number, begin, end in window.places:
            assert 0 <= begin < end <= len(chunks[number])
            assert chunks[number][begin:end] in window.text


@settings(deadline=None)
@given(_TEXT)
def test_nothing_but_blanks_is_outside_of_all_windows(text: str) -> None:
    places = [place for window in windows_of("", [text]) for place in window.places]
    begins = [*(begin for _, begin, _ in places), len(text)]
    ends = [0, *(end for _, _, end in places)]
    between = [text[end:begin] for end, begin in zip(ends, begins, strict=True)]
    assert not "".join(between).strip()
    assert ends == sorted(ends)

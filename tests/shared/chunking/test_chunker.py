from itertools import pairwise, product

import pytest

from shared.chunking import chunks
from shared.java import vm
from shared.model.document import Chunk, addition, chunk_id
from shared.settings.defaults import Layout


def words(count: int) -> str:
    return " ".join(f"w{number}" for number in range(count))


def cut(text: str, layout: Layout = "join") -> list[Chunk]:
    with vm.attached("command"):
        return list(chunks("id", "Title", text, layout))


def contents(text: str, layout: Layout = "join") -> list[str]:
    return [chunk.content for chunk in cut(text, layout)]


def assembled(pieces: list[Chunk]) -> str:
    """The text of a document from its chunks."""
    text, end = "", 0
    for piece in pieces:
        text += addition(piece.content, piece.start, piece.end, end) if text else piece.content
        end = piece.end
    return text


def windows_by_the_contract(count: int) -> list[list[str]]:
    """The windows as the contract's sentences say, written as plainly as can be."""
    every_word = words(count).split(" ")
    windows = []
    start = 0
    while True:
        windows.append(every_word[start : start + 250])
        if start + 250 >= count:
            return windows
        start += 210


@pytest.mark.parametrize(
    ("blank", "layout"),
    [
        *product(("", " ", "\n\t\r ", " " * 5_000), ("join", "keep")),
        ("\u00a0", "join"),
        ("\u2003\n", "join"),
    ],
)
def test_blank_text_has_no_chunk(blank: str, layout: Layout) -> None:
    assert contents(blank, layout) == []


@pytest.mark.parametrize("layout", ["join", "keep"])
@pytest.mark.parametrize(
    "text", ["one", "  two  words\n", "tab\tand\r\n  line", words(250), f"\n{words(250)}  "]
)
def test_up_to_250_words_are_one_chunk_exactly_as_the_text_came(text: str, layout: Layout) -> None:
    (chunk,) = cut(text, layout)
    assert (chunk.content, chunk.start, chunk.end) == (text, 0, len(text))


@pytest.mark.parametrize("count", [251, 290, 291, 459, 460, 461, 500, 669, 670, 671, 881, 5000])
def test_longer_texts_are_windows_of_250_words_that_start_every_210(count: int) -> None:
    assert [window.split(" ") for window in contents(words(count))] == windows_by_the_contract(
        count
    )


def test_windows_are_joined_by_single_spaces_whatever_stood_between_the_words() -> None:
    text = "  \t\r\n ".join(words(251).split(" "))
    assert contents(f"\n {text}\r\n") == contents(words(251))


def test_a_chunk_knows_where_in_the_text_it_stands() -> None:
    text = "\r\n" + " \n".join(words(700).split(" ")) + "\t"
    pieces = cut(text)
    for piece in pieces:
        assert text[piece.start : piece.end].split() == piece.content.split(" ")
    assert pieces[0].start == 2
    assert pieces[-1].end == len(text) - 1


def test_a_no_break_space_and_other_unicode_spaces_stay_inside_a_word() -> None:
    text = words(249) + " a\u00a0b c\u2003d\x0be\x0cf"
    assert len(contents(text + " last")) == 2
    assert contents(text + " last")[0].endswith("a\u00a0b")


def test_a_single_chunk_has_the_title_of_its_document() -> None:
    (chunk,) = chunks("lease", "The lease", "Rent is due.")
    assert (chunk.id, chunk.title, chunk.content) == (
        "lease-chunk-001",
        "The lease",
        "Rent is due.",
    )
    assert (chunk.source_document, chunk.index) == ("lease", 1)


def test_several_chunks_are_numbered_parts() -> None:
    pieces = list(chunks("a/b", "Long", words(500)))
    assert [piece.id for piece in pieces] == ["a/b-chunk-001", "a/b-chunk-002", "a/b-chunk-003"]
    assert [piece.title for piece in pieces] == ["Long - Part 1", "Long - Part 2", "Long - Part 3"]
    assert [piece.index for piece in pieces] == [1, 2, 3]


def test_numbers_over_999_take_the_room_they_need() -> None:
    assert chunk_id("x", 1000) == "x-chunk-1000"


@pytest.mark.parametrize("layout", ["join", "keep"])
@pytest.mark.parametrize("count", [1, 40, 250, 251, 460, 461, 1_000])
def test_the_words_of_a_text_are_told_by_its_chunks(count: int, layout: Layout) -> None:
    # A no-break space stays inside a word.
    text = words(count).replace("w", "w\u00a0")
    pieces = cut(text, layout)
    assert {piece.words for piece in pieces} == {count}
    assert assembled(pieces) == text


CODE = "".join(f"def f{n}(x):\n    if x:\n        return {n}\n\n" for n in range(400))
POEM = "\n".join(f"the line {n}\r\n\tand its echo" for n in range(300))
TABLE = "\n".join(",".join(f"cell{row * column}" for column in range(90)) for row in range(60))
LONG_WORD = "a few words and " + "x" * 10_000 + " and some more"
SENTENCES = " ".join(f"{'extraordinarily' * 3} {n}." for n in range(400))
CHINESE = "我们今天去北京大学。她说他的朋友在上海工作。" * 300
THAI = "ประเทศไทยเป็นประเทศที่สวยงาม" * 300
MIXED = "\n".join(f"Satz {n}: 東京都に住んでいます。 And 漢字 again 😀👍" for n in range(200))
TEXTS = [CODE, POEM, TABLE, LONG_WORD, SENTENCES, CHINESE, THAI, MIXED, words(5_000)]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:10])
def test_kept_chunks_are_slices_of_the_text_of_at_most_3000_characters(text: str) -> None:
    pieces = cut(text, "keep")
    assert len(pieces) > 1
    for piece in pieces:
        assert piece.content == text[piece.start : piece.end]
        assert len(piece.content) <= 3_000
    assert assembled(pieces) == text.rstrip()


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:10])
def test_kept_chunks_overlap_and_go_on(text: str) -> None:
    pieces = cut(text, "keep")
    for before, after in pairwise(pieces):
        assert before.start < after.start <= before.end < after.end


@pytest.mark.parametrize("count", [1, 250, 251, 460, 461, 2_000])
def test_kept_windows_are_those_of_joined_ones(count: int) -> None:
    text = words(count).replace("0 ", "0\n\n    ")
    kept = [content.split() for content in contents(text, "keep")]
    assert kept == [content.split() for content in contents(text, "join")]


def test_lines_keep_their_indentation_at_the_beginning_of_a_chunk() -> None:
    for content in contents(CODE, "keep"):
        first = content.splitlines()[0]
        assert first.startswith(("def f", "    if", "        return")) or first[0] != " "


def test_a_window_of_rows_ends_with_a_row() -> None:
    for piece in cut(TABLE, "keep")[:-1]:
        assert TABLE[piece.end] == "\n" or TABLE[piece.end - 1] == "\n"


def test_a_window_of_long_words_ends_with_a_sentence() -> None:
    assert all(content.endswith(".") for content in contents(SENTENCES, "keep"))


def test_a_word_longer_than_a_window_is_cut_within() -> None:
    pieces = cut(LONG_WORD, "keep")
    assert len(pieces) == 4
    assert pieces[0].words == 8


@pytest.mark.parametrize("text", [CHINESE, THAI])
def test_words_without_blanks_between_them_are_counted(text: str) -> None:
    pieces = cut(text, "keep")
    assert len(pieces) > 4
    assert pieces[0].words is not None
    assert len(text) / 8 < pieces[0].words < len(text)
    assert all(len(piece.content) < 1_500 for piece in pieces)


def test_blanks_that_fill_a_window_are_left_out() -> None:
    pieces = cut(f"one{' ' * 9_000}two", "keep")
    assert [piece.content.strip() for piece in pieces] == ["one", "two"]


def test_an_accent_stays_with_its_letter() -> None:
    text = "a" * 2_999 + "e\u0301" * 2_000
    assert not any(content.startswith("\u0301") for content in contents(text, "keep"))


def test_characters_that_java_counts_twice_do_not_move_the_ends_of_chunks() -> None:
    text = "𠮷野家で😀👍牛丼を食べた。" * 200
    pieces = cut(text, "keep")
    assert len(pieces) > 4
    assert assembled(pieces) == text
    assert all(piece.content[0] in "𠮷野家で😀👍牛丼を食べた" for piece in pieces)
    # Windows of whole words: none begins with the second character of one.
    assert not any(piece.content.startswith(("家", "べ")) for piece in pieces)

import pytest

from shared.model.chunks import Chunk, chunk_id, chunks, without_overlap, word_count


def words(count: int) -> str:
    return " ".join(f"w{number}" for number in range(count))


def cut(text: str) -> list[Chunk]:
    return list(chunks("id", "Title", text))


def contents(text: str) -> list[str]:
    return [chunk.content for chunk in cut(text)]


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


@pytest.mark.parametrize("blank", ["", " ", "\n\t\r ", "\u00a0", "\u2003\n"])
def test_blank_text_has_no_chunk(blank: str) -> None:
    assert contents(blank) == []


@pytest.mark.parametrize(
    "text", ["one", "  two  words\n", "tab\tand\r\nline", words(250), f"\n{words(250)}  "]
)
def test_up_to_250_words_are_one_chunk_exactly_as_the_text_came(text: str) -> None:
    (chunk,) = cut(text)
    assert (chunk.content, chunk.start, chunk.end) == (text, 0, len(text))


@pytest.mark.parametrize("count", [251, 290, 291, 459, 460, 461, 500, 669, 670, 671, 881, 5000])
def test_longer_texts_are_windows_of_250_words_that_start_every_210(count: int) -> None:
    assert [window.split(" ") for window in contents(words(count))] == windows_by_the_contract(
        count
    )


def test_neighbouring_windows_share_40_words() -> None:
    first, second = contents(words(300))
    assert first.split(" ")[-40:] == second.split(" ")[:40]


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
    assert [piece.id for piece in pieces] == [
        "a/b-chunk-001",
        "a/b-chunk-002",
        "a/b-chunk-003",
    ]
    assert [piece.title for piece in pieces] == ["Long - Part 1", "Long - Part 2", "Long - Part 3"]
    assert [piece.index for piece in pieces] == [1, 2, 3]


def test_numbers_over_999_take_the_room_they_need() -> None:
    assert chunk_id("x", 1000) == "x-chunk-1000"


@pytest.mark.parametrize("count", [1, 40, 250, 251, 460, 461, 1_000])
def test_the_words_of_a_text_are_told_by_its_chunks(count: int) -> None:
    # A no-break space stays inside a word.
    text = words(count).replace("w", "w\u00a0")
    first, *others = contents(text)
    assert word_count(1 + len(others), [first, *others][-1]) == count
    assert " ".join([first, *map(without_overlap, others)]) == text

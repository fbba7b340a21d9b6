"""Where the words of a chunk stand in the file."""

from collections.abc import Sequence
from itertools import accumulate

import pytest

from shared.chunking import placed_chunks
from shared.model.document import Document, Heading, Page, Place, Unit


def placed(
    text: str, pages: Sequence[Page] = (), *, has_lines: bool = True
) -> list[tuple[str, Place]]:
    """The content of each chunk with its place."""
    document = Document("a", "A", text, pages=pages, has_lines=has_lines)
    return [(chunk.content, place) for chunk, place in placed_chunks(document)]


def numbered(count: int, per_line: int) -> list[str]:
    """Lines of words that tell their own line."""
    return [" ".join(f"{line}:{n}" for n in range(per_line)) for line in range(1, count + 1)]


def line_of(word: str) -> int:
    return int(word.partition(":")[0])


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r", "\n\n"])
@pytest.mark.parametrize("per_line", [1, 7, 249, 600])
def test_lines_are_those_of_the_first_and_the_last_word(newline: str, per_line: int) -> None:
    text = newline.join(numbered(1_500 // per_line + 1, per_line))
    found = placed(text)
    assert len(found) > 3
    for content, place in found:
        first, *_, last = content.split()
        if newline == "\n\n":
            expected = (2 * line_of(first) - 1, 2 * line_of(last) - 1)
        else:
            expected = (line_of(first), line_of(last))
        assert (place["line_start"], place["line_end"]) == expected


def test_line_ends_before_the_first_and_the_last_letter_count() -> None:
    first, last = placed("\n" + "word " * 299 + "\nb")
    assert first[1]["line_start"] == 2
    assert (last[1]["line_start"], last[1]["line_end"]) == (2, 3)


def test_characters_are_those_of_the_words() -> None:
    text = "  \n" + " \t".join(f"wörd{n}😀" for n in range(900)) + "\n "
    found = placed(text)
    assert len(found) == 5
    for content, place in found:
        part = text[int(place["char_start"]) : int(place["char_end"])]
        assert part.split() == content.split()
        assert part == part.strip()


@pytest.mark.parametrize("unit", ["page", "slide", "sheet"])
def test_sections_are_those_of_the_first_and_the_last_word(unit: Unit) -> None:
    parts = [f"{line}\n\n" for line in numbered(12, 100)]
    starts = accumulate(map(len, parts), initial=0)
    labels = [f"Sheet {n}" if unit == "sheet" else n for n in range(1, 13)]
    pages = [Page(unit, label, start) for label, start in zip(labels, starts, strict=False)]
    found = placed("".join(parts), pages, has_lines=False)
    assert len(found) > 4
    for content, place in found:
        first, *_, last = content.split()
        assert place.keys() == {f"{unit}_start", f"{unit}_end", "char_start", "char_end"}
        assert place[f"{unit}_start"] == labels[line_of(first) - 1]
        assert place[f"{unit}_end"] == labels[line_of(last) - 1]


ONE_PAGE = [Page("page", 1, 0)]

SHORT_TEXTS: dict[str, tuple[str, list[Page], bool, Place]] = {
    "lines": ("one\ntwo\nthree", [], True, {"line_start": 1, "line_end": 3}),
    # It begins no line.
    "a line end at the end": ("one\ntwo\n", [], True, {"line_start": 1, "line_end": 2}),
    "lines that are not the file's": ("one\ntwo", [], False, {}),
    "pages go before lines": ("one\ntwo", ONE_PAGE, True, {"page_start": 1, "page_end": 1}),
    "blank pages around the words": (
        "\n\nwords of page 2\n\n\n\n",
        [*ONE_PAGE, Page("page", 2, 2), Page("page", 3, 19)],
        False,
        {"page_start": 2, "page_end": 2},
    ),
    # One letter between three blanks on either side, each on a page of its own.
    "blanks on pages of their own": (
        "\n \nw\n \n",
        [*ONE_PAGE, Page("page", 2, 3), Page("page", 3, 4)],
        True,
        {"page_start": 2, "page_end": 2},
    ),
    "a page without any text": (
        "one two",
        [*ONE_PAGE, Page("page", 2, 4), Page("page", 3, 4)],
        False,
        {"page_start": 1, "page_end": 3},
    ),
    "words before the first slide": (
        "title one",
        [Page("slide", 1, 6)],
        False,
        {"slide_start": 1, "slide_end": 1},
    ),
}


@pytest.mark.parametrize(
    ("text", "pages", "has_lines", "place"), SHORT_TEXTS.values(), ids=SHORT_TEXTS
)
def test_the_place_of_a_short_text(
    text: str, pages: list[Page], has_lines: bool, place: Place
) -> None:
    characters = {"char_start": 0, "char_end": len(text)}
    assert placed(text, pages, has_lines=has_lines) == [(text, characters | place)]


def test_a_blank_text_has_no_places() -> None:
    assert placed(" \n ") == []


def test_the_section_of_a_chunk_is_the_path_of_headings_above_its_beginning() -> None:
    parts = [(1, "Law", 1), (2, "One", 260), (3, "Deep", 210), (2, "Two", 300)]
    text, headings = "", []
    for level, heading, count in parts:
        headings.append(Heading(level, heading, len(text)))
        text += f"{heading}\n{'word ' * count}\n"
    document = Document("a", "A", text, headings=headings)
    sections = [place["section"] for _, place in placed_chunks(document)]
    assert sections == ["Law", "Law > One", "Law > One > Deep", "Law > Two"]


def test_text_before_the_first_heading_has_no_section() -> None:
    document = Document("a", "A", "Some text\n\nHeading\n", headings=[Heading(1, "Heading", 11)])
    ((_, place),) = placed_chunks(document)
    assert "section" not in place


def test_a_section_has_at_most_eight_headings() -> None:
    headings = [Heading(level, f"h{level}", 0) for level in range(1, 12)]
    document = Document("a", "A", "text", headings=headings)
    ((_, place),) = placed_chunks(document)
    assert place["section"] == " > ".join(f"h{level}" for level in range(1, 9))

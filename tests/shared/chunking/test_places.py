"""Where the words of a chunk stand in the file."""

from collections.abc import Sequence
from itertools import accumulate

import pytest

from shared.chunking import chunks, places
from shared.model.document import Document, Heading, Page, Place, Unit


def placed(
    text: str, pages: Sequence[Page] = (), *, has_lines: bool = True
) -> list[tuple[str, Place]]:
    """The content of each chunk with its place."""
    document = Document("a", "A", text, pages=pages, has_lines=has_lines)
    pieces = list(chunks(document.id, document.title, document.content))
    found = zip(pieces, places(document, pieces), strict=True)
    return [(piece.content, place) for piece, place in found]


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


def test_a_text_of_one_chunk_has_all_its_lines() -> None:
    ((_, place),) = placed("one\ntwo\nthree")
    assert place == {"line_start": 1, "line_end": 3, "char_start": 0, "char_end": 13}


def test_the_line_end_at_the_end_begins_no_line() -> None:
    ((_, place),) = placed("one\ntwo\n")
    assert place["line_end"] == 2


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


def test_blank_pages_around_the_words_are_not_cited() -> None:
    text = "\n\nwords of page 2\n\n\n\n"
    pages = [Page("page", 1, 0), Page("page", 2, 2), Page("page", 3, 19)]
    ((_, place),) = placed(text, pages, has_lines=False)
    assert (place["page_start"], place["page_end"]) == (2, 2)


def test_a_page_without_any_text_is_never_the_one_cited() -> None:
    pages = [Page("page", 1, 0), Page("page", 2, 4), Page("page", 3, 4)]
    ((_, place),) = placed("one two", pages, has_lines=False)
    assert (place["page_start"], place["page_end"]) == (1, 3)


def test_words_before_the_first_section_belong_to_it() -> None:
    ((_, place),) = placed("title one", [Page("slide", 1, 6)], has_lines=False)
    assert (place["slide_start"], place["slide_end"]) == (1, 1)


def test_sections_go_before_lines() -> None:
    ((_, place),) = placed("one\ntwo", [Page("page", 1, 0)])
    assert "line_start" not in place


def test_a_text_that_is_not_the_files_own_has_characters_only() -> None:
    ((_, place),) = placed("one\ntwo", has_lines=False)
    assert place == {"char_start": 0, "char_end": 7}


def test_a_blank_text_has_no_places() -> None:
    assert placed(" \n ") == []


def test_blanks_at_the_ends_of_a_chunk_are_on_no_page() -> None:
    # One letter between three blanks on either side, each on a page of its own.
    pages = [Page("page", str(number), start) for number, start in ((1, 0), (2, 3), (3, 4))]
    ((content, place),) = placed("\n \nw\n \n", pages)
    assert content == "\n \nw\n \n"
    assert (place["page_start"], place["page_end"]) == ("2", "2")


def test_the_section_of_a_chunk_is_the_path_of_headings_above_its_beginning() -> None:
    parts = [(1, "Law", 1), (2, "One", 260), (3, "Deep", 210), (2, "Two", 300)]
    text, headings = "", []
    for level, heading, count in parts:
        headings.append(Heading(level, heading, len(text)))
        text += f"{heading}\n{'word ' * count}\n"
    document = Document("a", "A", text, headings=headings)
    pieces = list(chunks(document.id, document.title, document.content))
    sections = [place["section"] for place in places(document, pieces)]
    assert sections == ["Law", "Law > One", "Law > One > Deep", "Law > Two"]


def test_text_before_the_first_heading_has_no_section() -> None:
    document = Document("a", "A", "Some text\n\nHeading\n", headings=[Heading(1, "Heading", 11)])
    (place,) = places(document, chunks(document.id, document.title, document.content))
    assert "section" not in place


def test_a_section_has_at_most_eight_headings() -> None:
    headings = [Heading(level, f"h{level}", 0) for level in range(1, 12)]
    document = Document("a", "A", "text", headings=headings)
    (place,) = places(document, chunks(document.id, document.title, document.content))
    assert place["section"] == " > ".join(f"h{level}" for level in range(1, 9))

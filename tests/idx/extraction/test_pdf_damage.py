"""PDFs that are damaged or lie: named, or read as far as they can be, and never worse."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from idx.errors import SourceFileError
from tests.idx.extraction.pdf_files import (
    DATA,
    ENGINES,
    HELLO,
    by_hand,
    extract,
    pages_by_hand,
    stream,
    write_pages,
    write_table,
)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_unreadable_page_does_not_cost_the_others(tmp_path: Path, engine: str) -> None:
    objects = pages_by_hand([5, 6, 7], HELLO)
    del objects[6]
    read = extract(by_hand(tmp_path / "a.pdf", objects), engine)
    assert read.text == "Hello river\n\nHello river"
    assert [page.label for page in read.pages] == [1, 3]
    assert read.warnings[0] == "1 page cannot be read (2)"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("damage", ["without a type", "missing", "there twice"])
def test_no_page_takes_the_place_of_another(tmp_path: Path, damage: str, engine: str) -> None:
    kids = [5, 6, 5, 8] if damage == "there twice" else [5, 6, 7, 8]
    objects = pages_by_hand(kids, HELLO)
    for number in set(kids):
        objects[number] = f"<</Type/Page/Parent 2 0 R/Contents {number + 10} 0 R>>"
        objects[number + 10] = stream(HELLO.replace("river", f"page {number}"))
    if damage == "without a type":
        objects[6] = str(objects[6]).replace("/Type/Page", "")
    if damage == "missing":
        del objects[6]
    read = extract(by_hand(tmp_path / "a.pdf", objects), engine)
    starts = [page.start for page in read.pages]
    ends = [*starts[1:], len(read.text)]
    found = {
        page.label: read.text[page.start : end].strip()
        for page, end in zip(read.pages, ends, strict=True)
    }
    expected = {label: f"Hello page {number}" for label, number in enumerate(kids, start=1)}
    if damage == "missing":
        del expected[2]
    assert found == expected


def test_a_false_count_of_pages_is_survived(tmp_path: Path) -> None:
    objects = pages_by_hand([5], HELLO, count=100_000)
    read = extract(by_hand(tmp_path / "a.pdf", objects))
    assert read.text == "Hello river"
    assert read.warnings == ("99,999 pages cannot be read (2\u2013100000)",)


def test_pages_that_pdfplumber_cannot_read_are_read_by_pdfium(
    capfd: pytest.CaptureFixture[str],
) -> None:
    file = DATA / "damaged-media-box.pdf"
    assert extract(file).warnings == ()
    read = extract(file, "pdfplumber")
    assert read.text == extract(file).text
    assert "Hello page 1 some words here" in read.text
    (warning,) = read.warnings
    assert warning.startswith(
        "2 pages read without regard to tables (1\u20132): pdfplumber failed with Malformed"
    )
    assert capfd.readouterr() == ("", "")


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _data: b"",
    "not a PDF": lambda _data: b"Some text.",
    "a header only": lambda data: data[:9],
    "cut": lambda data: data[:700],
    "without pages": lambda data: data.replace(b"/Page", b"/Pope"),
    "without an end": lambda data: data[:-100],
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused_without_a_word_of_its_reader(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], damage: str, engine: str
) -> None:
    file = write_pages(tmp_path / "a.pdf", ["page"] * 20)
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    with pytest.raises(SourceFileError, match=r"a\.pdf: is a damaged PDF: "):
        extract(file, engine)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("engine", ["auto", "pdfplumber"])
def test_random_damage_never_ends_in_another_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], engine: str
) -> None:
    random = Random(engine)  # noqa: S311 - nobody is to be kept from guessing it
    whole = write_table(tmp_path / "a.pdf").read_bytes()
    read = 0
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(random.randint(1, 12)):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        (tmp_path / "b.pdf").write_bytes(damaged)
        with suppress(SourceFileError):
            read += bool(extract(tmp_path / "b.pdf", engine).text)
    # Neither all of them, or they would not be damaged, nor none.
    assert 0 < read < 60
    assert capfd.readouterr() == ("", "")

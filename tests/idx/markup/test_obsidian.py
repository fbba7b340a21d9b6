"""What Obsidian adds to Markdown, read as it shows it."""

import time
from pathlib import Path

import pytest

from tests.conftest import Idx
from tests.idx.conftest import Read
from tests.idx.preparation import index_files


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("See [[Note]].", "See Note."),
        ("[[folder/Note.md]]", "folder/Note"),
        ("[[Note|the note]] and [[Other]]s", "the note and Others"),
        ("[[Note#Heading]]", "Note > Heading"),
        ("[[Note#One#Two|shown]]", "shown"),
        ("[[#Heading]]", "Heading"),
        ("[[Note#^block]]", "Note"),
        (r"| [[Note\|cell]] | [[Note\|]] |", "| cell | Note |"),
        ("![[image.png]]", "image.png"),
        ("![[image.png|300]] ![[image.png|300x200]]", "image.png image.png"),
        ("![[image.png|A pump]]", "A pump"),
        ("![[Note#Heading]]", "Note > Heading"),
        ("A sentence. ^a1b2c3", "A sentence."),
        ("^quote-of-the-day", ""),
        ("> [!note]", "> Note"),
        ("> [!warning]- Mind the gap", "> Mind the gap"),
        ("> > [!todo|wide]+ Later [[Note]]", "> > Later Note"),
        ("# About [[Note]]", "# About Note"),
        ("- item\n    - [[Nested]]", "- item\n    - Nested"),
    ],
)
def test_marks_are_read_as_obsidian_shows_them(read: Read, written: str, shown: str) -> None:
    assert read("a.md", f"before\n\n{written}\nafter").text == f"before\n\n{shown}\nafter"


@pytest.mark.parametrize(
    "text",
    [
        "`[[Note]]` and ``a ` [[Note]]``",
        "```\n[[Note]] ^abc\n> [!note]\n```",
        "~~~~\n~~~\n[[Note]]\n~~~~",
        "> ```\n> [[Note]]\n> ```",
        "- ```\n  [[Note]]\n  ```",
        "[[ -f name ]] && echo",
        "[[1]](https://example.org) [[a]][b]",
        "[[1, 2], [3, 4]]",
        "[[]] [[|]] [[^abc]] [[#^abc]] [[open",
        "a footnote[^1]\n\n[^1]: its text",
        "x ^2 and 10 ^6",
        "%% a comment %%",
        "[!note] without a quote",
    ],
)
def test_code_and_other_markdown_stay_as_they_are(read: Read, text: str) -> None:
    assert read("a.md", text).text == text


def test_code_that_is_not_closed_hides_no_links(read: Read) -> None:
    assert read("a.md", "a ` [[Note]]").text == "a ` Note"
    assert read("a.md", "> ```\n> code\n\n[[Note]]").text == "> ```\n> code\n\nNote"


def test_front_matter_stays_as_it_is_in_the_text(read: Read) -> None:
    text = '---\nrelated: "[[Note|shown]]"\n---\n'
    assert read("a.md", f"{text}[[Note]]").text == f"{text}Note"


def test_the_first_heading_is_the_title_without_its_marks(read: Read) -> None:
    assert read("a.md", "# About [[Note|the pump]]\n").title == "About the pump"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_cited_as_they_are_in_the_file(
    idx: Idx, tmp_path: Path, index_path: Path, end: str
) -> None:
    lines = ["[[A very long name of a note that is not shown|a]] ^id1"] * 300
    lines += ["> [!note]", "^only-an-id", "", "The [[Thing|pump]] is broken.", ""]
    (tmp_path / "note.md").write_bytes(end.join(lines).encode())
    index_files(index_path, tmp_path / "note.md")
    shown = idx("show", "note.md").stdout
    assert "lines 1-250" in shown
    assert "lines 211-304" in shown
    assert "The pump is broken." in shown


def test_a_note_without_a_title_is_called_by_its_name_without_the_ending(
    idx: Idx, tmp_path: Path, index_path: Path
) -> None:
    files = [tmp_path / name for name in ("Garden plan.md", "v1.2.markdown", "plain.txt", "UP.MD")]
    for file in files:
        file.write_text("Some words.")
    index_files(index_path, *files)
    listed = idx("list", "--json").stdout
    for title in ("Garden plan", "v1.2", "plain.txt", "UP"):
        assert f'"title": "{title}"' in listed


@pytest.mark.parametrize("piece", ["[[", "`", "[[a|", "![[", "> [!", " ^", "#a/", "`` ` "])
def test_marks_without_end_are_read_soon(read: Read, piece: str) -> None:
    ticks = "".join("`" * length + " " for length in range(1, 1500))
    before = time.monotonic()
    read("a.md", piece * 300_000 + "\n" + ticks + "\n[[a]]")
    assert time.monotonic() - before < 10

"""Markdown, its front matter, and what Obsidian adds to both."""

import time

import pytest

from tests.conftest import Idx
from tests.idx.conftest import Read
from tests.idx.preparation import index_files

FRONT_MATTER = """---
title: " The  Gardens "
authors: [Ana Ruiz, {name: Bo}]
description: About gardens
tags: [water, stone]
keywords: patios, water
date: 2025-03-01
lastmod: 2025-04-01T12:00:00+02:00
lang: es-ES
draft: false
nested: {a: [1, {b: c}]}
---
# Another title

Text.
"""


def test_front_matter_gives_metadata_and_stays_in_the_text(read: Read) -> None:
    extracted = read("a.md", FRONT_MATTER)
    assert extracted.text == FRONT_MATTER
    assert extracted.title == "The Gardens"
    assert extracted.metadata == {
        "authors": ["Ana Ruiz"],
        "authors.name": ["Bo"],
        "description": "About gardens",
        "tags": ["water", "stone"],
        "date": "2025-03-01",
        "lastmod": "2025-04-01T12:00:00+02:00",
        "lang": "es-ES",
        "draft": "false",
        "nested.a": ["1"],
        "nested.a.b": ["c"],
        "author": "Ana Ruiz, Bo",
        "subject": "About gardens",
        "keywords": ["patios", "water", "stone"],
        "created": "2025-03-01",
        "modified": "2025-04-01T10:00:00Z",
        "language": "es",
    }


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("text\n\n# A title #\n# B\n", "A title"),
        ("## Two\n", None),
        ("```\n# no\n```\n# Yes", "Yes"),
        ("~~~sh\n# no\n", None),
        ("````\n```\n# no\n```\n````\n# Yes", "Yes"),
        ("```\n~~~\n# no\n```\n# Yes", "Yes"),
        ("```x``` is code\n# Yes", "Yes"),
        ("# Learning C#", "Learning C#"),
        ("# Learning C# ##  ", "Learning C#"),
        ("---\ntitle: 12:30\n---\n", "12:30"),
        ("---\ntitle: No\n---\n", "No"),
        ("---\ntitle: null\n---\n# Yes", "Yes"),
        ("#no\n# \n# Yes\r\nx", "Yes"),
        ("---\nauthor: A\n---\n# Yes", "Yes"),
        ("---\ntitle: 2024\n---\n", "2024"),
        ("---\ntitle: ''\n---\n# Yes", "Yes"),
        ("---\n# no\ntitle: [\n---\n# Yes", "Yes"),
        ("---\nno front matter\n\n# Yes", "Yes"),
        ("--- \r\ntitle: Windows\r\n---\r\n", "Windows"),
        ("# About [[Note|the pump]]\n", "About the pump"),
    ],
)
def test_the_title_is_in_the_front_matter_or_the_first_heading(
    read: Read, text: str, title: str | None
) -> None:
    assert read("a.markdown", text).title == title


@pytest.mark.parametrize(
    "matter",
    [
        "a: [",
        "a: b: c",
        "date: 2025-99-99",
        "- " * 4000,
        "[" * 200_000,
        "a: &a [*a]",
        "a: \x01 of some length",
        "title: !!bool maybe",
        "a: !!int ''",
        "a: !!timestamp foo",
        f"a: 0x{'f' * 5_000}",
    ],
    ids=[
        *("bracket", "colons", "date", "lists", "brackets", "circle", "control"),
        *("truth", "number", "time", "long number"),
    ],
)
def test_a_front_matter_that_is_no_yaml_costs_the_metadata_only(read: Read, matter: str) -> None:
    extracted = read("a.md", f"---\n{matter}\n---\n# Title\n")
    assert extracted.title in {"Title", "maybe"}
    assert extracted.text.endswith("# Title\n")


def test_what_is_wrong_with_a_front_matter_is_said(read: Read) -> None:
    (warning,) = read("a.md", "---\ntitle: [\n---\n").warnings
    assert warning.startswith("its front matter is not YAML: ")


def test_an_entity_bomb_in_yaml_stays_small(read: Read) -> None:
    levels = "".join(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]\n" for i in range(1, 12))
    extracted = read("a.md", f"---\nl0: &l0 [x]\n{levels}title: *l11\nkeywords: *l11\n---\n# T\n")
    assert extracted.title == "T"
    assert all(values == ["x"] for values in extracted.metadata.values())


def test_values_stay_as_they_were_written(read: Read) -> None:
    matter = "lang: no\ntags: [3.10, 010, 12:30, yes]\nauthor: ~\ndate: 2024-05-01\n"
    metadata = read("a.md", f"---\n{matter}---\ntext").metadata
    assert metadata["language"] == "no"
    assert metadata["keywords"] == ["3.10", "010", "12:30", "yes"]
    assert "author" not in metadata
    assert str(metadata["created"]).startswith("2024-05-01")


def test_metadata_is_cut_to_a_sane_length(read: Read) -> None:
    words = ", ".join(f"k{i}" for i in range(99))
    extracted = read("a.md", f"---\nauthor: {'a' * 5000}\nkeywords: {words}\n---\n# {'t' * 5000}\n")
    assert len(str(extracted.metadata["author"])) == len(extracted.title or "") == 1000
    assert extracted.metadata["keywords"] == [f"k{i}" for i in range(50)]


NOTE = """---
aliases: [Water plan, H2O]
tags:
  - project/garden
  - "#urgent"
permalink: garden/water
rating: 4
weight: 0.5
version: 3.10
status: open
related: "[[Pump|the pump]]"
parent: [[Garden]]
source:
  book: {title: Wells, page: 12}
  people: [{name: Ana}, {name: Bo}]
---
The pump is #broken/pump today, see #12, #हिंदी and `#code`.

```
#fenced
```
"""


def test_properties_keep_their_names_and_nested_ones_are_joined_by_dots(read: Read) -> None:
    metadata = read("a.md", NOTE).metadata
    assert metadata == {
        "aliases": ["Water plan", "H2O"],
        "tags": ["project/garden", "urgent", "broken/pump", "हिंदी"],
        "keywords": ["project/garden", "urgent", "broken/pump", "हिंदी"],
        "permalink": "garden/water",
        "rating": 4,
        "weight": 0.5,
        "version": "3.10",
        "status": "open",
        "related": "the pump",
        "parent": ["Garden"],
        "source.book.title": "Wells",
        "source.book.page": 12,
        "source.people.name": ["Ana", "Bo"],
    }


def test_notes_are_found_and_filtered_by_their_properties(idx: Idx) -> None:
    notes = idx.folder / "notes"
    notes.mkdir()
    (notes / "Water plan.md").write_text(NOTE)
    index_files(idx.index, notes)
    conditions = ("aliases=H2O", "rating>=3", "tags^=project/", "source.people.name=Bo")
    filters = [part for condition in conditions for part in ("--filter", condition)]
    assert "Water plan.md" in idx("search", "wells", *filters).stdout
    assert "permalink" in idx("show", "Water plan.md", "--details").stdout


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("one, two words", ["one", "two words"]),
        ('"#one #two/deep"', ["one", "two/deep"]),
        ("[2024, one]", ["2024", "one"]),
    ],
)
def test_tags_are_read_in_every_form(read: Read, tags: str, expected: list[str]) -> None:
    assert read("a.md", f"---\ntags: {tags}\n---\n").metadata["tags"] == expected


def test_a_file_cannot_claim_what_is_known_of_it(read: Read) -> None:
    matter = "file_path: /etc/passwd\nFile_Size: 1\ncontent_hash: x\nindexed: never\n"
    claimed = {"x-file_path", "x-File_Size", "x-content_hash", "x-indexed"}
    assert read("a.md", f"---\n{matter}---\n").metadata.keys() == claimed


def test_a_day_that_is_a_link_is_a_time(read: Read) -> None:
    metadata = read("a.md", '---\ncreated: "[[2025-03-01]]"\nupdated: 2025\n---\n').metadata
    assert metadata == {"created": "2025-03-01", "modified": "2025", "updated": "2025"}


def test_a_key_that_is_too_long_is_left_out(read: Read) -> None:
    extracted = read("a.md", f"---\na: [{'x, ' * 50}]\n{'k' * 200}: long\n---\n")
    assert extracted.metadata == {"a": ["x"]}


@pytest.mark.parametrize(
    "matter",
    [
        "l0: &l0 []\n"
        + "".join(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]\n" for i in range(1, 30)),
        "l0: &l0 {a: x}\n"
        + "".join(
            f"l{i}: &l{i} {{{', '.join(f'k{n}: *l{i - 1}' for n in range(9))}}}\n"
            for i in range(1, 30)
        ),
        "l0: &l0 {title: x}\n"
        + "".join(f"l{i}: &l{i} {{<<: [{', '.join([f'*l{i - 1}'] * 9)}]}}\n" for i in range(1, 20)),
        f"a: &a [{'x, ' * 1500}]\nb: [{'*a, ' * 1000}]",
        "a: &a {b: *a}",
        "a: &a [*a, *a]",
        "? [a, b]\n: c",
        "'': x\n1: y",
    ],
    ids=[
        "lists",
        "objects",
        "merged keys",
        "wide",
        "circle",
        "two circles",
        "list as key",
        "odd keys",
    ],
)
def test_hostile_properties_are_read_soon(read: Read, matter: str) -> None:
    before = time.monotonic()
    extracted = read("a.md", f"---\n{matter}\n---\n# Title\n")
    assert time.monotonic() - before < 5
    assert extracted.title == "Title"
    assert len(str(extracted.metadata)) < 100_000


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


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_cited_as_they_are_in_the_file(idx: Idx, end: str) -> None:
    lines = ["[[A very long name of a note that is not shown|a]] ^id1"] * 300
    lines += ["> [!note]", "^only-an-id", "", "The [[Thing|pump]] is broken.", ""]
    (idx.folder / "note.md").write_bytes(end.join(lines).encode())
    index_files(idx.index, idx.folder / "note.md")
    shown = idx("show", "note.md").stdout
    assert "lines 1-250" in shown
    assert "lines 211-304" in shown
    assert "The pump is broken." in shown


def test_a_note_without_a_title_is_called_by_its_name_without_the_ending(idx: Idx) -> None:
    files = [
        idx.folder / name for name in ("Garden plan.md", "v1.2.markdown", "plain.txt", "UP.MD")
    ]
    for file in files:
        file.write_text("Some words.")
    index_files(idx.index, *files)
    listed = idx("list", "--json").stdout
    for title in ("Garden plan", "v1.2", "plain.txt", "UP"):
        assert f'"title": "{title}"' in listed


@pytest.mark.parametrize("piece", ["[[", "`", "[[a|", "![[", "> [!", " ^", "#a/", "`` ` "])
def test_marks_without_end_are_read_soon(read: Read, piece: str) -> None:
    ticks = "".join("`" * length + " " for length in range(1, 1500))
    before = time.monotonic()
    read("a.md", piece * 300_000 + "\n" + ticks + "\n[[a]]")
    assert time.monotonic() - before < 10

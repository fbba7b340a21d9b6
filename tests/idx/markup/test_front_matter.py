"""Properties of Obsidian and of other programs that keep notes in Markdown."""

import time
from pathlib import Path

import pytest

from tests.conftest import Idx
from tests.idx.conftest import Read
from tests.idx.preparation import index_files

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
The pump is #broken/pump today, see #12 and `#code`.

```
#fenced
```
"""


def test_properties_keep_their_names_and_nested_ones_are_joined_by_dots(read: Read) -> None:
    metadata = read("a.md", NOTE).metadata
    assert metadata == {
        "aliases": ["Water plan", "H2O"],
        "tags": ["project/garden", "urgent", "broken/pump"],
        "keywords": ["project/garden", "urgent", "broken/pump"],
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


def test_notes_are_found_and_filtered_by_their_properties(
    idx: Idx, tmp_path: Path, index_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "Water plan.md").write_text(NOTE)
    index_files(index_path, notes)
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
        f"a: &a [{'x, ' * 1500}]\nb: [{'*a, ' * 1000}]",
        "a: &a {b: *a}",
        "a: &a [*a, *a]",
        "? [a, b]\n: c",
        "'': x\n1: y",
    ],
    ids=["lists", "objects", "wide", "circle", "two circles", "list as key", "odd keys"],
)
def test_hostile_properties_are_read_soon(read: Read, matter: str) -> None:
    before = time.monotonic()
    extracted = read("a.md", f"---\n{matter}\n---\n# Title\n")
    assert time.monotonic() - before < 5
    assert extracted.title == "Title"
    assert len(str(extracted.metadata)) < 100_000

import pytest

from tests.idx.conftest import Read

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
        "[" * 4000,
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


def test_a_front_matter_of_any_depth_harms_nothing(read: Read) -> None:
    read("a.md", f"---\na: {'[' * 200_000}\n---\n# Title\n")


def test_an_entity_bomb_in_yaml_stays_small(read: Read) -> None:
    levels = "".join(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]\n" for i in range(1, 12))
    extracted = read("a.md", f"---\nl0: &l0 [x]\n{levels}title: *l11\nkeywords: *l11\n---\n# T\n")
    assert extracted.title == "T"
    assert all(values == ["x"] for values in extracted.metadata.values())


def test_merged_keys_are_no_bomb_either(read: Read) -> None:
    levels = "".join(
        f"l{i}: &l{i} {{<<: [{', '.join([f'*l{i - 1}'] * 9)}]}}\n" for i in range(1, 20)
    )
    assert read("a.md", f"---\nl0: &l0 {{title: x}}\n{levels}---\n# T\n").title == "T"


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

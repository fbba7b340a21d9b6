"""`idx duplicates` lists documents that are versions of the same text."""

import random
from pathlib import Path
from typing import Any

import pytest

from shared import Document, Index, duplicates
from tests.conftest import Idx

WORDS = [f"word{number}" for number in range(3_000)]


def text(seed: int, count: int = 900) -> list[str]:
    return random.Random(seed).choices(WORDS, k=count)  # noqa: S311 - no secret


@pytest.fixture(autouse=True)
def _documents(empty_index: Path) -> None:
    letter = text(1)
    # A paragraph of eighty words is new, and some words are others.
    changed = [*letter[:300], *text(2, 80), *letter[300:]]
    changed[700:703] = ["other", "words", "here"]
    with Index(empty_index) as index:

        def add(id_: str, words: list[str], modified: str | None) -> None:
            metadata: dict[str, Any] = {"modified": modified} if modified else {}
            index.add(Document(id_, id_.title(), " ".join(words), metadata))

        add("first", letter, "2023-05-01")
        add("second", changed, "2024-05-01T10:00:00Z")
        add("copy", [word.upper() + "," for word in letter], None)
        # The half of another text is not a version of it.
        add("half", [*letter[:450], *text(3, 450)], "2025-01-01")
        add("other", text(4), "2025-01-01")
        add("note", ["yes"], None)
        add("same note", ["Yes!"], "2020")
        add("empty", [], None)


def groups(idx: Idx, *options: object) -> list[dict[str, float]]:
    found = idx.json("duplicates", *options)
    return [
        {each["source_document"]: each["similarity"] for each in group} for group in found["groups"]
    ]


def test_versions_of_a_text_are_together_the_newest_first(idx: Idx) -> None:
    letters, notes = groups(idx)
    assert list(letters) == ["second", "first", "copy"]
    assert letters["second"] == 1
    # 800 of about 980 sequences of words are the same.
    assert letters["first"] == pytest.approx(0.85, abs=0.09)
    # Case and punctuation do not count.
    assert letters["copy"] == letters["first"]
    assert notes == {"same note": 1, "note": 1}
    assert len(groups(idx, "--min-similarity", 0.2)[0]) == 4
    exact = groups(idx, "--min-similarity", 1)
    assert exact == [{"first": 1, "copy": 1}, notes]


def test_people_see_a_table_and_how_many_were_compared(idx: Idx) -> None:
    shown = idx("duplicates")
    first, newest, *_ = shown.stdout.splitlines()
    assert first == "text\tsimilarity\tmodified\tdocument"
    assert newest == "1\tnewest\t2024-05-01\tsecond"
    assert shown.stderr == (
        "7 documents compared; 2 texts in several versions, 3 documents beside the newest ones.\n"
    )


@pytest.mark.soak
def test_what_all_documents_begin_with_makes_them_no_versions(empty_index: Path) -> None:
    with Index(empty_index) as index:
        for number in range(150):
            words = [*text(5, 200), *text(1_000 + number, 400)]
            index.add(Document(f"report-{number}", "Report", " ".join(words)))
        index.add(Document("again", "Report", " ".join([*text(5, 200), *text(1_149, 400)])))
    found = duplicates(empty_index)
    assert {"again", "report-149"} in [
        {version.source_document for version in group} for group in found.groups
    ]
    assert len(found.groups) == 3


def test_what_cannot_be_compared_is_refused(empty_index: Path) -> None:
    with pytest.raises(ValueError, match="min_similarity is out of range"):
        duplicates(empty_index, min_similarity=1.5)

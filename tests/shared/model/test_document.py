import math
from typing import Any

import pytest

from shared import Document
from shared.errors import InvalidDocumentError
from shared.model.document import Heading


@pytest.mark.parametrize(
    ("document_id", "title", "content", "metadata", "complaint"),
    [
        ("", "t", "c", {}, "the id of a document must not be empty"),
        ("a", " \n", "c", {}, "must not be blank"),
        ("a" * 10_001, "t", "c", {}, "the id of .* has 10,001 characters; at most 10,000"),
        ("a", "t" * 10_001, "c", {}, "the title of .* has 10,001 characters; at most 10,000"),
        ("a", "t", "c", {"k": 10**400}, "a number in the range of a double"),
        ("\ud800", "t", "c", {}, "the id of .* lone surrogate at character 0"),
        ("a", "t\udfff", "c", {}, "the title of .* lone surrogate at character 1"),
        ("a", "t", "ab\ud83d", {}, "the content of .* lone surrogate at character 2"),
        ("a", "t", "c", {"k": "\ud800"}, "the metadata 'k' of .* lone surrogate"),
        ("a", "t", "c", {"": 1}, "the metadata key ''"),
        ("a", "t", "c", {"k" * 129: 1}, "a key has 1 to 128 characters"),
        ("a", "t", "c", {"k": math.nan}, "the metadata 'k' of .* is nan"),
        ("a", "t", "c", {"k": {"nested": 1}}, "must be text, a number"),
        ("a", "t", "c", {"k": [1, None]}, "must be text, a number"),
    ],
)
def test_what_cannot_be_indexed_is_refused_with_a_reason(
    document_id: str, title: str, content: str, metadata: Any, complaint: str
) -> None:
    with pytest.raises(InvalidDocumentError, match=complaint):
        Document(document_id, title, content, metadata)


def test_every_kind_of_metadata_value_is_allowed() -> None:
    metadata: Any = {"a": "x", "b": 1, "c": 1.5, "d": True, "e": ["x", 2, False], "f": []}
    assert Document("id", "title", "", metadata).metadata == metadata


@pytest.mark.parametrize(
    ("heading", "complaint"),
    [
        (Heading(1, "", 0), "has the heading '' of level 1"),
        (Heading(0, "One", 0), "has the heading 'One' of level 0"),
        (Heading(1, "a" * 201, 0), "a heading has 1 to 200 characters"),
        (Heading(1, "a\ud800", 0), "a heading of .* lone surrogate at character 1"),
    ],
)
def test_a_heading_that_cannot_be_indexed_is_refused(heading: Heading, complaint: str) -> None:
    with pytest.raises(InvalidDocumentError, match=complaint):
        Document("id", "title", "text", headings=[heading])

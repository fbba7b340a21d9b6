"""An index that makes answers as long as documents can make them, and the calls that do so.

Shared by the table of docs/measured/answer-sizes.md and by the tests of the limits of answers.
"""

import subprocess
from pathlib import Path
from typing import Any, Final

from shared import Document, Index, create
from shared.model.document import MAX_ID, MAX_KEY_LENGTH, MAX_TITLE, Metadata
from shared.model.metadata import MAX_KEYS
from tests.programs import PROGRAMS

Call = tuple[str, dict[str, Any]]  # a tool and its arguments

LONG_QUERY: Final = "otter " + " ".join(f"unheard{number}" for number in range(400))
"""As long as a query may be that an answer repeats whole."""

CONTROLS: Final = "\x01"  # takes six characters in JSON

LONG_ID: Final = "i" * (MAX_ID - 10)

CONTROL_ID: Final = CONTROLS * (MAX_ID - 10)  # an id that no answer has room for

WORST: Final[tuple[Call, ...]] = (
    ("Search", {"query": "otter", "limit": 100}),
    ("Search", {"query": "river", "limit": 100}),
    ("Search", {"query": "otter", "limit": 100, "content": "full"}),
    ("Search", {"query": "river", "limit": 100, "content": "full"}),
    ("Search", {"query": "otter", "limit": 100, "content": "passages"}),
    ("Search", {"query": "", "limit": 100, "content": "none", "sort": "source_document"}),
    (
        "Search",
        {"query": "otter", "limit": 100, "facets": [f"{n:03}" + "k" * 120 for n in range(10)]},
    ),
    ("Search", {"query": LONG_QUERY, "limit": 100, "content": "passages"}),
    ("Search", {"query": CONTROLS * 19_000, "limit": 100, "syntax": "plain"}),
    ("explain_query", {"query": LONG_QUERY, "detail": "scores", "limit": 20}),
    ("explain_query", {"query": "ot* riv*", "detail": "scores", "limit": 20}),
    ("ListDocuments", {"limit": 1_000, "detail": "full"}),
    ("document_details", {"source_document_id": "metadata"}),
    ("document_details", {"source_document_id": "many/001"}),
    ("document_details", {"source_document_id": LONG_ID}),
    ("suggest_terms", {"prefix": "v", "field": "000" + "k" * 120, "limit": 100}),
    ("suggest_terms", {"prefix": CONTROLS * 1_000, "field": "000" + "k" * 120}),
    ("top_terms", {"field": "000" + "k" * 120, "limit": 1_000}),
    ("top_terms", {"field": "content", "limit": 1_000}),
    ("list_fields", {"detail": "full"}),
    ("index_stats", {}),
    ("list_failures", {"limit": 1_000}),
    ("more_like", {"chunk_id": "many/001-chunk-001", "limit": 50}),
    ("more_like", {"chunk_id": "words-chunk-001", "limit": 50}),
    ("get_next_chunk", {"chunk_id": "words-chunk-001"}),
    ("get_next_chunk", {"chunk_id": f"{LONG_ID}-chunk-001"}),
    ("get_previous_chunk", {"chunk_id": "words-chunk-002"}),
    ("get_document_chunks", {"source_document_id": "text", "count": 100}),
    ("get_document_chunks", {"source_document_id": "words", "count": 100}),
    ("get_document_chunks", {"source_document_id": LONG_ID, "count": 100}),
    ("get_document_chunks", {"source_document_id": CONTROL_ID}),
)
"""What asks for as much as a tool gives."""

WORST_RESOURCES: Final = (
    "document://text",
    "document://words",
    "document://metadata",
    "chunk://words-chunk-001",
    "chunk://metadata-chunk-001",
    "chunk://keys%2F1-chunk-001",
    "index://stats",
    "index://fields/000" + "k" * 120,
    "index://fields/language",
)
"""What has as much as a resource may."""


def write_hostile_index(path: Path, files: Path) -> None:
    """Write an index of documents that are as long in every place as documents may be."""
    create(path)
    with Index(path) as index:
        for number in range(120):
            index.add(Document(f"many/{number:03}", *_long_words(number), _many_values(number)))
        for number in range(5):
            keys: Metadata = {f"{number}-{part}" + "k" * 120: "two words" for part in range(60)}
            index.add(Document(f"keys/{number}", "T" * MAX_TITLE, "river " * 249, keys))
        everything: Metadata = {
            f"{part:03}" + "k" * (MAX_KEY_LENGTH - 3): ["a value " + "v" * 400] * 20
            for part in range(MAX_KEYS)
        }
        index.add(Document("metadata", "T" * MAX_TITLE, "metadata", everything))
        index.add(Document("words", "W" * MAX_TITLE, ("x" * 400 + " ") * 600, _many_values(1)))
        index.add(Document("text", "A text", "word " * 30_000))
        index.add(Document(LONG_ID, "T", "word " * 600))
        index.add(Document(CONTROL_ID, "T", "word"))
    for number in range(100):
        file = files / ("folder" * 40) / f"{number:03}{'f' * 240}.pdf"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"%PDF-1.7\n" + b"damaged " * number)
    # It fails, as it should: none of the files can be read.
    subprocess.run([PROGRAMS / "idx", "sync", files, "-i", path], capture_output=True, check=False)


def _long_words(number: int) -> tuple[str, str]:
    """A title and a text that are long in JSON."""
    content = f"otter group{number % 3} " + f"{'river' * 20}\n" * 30
    return f"otter {number} " + '"' * (MAX_TITLE - 20), content


def _many_values(number: int) -> Metadata:
    """Metadata of long keys and values, other ones in each document."""
    values: Metadata = {
        f"{part:03}" + "k" * 120: [f"value {number} {each} " + "v" * 200 for each in range(3)]
        for part in range(10)
    }
    return values | {"language": f"language {number} " + "l" * 400}

from pathlib import Path

import pytest

from idx.extraction.types import Extracted, ReadFile
from idx.sync.plan import Change, file_document
from shared.files.location import KnownFolder, Location


@pytest.mark.parametrize(
    ("seconds", "modified"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59Z"),
        (300_000_000_000, None),
        (-300_000_000_000, None),
        (2**63, None),
    ],
)
def test_a_time_that_no_calendar_has_is_left_out(seconds: int, modified: str | None) -> None:
    location = Location(Path("/papers/a.txt"), KnownFolder(Path("/papers"), (1, 2)), "a.txt")
    change = Change("a.txt", location, "a.txt", "", 4, 0, False, True)
    read = ReadFile(Extracted("text", "text/plain"), None, 4, seconds * 10**9, "hash", True)
    document = file_document(change, read, "keep")
    assert document.metadata.get("modified") == modified
    assert document.file
    assert document.file.state.modified_ns == seconds * 10**9

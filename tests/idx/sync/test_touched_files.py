"""Times of files: bytes are compared if nothing else changes, and a time may be none."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from idx.extraction.pool import ExtractionPool, Limits
from idx.extraction.types import Extracted, ExtractionOptions, ReadFile, Unreadable
from idx.sync.plan import Change, file_document, single_file
from shared.files.location import KnownFolder, Location
from tests.conftest import Idx
from tests.idx.files import events, make, sync
from tests.idx.preparation import indexed
from tests.programs import Started
from tests.systems import has_pipes_as_files, locks_files_by_leases

_HOLDER: Final = """
import fcntl, os, signal, sys
# The system asks for the file by this signal, and takes it away after 45 s.
signal.signal(signal.SIGIO, signal.SIG_IGN)
fcntl.fcntl(os.open(sys.argv[1], os.O_RDWR), 1024, fcntl.F_WRLCK)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held(file: Path) -> Iterator[None]:
    """Let another process hold a file by a lease, as a file server does for its clients."""
    with Started(sys.executable, "-c", _HOLDER, file) as holder:
        if not holder.stdout.readline():
            pytest.skip("this file system has no leases")
        try:
            yield
        finally:
            holder.stdin.close()


def test_touched_files_are_told_from_changed_ones(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = indexed(empty_index, *(f"{number}.txt" for number in range(40)))
    for file in papers.iterdir():
        os.utime(file, (1, 1))
    (papers / "7.txt").write_text("text of 8.txt")
    (papers / "9.txt").write_text("another size")
    planned, *_ = events(idx("sync", "papers", "--json").stdout)
    assert (planned["update"], planned["skip"]) == (2, 38)
    assert sync(idx, "papers") == {"skipped": 40}


@locks_files_by_leases
def test_a_file_that_another_program_holds_does_not_stop_a_sync(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = indexed(empty_index, "a.txt", "b.txt", "c.txt")
    for file in papers.iterdir():
        os.utime(file, (1, 1))
    make(papers, "d.txt")
    with held(papers / "b.txt"):
        started = time.monotonic()
        done = idx("sync", "papers", "--json", code=1)
        # The system itself would have let it wait for 45 s.
        assert time.monotonic() - started < 40
    first, problem, *_ = events(done.stdout)
    assert (first["event"], first["skip"], first["add"]) == ("planned", 2, 1)
    assert problem["message"] == (
        f"{papers}/b.txt: cannot be read: another program keeps it locked"
    )
    assert sync(idx, "papers") == {"skipped": 4}


@has_pipes_as_files
def test_hashing_a_file_takes_no_longer_than_it_may(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "endless").open("wb") as stream:
        stream.truncate(10**13)
    changes = [single_file(tmp_path / name) for name in ("endless", "pipe", "a.txt")]
    with ExtractionPool(1, Limits(1, 2_000_000_000), ExtractionOptions()) as pool:
        hashes = {change.path.name: hashed for change, hashed in pool.hashes(changes)}
    assert hashes["endless"] == Unreadable(
        "failed", "was not read within 1 seconds; allow more with --timeout"
    )
    assert hashes["pipe"] == Unreadable("failed", "is not a regular file")
    assert str(hashes["a.txt"]).startswith("982d9e3eb996f559")


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

"""Reading one file: its state, and what stands in the way."""

import hashlib
import os
import threading
import time
from pathlib import Path

import pytest

from idx.errors import SourceFileError
from idx.extraction.types import ExtractionOptions, ReadFile
from idx.extraction.worker import read_file as read_location
from idx.sync.plan import single_file

OPTIONS = ExtractionOptions()


def read_file(file: Path, options: ExtractionOptions) -> ReadFile:
    return read_location(single_file(file).location, options)


def test_a_file_is_read_with_its_state(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("The rent is due on the third day of each month, and paid in advance.")
    os.utime(file, ns=(0, 1_700_000_000_000_000_123))
    read = read_file(file, OPTIONS)
    assert read.extracted.text == file.read_text()
    assert (read.size, read.modified_ns) == (68, 1_700_000_000_000_000_123)
    assert read.content_hash == hashlib.sha256(file.read_bytes()).hexdigest()
    assert read.language == "en"
    assert read.is_settled


@pytest.mark.parametrize(
    ("ago_ns", "is_settled"), [(0, False), (1_000_000_000, False), (3_000_000_000, True)]
)
def test_a_file_that_was_just_changed_is_not_settled(
    tmp_path: Path, ago_ns: int, is_settled: bool
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("text")
    # Whole seconds: a file system that counts no finer.
    now = time.time_ns() // 1_000_000_000 * 1_000_000_000
    os.utime(file, ns=(0, now - ago_ns))
    assert read_file(file, OPTIONS).is_settled == is_settled


def test_where_times_are_fine_a_file_is_settled_soon(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("text")
    changed = time.time_ns() - 1_000_000_000
    os.utime(file, ns=(0, changed + (changed % 1_000_000_000 == 0)))
    assert read_file(file, OPTIONS).is_settled


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    file.write_bytes(b"line\n" * 9_000_000)
    stop = threading.Event()

    def append() -> None:
        while not stop.wait(0.001):
            with file.open("ab") as stream:
                stream.write(b"more\n")

    writer = threading.Thread(target=append)
    writer.start()
    time.sleep(0.05)
    try:
        with pytest.raises(SourceFileError, match="changed while it was read"):
            read_file(file, OPTIONS)
    finally:
        stop.set()
        writer.join()

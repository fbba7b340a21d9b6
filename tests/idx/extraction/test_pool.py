"""Reading one file, and the processes that read: what one file does, the others do not feel."""

import hashlib
import multiprocessing
import os
import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest

from idx.errors import SourceFileError
from idx.extraction.pool import ExtractionPool, Limits
from idx.extraction.types import ExtractionOptions, Ocr, ReadFile, Unreadable, within_time
from idx.extraction.worker import read_file as read_location
from idx.sync.plan import single_file
from shared.files.location import Location
from tests.idx.extraction.pdf_files import write_pages

LIMITS = Limits(seconds=60, memory_bytes=2_000_000_000)
OPTIONS = ExtractionOptions()


@dataclass(frozen=True)
class File:
    path: Path
    size: int = 1

    @property
    def location(self) -> Location:
        return single_file(self.path).location


def read(
    *files: Path, limits: Limits = LIMITS, workers: int = 1, options: ExtractionOptions = OPTIONS
) -> dict[str, ReadFile | Unreadable]:
    with ExtractionPool(workers, limits, options) as pool:
        return {file.path.name: result for file, result in pool.read(map(File, files))}


def text_of(result: ReadFile | Unreadable) -> str:
    assert isinstance(result, ReadFile), result
    return result.extracted.text


def reason_of(result: ReadFile | Unreadable) -> str:
    assert isinstance(result, Unreadable), result
    assert result.kind == "failed"
    return result.reason


def fifty(folder: Path) -> list[Path]:
    files = [folder / f"{number}.txt" for number in range(50)]
    for file in files:
        file.write_text(f"text of {file.name}")
    return files


@pytest.mark.usefixtures("spawned_workers")
def test_files_are_read_by_several_processes_and_each_once(tmp_path: Path) -> None:
    files = fifty(tmp_path)
    results = read(*files, workers=2)
    assert {name: text_of(result) for name, result in results.items()} == {
        file.name: f"text of {file.name}" for file in files
    }
    assert multiprocessing.active_children() == []


def test_a_file_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "slow.html").write_text("<p>text" * 4_000_000)
    results = read(tmp_path / "slow.html", limits=Limits(0.05, LIMITS.memory_bytes))
    assert reason_of(results["slow.html"]).startswith("was not read within 0.05 seconds")
    assert multiprocessing.active_children() == []


@pytest.mark.usefixtures("spawned_workers")
def test_a_file_that_takes_too_much_memory_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_bytes(b"word " * 9_000_000)
    (tmp_path / "a.txt").write_text("text")
    results = read(tmp_path / "large.txt", tmp_path / "a.txt", limits=Limits(60, 130_000_000))
    assert "MB of memory" in reason_of(results["large.txt"])
    assert text_of(results["a.txt"]) == "text"


def test_an_error_of_a_reader_that_nobody_foresaw_costs_one_file(tmp_path: Path) -> None:
    files = [tmp_path / "a.txt", tmp_path / "b.pdf"]
    files[0].write_text("text")
    write_pages(files[1], ["text"])
    with ZipFile(tmp_path / "both.zip", "w") as both:
        for file in files:
            both.write(file, file.name)
    unknown = ExtractionOptions(pdf_engine="unknown")
    results = read(*files, tmp_path / "both.zip", options=unknown)
    archive = results.pop("both.zip")
    assert isinstance(archive, ReadFile)
    members = {member.path: member.result for member in archive.members}
    for read_as in (results, members):
        assert text_of(read_as["a.txt"]) == "text"
        assert "please report it: KeyError: 'unknown'" in reason_of(read_as["b.pdf"])


@pytest.mark.timeout(60)
@pytest.mark.parametrize("_turn", range(10))
def test_a_file_that_crashes_its_reader_costs_only_itself(tmp_path: Path, _turn: int) -> None:
    files = fifty(tmp_path)
    crashed = threading.Event()

    def crash() -> None:
        while not crashed.is_set():
            for reader in multiprocessing.active_children():
                with suppress(ProcessLookupError):
                    os.kill(reader.pid or 0, signal.SIGSEGV)
                    crashed.set()

    crashing = threading.Thread(target=crash)
    crashing.start()
    try:
        results = read(*files)
    finally:
        crashed.set()
        crashing.join()
    unreadable = [result for result in results.values() if isinstance(result, Unreadable)]
    assert len(results) == len(files)
    assert len(unreadable) <= 1


def test_what_is_within_a_file_has_no_more_time_than_is_left_for_the_file() -> None:
    ocr = Ocr("tesseract", "eng", seconds=900)
    options = ExtractionOptions(table_seconds=60, member_seconds=90, ocr=ocr)
    left = within_time(options, 20)
    assert (left.table_seconds, left.member_seconds) == (20, 20)
    assert left.ocr
    assert left.ocr.seconds == 20
    assert within_time(options, 1_000) == options


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

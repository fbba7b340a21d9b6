"""Exact copies of a file are read once, and are documents of their own."""

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from idx.extraction.pool import ExtractionPool, Limits
from idx.extraction.types import ExtractionOptions
from idx.sync.copies import MIN_BYTES, read_once
from idx.sync.plan import single_file
from shared import Searcher
from tests.conftest import Idx
from tests.idx.files import events, ids, sync

SAMPLES = Path(__file__).parents[2] / "test-index" / "documents"
MANUAL = SAMPLES / "otterline-wl4-manual.pdf"


def indexed(output: str) -> dict[str, dict[str, Any]]:
    return {
        event["source_document"]: event for event in events(output) if event["event"] == "indexed"
    }


def test_a_copy_has_the_text_of_the_other_and_a_place_of_its_own(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = tmp_path / "papers"
    (papers / "old").mkdir(parents=True)
    shutil.copy(MANUAL, papers / "manual.pdf")
    copy = Path(shutil.copy(MANUAL, papers / "old" / "again.pdf"))
    os.utime(copy, (1_000_000_000, 1_000_000_000))
    # As long, but another text.
    (papers / "other.pdf").write_bytes(MANUAL.read_bytes()[:-1] + b" ")
    done = indexed(idx("sync", "papers", "--json").stdout)
    copies = {name: event["copy_of"] for name, event in done.items() if event["copy_of"]}
    assert copies in ({"old/again.pdf": "manual.pdf"}, {"manual.pdf": "old/again.pdf"})
    with Searcher(empty_index) as searcher:
        one, other = map(searcher.document_details, ("manual.pdf", "old/again.pdf"))
        texts = [searcher.document_chunks(of.source_document).chunks for of in (one, other)]
        first, second = (
            [(chunk.content, chunk.page_start, chunk.section) for chunk in chunks]
            for chunks in texts
        )
        assert first == second
        assert one.file_path == str(papers / "manual.pdf")
        assert other.file_path == str(copy)
        assert other.metadata["file_name"] == "again.pdf"
        assert one.metadata["content_hash"] == other.metadata["content_hash"]
    # Each is up to date, and goes by itself.
    assert sync(idx, "papers") == {"skipped": 3}
    copy.unlink()
    assert sync(idx, "papers") == {"deleted": 1, "skipped": 2}
    assert ids(empty_index) == ["manual.pdf", "other.pdf"]


def test_copies_that_cannot_be_read_fail_one_by_one(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    for name in ("one.pdf", "two.pdf"):
        (papers / name).write_bytes(b"%PDF-1.4 broken" + b"x" * MIN_BYTES)
    told = events(idx("sync", "papers", "--json", code=1).stdout)
    failed = [event["source_document"] for event in told if event["event"] == "notindexed"]
    assert sorted(failed) == ["one.pdf", "two.pdf"]
    listed = json.loads(idx("failures", "--json").stdout)
    assert len({failure["file_path"] for failure in listed["failures"]}) == 2


class CountingPool(ExtractionPool):
    """A pool that notes which files it reads."""

    def read(self, files: Iterable[Any]) -> Iterator[Any]:
        self.files = [*getattr(self, "files", ()), *(each := [*files])]
        return super().read(each)


@pytest.mark.parametrize(
    ("names", "size", "read"),
    [
        (("a.txt", "b.TXT", "c/d.txt"), MIN_BYTES, 1),
        # The extension says how the bytes are read.
        (("a.txt", "b.md"), MIN_BYTES, 2),
        # Small files are read as fast as they are hashed.
        (("a.txt", "b.txt"), 100, 2),
    ],
)
def test_copies_are_read_once(tmp_path: Path, names: tuple[str, ...], size: int, read: int) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("words " * (size // 6 + 1))
    changes = [single_file(tmp_path / name) for name in names]
    with CountingPool(1, Limits(60, 1_000_000_000), ExtractionOptions()) as pool:
        found = {change.path: (result, of) for change, result, of in read_once(pool, changes)}
    assert len(pool.files) == read
    assert found.keys() == {tmp_path / name for name in names}
    texts = {result.extracted.text for result, _ in found.values()}  # type: ignore[union-attr]
    assert len(texts) == 1
    assert sum(of is not None for _, of in found.values()) == len(names) - read


def test_a_secret_that_is_allowed_is_no_reason_to_read_its_copy(
    idx: Idx, empty_index: Path, tmp_path: Path
) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA" * 300 + "\n"
    for name in ("allowed.txt", "other.txt"):
        (papers / name).write_text(key)
    allowed = ("--allow-secret", papers / "allowed.txt")
    idx("sync", "papers", *allowed)
    assert ids(empty_index) == ["allowed.txt"]

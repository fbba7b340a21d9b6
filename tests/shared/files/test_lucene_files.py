import shutil
from pathlib import Path

import pytest

from shared.files.lucene_files import written_by

DATA = Path(__file__).parents[2] / "data"


def test_the_newest_commit_counts(empty_index: Path) -> None:
    shutil.copy(DATA / "lucene-8.11" / "segments_1", empty_index / "segments_zz")
    assert written_by(empty_index) == "Lucene 8.11.4"


@pytest.mark.parametrize(
    ("header", "release"),
    [
        (b"\xff\xff\xff\xf5" + bytes(40), "an unknown version of Lucene"),
        (b"", "an unknown version of Lucene"),
        (b"PK\x03\x04" + bytes(40), "an unknown version of Lucene"),
        (b"\x3f\xd7\x6c\x17\x08segments\0\0\0\x0a" + bytes(10), "an unknown version of Lucene"),
        (b"\x3f\xd7\x6c\x17\x08nosegmen\0\0\0\x0a" + bytes(40), "an unknown version of Lucene"),
        (b"\x3f\xd7\x6c\x17\x08segments\0\0\0\x01" + bytes(40), "a Lucene before 5.3"),
    ],
)
def test_headers(tmp_path: Path, header: bytes, release: str) -> None:
    (tmp_path / "segments_1").write_bytes(header)
    assert written_by(tmp_path) == release


def test_a_folder_without_a_commit_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "segments_x-y").touch()
    assert written_by(tmp_path) == "an unknown version of Lucene"

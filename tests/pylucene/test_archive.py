"""The file of a wheel: the same bytes from the same content, with a list that holds."""

import base64
import csv
import hashlib
import os
import time
import zipfile
from pathlib import Path

import pytest
from backend import archive
from backend.console import BuildError

_RECORD = "thing-1.dist-info/RECORD"


def written(folder: Path, content: Path) -> Path:
    """A wheel of a file, a module and metadata."""
    folder.mkdir()
    files: dict[str, Path | bytes] = {
        "thing-1.dist-info/WHEEL": b"Wheel-Version: 1.0\n",
        "thing/__init__.py": content,
        "thing/module.abi3.so": b"\x7fELF",
    }
    archive.write_wheel(folder / "thing.whl", files, _RECORD)
    return folder / "thing.whl"


@pytest.fixture
def content(tmp_path: Path) -> Path:
    """A file to pack."""
    path = tmp_path / "__init__.py"
    path.write_text("VERSION = 1\n")
    return path


def test_it_is_the_same_every_time(content: Path, tmp_path: Path) -> None:
    first = written(tmp_path / "first", content)
    os.utime(content, (1, 1))
    content.chmod(0o600)
    assert written(tmp_path / "second", content).read_bytes() == first.read_bytes()


def test_its_list_names_each_file_with_its_hash(content: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(written(tmp_path / "out", content)) as wheel:
        rows = list(csv.reader(wheel.read(_RECORD).decode().splitlines()))
        assert [row[0] for row in rows] == wheel.namelist()
        assert rows[-1] == [_RECORD, "", ""]
        for name, digest, size in rows[:-1]:
            found = wheel.read(name)
            expected = base64.urlsafe_b64encode(hashlib.sha256(found).digest()).decode()
            assert digest == f"sha256={expected.rstrip('=')}"
            assert int(size) == len(found)


def test_modules_can_be_executed_and_other_files_not(content: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(written(tmp_path / "out", content)) as wheel:
        modes = {entry.filename: entry.external_attr >> 16 for entry in wheel.infolist()}
    assert oct(modes.pop("thing/module.abi3.so")) == "0o100755"
    assert {oct(mode) for mode in modes.values()} == {"0o100644"}


@pytest.mark.parametrize(
    ("given", "seconds"), [("", 315_532_800), ("0", 315_532_800), ("1700000000", 1_700_000_000)]
)
def test_files_have_the_time_that_is_asked_for(
    content: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, seconds: int
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
    with zipfile.ZipFile(written(tmp_path / "out", content)) as wheel:
        assert {entry.date_time for entry in wheel.infolist()} == {time.gmtime(seconds)[:6]}


@pytest.mark.parametrize("given", ["now", "-1", "99999999999"])
def test_a_time_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
    with pytest.raises(BuildError, match=f"SOURCE_DATE_EPOCH='{given}' is not a number of seconds"):
        archive.epoch()

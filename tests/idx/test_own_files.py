"""The configuration and what is printed are never documents, whatever their names."""

import os
from pathlib import Path

import pytest

from shared.files.access import OWN
from tests.conftest import Idx
from tests.idx.files import ids, make, sync
from tests.idx.test_failures import failures
from tests.programs import PROGRAMS, run
from tests.systems import makes_links


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return make(tmp_path / "notes", "good.txt")


@makes_links
def test_the_configuration_is_never_indexed_by_whatever_name(idx: Idx, notes: Path) -> None:
    file = notes / "settings.txt"
    file.write_text("pdf_password = 'word'\n")
    idx.setenv("IDX_CONFIG", str(file))
    os.link(file, notes / "second name.txt")
    (notes / "link.txt").symlink_to(file)
    assert sync(idx, notes, "--follow-links", "--allow-secret", file) == {
        "added": 1,
        "chunks": 1,
        "secrets": 3,
    }
    assert ids(idx.index) == ["good.txt"]
    names = ("link.txt", "second name.txt", "settings.txt")
    assert failures(idx.index) == dict.fromkeys(names, ("secret", OWN))
    alone = idx.folder / "alone.txt"
    os.link(file, alone)
    told = idx("add", alone, "--allow-secret", alone)
    assert f"Warning: {alone}: {OWN}, and is skipped\n" in told.stderr
    assert ids(idx.index) == ["good.txt"]


def test_a_configuration_that_was_indexed_once_is_deleted(idx: Idx, notes: Path) -> None:
    file = notes / "settings.txt"
    file.write_text("pdf_password = 'word'\n")
    sync(idx, notes)
    assert ids(idx.index) == ["good.txt", "settings.txt"]
    idx.setenv("IDX_CONFIG", str(file))
    assert sync(idx, notes) == {"deleted": 1, "skipped": 1, "secrets": 1}


def test_the_files_that_a_run_prints_to_are_not_indexed(
    index_path: Path, notes: Path, tmp_path: Path
) -> None:
    with (notes / "out.txt").open("w") as out, (notes / "log.txt").open("w") as log:
        out.write("of an earlier run\n")
        log.write("of an earlier run\n")
        out.flush()
        log.flush()
        run(PROGRAMS / "idx", "sync", notes, cwd=tmp_path, stdout=out, stderr=log)
    assert ids(index_path) == ["good.txt"]

"""`idx check` of an index whose files are damaged, each kind of them."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import Idx
from tests.idx.damage import damaged, file_of_each_kind, fill_with_every_kind, flip
from tests.idx.raw_index import files_of_lucene
from tests.programs import run

# One process for all: a crash of the virtual machine ends it, and is seen.
CHECKS = """
import json, sys
from shared import IndexFolderError
from shared.maintenance.check import check
for folder in sys.argv[1:]:
    try:
        print(json.dumps(check(folder).problems), flush=True)
    except IndexFolderError as error:
        print(json.dumps(f"Error: {error}"), flush=True)
"""


@pytest.fixture
def filled(idx: Idx, empty_index: Path) -> Path:
    return fill_with_every_kind(idx, empty_index)


def check_all(folders: list[Path]) -> list[list[str] | str]:
    done = run(sys.executable, "-c", CHECKS, *folders, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_damage_to_any_kind_of_file_is_found_and_named(filled: Path, tmp_path: Path) -> None:
    copies: list[tuple[str, Path]] = []

    def copy(name: str) -> Path:
        folder = tmp_path / f"damaged-{len(copies)}"
        shutil.copytree(filled, folder)
        copies.append((name, folder))
        return folder / name

    for name in file_of_each_kind(filled):
        for content in damaged((filled / name).read_bytes()):
            copy(name).write_bytes(content)
        copy(name).unlink()
    found = check_all([folder for _, folder in copies])
    for (name, folder), problems in zip(copies, found, strict=True):
        assert problems, (name, folder)
        told = " ".join([problems] if isinstance(problems, str) else problems)
        assert name in told or "its segments_N file, which names the others, is missing" in told, (
            told
        )


@pytest.mark.soak
def test_the_answer_names_file_segment_and_help(idx: Idx, filled: Path) -> None:
    (file,) = filled.glob("*.fdt")
    flip(file)
    failed = idx("check", code=1)
    assert failed.stdout == (
        f"file {file.name}: its checksum is wrong, so it was changed after Lucene wrote it; "
        "restore a backup with idx restore, or save the rest with idx repair\n"
    )
    answer = json.loads(idx("check", "--json", code=1).stdout)
    assert [part["name"] for part in answer["segments"] if not part["sound"]] == [
        file.name.removesuffix(".fdt")
    ]
    assert answer["documents"] == 0
    assert answer["chunks"] > 80


@pytest.mark.soak
def test_a_segment_with_right_checksums_that_does_not_fit_is_found(
    idx: Idx, filled: Path, tmp_path: Path
) -> None:
    # A file of another index with the same name: its checksum is right, the segment is not.
    other = tmp_path / "other"
    shutil.copytree(filled, other)
    idx("add", "-i", "other", "-d", "d08", "-t", "T", "-c", "text")
    (deletions,) = (name for name in files_of_lucene(other) if name.endswith("_2.liv"))
    shutil.copy(other / deletions, filled / deletions.replace("_2.liv", "_1.liv"))
    (line,) = idx("check", code=1).stdout.splitlines()
    assert line.startswith(f"segment {deletions.partition('_2.liv')[0]}: ")
    assert "idx restore" in line


@pytest.mark.soak
def test_what_is_left_of_an_older_commit_is_told(idx: Idx, filled: Path) -> None:
    (filled / "segments_1").touch()
    (line,) = idx("check", code=1).stdout.splitlines()
    assert line.startswith("a commit before the last one cannot be read; delete its file, ")
    assert line.endswith(": segments_1")
    (filled / "segments_1").unlink()
    idx("check")

"""The test files of public projects: no crash, nothing silent, and tables no worse than plain."""

from pathlib import Path, PurePosixPath

import pytest

from tests.conftest import Idx
from tests.corpus.reading import OUTCOMES, SOURCES, compare, sync, unpack

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not SOURCES.is_dir(), reason="make soak downloads the corpus"),
    pytest.mark.timeout(1200),
]


def test_each_file_is_a_document_or_a_failure_with_a_kind(tmp_path: Path, idx: Idx) -> None:
    folder = tmp_path / "corpus"
    files = {file.relative_to(folder).as_posix() for file in unpack(folder)}
    outcomes = sync(folder, tmp_path / "lucene-index")
    # A folder of secrets, such as .git, stands for all that is in it.
    folders = {name.rstrip("/") for name in outcomes.files.keys() - files}
    assert {outcomes.files.get(name) or outcomes.files[f"{name}/"] for name in folders} <= {
        "secret"
    }
    silent = files - outcomes.files.keys()
    assert [name for name in silent if not folders & {*map(str, PurePosixPath(name).parents)}] == []
    assert set(outcomes.files.values()) <= {*OUTCOMES}
    failures = idx.json("failures")["failures"]
    listed = {failure["source_document"] for failure in failures}
    assert {name for name, outcome in outcomes.files.items() if outcome != "read"} <= listed
    read = sum(outcome in {"read", "in part"} for outcome in outcomes.files.values())
    assert read > 0.6 * len(files)


def test_tables_are_no_worse_than_plain_text(tmp_path: Path) -> None:
    unpack(tmp_path)
    found = list(compare(tmp_path))
    assert len(found) >= 12
    assert len({each.creator for each in found}) >= 8
    assert [each for each in found if each.lost > max(3, 0.02 * each.words)] == []
    assert sum(each.rows > 0 for each in found) >= 6

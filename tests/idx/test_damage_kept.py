"""What writes to all of an index leaves a damaged one as it is."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from shared import Document, IndexDamagedError
from shared.errors import LuceneError
from shared.maintenance.backup import backup
from shared.maintenance.repair import repair
from shared.maintenance.restore import restore
from shared.maintenance.upkeep import optimize, purge
from shared.storage import integrity
from tests.conftest import Idx, add_documents
from tests.idx.damage import change_a_bit
from tests.idx.files import files_of_index


@pytest.fixture
def damaged(empty_index: Path) -> Path:
    """Two segments, a bit of the older of which is changed, where Lucene does not look at once."""
    words = random.Random(4)  # noqa: S311 - words that do not compress
    texts = [[f"{words.getrandbits(40):x}" for _ in range(240)] for _ in range(2)]
    for name, text in zip("ab", texts, strict=True):
        add_documents(empty_index, Document(name, name, " ".join(text)))
    change_a_bit(min(empty_index.glob("*.cfs")), of=texts[0][120].encode())
    return empty_index


@pytest.mark.parametrize("write", [purge, optimize])
def test_it_is_refused(
    idx: Idx,
    damaged: Path,
    monkeypatch: pytest.MonkeyPatch,
    write: Callable[[Path], object],
) -> None:
    # Files of any size are waited for.
    monkeypatch.setattr(integrity, "_MAX_FOREGROUND_BYTES", 0)
    before = files_of_index(damaged)
    name = min(damaged.glob("*.cfs")).name
    with pytest.raises(IndexDamagedError, match=f"file {name}: its checksum is wrong"):
        write(damaged)
    assert files_of_index(damaged) == before
    # What is left of it can still be saved.
    assert "Saved 1 document (1 chunk)" in idx("repair").stdout
    write(damaged)


def test_what_was_not_copied_whole_is_not_committed(
    damaged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    add_documents(other, Document("a", "A", "text"))
    backup(other, tmp_path / "copy")
    before = files_of_index(damaged)
    # Whatever the reason may be: the work ends without a word.
    monkeypatch.setattr("shared.maintenance.restore.in_background", lambda _work, _cancel: iter(()))
    with pytest.raises(LuceneError, match="of 1 chunks Lucene copied 0"):
        repair(damaged)
    with pytest.raises(LuceneError, match="of 1 chunks Lucene copied 0"):
        restore(damaged, tmp_path / "copy")
    assert files_of_index(damaged) == before

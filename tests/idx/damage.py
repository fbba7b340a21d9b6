"""An index with files of every kind, and ways to damage each of them."""

from collections.abc import Iterator
from pathlib import Path

from shared import Index
from tests.conftest import Idx
from tests.idx.files import make
from tests.idx.raw_index import files_of_lucene
from tests.idx.segments import fill

KINDS = frozenset(
    {
        *("segments", "si", "fnm", "fdt", "fdx", "fdm", "cfs", "cfe", "liv", "nvd", "nvm"),
        *("dvd", "dvm", "doc", "pos", "tim", "tip", "tmd", "kdd", "kdi", "kdm"),
    }
)


def fill_with_every_kind(idx: Idx, index: Path) -> Path:
    """Write a large segment, small ones, deletions, and updates of doc values."""
    fill(index, 18)
    idx("optimize")
    papers = make(index.parent / "papers", "a.txt")
    idx("sync", "papers")
    # Another state of the same file: an update of doc values.
    (papers / "a.txt").touch()
    idx("sync", "papers")
    with Index(index) as writer:
        writer.delete("d07")
    return index


def file_of_each_kind(index: Path) -> list[str]:
    """The name of one file of each kind."""
    names = {_kind(name): name for name in sorted(files_of_lucene(index))}
    assert names.keys() >= KINDS
    return [*names.values()]


def _kind(name: str) -> str:
    return "segments" if name.startswith("segments") else name.rpartition(".")[2]


def damaged(data: bytes) -> Iterator[bytes]:
    """The content of a file with one bit changed in four places, and cut short in three."""
    for place in range(4):
        changed = bytearray(data)
        changed[(len(data) - 1) * place // 3] ^= 1 << place
        yield bytes(changed)
    for left in range(3):
        yield data[: (len(data) - 1) * left // 2]


def change_a_bit(file: Path, of: bytes) -> None:
    data = bytearray(file.read_bytes())
    data[data.index(of)] ^= 1
    file.write_bytes(data)


def flip(file: Path, place: int | None = None) -> None:
    """Change a bit of a file, in its middle; under another name it stays sound."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2 if place is None else place] ^= 1
    file.unlink()
    file.write_bytes(data)


def flip_commit(index: Path) -> None:
    for file in index.glob("segments_*"):
        flip(file)


def cut_commit(index: Path) -> None:
    for file in index.glob("segments_*"):
        file.write_bytes(file.read_bytes()[:40])


def change_version(index: Path) -> None:
    """Change a bit of the commit, so that it seems to be one of another Lucene."""
    for file in index.glob("segments_*"):
        flip(file, 0)


def flip_text(index: Path) -> None:
    for file in index.glob("*.cfs"):
        flip(file)


def remove_commit(index: Path) -> None:
    for file in index.glob("segments_*"):
        file.unlink()


def remove_segments(index: Path) -> None:
    for file in index.glob("*.si"):
        file.unlink()

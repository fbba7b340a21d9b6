"""The folder of one size: texts, what is made of them beforehand, and the indexes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.engines.processes import apart
from benchmarks.engines.texts import write_fields, write_texts


@dataclass(frozen=True)
class Data:
    """What engines read, and where they write."""

    folder: Path
    chunks: int

    @classmethod
    def made(cls, folder: Path, chunks: int) -> "Data":
        """Make what is not there yet."""
        data = cls(folder, chunks)
        folder.mkdir(parents=True, exist_ok=True)
        if not data.texts.exists():
            _whole(data.texts, lambda file: apart(write_texts, file, chunks))
        if not data.fields.exists():
            _whole(
                data.fields,
                lambda file: apart(write_fields, data.texts, file, data.analyzers),
            )
        return data

    @property
    def texts(self) -> Path:
        """The texts, in lines."""
        return self.folder / "texts.tsv"

    @property
    def fields(self) -> Path:
        """The texts with what this project makes of each."""
        return self.folder / "fields.tsv"

    @property
    def analyzers(self) -> Path:
        """The steps of the fields."""
        return self.folder / "analyzers.tsv"


def _whole(file: Path, make: Callable[[Path], object]) -> None:
    """Make a file under another name first: what was broken off is made anew the next time."""
    unfinished = file.with_name(f"{file.name}.unfinished")
    make(unfinished)
    unfinished.rename(file)

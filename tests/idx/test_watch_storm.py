"""`idx watch` in a storm: afterwards the index is what a new one of the same folder is."""

import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from shared.model.failures import load_failures
from tests.conftest import Idx
from tests.idx.files import make
from tests.idx.preparation import index_files
from tests.idx.watched import Watch, chunks

SEED: Final = 4
MOST_FILES: Final = 600


class Storm:
    """Random changes of a folder."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = make(folder, "calm/there.txt")
        self._random = random.Random(seed)  # noqa: S311 - the same storm every time
        self._number = 0
        self.done: Counter[str] = Counter()
        self._changes: dict[Callable[[], bool], int] = {
            self._create: 10,
            self._edit: 10,
            self._save_by_rename: 5,
            self._rename_file: 5,
            self._rename_folder: 2,
            self._delete_file: 5,
            self._delete_folder: 1,
            self._ignore: 1,
        }

    def rage(self, seconds: float) -> None:
        """Change the folder in bursts for so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for _ in range(self._random.choice((1, 5, 40, 300))):
                (change,) = self._random.choices([*self._changes], [*self._changes.values()])
                self.done[change.__name__] += change()
            time.sleep(self._random.choice((0, 0.05, 0.4, 2)))

    def _create(self) -> bool:
        if len(self._files()) >= MOST_FILES:
            return self._delete_folder()
        folder = self._random.choice(self._folders())
        if self._random.random() < 0.3:
            folder /= self._name("folder")
        file = folder / self._name("txt", "md", "log", "html")
        file.parent.mkdir(exist_ok=True)
        file.write_text(self._text())
        return True

    def _edit(self) -> bool:
        if not (files := self._files()):
            return False
        with self._random.choice(files).open(self._random.choice("wa")) as file:
            for _ in range(self._random.randrange(3)):
                file.write(self._text())
                file.flush()
        return True

    def _save_by_rename(self) -> bool:
        if not (files := self._files()):
            return False
        file = self._random.choice(files)
        temporary = file.with_name(self._name("tmp"))
        temporary.write_text(self._text())
        temporary.replace(file)
        return True

    def _rename_file(self) -> bool:
        if not (files := self._files()):
            return False
        folder = self._random.choice(self._folders())
        name = self._name("txt") if self._random.random() < 0.7 else self._random.choice(files).name
        target = folder / name
        if not target.is_dir():
            self._random.choice(files).replace(target)
        return True

    def _rename_folder(self) -> bool:
        source, target = self._random.choice(self._folders()), self._random.choice(self._folders())
        if source == self._folder or target.is_relative_to(source):
            return False
        source.rename(target / self._random.choice((source.name + "-moved", self._name("folder"))))
        return True

    def _delete_file(self) -> bool:
        if not (files := self._files()):
            return False
        self._random.choice(files).unlink()
        return True

    def _delete_folder(self) -> bool:
        folder = self._random.choice(self._folders())
        if folder == self._folder:
            return False
        shutil.rmtree(folder)
        if self._random.random() < 0.5:
            # At once another one in its place.
            folder.mkdir()
            (folder / self._name("txt")).write_text(self._text())
        return True

    def _ignore(self) -> bool:
        file = self._random.choice(self._folders()) / ".gitignore"
        file.write_text(self._random.choice(("*.log", "", "*.md\n!1*.md", "*.folder")))
        return True

    def _files(self) -> list[Path]:
        return [path for path in self._below() if path.is_file() and path.name != ".gitignore"]

    def _folders(self) -> list[Path]:
        return [self._folder, *(path for path in self._below() if path.is_dir())]

    def _below(self) -> list[Path]:
        calm = self._folder / "calm"
        return sorted(path for path in self._folder.rglob("*") if not path.is_relative_to(calm))

    def _name(self, *endings: str) -> str:
        self._number += 1
        return f"{self._number}.{self._random.choice(endings)}"

    def _text(self) -> str:
        self._number += 1
        words = self._random.choices(
            ("snow", "rain", "hail", "wind"), k=self._random.randrange(900)
        )
        return f"text {self._number} {' '.join(words)}\n"


def state(index: Path) -> dict[str, object]:
    """Every chunk by id, and why each file that is not in the index is not."""
    return {
        **chunks(index),
        **{f"not {name}": failure.reason for name, failure in load_failures(index).items()},
    }


@pytest.mark.parametrize("seconds", [2.0, pytest.param(60.0, marks=pytest.mark.soak)])
def test_after_a_storm_the_index_is_what_a_new_one_is(
    idx: Idx, empty_index: Path, tmp_path: Path, seconds: float
) -> None:
    papers = tmp_path / "papers"
    storm = Storm(papers, SEED)
    with Watch(tmp_path, "papers") as watch:
        watch.until_event("watching")
        storm.rage(seconds)
        assert all(count > seconds / 6 for count in storm.done.values()), storm.done
        assert len(storm.done) == 8
        index_files(tmp_path / "fresh", "papers")
        fresh = state(tmp_path / "fresh")
        assert len(fresh) > 20

        def difference() -> set[str]:
            found = state(empty_index)
            return {name for name in fresh | found if fresh.get(name) != found.get(name)}

        watch.until(lambda: not difference(), difference)
        # And it goes on.
        make(papers, "calm/after.txt")
        watch.until_event("indexed", source_document="calm/after.txt")
    again = idx("sync", "papers", "--dry-run").stdout.splitlines()
    assert len(again) == 1, again

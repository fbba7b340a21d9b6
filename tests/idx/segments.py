"""An index of several segments, large enough that work on it takes a moment."""

import random
import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from shared import Document, Index, create

_TEMPORARY = gettempdir()  # the folder for temporary files before a test names another one


def fill(path: Path, documents: int = 60) -> None:
    """Replace an index with one to which `add_segments` has added documents."""
    shutil.rmtree(path)
    shutil.copytree(_filled(documents).name, path)


@cache
def _filled(documents: int) -> "TemporaryDirectory[str]":
    folder = TemporaryDirectory(dir=_TEMPORARY, prefix="filled-")
    create(Path(folder.name))
    add_segments(Path(folder.name), documents)
    return folder


def add_segments(path: Path, documents: int = 60) -> None:
    """Add documents of six chunks each in six commits; then delete every tenth of them."""
    chosen = random.Random(4)  # noqa: S311 - words that do not compress
    with Index(path) as index:
        for number in range(documents):
            text = " ".join(f"{chosen.getrandbits(40):x}" for _ in range(1_200))
            index.add(Document(f"d{number:02}", "Title", f"common {text}", {"n": number}))
            if number % (documents // 6) == 0:
                index.commit()
        for number in range(0, documents, 10):
            index.delete(f"d{number:02}")

"""What tests begin with, made in this process: a command that only prepares need not start."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from idx.cli.options import ReadingOptions
from idx.cli.run_options import extraction_options, limits
from idx.crawl.patterns import Selection, Selections
from idx.extraction.pool import ExtractionPool, Item, Limits, Work
from idx.sync.events import Kept, Problem
from idx.sync.plan import SyncOptions
from idx.sync.synchronize import synchronize
from tests.idx.files import make

_SECONDS_OF_A_TICK: Final = 0.03
"""After this time a file is not opened again to see whether it has changed since it was read."""

_NO_LIMIT: Final = 1_000_000
"""Seconds of processor time, which are taken from those of this process."""


class _ReadingHere(ExtractionPool):
    """Reads the files in this process, one after the other: no test file here harms its reader."""

    def _process(self, work: Work, batches: Iterable[list[Item]]) -> Iterator[tuple[Item, Any]]:
        for batch in batches:
            yield from zip(batch, work([file.location for file in batch]), strict=True)


def options_for(index: Path) -> SyncOptions:
    """Return the options of `idx sync` without options, which creates the index."""
    reading = ReadingOptions()
    return SyncOptions(
        index_path=index,
        selections=Selections(Selection((), ()), {}),
        extraction=extraction_options(reading, index),
        limits=Limits(_NO_LIMIT, limits(reading).memory_bytes),
        workers=1,
        wait=0,
        create=True,
    )


def index_files(index: Path, *paths: Path | str) -> None:
    """Make an index equal to files and folders, as `idx sync` does without options."""
    time.sleep(_SECONDS_OF_A_TICK)
    options = options_for(index)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("idx.sync.synchronize.ExtractionPool", _ReadingHere)
        events = [*synchronize([index.parent / path for path in paths], options, Kept())]
    assert not any(isinstance(event, Problem) for event in events), events


def indexed(index: Path, *names: str) -> Path:
    """Return the folder `papers` beside an index, with files of these names that it has."""
    papers = make(index.parent / "papers", *names)
    index_files(index, papers)
    return papers

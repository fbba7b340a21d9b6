"""Run of OCR over the files that were left to it, with the number of pages read so far."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, Self

from idx.extraction.pdf.ocr import version
from idx.extraction.pool import ExtractionPool, Item
from idx.extraction.types import Ocr, ReadFile, Unreadable

_COUNTER: Final = "pages"


class OcrRun:
    """Run of OCR; a context manager that ends its worker processes."""

    def __init__(self, pool: ExtractionPool, ocr: Ocr, workers: int) -> None:
        self._pool = pool
        self._ocr = ocr
        self._workers = workers
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.end()
        if self._folder is not None:
            self._folder.cleanup()

    @property
    def pages(self) -> int:
        """Number of pages that were read, or were not read within the limits."""
        if self._folder is None:
            return 0
        with suppress(OSError):
            return (Path(self._folder.name) / _COUNTER).stat().st_size
        return 0

    def read(self, files: Sequence[Item]) -> Iterator[tuple[Item, ReadFile | Unreadable] | None]:
        """Read files with their pictures of text, as many at a time as there are processes.

        Yields None each second in which none was completed.
        """
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="idx-", ignore_cleanup_errors=True)
        counter = os.path.join(self._folder.name, _COUNTER)  # noqa: PTH118 - is passed on as text
        Path(counter).touch()
        ocr = replace(
            self._ocr,
            version=version(self._ocr.program),
            is_due=True,
            # A few large files are to keep all processors busy, too.
            at_once=max(1, self._workers // max(len(files), 1)),
            counter=counter,
        )
        yield from self._pool.read_pages(files, ocr)
        if ocr.cache:
            ocr.cache.trim()

"""The text of a PDF, page by page, read in a process of its own.

A PDF is a program of sorts, written by anyone: it may crash its reader, never end, or fill the
memory. So a child process reads it under limits, and what happens there costs that file only.
"""

import multiprocessing
import resource
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.errors import SourceFileError

SECONDS: Final = 300
"""Longest time for one file; pdfplumber reads about 14 pages a second."""

MEMORY_BYTES: Final = 4 * 1024**3
"""Address space of the child process."""


@dataclass(frozen=True, slots=True)
class PdfText:
    """The text of all pages, a blank line between two, and the title in the file's properties."""

    text: str
    title: str | None


def read_pdf(file: Path) -> PdfText:
    """Read the text of a PDF, each page once.

    Raises:
        SourceFileError: the file needs a password, is damaged, holds no text, or went over a
            limit.
    """
    # Spawned, never forked: this process may run a Java virtual machine.
    pool = ProcessPoolExecutor(
        1, mp_context=multiprocessing.get_context("spawn"), initializer=_limit_memory
    )
    try:
        pages, title = pool.submit(_read_pages, file).result(SECONDS)
    except TimeoutError as error:
        raise SourceFileError(file, f"was not read within {SECONDS} seconds") from error
    except BrokenProcessPool as error:
        raise SourceFileError(file, "is a damaged PDF: its reader crashed") from error
    except MemoryError as error:
        raise SourceFileError(
            file, f"took more than {MEMORY_BYTES // 1024**3} GB of memory to read"
        ) from error
    except _PdfError as error:
        raise SourceFileError(file, str(error)) from error
    finally:
        for process in multiprocessing.active_children():
            process.kill()
        pool.shutdown()
    if not any(page.strip() for page in pages):
        raise SourceFileError(
            file, f"has no text on its {len(pages)} pages; scanned pages are not recognized"
        )
    return PdfText("\n\n".join(pages), title)


class _PdfError(Exception):
    """Why a PDF could not be read; crosses the border between the processes."""


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def _read_pages(file: Path) -> tuple[list[str], str | None]:
    """The text of every page, and the title of the document, in the child process."""
    import pdfplumber
    from pdfminer.pdfdocument import PDFPasswordIncorrect
    from pdfminer.pdfexceptions import PDFException
    from pdfplumber.utils.exceptions import PdfminerException

    try:
        with pdfplumber.open(file) as pdf:
            pages = []
            for page in pdf.pages:
                pages.append(page.extract_text())
                # Each page caches its layout; a long document would keep all of them.
                page.close()
            title = pdf.metadata.get("Title")
            return pages, title.strip() or None if isinstance(title, str) else None
    except PdfminerException as error:
        if any(isinstance(cause, PDFPasswordIncorrect) for cause in (error, *error.args)):
            raise _PdfError("is protected by a password") from None
        raise _PdfError(f"is a damaged PDF: {error}") from None
    except (PDFException, ValueError, TypeError, KeyError, RecursionError) as error:
        raise _PdfError(f"is a damaged PDF: {type(error).__name__}: {error}") from None

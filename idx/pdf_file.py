"""The text of a PDF, page by page, read in a process of its own.

A PDF is a program of sorts, written by anyone: it may crash its reader, never end, or fill the
memory. So a child process reads it under limits, and what happens there costs that file only.
"""

import logging
import multiprocessing
import resource
import signal
from dataclasses import dataclass
from multiprocessing.connection import Connection
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
    spawning = multiprocessing.get_context("spawn")
    receiver, sender = spawning.Pipe(duplex=False)
    reader = spawning.Process(target=_read_in_child, args=(file, sender), daemon=True)
    with receiver:
        reader.start()
        sender.close()
        try:
            if not receiver.poll(SECONDS):
                raise SourceFileError(file, f"was not read within {SECONDS} seconds")
            answer = receiver.recv()
        except EOFError as error:
            raise SourceFileError(file, "is a damaged PDF: its reader crashed") from error
        finally:
            reader.kill()
            reader.join()
    if isinstance(answer, str):
        raise SourceFileError(file, answer)
    pages, title = answer
    if not any(page.strip() for page in pages):
        raise SourceFileError(
            file, f"has no text on its {len(pages)} pages; scanned pages are not recognized"
        )
    return PdfText("\n\n".join(pages), title)


def _read_in_child(file: Path, sender: Connection) -> None:
    """Send the pages and the title, or what is wrong with the file in a few words."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    # The parser complains of what it repairs.
    logging.disable()
    # Ctrl-C goes to the whole group; the parent ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        sender.send(_read_pages(file))
    except MemoryError:
        sender.send(f"took more than {MEMORY_BYTES // 1024**3} GB of memory to read")
    except Exception as error:  # noqa: BLE001 - a damaged file may raise anything in its reader
        sender.send(_reason(error))


def _read_pages(file: Path) -> tuple[list[str], str | None]:
    """The text of every page, and the title of the document."""
    import pdfplumber

    with pdfplumber.open(file) as pdf:
        pages = []
        for page in pdf.pages:
            pages.append(page.extract_text())
            # Each page caches its layout; a long document would keep all of them.
            page.close()
        title = pdf.metadata.get("Title")
        return pages, title.strip() or None if isinstance(title, str) else None


def _reason(error: Exception) -> str:
    from pdfminer.pdfdocument import PDFPasswordIncorrect

    # pdfplumber wraps what its parser raised.
    causes = (error, *error.args)
    if any(isinstance(cause, PDFPasswordIncorrect) for cause in causes):
        return "is protected by a password"
    named = next((cause for cause in reversed(causes) if isinstance(cause, Exception)), error)
    return f"is a damaged PDF: {type(named).__name__} {named}".strip()

"""Extraction of the text in DjVu files by djvutxt, a program of the system (DjVuLibre)."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from idx.errors import SourceFileError, UnsupportedFileError
from idx.extraction.media_types import DJVU, Kind
from idx.extraction.text.cleaning import join_pages
from idx.extraction.types import Extracted, Source
from shared import system
from shared.messages import quantity
from shared.system.shell import find_program

_SECONDS: Final = 30.0
"""Maximum time for a file, in seconds; it usually takes a tenth."""

_MAX_TEXT_BYTES: Final = 50_000_000
"""Maximum size of the text of a file, in bytes."""

_PAGE_END: Final = "\f"


def find_djvutxt() -> str | None:
    """Return the absolute path of djvutxt; None if it is not installed."""
    return find_program("djvutxt")


def extract_djvu(source: Source) -> Extracted:
    """Extract the text that a DjVu file has behind its pictures, page by page.

    Raises:
        UnsupportedFileError: djvutxt is not installed.
        SourceFileError: it has no text.
        ValueError: djvutxt cannot read it, or takes too long.
    """
    if source.options.djvutxt is None:
        what = Kind.DJVU.value.format(media_type=DJVU)
        raise UnsupportedFileError(source.file, f"is {what}")
    pages = _text(source, source.options.djvutxt).split(_PAGE_END)
    if len(pages) > 1 and not pages[-1].strip():
        pages.pop()
    text, places = join_pages("page", [*enumerate(pages, start=1)])
    if not text:
        reason = f"has no text on its {quantity(len(pages), 'page')}"
        raise SourceFileError(source.file, f"{reason}; save it as PDF, whose pages OCR reads")
    return Extracted(text, DJVU, pages=places)


def _text(source: Source, program: str) -> str:
    # djvutxt reads no pipe.
    with tempfile.TemporaryDirectory(prefix="idx-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "file.djvu").write_bytes(source.data)
        posix = {} if sys.platform == "win32" else {"preexec_fn": _confine}
        with (folder / "text").open("wb") as output:
            try:
                done = subprocess.run(
                    [program, str(folder / "file.djvu")],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.DEVNULL,
                    timeout=min(_SECONDS, source.options.member_seconds),
                    check=False,
                    cwd=folder,
                    env={**os.environ, "LC_ALL": "C.UTF-8"},
                    **posix,  # type: ignore[call-overload]  # its types have no dictionary
                )
            except subprocess.TimeoutExpired as error:
                raise ValueError("djvutxt took too long") from error
            except OSError as error:
                raise ValueError(f"djvutxt cannot be started: {error}") from error
        with (folder / "text").open("rb") as stream:
            text = stream.read(_MAX_TEXT_BYTES)
    if done.returncode:
        raise ValueError("djvutxt cannot read it")
    if len(text) >= _MAX_TEXT_BYTES:
        raise ValueError("djvutxt found too much text")
    return text.decode(errors="replace")


def _confine() -> None:
    """Limit time and output of the program, and end it with its parent."""
    system.end_with_parent()
    system.limit_processor_time(int(_SECONDS))
    system.limit_file_size(_MAX_TEXT_BYTES)

"""Recognition of the text in pictures by Tesseract, a program of the system."""

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from idx.errors import SourceFileError
from idx.extraction.types import Ocr
from shared.system import limits

_PAGE_SECONDS: Final = 60.0
"""Maximum time for one page, in seconds; it usually takes two."""

_MAX_OUTPUT_BYTES: Final = 10_000_000
"""Maximum length of what Tesseract says of one page, with the place of each word."""

_MIN_CONFIDENCE: Final = 30
"""Minimum mean confidence of a page's words, in per cent; what is below is a picture, not text."""

_WORD_LEVEL: Final = "5"
_MAX_LANGUAGES: Final = 5
"""Level of words in Tesseract's table, and the languages that are used at once by default."""

NOT_INSTALLED: Final = "OCR needs Tesseract, which is not installed, or --ocr auto"
"""What is said of pages without text where there is no OCR."""


class OcrNeededError(SourceFileError):
    """A file has no text but that in its pictures, which is read later."""


@dataclass(frozen=True, slots=True)
class Recognized:
    """Text of a picture.

    Attributes:
        text: the text, with lines and paragraphs; empty if there is none.
        confidence: the mean confidence of its words, in per cent.
    """

    text: str
    confidence: float


def find_tesseract() -> str | None:
    """Return the absolute path of Tesseract; None if it is not installed.

    Relative folders of the search path are left out, so that nothing in the current folder is run.
    """
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if Path(folder).is_absolute())
    # On Windows, which looks into the current folder first.
    found = shutil.which("tesseract", path=path) if path else None
    return found if found and Path(found).is_absolute() else None


def installed_languages(program: str) -> tuple[str, ...]:
    """Return the languages that Tesseract can read, by its own codes; empty if it does not say."""
    try:
        done = subprocess.run(
            [program, "--list-langs"],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=_PAGE_SECONDS,
            check=False,
            cwd=Path(program).parent,
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(line for line in done.stdout.splitlines()[1:] if line.strip() not in {"", "osd"})


def default_languages(program: str) -> str:
    """Return the languages that are used if none are given: those installed, up to five."""
    return "+".join(installed_languages(program)[:_MAX_LANGUAGES])


def recognize(picture: bytes, ocr: Ocr, seconds: float) -> Recognized:
    """Return the text of a picture.

    Args:
        picture: the picture, in a format that Tesseract reads.
        ocr: the program and the languages.
        seconds: maximum time, in seconds.

    Raises:
        ValueError: Tesseract failed, or took too long.
    """
    # No name of a configuration file, which Tesseract would also look for in the current folder.
    command = [ocr.program, "stdin", "stdout", "-l", ocr.languages, "-c", "tessedit_create_tsv=1"]
    posix = {} if sys.platform == "win32" else {"preexec_fn": _confine}
    try:
        done = subprocess.run(
            command,
            input=picture,
            capture_output=True,
            timeout=min(seconds, _PAGE_SECONDS),
            check=False,
            cwd=Path(ocr.program).parent,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
            **posix,  # type: ignore[call-overload]  # its types have no dictionary of arguments
        )
    except subprocess.TimeoutExpired as error:
        raise ValueError("Tesseract took too long") from error
    except OSError as error:
        raise ValueError(f"Tesseract cannot be started: {error}") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise ValueError(f"Tesseract failed: {said[-1][:200] if said else done.returncode}")
    return _recognized(done.stdout[:_MAX_OUTPUT_BYTES].decode(errors="replace"))


def _confine() -> None:
    """Limit the time of the program, and end it with its parent."""
    limits.end_with_parent()
    limits.limit_processor_time(int(_PAGE_SECONDS))


def _recognized(table: str) -> Recognized:
    words = list(_words(table))
    if not words:
        return Recognized("", 0)
    confidence = sum(float(word["conf"]) for word in words) / len(words)
    if confidence < _MIN_CONFIDENCE:
        return Recognized("", confidence)
    paragraphs = (
        "\n".join(
            " ".join(word["text"] for word in line)
            for _, line in groupby(paragraph, lambda word: word["line_num"])
        )
        for _, paragraph in groupby(words, lambda word: (word["block_num"], word["par_num"]))
    )
    return Recognized("\n\n".join(paragraphs), confidence)


def _words(table: str) -> Iterator[dict[str, str]]:
    """Yield the words in Tesseract's table, which it recognized with some confidence."""
    for row in csv.DictReader(table.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
        if row.get("level") == _WORD_LEVEL and (row.get("text") or "").strip():
            yield row

"""Recognition of the text in pictures by Tesseract, a program of the system."""

import csv
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from idx.errors import SourceFileError
from idx.extraction.types import Ocr
from shared import system
from shared.ocr.reading import MAX_WORDS, Reading, Word
from shared.system.shell import find_program

if TYPE_CHECKING:
    from PIL.Image import Image

_PAGE_SECONDS: Final = 60.0
"""Maximum time for one page, in seconds; it usually takes two."""

_QUESTION_SECONDS: Final = 10.0
"""Maximum time for the version and the languages, in seconds."""

_MAX_OUTPUT_BYTES: Final = 10_000_000
"""Maximum length of what Tesseract says of one page, with the place of each word."""

_MAX_VERSION: Final = 100

_WORD_LEVEL: Final = "5"
"""Level of words in Tesseract's table."""

MAX_LANGUAGES: Final = 5
"""Maximum number of languages that are used at once by default."""

NOT_INSTALLED: Final = "OCR needs Tesseract, which is not installed, or --ocr auto"
"""What is said of pages without text where there is no OCR."""


class OcrNeededError(SourceFileError):
    """A file has no text but that in its pictures, which is read later.

    Attributes:
        pages: number of the pictures.
    """

    def __init__(self, file: Path | str, reason: str, pages: int) -> None:
        super().__init__(file, reason)
        self.pages = pages


def find_tesseract() -> str | None:
    """Return the absolute path of Tesseract; None if it is not installed."""
    return find_program("tesseract")


def installed_languages(program: str) -> tuple[str, ...]:
    """Return the languages that Tesseract can read, by its own codes; empty if it does not say."""
    lines = _answer(program, "--list-langs")
    return tuple(line for line in lines[1:] if line.strip() not in {"", "osd"})


def default_languages(program: str) -> str:
    """Return the languages that are used if none are given: those installed, up to five."""
    return "+".join(installed_languages(program)[:MAX_LANGUAGES])


def version(program: str) -> str:
    """Return the version of Tesseract, such as ``tesseract 5.3.0``; empty if it does not say."""
    return next(iter(_answer(program, "--version")), "")[:_MAX_VERSION]


def _answer(program: str, option: str) -> list[str]:
    try:
        done = subprocess.run(
            [program, option],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=_QUESTION_SECONDS,
            check=False,
            cwd=Path(program).parent,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.splitlines()


@dataclass(frozen=True, slots=True)
class Recognition:
    """Tesseract at work on a picture; `end` must be called.

    Attributes:
        size: width and height of the picture, in pixels.
        process: the process.
        output: what it says.
        errors: what it says of errors.
    """

    size: tuple[int, int]
    process: subprocess.Popen[bytes]
    output: IO[bytes]
    errors: IO[bytes]

    def result(self, seconds: float) -> Reading:
        """Wait for the text.

        Args:
            seconds: maximum time to wait, in seconds.

        Raises:
            ValueError: Tesseract failed, or took too long.
        """
        try:
            code = self.process.wait(min(seconds, _PAGE_SECONDS))
        except subprocess.TimeoutExpired as error:
            raise ValueError("Tesseract took too long") from error
        said_words = _read(self.output)
        # It may fail, too, because it cannot write more.
        if len(said_words) >= _MAX_OUTPUT_BYTES:
            raise ValueError("Tesseract failed: it found too much on one page")
        if code:
            said = _read(self.errors).decode(errors="replace").strip().splitlines()
            raise ValueError(f"Tesseract failed: {said[-1][:200] if said else code}")
        words = tuple(_words(said_words.decode(errors="replace")))
        if len(words) > MAX_WORDS:
            raise ValueError(f"Tesseract found more than {MAX_WORDS:,} words on one page")
        return Reading(*self.size, words)

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.output.close()
        self.errors.close()


def recognition(picture: "Image", ocr: Ocr) -> Recognition:
    """Start Tesseract on a picture in grey.

    Files without names take the place of pipes, so that several processes can be waited for one
    after the other, and none writes more than it may.

    Raises:
        ValueError: Tesseract cannot be started.
    """
    # No name of a configuration file, which Tesseract would also look for in the current folder.
    command = [ocr.program, "stdin", "stdout", "-l", ocr.languages, "-c", "tessedit_create_tsv=1"]
    posix = {} if sys.platform == "win32" else {"preexec_fn": _confine}
    output, errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - see `end`
    try:
        with tempfile.TemporaryFile() as source:
            picture.save(source, "PNG", compress_level=1)
            source.seek(0)
            process = subprocess.Popen(
                command,
                stdin=source,
                stdout=output,
                stderr=errors,
                cwd=Path(ocr.program).parent,
                env={**os.environ, "OMP_THREAD_LIMIT": "1"},
                **posix,  # type: ignore[call-overload]  # its types have no dictionary of arguments
            )
    except OSError as error:
        output.close()
        errors.close()
        raise ValueError(f"Tesseract cannot be started: {error}") from error
    return Recognition(picture.size, process, output, errors)


def recognize(picture: "Image", ocr: Ocr) -> Reading:
    """Return the words in a picture in grey.

    Raises:
        ValueError: Tesseract failed, or took too long.
    """
    running = recognition(picture, ocr)
    try:
        return running.result(ocr.seconds)
    finally:
        running.end()


def _confine() -> None:
    """Limit time and output of the program, and end it with its parent."""
    system.end_with_parent()
    system.limit_processor_time(int(_PAGE_SECONDS))
    system.limit_file_size(_MAX_OUTPUT_BYTES)


def _read(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read(_MAX_OUTPUT_BYTES)


def _words(table: str) -> Iterator[Word]:
    """Yield the words in Tesseract's table.

    Raises:
        ValueError: it is not Tesseract's.
    """
    try:
        for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
            text = (row.get("text") or "").strip()
            if row.get("level") == _WORD_LEVEL and text:
                places = (row[name] for name in ("left", "top", "width", "height"))
                lines = (row[name] for name in ("block_num", "par_num", "line_num"))
                confidence = round(float(row["conf"]))
                yield Word(text, max(confidence, 0), *map(int, (*places, *lines)))
    except (csv.Error, KeyError, TypeError) as error:
        raise ValueError(f"Tesseract failed: {error}") from error

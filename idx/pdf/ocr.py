"""Recognition of text in pictures of pages by Tesseract, a program of the system."""

import csv
import io
import os
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from idx.errors import SourceFileError
from idx.extraction.programs import confined
from idx.extraction.types import Extracted, Ocr, Source
from idx.text.cleaning import normalize
from shared.files.pdf import grey, image_hash, page_image
from shared.files.secret_files import BYTES, found_secret
from shared.model.document import Metadata, Scalar
from shared.model.metadata import OCR_CONFIDENCE, OCR_PAGES
from shared.ocr import MAX_WORDS, Reading, Word

if TYPE_CHECKING:
    from PIL.Image import Image

_PAGE_SECONDS: Final = 60.0  # for one page; it usually takes two

_MAX_OUTPUT_BYTES: Final = 10_000_000
"""Maximum length of what Tesseract says of one page, with the place of each word."""

_WORD_LEVEL: Final = "5"  # level of words in Tesseract's table

NOT_INSTALLED: Final = "OCR needs Tesseract, which is not installed, or --ocr auto"
"""What is said of pages without text where there is no OCR."""


class OcrNeededError(SourceFileError):
    """A file has no text but that in its pictures, which is read later."""

    def __init__(self, file: Path | str, reason: str, pages: int) -> None:
        super().__init__(file, reason)
        self.scanned_pages = pages


class Recognition:
    """Tesseract at work on a picture in grey; `end` must be called.

    Files without names take the place of pipes, so that several processes can be waited for one
    after the other, and none writes more than it may.
    """

    def __init__(self, picture: "Image", ocr: Ocr) -> None:
        # No name of a configuration file, which Tesseract would also look for where it runs.
        options = ["-l", ocr.languages, "-c", "tessedit_create_tsv=1"]
        self._size = picture.size
        try:
            with ExitStack() as files:
                source, self._output, self._errors = (
                    files.enter_context(tempfile.TemporaryFile()) for _ in range(3)
                )
                picture.save(source, "PNG", compress_level=1)
                source.seek(0)
                self._process = subprocess.Popen(
                    [ocr.program, "stdin", "stdout", *options],
                    stdin=source,
                    stdout=self._output,
                    stderr=self._errors,
                    cwd=Path(ocr.program).parent,
                    env={**os.environ, "OMP_THREAD_LIMIT": "1"},
                    **confined(_PAGE_SECONDS, _MAX_OUTPUT_BYTES),
                )
                self._files = files.pop_all()
        except OSError as error:
            raise ValueError(f"Tesseract cannot be started: {error}") from error

    def result(self, seconds: float) -> Reading:
        try:
            code = self._process.wait(min(seconds, _PAGE_SECONDS))
        except subprocess.TimeoutExpired as error:
            raise ValueError("Tesseract took too long") from error
        said_words = _read(self._output)
        # It may fail, too, because it cannot write more.
        if len(said_words) >= _MAX_OUTPUT_BYTES:
            raise ValueError("Tesseract failed: it found too much on one page")
        if code:
            said = _read(self._errors).decode(errors="replace").strip().splitlines()
            raise ValueError(f"Tesseract failed: {said[-1][:200] if said else code}")
        words = tuple(_words(said_words.decode(errors="replace")))
        if len(words) > MAX_WORDS:
            raise ValueError(f"Tesseract found more than {MAX_WORDS:,} words on one page")
        width, height = self._size
        return Reading(width, height, words)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._files.close()


def _read(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read(_MAX_OUTPUT_BYTES)


def _words(table: str) -> Iterator[Word]:
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


MIN_CONFIDENCE: Final = 30
"""Minimum mean confidence of a page's words, in per cent; what is below is a picture, not text."""

GOOD_CONFIDENCE: Final = 70
"""Mean confidence of a document's pages, in per cent, below which a warning says that its text may
be wrong."""

MAX_LISTED_PAGES: Final = 100  # pages read by OCR that the metadata list, which every chunk stores


@dataclass(slots=True)
class ScannedPages:
    """Pages read by OCR, by number from 1, and the reason why others were not."""

    pages: dict[int, Reading] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)

    @property
    def texts(self) -> dict[int, str]:
        return {
            number: text
            for number, page in sorted(self.pages.items())
            if page.confidence >= MIN_CONFIDENCE and (text := normalize(page.text))
        }

    def metadata(self) -> Metadata:
        """Return the numbers of the pages with text, and the mean confidence; empty for none."""
        numbers: list[Scalar] = [*self.texts]
        if not numbers:
            return {}
        return {OCR_PAGES: numbers[:MAX_LISTED_PAGES], OCR_CONFIDENCE: round(self.confidence)}

    @property
    def confidence(self) -> float:
        """Mean confidence of the pages with text, in per cent; certain if there are none."""
        known = [self.pages[number].confidence for number in self.texts]
        return sum(known) / len(known) if known else 100.0


def read_scanned_pages(document: Any, numbers: Iterable[int], ocr: Ocr) -> ScannedPages:
    """Read pages of a PDF by OCR."""
    pages = ((number, partial(_picture_of_page, document, number)) for number in numbers)
    return _recognized(pages, ocr)


def _recognized(pictures: Iterable[tuple[int, Callable[[], "Image"]]], ocr: Ocr) -> ScannedPages:
    """Read pictures by their numbers, several at once, until the time is up."""
    found = ScannedPages()
    end = time.monotonic() + ocr.seconds
    running: deque[tuple[int, str, Recognition]] = deque()
    try:
        for number, picture_of in pictures:
            if time.monotonic() > end:
                found.failed[number] = "--timeout had nearly passed"
                continue
            try:
                picture = picture_of()
            except MemoryError:
                raise
            except Exception as error:  # noqa: BLE001 - a damaged file may cause any error
                found.failed[number] = str(error)
                continue
            known = image_hash(picture)
            if ocr.cache and (cached := ocr.cache.get(known, ocr.engine)):
                found.pages[number] = cached
                _count(ocr)
                continue
            while len(running) >= max(ocr.at_once, 1):
                _finish(*running.popleft(), found, ocr, end)
            try:
                running.append((number, known, Recognition(picture, ocr)))
            except ValueError as error:
                found.failed[number] = str(error)
        while running:
            _finish(*running.popleft(), found, ocr, end)
    finally:
        for _, _, each in running:
            each.end()
    return found


def _picture_of_page(document: Any, number: int) -> "Image":
    with closing(document[number - 1]) as page:
        return page_image(page)


def _finish(
    number: int, known: str, running: Recognition, found: ScannedPages, ocr: Ocr, end: float
) -> None:
    try:
        found.pages[number] = running.result(max(end - time.monotonic(), 0))
    except ValueError as error:
        found.failed[number] = str(error)
    else:
        page = found.pages[number]
        # What the index may not hold is not to lie beside it either.
        if ocr.cache and not found_secret(page.text[:BYTES].encode(errors="replace")):
            ocr.cache.put(known, ocr.engine, page)
    finally:
        running.end()
        _count(ocr)


def _count(ocr: Ocr) -> None:
    if ocr.counter:
        # Processes can append a single byte at the same time; it is progress only.
        with suppress(OSError), ocr.counter.open("ab") as file:
            file.write(b".")


def extract_picture(source: Source) -> Extracted:
    ocr = source.options.ocr
    if ocr is None or not ocr.is_due:
        raise OcrNeededError(source.file, "is a picture that was not read yet", 1)
    found = _recognized([(1, partial(_picture_of_file, source.data))], ocr)
    if found.failed:
        raise ValueError(found.failed[1])
    if not found.texts:
        raise SourceFileError(source.file, "is a picture in which OCR found no text")
    return Extracted(
        found.texts[1],
        metadata={OCR_CONFIDENCE: round(found.confidence)},
        warnings=tuple(low_confidence(found.confidence)),
    )


def _picture_of_file(data: bytes) -> "Image":
    from PIL import Image

    with Image.open(io.BytesIO(data)) as opened:
        return grey(opened)


def low_confidence(confidence: float) -> Iterable[str]:
    """Yield the warning that OCR was not sure of what it read, if it was not."""
    if confidence < GOOD_CONFIDENCE:
        yield (
            f"OCR is only {confidence:.0f} % sure of its words, many of which may be wrong: scan "
            "it with 300 dots per inch, or name its languages with --ocr-languages"
        )

"""Run of OCR over the files that were left to it, with the number of pages read so far."""

import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, Self

from idx.extraction.pdf.ocr import MAX_LANGUAGES, installed_languages, version
from idx.extraction.pool import ExtractionPool, Item
from idx.extraction.types import Ocr, ReadFile, Unreadable

MIN_DOCUMENTS: Final = 10
"""Minimum number of documents of known languages by which those of their scans are guessed."""

_MIN_SHARE: Final = 0.05
"""Minimum share of the documents that are in a language; each language takes time on each page."""

_OTHER_NAMES: Final = {"ku": "kmr", "sr": "srp srp_latn", "zh": "chi_sim chi_tra"}
"""Names that are no codes of ISO 639-2, by the code of ISO 639-1."""

_CODES: Final = (
    "af=afr am=amh ar=ara as=asm az=aze be=bel bg=bul bn=ben bo=bod br=bre bs=bos ca=cat co=cos "
    "cs=ces cy=cym da=dan de=deu dv=div dz=dzo el=ell en=eng eo=epo es=spa et=est eu=eus fa=fas "
    "fi=fin fo=fao fr=fra fy=fry ga=gle gd=gla gl=glg gu=guj he=heb hi=hin hr=hrv ht=hat hu=hun "
    "hy=hye id=ind is=isl it=ita iu=iku ja=jpn jv=jav ka=kat kk=kaz km=khm kn=kan ko=kor ky=kir "
    "la=lat lb=ltz lo=lao lt=lit lv=lav mi=mri mk=mkd ml=mal mn=mon mr=mar ms=msa mt=mlt my=mya "
    "ne=nep nl=nld no=nor oc=oci or=ori pa=pan pl=pol ps=pus pt=por qu=que ro=ron ru=rus sa=san "
    "sd=snd si=sin sk=slk sl=slv sq=sqi su=sun sv=swe sw=swa ta=tam te=tel tg=tgk th=tha ti=tir "
    "to=ton tr=tur tt=tat ug=uig uk=ukr ur=urd uz=uzb vi=vie yi=yid yo=yor"
)
"""Codes of ISO 639-1 and 639-2 of the languages that Tesseract has data for."""

_NAMES: Final = {
    **{code: (name,) for code, name in (pair.split("=") for pair in _CODES.split())},
    **{code: tuple(names.split()) for code, names in _OTHER_NAMES.items()},
}


def languages_for(
    documents: Mapping[str, int], installed: Collection[str], most: int
) -> str | None:
    """Return the languages to read scans with, by those of the documents beside them.

    They are in alphabetical order, so that they change, and pages are read again, as rarely as
    possible.

    Args:
        documents: the number of documents by language, as ISO 639-1 has it.
        installed: the languages that Tesseract can read.
        most: maximum number of languages.

    Returns:
        The languages, by Tesseract's names, with ``+`` between them; None if there are too few
        documents, or Tesseract can read none of their languages.
    """
    total = sum(documents.values())
    if total < MIN_DOCUMENTS:
        return None
    frequent = [
        code
        for code in sorted(documents, key=lambda code: -documents[code])
        if documents[code] >= _MIN_SHARE * total
    ]
    names = [name for code in frequent for name in _NAMES.get(code, ()) if name in installed]
    return "+".join(sorted(names[:most])) or None


Languages = Callable[[str | None], Mapping[str, int]]
"""Function that returns the number of documents by language in an indexed folder, by its prefix."""

_COUNTER: Final = "pages"


class OcrRun:
    """Run of OCR; a context manager that ends its worker processes.

    Args:
        pool: the worker processes, which start with the first file.
        ocr: the program, and the languages for folders of unknown languages.
        workers: number of the processes.
        languages: the languages of folders.
    """

    def __init__(self, pool: ExtractionPool, ocr: Ocr, workers: int, languages: Languages) -> None:
        self._pool = pool
        self._ocr = ocr
        self._workers = workers
        self._languages = languages
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

    def read(
        self, files: Sequence[Item], folder: str | None
    ) -> Iterator[tuple[Item, ReadFile | Unreadable] | None]:
        """Read files with their pictures of text, as many at a time as there are processes.

        Args:
            files: the files.
            folder: the prefix of the indexed folder that they belong to; None for none.

        Yields:
            Each file with its result; None each second in which none was completed.

        Raises:
            ReadersDiedError: the worker processes end as soon as they start.
        """
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="idx-", ignore_cleanup_errors=True)
        counter = os.path.join(self._folder.name, _COUNTER)  # noqa: PTH118 - is passed on as text
        Path(counter).touch()
        ocr = replace(
            self._ocr,
            languages=self._languages_of(folder) or self._ocr.languages,
            version=version(self._ocr.program),
            is_due=True,
            # A few large files are to keep all processors busy, too.
            at_once=max(1, self._workers // max(len(files), 1)),
            counter=counter,
        )
        yield from self._pool.read_pages(files, ocr)
        if ocr.cache:
            ocr.cache.trim()

    def _languages_of(self, folder: str | None) -> str | None:
        if self._ocr.are_chosen:
            return None
        installed = installed_languages(self._ocr.program)
        return languages_for(self._languages(folder), installed, MAX_LANGUAGES)

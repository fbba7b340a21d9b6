"""Metadata of files in a uniform form for all formats."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime
from itertools import islice
from typing import Final

from idx.extraction.types import Extracted
from idx.text.cleaning import normalize
from shared.messages import quantity, utc_time
from shared.model.document import Metadata, Scalar
from shared.model.metadata import HIDDEN_TEXT

MAX_LENGTH: Final = 1_000  # characters of a title, an author and so on; every chunk stores them

MAX_KEYWORDS: Final = 50

_BETWEEN_KEYWORDS: Final = re.compile(r"[,;\n\u060c\u3001\uff0c\uff1b]")
_MIN_YEAR: Final = 1000
"""First year of a date; programs write earlier ones, such as 0001-01-01, for a date not known."""

_YEAR_OR_MONTH: Final = re.compile(r"[1-9][0-9]{3}(-(0[1-9]|1[0-2]))?")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LANGUAGE_TAG: Final = re.compile(r"([A-Za-z]{2})(?:[-_].*)?")


def one_line(value: str | None) -> str | None:
    """Return a property as one line of normalized text; None if it is blank."""
    if not value:
        return None
    return " ".join(normalize(value[: 4 * MAX_LENGTH]).split())[:MAX_LENGTH].strip() or None


_PROGRAM: Final = re.compile(
    r"(?:microsoft(?: office)?|libreoffice|openoffice) "
    r"(?:word|excel|powerpoint|publisher|visio|writer|calc|impress) - ",
    re.IGNORECASE,
)
_EXTENSION: Final = re.compile(
    r"\.(?:docx?|docm|rtf|odt|pptx?|odp|xlsx?|xlsm|ods|pub|vsdx?|pdf|txt|html?)\Z", re.IGNORECASE
)
_TEMPLATE: Final = re.compile(r".*\.(?:dot|pot|xlt|ott|otp|ots|tmp|indd|indt|qxd|qxp)[xm]?")
_DEFAULT_NAMES: Final = (
    *("document", "documento", "dokument", "textdokument", "worddokument", "layout"),
    *("presentation", "präsentation", "présentation", "presentación", "presentazione"),
    *("apresentação", "presentatie", "powerpoint[ -]präsentation", "powerpoint[ -]presentation"),
    *("powerpoint-presentatie", "présentation powerpoint", "presentación de powerpoint"),
    *("presentazione(?: standard)? di powerpoint", "apresentação do powerpoint"),
    *("mappe", "arbeitsmappe", "book", "workbook", "classeur", "cartel", "libro", "pasta", "map"),
    *("spreadsheet", "drawing", "zeichnung", "slide", "folie", "diapositive", "diapositiva"),
    *("template", "vorlage", "modèle", "plantilla", "modello", "normal", "titel", "title", "titre"),
    *("untitled", "untitled document", "unbenannt", "unbenanntes dokument", "namenlos", "naamloos"),
    *("unknown", "unbekannt", "(?:no|kein|ohne) (?:title|titel|name)", "sans (?:titre|nom)"),
    *("senza (?:titolo|nome)", "sin (?:título|nombre)", "sem título", "null", "none", "undefined"),
    *("doc", "(?:microsoft )?word[ -]do[ck]ument", "sheet", "tabelle", "no slide title"),
    *("документ(?: microsoft word)?", "презентация(?: powerpoint)?", "слайд", "книга", "лист"),
    *("без (?:названия|имени|заголовка)", "bez (?:tytułu|názvu)", "prezentacja", "slajd"),
    *("(?:prezentacja programu|prezentace aplikace) powerpoint", "dokument microsoft word"),
    *("powerpoint (?:演示文稿|簡報|プレゼンテーション|프레젠테이션)", "演示文稿", "幻灯片"),
    *("文[档檔書]", "スライド", "슬라이드", "無題", "无标题", "제목 없음"),
)
"""Names that programs give to new documents, and to those without a name, in lower case."""

_DEFAULT_TITLE: Final = re.compile(
    rf"(?:(?:new|neues?|nouveau|nuevo|nuovo|microsoft) )?(?:{'|'.join(_DEFAULT_NAMES)})"
    r"(?:[ _-]?\(?\d{1,4}\)?)?|\W*"
)


def without_default_title(title: str | None) -> str | None:
    """Return the title that a file says of itself; None for one that its program made up.

    The name of the program is left out: of ``Microsoft Word - Lease.docx``, ``Lease`` is the title.
    """
    if not title:
        return None
    program = _PROGRAM.match(title)
    named = title[program.end() :] if program else title
    plain = _EXTENSION.sub("", named.strip())
    # lower() keeps all letters, unlike casefold().
    folded = unicodedata.normalize("NFC", plain).lower().strip("\"'()[]<> ")
    if _TEMPLATE.fullmatch(named.strip().lower()) or _DEFAULT_TITLE.fullmatch(folded):
        return None
    return plain if program else title


def properties(
    *,
    author: str | Iterable[str] | None = None,
    subject: str | None = None,
    keywords: str | Iterable[str] | None = None,
    creator: str | None = None,
    created: str | date | None = None,
    modified: str | date | None = None,
    language: str | None = None,
) -> Metadata:
    """Return the metadata of a file, without keys that have no value.

    Keywords in one text have commas or semicolons between them; of ``en-US``, ``en`` is kept.
    """
    authors = [author] if isinstance(author, str) else author or ()
    said = _LANGUAGE_TAG.fullmatch(language.strip()) if language else None
    found: dict[str, Scalar | list[Scalar] | None] = {
        "author": one_line(", ".join(filter(None, map(one_line, authors)))),
        "subject": one_line(subject),
        "keywords": _keywords([keywords] if isinstance(keywords, str) else keywords or ()),
        "creator": one_line(creator),
        "created": _iso_time(created),
        "modified": _iso_time(modified),
        "language": said[1].lower() if said else None,
    }
    return {key: value for key, value in found.items() if value}


def _keywords(texts: Iterable[str]) -> list[Scalar]:
    words = (one_line(word) for text in texts for word in _BETWEEN_KEYWORDS.split(text))
    return [*islice(dict.fromkeys(word for word in words if word), MAX_KEYWORDS)]


def _iso_time(value: str | date | None) -> str | None:
    """Return a time, in UTC if its zone is known; None if it is invalid or a placeholder."""
    if isinstance(value, str):
        value = value.strip()
        if _YEAR_OR_MONTH.fullmatch(value):
            return value
        try:
            read = date if _DAY.fullmatch(value) else datetime
            value = read.fromisoformat(value)
        except ValueError:
            return None
    if value is None or value.year < _MIN_YEAR:
        return None
    if isinstance(value, datetime):
        value = value.replace(microsecond=0)
    if not isinstance(value, datetime) or value.tzinfo is None:
        return value.isoformat()
    try:
        return utc_time(value)
    except OverflowError:
        return None


MAX_HIDDEN_TEXT: Final = 5_000  # characters of the text that a reader does not see


def with_hidden_text(extracted: Extracted) -> Extracted:
    """Return a file with the text that its readers do not see in its metadata."""
    hidden = " ".join(normalize("".join(extracted.hidden)).split())
    if not hidden:
        return extracted
    known: Metadata = {**extracted.metadata, HIDDEN_TEXT: hidden[:MAX_HIDDEN_TEXT]}
    left_out = len(hidden) - MAX_HIDDEN_TEXT
    warning = f"{quantity(left_out, 'character')} of text that is not displayed are left out"
    warnings = (*extracted.warnings, warning) if left_out > 0 else extracted.warnings
    return replace(extracted, metadata=known, warnings=warnings)

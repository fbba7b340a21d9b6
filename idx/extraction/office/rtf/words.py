"""Control words of the Rich Text Format that affect its text."""

from datetime import datetime
from typing import Final

TEXTS: Final = {
    **dict.fromkeys(("par", "sect", "page", "column"), "\n\n"),
    **dict.fromkeys(("line", "softline"), "\n"),
    **dict.fromkeys(("tab", "nestcell", "emspace", "enspace", "qmspace"), " "),
    "nestrow": "\n",
    "emdash": "\u2014",
    "endash": "\u2013",
    "bullet": "\u2022",
    "lquote": "\u2018",
    "rquote": "\u2019",
    "ldblquote": "\u201c",
    "rdblquote": "\u201d",
    "zwj": "\u200d",
    "zwnj": "\u200c",
}
"""Texts of control words."""

SYMBOLS: Final = {
    b"~": "\u00a0",
    b"_": "-",
    b"-": "\u00ad",
    b"\\": "\\",
    b"{": "{",
    b"}": "}",
    # A backslash before a line break ends a paragraph.
    b"\n": "\n\n",
    b"\r": "\n\n",
}
"""Texts of control symbols, without their backslash."""

HIDDEN: Final = frozenset(
    [
        "fonttbl",
        "colortbl",
        "stylesheet",
        "info",
        "pict",
        "fldinst",
        "xe",
        "tc",
        "template",
        "nonesttables",
        "nesttableprops",
        "sp",
        "shprslt",
        "ftnsep",
        "ftnsepc",
        "ftncn",
        "aftnsep",
        "aftnsepc",
        "aftncn",
        "listtable",
        "filetbl",
        "revtbl",
        "rsidtbl",
        "bkmkstart",
        "bkmkend",
        "atnid",
        "atnauthor",
        "atntime",
        "atnref",
        "atndate",
        "private",
        "objdata",
    ]
)
SHOWN: Final = frozenset({"shpinst", "annotation", "shptxt", "background"})

APART: Final = frozenset(
    [
        "footnote",
        "annotation",
        "header",
        "headerl",
        "headerr",
        "headerf",
        "footer",
        "footerl",
        "footerr",
        "footerf",
    ]
)
"""Groups displayed elsewhere on the page, whose text follows that of the document."""

NUMBERS: Final = frozenset({"listtext", "pntext"})
"""Groups with the number or the bullet that a program has made for the paragraph after them."""

FORMS: Final = {"upr": True, "ud": False}
"""Groups with a fallback for old readers (True) and their Unicode replacement (False)."""

PROPERTIES: Final = frozenset({"title", "author", "subject", "keywords", "generator"})
"""Groups whose text is a property."""

TIMES: Final = frozenset({"creatim", "revtim"})
"""Groups whose control words are the parts of a time."""

TIME_PARTS: Final = ("yr", "mo", "dy", "hr", "min")

CODECS_OF_CHARACTER_SETS: Final = {
    0: "cp1252",
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    255: "cp437",
}
"""Codecs of fonts by the number of the character set; for 1 and 2 the document decides."""

CODECS_OF_WORDS: Final = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
"""Codecs of the document by control word."""


def time_of(parts: dict[str, int] | None) -> datetime | None:
    """Return the time given by its parts, without a time zone; None if it is invalid."""
    if not parts:
        return None
    year, month, day, hour, minute = (parts.get(part, 0) for part in TIME_PARTS)
    try:
        return datetime(year, month, day, hour, minute)
    except (OverflowError, ValueError):
        return None

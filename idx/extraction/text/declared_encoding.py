"""Codecs of the encodings that web pages and e-mails declare."""

import codecs
from typing import Final

_ALIASES: Final = {
    "x-sjis": "shift_jis",
    "windows-31j": "cp932",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gbk",
    "x-x-big5": "big5",
    **{f"windows-{number}": f"cp{number}" for number in (874, 932, 936, 949, 950)},
    "cp20936": "gbk",
    "cp20949": "cp949",
    "cp38598": "iso8859-8",
    "dos-720": "cp720",
    "dos-874": "cp874",
    **{f"x-cp125{number}": f"cp125{number}" for number in range(9)},
    **dict.fromkeys(("iso-8859-8-i", "iso-8859-8-e", "logical", "visual"), "iso8859-8"),
    **dict.fromkeys(("x-mac-cyrillic", "x-mac-ukrainian"), "mac_cyrillic"),
    "x-mac-roman": "mac_roman",
    "x-mac-ce": "mac_latin2",
    "x-mac-greek": "mac_greek",
    "x-mac-icelandic": "mac_iceland",
    "x-mac-turkish": "mac_turkish",
}
"""Labels of the WHATWG Encoding Standard, and of Windows, that Python does not know."""

_BROWSER_CODECS: Final = {
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    **dict.fromkeys(("iso8859-11", "tis-620"), "cp874"),
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
"""Wider encodings meant by the names of standards, which Python takes literally.

They are those of Windows and similar (the WHATWG Encoding Standard).
"""

_NOT_TEXT_CODECS: Final = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape"})
"""Codecs of Python that no text is written in; some take excessive time."""


def declared_codec(name: str) -> str | None:
    """Return Python's codec for a declared encoding.

    Args:
        name: the name of the encoding, in any case.

    Returns:
        The canonical name of the codec, such as ``cp1252`` for ISO-8859-1; None if no codec for
        text has the name.
    """
    try:
        codec = codecs.lookup(_ALIASES.get(name.lower(), name)).name
        # Raises an error for codecs such as base64, which do not produce text.
        "".encode(codec)
    except (LookupError, TypeError, ValueError):
        return None
    return None if codec in _NOT_TEXT_CODECS else _BROWSER_CODECS.get(codec, codec)

"""What the names of encodings mean that pages and e-mails declare."""

import codecs
from typing import Final

_ALIASES: Final = {
    "x-sjis": "shift_jis",
    "windows-31j": "cp932",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gbk",
    "x-x-big5": "big5",
    "windows-949": "cp949",
    "windows-874": "cp874",
    "dos-874": "cp874",
    **{f"x-cp125{number}": f"cp125{number}" for number in range(9)},
    **dict.fromkeys(("iso-8859-8-i", "iso-8859-8-e", "logical", "visual"), "iso8859-8"),
    **dict.fromkeys(("x-mac-cyrillic", "x-mac-ukrainian"), "mac_cyrillic"),
    "x-mac-roman": "mac_roman",
}
"""Names that Python does not know, of the labels in the Encoding Standard of WHATWG."""

_AS_BROWSERS: Final = {
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    **dict.fromkeys(("iso8859-11", "tis-620"), "cp874"),
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
"""What is meant by the standards' names, which Python takes literally: the wider encodings of
Windows and their like (the Encoding Standard of WHATWG)."""

_NO_TEXTS: Final = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape"})
"""Python's codecs that no text is written in; some take time out of proportion."""


def declared_codec(name: str) -> str | None:
    """Python's codec for the name of an encoding.

    Args:
        name: as it is declared, in any case.

    Returns:
        The canonical name of the codec, such as ``cp1252`` for ISO-8859-1; None where there is
        none that makes text.
    """
    try:
        codec = codecs.lookup(_ALIASES.get(name.lower(), name)).name
        # Such as that of base64, which makes no text.
        "".encode(codec)
    except (LookupError, TypeError, ValueError):
        return None
    return None if codec in _NO_TEXTS else _AS_BROWSERS.get(codec, codec)

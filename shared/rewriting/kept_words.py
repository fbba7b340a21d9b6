"""Words of a query that must be kept verbatim: rewritten or translated they would find nothing.

These are identifiers, e-mail addresses, URLs, versions, numbers of vulnerabilities and orders, and
every other word with a digit; names with punctuation in them; acronyms and similar words; and
phrases in quotes.
"""

import re
from typing import Final

_LETTERS: Final = r"[^\W\d_]"

_NAME: Final = re.compile(r"\w[-./:@#+&]+\w|[^\W_]_+[^\W_]|\w(?:\+\+|#)|[@#.]\w")
"""Part of a name with signs in it, as DEC-0054, user@host and C++ have."""

_JOINTS: Final = re.compile(r"[-/'\u2019.]")
_ORDINARY_WORD: Final = re.compile(
    rf"{_LETTERS}+(?:[-/'\u2019]{_LETTERS}+)*|(?:{_LETTERS}\.)+{_LETTERS}?"
)
"""Ordinary words, even if they contain punctuation: ``e-mail``, ``and/or``, ``i.e``."""

_QUOTED: Final = re.compile(r'(?<!\w)["“„«»](\S[^"“”„«»]*)["”“»«]')

_SPACELESS_LETTERS: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)
"""Letters of Thai, Lao, Burmese, Khmer, Japanese, Chinese and Korean, which may adjoin names."""

_PUNCTUATION: Final = re.compile(r"^[^\w.@#/+~-]+|[^\w+#/]+$")
"""Punctuation around a word that does not belong to it."""

_BRACKETS: Final = ("()", "[]", "{}")

_NUMBER: Final = re.compile(r"\d+")
_ADDRESS: Final = re.compile(r"@|_|://")


def verbatim(query: str) -> list[str]:
    """Return the distinct parts of a query that must be kept verbatim, in order."""
    phrases = (phrase.strip() for phrase in _QUOTED.findall(query))
    # In a query all in capitals they are not significant.
    capitals_tell = not query.isupper()
    words = (
        word
        for word in map(_bare, _SPACELESS_LETTERS.sub(" ", query).split())
        if _is_name(word) or (capitals_tell and _has_inner_capital(word))
    )
    return list(dict.fromkeys((*phrases, *words)))


def survives(part: str, text: str) -> bool:
    """Check whether a text contains a part of a query verbatim, not inside another word."""
    whole = rf"(?<!\w)(?<!\w[-./:@]){re.escape(part)}(?!\w|[-./:@]\w)"
    return re.search(whole, text) is not None


def without_inventions(text: str, query: str) -> str:
    """Return a rewritten query without words whose numbers or addresses are not in the original."""
    numbers = set(_NUMBER.findall(query))
    return " ".join(
        word
        for word in text.split()
        if numbers.issuperset(_NUMBER.findall(word))
        and (not _ADDRESS.search(word) or survives(_bare(word), query))
    )


def _is_name(word: str) -> bool:
    if any(map(str.isdigit, word)):
        return True
    return not _ORDINARY_WORD.fullmatch(word) and _NAME.search(word) is not None


def _has_inner_capital(word: str) -> bool:
    """Check whether a word has a capital after its first letter, as in USB, KSchG and getName."""
    return any(letter.isupper() for part in _JOINTS.split(word) for letter in part[1:])


def _bare(word: str) -> str:
    """Return a word without the punctuation around it, but with brackets that are opened in it."""
    bare = _PUNCTUATION.sub("", word)
    for opening, closing in _BRACKETS:
        if bare.count(opening) > bare.count(closing):
            bare += closing
    return bare

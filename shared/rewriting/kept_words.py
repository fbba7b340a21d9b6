"""The words of a query that mean only themselves: rewritten or translated they find nothing.

Identifiers, e-mail addresses, URLs, versions, numbers of vulnerabilities and orders, and every
other word with a digit; names with signs in them; acronyms and the like; and phrases in quotes.
"""

import re
from typing import Final

from shared.analysis.identifiers import names_in

_LETTERS: Final = r"[^\W\d_]"

_JOINTS: Final = re.compile(r"[-/'\u2019.]")
_ORDINARY: Final = re.compile(
    rf"{_LETTERS}+(?:[-/'\u2019]{_LETTERS}+)*|(?:{_LETTERS}\.)+{_LETTERS}?"
)
"""Words that are no names, though signs may be in them: ``e-mail``, ``and/or``, ``i.e``."""

_QUOTED: Final = re.compile(r'(?<!\w)["“„«»](\S[^"“”„«»]*)["”“»«]')

_WITHOUT_BLANKS: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)
"""Letters of Thai, Lao, Burmese, Khmer, Japanese, Chinese and Korean, which names touch."""

_PUNCTUATION: Final = re.compile(r"^[^\w.@#/+~-]+|[^\w+#/]+$")
"""What stands around a word and is no part of it."""

_BRACKETS: Final = ("()", "[]", "{}")

_NUMBER: Final = re.compile(r"\d+")
_ADDRESS: Final = re.compile(r"@|_|://")


def verbatim(query: str) -> list[str]:
    """The parts of a query that must survive as they are, in their order, each once."""
    phrases = (phrase.strip() for phrase in _QUOTED.findall(query))
    # In a query all in capitals they tell nothing.
    capitals_tell = not query.isupper()
    words = (
        word
        for word in map(_bare, _WITHOUT_BLANKS.sub(" ", query).split())
        if _is_name(word) or (capitals_tell and _has_inner_capital(word))
    )
    return list(dict.fromkeys((*phrases, *words)))


def survives(part: str, text: str) -> bool:
    """Whether a part of a query stands in a text as it is, and not as a piece of something else."""
    whole = rf"(?<!\w)(?<!\w[-./:@]){re.escape(part)}(?!\w|[-./:@]\w)"
    return re.search(whole, text) is not None


def without_inventions(text: str, query: str) -> str:
    """A rewritten query without the words whose numbers or addresses are not in the original."""
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
    return not _ORDINARY.fullmatch(word) and bool(names_in([word]))


def _has_inner_capital(word: str) -> bool:
    """Whether a capital letter stands behind the first one, as in USB, KSchG and getName."""
    return any(letter.isupper() for part in _JOINTS.split(word) for letter in part[1:])


def _bare(word: str) -> str:
    """A word without the punctuation around it; a bracket that is opened in it belongs to it."""
    bare = _PUNCTUATION.sub("", word)
    for opening, closing in _BRACKETS:
        if bare.count(opening) > bare.count(closing):
            bare += closing
    return bare

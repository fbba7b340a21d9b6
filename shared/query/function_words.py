"""Function words of a query, such as "what" and "the": they are left out beside other words.

They are kept in quotes, with a plus or in an expression with operators, and if the query has no
other words.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from shared.analysis.languages import UNDETERMINED, WITH_FUNCTION_WORDS
from shared.analysis.stop_words import function_words_in
from shared.query.tree import Clause, Clauses, Node, Occur, Weighted, Word

_LEAST_SHARE: Final = 0.05
"""Minimum share of the chunks in a language for its function words to be recognized: "sea" is a
form of "to be" in Spanish, which matters only if Spanish may be meant."""

_FEWEST_OF_OTHERS: Final = 2
"""Minimum number of words of a query that are function words of a language with fewer chunks, and
of no other one, by which it is in that language."""

_QUOTED_WORD: Final = re.compile(r'(?<!\\)"([^"\s]+)"')
"""Phrase of one word, which is an ordinary word in the tree."""

_ASKING: Final[Mapping[str, str]] = {
    "ar": "كم",
    "bg": "колко",
    "ca": "quant quanta quants quantes",
    "cs": "kolik jak: dlouho často daleko velký velká starý starý vysoký",
    "da": "hvor: længe mange meget ofte langt gammel gammelt stor stort høj højt hurtigt dybt",
    "de": "wie: lange viel viele vielen vieler oft weit alt groß gross hoch schnell tief teuer "
    "breit spät",
    "en": "how: long many much often far old big large tall high fast deep soon late wide "
    "expensive",
    "el": "πόσο πόσα πόσες πόσοι πόση ποσο ποσα ποσες ποσοι",
    "es": "cuánto cuánta cuántos cuántas cuanto cuanta cuantos cuantas cuánto: tiempo",
    "fa": "چند چقدر",
    "fi": "kuinka: kauan monta paljon usein kaukana vanha suuri korkea nopeasti syvä",
    "fr": "combien",
    "hi": "कितना कितने कितनी",
    "hu": "mennyi hány milyen: hosszú gyakran messze nagy régi magas gyorsan mély sok",
    "id": "berapa",
    "it": "quanto quanta quanti quante quanto: tempo",
    "nl": "hoe: lang veel vaak ver oud groot hoog snel diep laat breed duur",
    "no": "hvor: lenge mange mye ofte langt gammel stor stort høy høyt raskt dypt",
    "pl": "ile jak: długo często daleko duży duża stary stara wysoki",
    "pt": "quanto quanta quantos quantas quanto: tempo",
    "ro": "cât câtă câți câte cat cata cati cate",
    "ru": "сколько как: долго часто много далеко",
    "sr": "koliko колико",
    "sv": "hur: länge många mycket ofta långt gammal stor stort hög högt snabbt djupt",
    "tr": "kaç ne: kadar zaman",
    "uk": "скільки як: довго часто багато далеко",
}
"""By language, the words that ask for a measure, and after a colon those that name it behind the
word before the colon: "how long" is not about anything long."""

_ABBREVIATION: Final = re.compile(r"(?:[a-z]\.)+[a-z]")
_PUNCTUATION: Final = "()[]{}<>,;:.!?\"'`*„“”‚‘’«»‹›…¿¡–—"  # noqa: RUF001 - as in texts
_WORDS: Final = re.compile(r"[^\W\d_]+(?:['’/-][^\W\d_]+)*")  # noqa: RUF001 - as in texts
"""A word, or two of which either may be meant, as in and/or; other signs are those of names."""


def quoted_words(classic: str) -> frozenset[str]:
    """Return the words that stand alone in quotes in a query in Lucene's classic syntax."""
    return frozenset(_QUOTED_WORD.findall(classic)) if '"' in classic else frozenset()


@dataclass(frozen=True, slots=True)
class Telling:
    """What a query is about.

    Attributes:
        tree: the query without its function words; the whole query if it has no other words.
        language: the language of its function words; None if they tell none, or several.
    """

    tree: Node
    language: str | None = None


def without_function_words(
    node: Node, quoted: Collection[str], usual: Occur, languages: Mapping[str, float]
) -> Telling:
    """Return a query without its function words, if it has others.

    Args:
        node: the tree as parsed.
        quoted: the words that stand alone in quotes.
        usual: the role of words without an operator.
        languages: the share of each language in the index, from 0 to 1.
    """
    if not isinstance(node, Clauses):
        return Telling(node)
    known = set(WITH_FUNCTION_WORDS & languages.keys())
    common = {code for code in known if languages[code] >= _LEAST_SHARE}
    if languages.keys() <= {UNDETERMINED}:
        known = common = set(WITH_FUNCTION_WORDS)
    texts = [_plain_word(clause, usual, quoted) for clause in node.clauses]
    empty_in = [_empty_in(text, known) if text else set() for text in texts]
    for language in known & _ASKING.keys():
        for number in _asking(texts, language):
            empty_in[number].add(language)
    counts = Counter(language for of_word in empty_in for language in of_word)
    most = max((counts[language] for language in common), default=0)
    fewest = max(most + 1, _FEWEST_OF_OTHERS)
    likely = {code: n for code, n in counts.items() if code in common or n >= fewest}
    most = max(likely.values(), default=0)
    meant = {language for language, count in likely.items() if count == most}
    telling = tuple(
        clause for clause, found in zip(node.clauses, empty_in, strict=True) if not found & meant
    )
    of_query = next(iter(meant)) if len(meant) == 1 else None
    if all(clause.occur == "must_not" for clause in telling):
        return Telling(node, of_query)
    return Telling(Clauses(telling), of_query)


def _empty_in(text: str, languages: Collection[str]) -> set[str]:
    """Return the languages in which a word is a function word."""
    if _ABBREVIATION.fullmatch(text):
        return set(languages)
    words = text.split("/") if "/" in text else [text]
    found = set(languages)
    for word in words:
        found &= function_words_in(word)
    return found


def _asking(texts: Sequence[str], language: str) -> Iterator[int]:
    """Yield the positions of words that ask for a measure in a language, and of the measure."""
    before, _, after = _ASKING[language].partition(":")
    asking, measures = before.split(), after.split()
    low = [text.lower() for text in texts]
    for number, (text, following) in enumerate(zip(low, [*low[1:], ""], strict=True)):
        has_measure = bool(measures) and text == asking[-1] and following in measures
        if has_measure or text in asking[: len(asking) - bool(measures)]:
            yield number
        if has_measure:
            yield number + 1


def _plain_word(clause: Clause, usual: Occur, quoted: Collection[str]) -> str:
    """Return a word without an operator, a field, quotes or signs; "" for any other part."""
    word = clause.node.node if isinstance(clause.node, Weighted) else clause.node
    if (
        not isinstance(word, Word)
        or word.field is not None
        or clause.occur != usual
        or word.text in quoted
    ):
        return ""
    text = word.text.strip(_PUNCTUATION)
    return text if _WORDS.fullmatch(text) or _ABBREVIATION.fullmatch(text) else ""

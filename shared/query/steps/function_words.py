"""Step for function words, such as "what" and "the": they are left out beside other words.

They are kept in quotes, with a plus or in an expression with operators, and if the query has no
other words.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from shared.analysis.identifiers import names_in
from shared.analysis.stop_words import WITH_FUNCTION_WORDS, is_function_word
from shared.query.tree import Clause, Clauses, Node, Occur, Weighted, Word

_LEAST_SHARE: Final = 0.05
"""Minimum share of the chunks in a language for its function words to be recognized: "sea" is a
form of "to be" in Spanish, which matters only if Spanish may be meant."""

_QUOTED_WORD: Final = re.compile(r'(?<!\\)"([^"\s]+)"')
"""Phrase of one word, which is an ordinary word in the tree."""


_ASKING: Final[Mapping[str, str]] = {
    "da": "hvor: længe mange meget ofte langt gammel gammelt stor stort høj højt hurtigt dybt",
    "de": "wie: lange viel viele vielen vieler oft weit alt groß gross hoch schnell tief teuer "
    "breit spät",
    "en": "how: long many much often far old big large tall high fast deep soon late wide "
    "expensive",
    "es": "cuánto cuánta cuántos cuántas cuanto cuanta cuantos cuantas",
    "fi": "kuinka: kauan monta paljon usein kaukana vanha suuri korkea nopeasti syvä",
    "fr": "combien",
    "hu": "mennyi hány milyen: hosszú gyakran messze nagy régi magas gyorsan mély sok",
    "it": "quanto quanta quanti quante",
    "nl": "hoe: lang veel vaak ver oud groot hoog snel diep laat breed duur",
    "no": "hvor: lenge mange mye ofte langt gammel stor stort høy høyt raskt dypt",
    "pt": "quanto quanta quantos quantas",
    "ru": "сколько как: долго часто много далеко",
    "sv": "hur: länge många mycket ofta långt gammal stor stort hög högt snabbt djupt",
}
"""By language, the words that ask for a measure, and after a colon those that name it behind the
word before the colon: "how long" is not about anything long."""

_ABBREVIATION: Final = re.compile(r"\W*(?:[a-z]\.)+[a-z]\W*")
_PUNCTUATION: Final = ".,;:?!"
_IS_NO_NAME: Final = re.compile(rf"{_ABBREVIATION.pattern}|\W*[^\W\d_]+/[^\W\d_]+\W*")
"""Text with signs in it like a name that is none: "e.g." and "and/or"."""


def without_function_words(
    node: Node, classic: str, usual: Occur, languages: Mapping[str, float]
) -> Node:
    """Return a query without its function words, if it has others.

    Args:
        node: the tree as parsed.
        classic: the query in Lucene's classic syntax.
        usual: the role of words without an operator.
        languages: the share of each language in the index, from 0 to 1.
    """
    if not isinstance(node, Clauses):
        return node
    known = [
        code
        for code, share in languages.items()
        if share >= _LEAST_SHARE and code in WITH_FUNCTION_WORDS
    ]
    quoted = frozenset(_QUOTED_WORD.findall(classic))
    empty_in = [_empty_in(clause, known, usual, quoted) for clause in node.clauses]
    for language in known:
        for number in _asking(node.clauses, language, usual, quoted):
            empty_in[number].add(language)
    meant = _most_common(empty_in)
    telling = tuple(
        clause for clause, found in zip(node.clauses, empty_in, strict=True) if not found & meant
    )
    if all(clause.occur == "must_not" for clause in telling):
        return node
    return Clauses(telling)


def _empty_in(
    clause: Clause, languages: Sequence[str], usual: Occur, quoted: Collection[str]
) -> set[str]:
    """Return the languages in which a part is a function word."""
    text = _plain_word(clause, usual, quoted)
    if text is None:
        return set()
    if _ABBREVIATION.fullmatch(text):
        return set(languages)
    return {language for language in languages if is_function_word(language, text)}


def _asking(
    clauses: Sequence[Clause], language: str, usual: Occur, quoted: Collection[str]
) -> Iterator[int]:
    """Yield the positions of words that ask for a measure in a language, and of the measure."""
    before, _, after = _ASKING[language].partition(":")
    asking, measures = before.split(), after.split()
    texts = [
        (_plain_word(clause, usual, quoted) or "").lower().strip(_PUNCTUATION) for clause in clauses
    ]
    for number, (text, following) in enumerate(zip(texts, [*texts[1:], ""], strict=True)):
        if text in asking[: len(asking) - bool(measures)]:
            yield number
        elif text == asking[-1] and following in measures:
            yield from (number, number + 1)


def _plain_word(clause: Clause, usual: Occur, quoted: Collection[str]) -> str | None:
    """Return the text of a part that is a word without an operator, a field, quotes or signs."""
    word = clause.node.node if isinstance(clause.node, Weighted) else clause.node
    if (
        not isinstance(word, Word)
        or word.field is not None
        or clause.occur != usual
        or word.text in quoted
        or _is_name(word.text)
    ):
        return None
    return word.text


def _is_name(text: str) -> bool:
    return bool(names_in([text])) and not _IS_NO_NAME.fullmatch(text)


def _most_common(languages: Collection[Collection[str]]) -> set[str]:
    """Return the languages in which most parts are function words, on a tie several."""
    counts = Counter(language for of_part in languages for language in of_part)
    most = max(counts.values(), default=0)
    return {language for language, count in counts.items() if count == most}

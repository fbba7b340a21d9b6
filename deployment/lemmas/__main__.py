"""Write the lists of irregular forms anew: `python -m deployment.lemmas [LANGUAGE…]`.

The lemmas of frequent words are those of simplemma, and their frequencies those of wordfreq; the
group lemmas of pyproject.toml has both. A row has the stems of a lemma, as the analyzers make them;
a stem belongs to it if the lemma has some share of the occurrences of all words with that stem. The
lists of languages with a dictionary are made of that, and only get the rows that they lack.
"""

import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import simplemma
import wordfreq

from shared.analysis.analyzers import RESOURCES, tokens_of
from shared.analysis.languages import (
    WITH_DICTIONARY,
    WITH_FUNCTION_WORDS,
    WITH_IRREGULAR_FORMS,
    function_words,
)
from shared.java import vm

_LEMMAS_OF: Final = {"no": "nb", "sr": "hbs"}
_FREQUENCIES_OF: Final = {"no": "nb", "sr": "sh"}

_MOST_WORDS: Final = 300_000
_BATCH: Final = 2_000  # words that are analyzed at once


_NO_UMLAUTS: Final = str.maketrans("äöü", "aou")
_FEWEST_OF_A_WOMAN: Final = 5  # letters of a German word in -in


class _Selection(NamedTuple):
    frequency: float  # the least one of a word, by the scale of Zipf
    share: float  # the least one of a lemma among the words with a stem
    letters: int  # the fewest of a stem


_NEW: Final = _Selection(2.5, 0.15, 2)
# What a dictionary lacks is rarer, and short stems of Arabic are those of many words.
_ADDED: Final = _Selection(3.0, 0.3, 3)
_ARABIC: Final = _NEW._replace(letters=3)


def main(*languages: str) -> None:
    """Write the lists of some languages, or of all."""
    vm.start("batch")
    for language in languages or sorted(WITH_IRREGULAR_FORMS - {"en"}):
        path = RESOURCES / "lemmas" / f"{language}.irregular.txt"
        known = path.read_text("utf-8").splitlines() if language in WITH_DICTIONARY else []
        new = [row for row in _rows(language) if not _is_within(row, known)]
        path.write_text("\n".join(sorted({*known, *map(" ".join, new)})) + "\n", "utf-8")


def _is_within(row: Sequence[str], known: Sequence[str]) -> bool:
    first = {stem for one in known if row[0] in (stems := one.split()) for stem in stems}
    return first.issuperset(row)


def _rows(language: str) -> Iterator[Sequence[str]]:
    """Yield the stems of each lemma that has several."""
    selection = _ADDED if language in WITH_DICTIONARY else _ARABIC if language == "ar" else _NEW
    code = _FREQUENCIES_OF.get(language, language)
    left_out = function_words(language) if language in WITH_FUNCTION_WORDS else frozenset()
    words = wordfreq.top_n_list(code, _MOST_WORDS)
    frequencies = {
        word: wordfreq.word_frequency(word, code)
        for word in words
        if len(word) > 1
        and word.replace("'", "").replace("\u200c", "").isalpha()
        and word not in left_out
        and wordfreq.zipf_frequency(word, code) >= selection.frequency
    }
    of_lemmas = _LEMMAS_OF.get(language, language)
    lemmas = {word: simplemma.lemmatize(word, of_lemmas).lower() for word in frequencies}
    if language == "de":
        women = _women({*words})
        frequencies |= {word: wordfreq.word_frequency(word, code) for word in women}
        lemmas |= women
    stems = _stems([*dict.fromkeys([*frequencies, *lemmas.values()])], language)
    occurrences: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for word, lemma in lemmas.items():
        for stem in stems.get(word, ()):
            occurrences[stem][lemma] += frequencies[word]
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for word, lemma in lemmas.items():
        if word in stems and lemma in stems and lemma not in left_out:
            for stem in (*stems[lemma], *stems[word]):
                of_stem = occurrences.get(stem, {lemma: 1.0})
                is_usual = of_stem.get(lemma, 0.0) >= selection.share * sum(of_stem.values())
                if is_usual and len(stem) >= selection.letters:
                    found[lemma][stem] = None
    yield from (tuple(row) for row in found.values() if len(row) > 1)


def _women(words: Collection[str]) -> Mapping[str, str]:
    """Return the German words for women with those for men, such as Kundin with Kunde."""
    return {
        form: simplemma.lemmatize(man, "de").lower()
        for word in words
        if word.endswith("in") and len(word) > _FEWEST_OF_A_WOMAN and f"{word}nen" in words
        for without in (word.removesuffix("in"), word.removesuffix("in").translate(_NO_UMLAUTS))
        for man in (without, f"{without}e")
        if man in words
        for form in (word, f"{word}nen")
    }


def _stems(words: Sequence[str], language: str) -> Mapping[str, Sequence[str]]:
    """Return the stems of those words that are one term."""
    found = {}
    for start in range(0, len(words), _BATCH):
        batch = words[start : start + _BATCH]
        for word, terms in zip(batch, tokens_of(batch, language), strict=True):
            if len(terms) == 1:
                texts = (terms[0].text, *terms[0].others)
                found[word] = [text.partition(":")[2] for text in texts]
    return found


main(*sys.argv[1:])

"""Write the lists of irregular forms anew: `python -m deployment.lemmas [LANGUAGE…]`.

The lemmas of frequent words are those of simplemma, and their frequencies those of wordfreq; the
group lemmas of pyproject.toml has both. A row has the stems of a lemma, as the analyzers make them;
a stem belongs to it if the lemma has some share of the occurrences of all words with that stem.

Languages with a dictionary have lists that are made of that. German also gets the words for women
with those for men, and plurals in -s.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import simplemma
import wordfreq

from shared.analysis.analyzers import tokens_of
from shared.analysis.chains import RESOURCES
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

_LEAST_FREQUENCY: Final = 2.5  # of a word, by the scale of Zipf
_LEAST_SHARE: Final = 0.15  # of a lemma among the words with a stem
_FEWEST_LETTERS: Final = 2  # of a stem
_FEWEST_LETTERS_OF_ARABIC: Final = 3  # shorter ones are those of many words
_MOST_STEMS: Final = 30  # of a lemma; more are those of several

_NO_UMLAUTS: Final = str.maketrans("äöü", "aou")
_PLURALS_IN_S: Final = ("as", "is", "os", "ys", "\u00fcs")
_FEWEST_OF_A_NOUN: Final = 4  # letters of one that has such a plural
_FEWEST_OF_A_WOMAN: Final = 5  # letters of a German word in -in
_RARER: Final = 2.5  # how much a word for women may be, by the scale of Zipf: Näherin is not näher


def main(*languages: str) -> None:
    """Write the lists of some languages, or of all."""
    vm.start("batch")
    for language in languages or sorted(WITH_IRREGULAR_FORMS.difference(WITH_DICTIONARY) | {"de"}):
        rows = _german() if language == "de" else _rows(language)
        path = RESOURCES / "lemmas" / f"{language}.forms.txt"
        path.write_text("\n".join(sorted({" ".join(row) for row in rows})) + "\n", "utf-8")


def _rows(language: str) -> Iterator[Sequence[str]]:
    """Yield the stems of each lemma that has several."""
    code = _FREQUENCIES_OF.get(language, language)
    fewest = _FEWEST_LETTERS_OF_ARABIC if language == "ar" else _FEWEST_LETTERS
    left_out = function_words(language) if language in WITH_FUNCTION_WORDS else frozenset()
    frequencies = {
        word: wordfreq.word_frequency(word, code)
        for word in wordfreq.top_n_list(code, _MOST_WORDS)
        if len(word) > 1
        and word.replace("'", "").replace("\u200c", "").isalpha()
        and word not in left_out
        and wordfreq.zipf_frequency(word, code) >= _LEAST_FREQUENCY
    }
    of_lemmas = _LEMMAS_OF.get(language, language)
    lemmas = {word: simplemma.lemmatize(word, of_lemmas).lower() for word in frequencies}
    stems = _stems([*dict.fromkeys([*frequencies, *lemmas.values()])], language)
    empty = {stem for of_word in _stems([*left_out], language).values() for stem in of_word}
    occurrences: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for word, lemma in lemmas.items():
        for stem in stems.get(word, ()):
            occurrences[stem][lemma] += frequencies[word]
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for word, lemma in lemmas.items():
        if word in stems and lemma in stems and lemma not in left_out:
            for stem in (*stems[lemma], *stems[word]):
                of_stem = occurrences.get(stem, {lemma: 1.0})
                is_usual = of_stem.get(lemma, 0.0) >= _LEAST_SHARE * sum(of_stem.values())
                if is_usual and len(stem) >= fewest and stem not in empty:
                    found[lemma][stem] = None
    yield from (tuple(row) for row in found.values() if 1 < len(row) <= _MOST_STEMS)


def _german() -> Iterator[Sequence[str]]:
    """Yield the stems of words for men and women, and of plurals: Kunde, Kundin; Büro, Büros."""
    top = wordfreq.top_n_list("de", _MOST_WORDS)
    words = {word: wordfreq.zipf_frequency(word, "de") for word in top}
    for word, frequency in words.items():
        forms: list[str] = []
        if word.endswith("in") and len(word) > _FEWEST_OF_A_WOMAN and f"{word}nen" in words:
            without = word.removesuffix("in")
            stems = (without, without.translate(_NO_UMLAUTS))
            man = max(
                (f"{stem}{end}" for stem in stems for end in ("", "e")),
                key=lambda one: words.get(one, 0.0),
            )
            if man in words and words[man] <= frequency + _RARER:
                forms = [man, word, f"{word}nen"]
        elif (
            word.endswith(_PLURALS_IN_S)
            and len(word) > _FEWEST_OF_A_NOUN
            and frequency >= _LEAST_FREQUENCY
        ):
            forms = [word.removesuffix("s"), word] if word.removesuffix("s") in words else []
        found = dict.fromkeys(stem for of_word in _stems(forms, "de").values() for stem in of_word)
        if len(found) > 1:
            yield tuple(found)


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


if __name__ == "__main__":
    main(*sys.argv[1:])

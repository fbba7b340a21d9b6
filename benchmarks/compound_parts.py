"""Ways of splitting German compounds, for `benchmarks.compounds`."""

import re
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Final

from shared.analysis.lemmas.build import _SOURCES, _TOOLS, _jar, _rows, _run

LINKS: Final = ("s", "es", "n", "en", "er", "e")
CHANCE: Final = frozenset({"aktion", "ende", "esse", "loge", "nahme", "ration", "schaft"})
"""Nouns that are mostly the end of another word: Wirtschaft, Psychologe."""

_FOLDED: Final = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss"})
_PATTERN: Final = re.compile(r"\.?\w+\.?")

Parts = Callable[[str], Iterable[str]]
"""Gives the base forms of the parts of a word as it is written; none if it is no compound."""


def ways(folder: Path) -> Mapping[str, Callable[[], Parts] | None]:
    """What makes the parts, by the name of each way; None where there are none.

    Args:
        folder: an empty one, for the files that Lucene's filters read.
    """
    nouns = folded_nouns()
    split = Nouns(nouns)
    long = {form.lower() for form in forms_of_nouns() if len(form) >= split.shortest}
    simple = {form for form in long if not split.parts(folded(form))}
    dictionary = partial(by_filter, "dictionaryCompoundWord", folder=folder, onlyLongestMatch=True)
    hyphenation = partial(
        by_filter,
        "hyphenationCompoundWord",
        simple,
        folder=folder,
        hyphenator=patterns(folder),
        noSubMatches=True,
        noOverlappingMatches=True,
    )
    return {
        "no parts": None,
        "dictionary filter, all nouns": lambda: dictionary(long),
        "dictionary filter, simple nouns": lambda: dictionary(simple),
        "the same, from 5 letters": lambda: dictionary(simple, minSubwordSize=5),
        "hyphenation filter, simple nouns": hyphenation,
        "split into nouns": lambda: Nouns(nouns),
        "the same, but for seven heads": lambda: Nouns(nouns, but=CHANCE),
        "the same, from 3 letters": lambda: Nouns(nouns, shortest=3, but=CHANCE),
        "the last noun only": lambda: Nouns(nouns).head,
    }


@dataclass
class Nouns:
    """Splits compounds into nouns.

    Attributes:
        lemmas: the base forms of each form, folded.
        shortest: the fewest letters of a part.
        but: nouns that are no heads.
    """

    lemmas: Mapping[str, frozenset[str]]
    shortest: int = 4
    but: frozenset[str] = frozenset()
    _known: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __call__(self, word: str) -> tuple[str, ...]:
        """The parts of a noun, which begins with a capital letter."""
        return self.parts(folded(word)) if word[0].isupper() else ()

    def head(self, word: str) -> tuple[str, ...]:
        """The last part."""
        return self(word)[-1:]

    def parts(self, word: str) -> tuple[str, ...]:
        """The parts of a folded word, from splits without linking letters if there are such."""
        if word not in self._known:
            splits: dict[bool, list[str]] = {False: [], True: []}
            for place in range(self.shortest, len(word) - self.shortest + 1):
                heads = self._heads(word, word[place:])
                modifiers, is_linked = self._modifiers(word[:place]) if heads else ((), False)
                if modifiers:
                    splits[is_linked] += modifiers
                    for head in heads:
                        splits[is_linked] += (*self.parts(head), head)
            self._known[word] = tuple(dict.fromkeys(splits[False] or splits[True]))
        return self._known[word]

    def _heads(self, word: str, end: str) -> list[str]:
        """What an end is a form of; not Eile in Nachteile, which is a form of Nachteil."""
        whole = self.lemmas.get(word, ())
        heads = self.lemmas.get(end, frozenset()) - self.but
        return [head for head in heads if not whole or any(noun.endswith(head) for noun in whole)]

    def _modifiers(self, beginning: str) -> tuple[tuple[str, ...], bool]:
        """The parts of a beginning, and whether letters link it to the rest."""
        for noun in (beginning, f"{beginning}e"):
            if parts := self._noun(noun):
                return parts, False
        for link in LINKS:
            rest = beginning.removesuffix(link)
            if len(self._noun(rest)) > 0 and self.shortest <= len(rest) < len(beginning):
                return self._noun(rest), True
        return (), False

    def _noun(self, word: str) -> tuple[str, ...]:
        """A noun and its parts, or the parts of what the dictionary lacks."""
        is_noun = word in self.lemmas.get(word, ()) and len(word) >= self.shortest
        return (*self.parts(word), word) if is_noun else self.parts(word)


@cache
def forms_of_nouns() -> Mapping[str, set[str]]:
    """The nouns of the dictionary behind shared/analysis/lemmas/de.dict: lemmas by form."""
    forms = defaultdict(set)
    for lemma, form, tag in _word_forms():
        # Not what is made of adjectives and verbs: "die Alten", "das Gehen".
        if tag.startswith("SUB") and not tag.endswith(("ADJ", "INF")) and form.isalpha():
            forms[form].add(lemma)
    return forms


def _word_forms() -> Iterator[list[str]]:
    """The rows of that dictionary, got as `shared.analysis.lemmas.build` does it.

    Yields:
        Lemma, form, grammar.
    """
    with tempfile.TemporaryDirectory() as folder:
        context = import_module("jgo.maven").MavenContext(
            repo_cache=Path(folder), local_repos=[], timeout=60
        )
        jars = map(partial(_jar, context), _TOOLS.split()[::2], _TOOLS.split()[1::2])
        run = partial(_run, ":".join(map(str, jars)))
        source = _SOURCES["de"]
        with zipfile.ZipFile(_jar(context, *source.jar.split())) as jar:
            jar.extractall(folder)
        resources = Path(folder, "org/languagetool/resource")
        yield from _rows(resources, run, source.dictionary, "DictDecompile", 3)


@cache
def folded_nouns() -> Mapping[str, frozenset[str]]:
    """The same, folded, without the lemmas that the index does not have."""
    forms: dict[str, set[str]] = defaultdict(set)
    for form, lemmas in forms_of_nouns().items():
        forms[folded(form)].update(map(folded, lemmas))
    return {
        form: frozenset(lemmas.intersection(lemmas_of(form)) or lemmas)
        for form, lemmas in forms.items()
    }


def folded(word: str) -> str:
    """A German word as the index has it."""
    return word.lower().translate(_FOLDED)


def lemmas_of(word: str) -> tuple[str, ...]:
    """The base forms of a word in German."""
    from shared.analysis.analyzers import stemming_analyzer, tokens_of

    positions = tokens_of(stemming_analyzer("de"), word)
    return tuple(lemma for lemmas in positions for lemma in lemmas)


def by_filter(name: str, words: Iterable[str], *, folder: Path, **parameters: object) -> Parts:
    """The parts by a filter of Lucene, of words of eight letters or more.

    Args:
        name: that of its factory.
        words: the forms that parts may have.
        folder: where a file of them is written.
        parameters: those of the factory that are not the same for all.
    """
    from shared.analysis.analyzers import _built, _positions
    from shared.analysis.languages import Step, chain

    file = folder / f"{len(list(folder.iterdir()))}.txt"
    file.write_text("\n".join(sorted(words)), "utf-8")
    sizes = {"minWordSize": 8, "minSubwordSize": 4, "maxSubwordSize": 20}
    given = {"dictionary": file, **sizes, **parameters}
    step = Step(name, {key: str(value) for key, value in given.items()})
    analyzer = _built(chain("lowercase", step))

    def parts(word: str) -> list[str]:
        found = (part for texts in _positions(analyzer.tokenStream("", word)) for part in texts)
        return [lemma for part in found if part != word.lower() for lemma in lemmas_of(part)]

    return parts


def patterns(folder: Path) -> Path:
    """LibreOffice's patterns for hyphenation (LGPL), in the format of Apache FOP."""
    package = Path(import_module("pyphen").__file__ or "").parent
    lines = (package / "dictionaries" / "hyph_de_DE.dic").read_text("latin-1").splitlines()
    # What stands before are whole words, which are too many for Lucene.
    rows = filter(_PATTERN.fullmatch, lines[lines.index("NEXTLEVEL") + 1 :])
    letters = " ".join(f"{letter}{letter.upper()}" for letter in "abcdefghijklmnopqrstuvwxyzäöü")
    file = folder / "hyphenation.xml"
    file.write_text(
        '<?xml version="1.0" encoding="utf-8"?><hyphenation-info><hyphen-char value="-"/>'
        f'<hyphen-min before="2" after="2"/><classes>{letters} ß</classes>'
        f"<patterns>{' '.join(rows)}</patterns></hyphenation-info>",
        "utf-8",
    )
    return file

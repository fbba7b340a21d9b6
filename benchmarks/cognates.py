"""How many words of other languages find the word of their root, in each of six languages.

The words are those of tests/data/cognates; the table of
`shared.query.steps.cognates` was made with every other root, so that the rest tells what it is
worth for words that nobody has seen. Each stands in a document with a line of the declaration of
human rights, which tells the language.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.tolerance_methods import EDITS, NOTHING, THIS_PROJECT
from shared import Document, Index, Searcher, create

TESTS: Final = Path(__file__).parents[1] / "tests" / "data"
WORDS: Final = TESTS / "cognates" / "cognates.tsv"
LANGUAGES: Final = ("de", "en", "es", "fr", "it", "nl")


def cognate_table() -> Iterator[str]:
    """How many are found, and how many other words in their place."""
    yield "| words | asked | nothing | edit distance | other spellings, too | only others | too |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    roots = list(csv.DictReader(WORDS.read_text("utf-8").splitlines(), delimiter="\t"))
    for part, name in enumerate(("the table was made with", "never seen")):
        asked, found, wrong = 0, [0, 0, 0], [0, 0, 0]
        for language in LANGUAGES:
            with TemporaryDirectory() as home:
                write(Path(home), language, roots)
                with Searcher(home, program="batch") as searcher:
                    for number, root in list(enumerate(roots))[part::2]:
                        for word in foreign(root, language):
                            asked += 1
                            for place, method in enumerate((NOTHING, EDITS, THIS_PROJECT)):
                                with method.at_work():
                                    hits = searcher.search(word, content="none").results
                                ids = {hit.source_document for hit in hits}
                                found[place] += str(number) in ids
                                wrong[place] += bool(ids) and str(number) not in ids
        shares = " | ".join(f"{100 * count / asked:.0f} %" for count in found)
        wrongs = " | ".join(f"{100 * count / asked:.1f} %" for count in wrong[1:])
        yield f"| {name} | {asked:,} | {shares} | {wrongs} |"


def write(path: Path, language: str, roots: list[dict[str, str]]) -> None:
    """Write an index of the words of a language, each in a document of its own."""
    create(path)
    lines = (TESTS / "languages" / f"{language}.txt").read_text("utf-8").splitlines()
    with Index(path) as index:
        for number, root in enumerate(roots):
            if root[language]:
                line = lines[number % len(lines)]
                index.add(Document(str(number), "Note", f"{root[language]}. {line}"))


def foreign(root: dict[str, str], language: str) -> list[str]:
    """The words of a root in other languages that are spelled otherwise."""
    own = root[language]
    return sorted(set(root.values()) - {"", own}) if own else []

"""What the headings above a chunk are worth: ``python -m benchmarks.sections FOLDER...``.

People look for a passage by what it is about and by what it says, as in "deposit three months":
the first may stand in a heading above only. For each folder of files with headings, chunks are
looked for by two words of their section that they do not have and two that they have, and, as a
check that nothing is lost, by five words of their own.
"""

import random
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple
from unittest.mock import patch

from shared import Searcher
from shared.analysis.function_words import function_words_in
from shared.model.search_results import Hit

REPEATS: Final = (0, 1, 2, 3)
"""How many times the words of a section are put before those of the chunk."""

CHUNKS: Final = 300
"""Number of chunks of a folder that are looked for with each kind of query."""

DEPTH: Final = 10
"""Number of hits of a query in which the chunk is looked for."""


class Item(NamedTuple):
    """A chunk, and the words by which it is looked for."""

    chunk: str
    query: str


def telling_words(text: str) -> list[str]:
    """Return the words of a text, each once, without function words of any language."""
    words = dict.fromkeys(word.strip(".,;:()\"'`*") for word in text.split())
    return [word for word in words if word.isalpha() and not function_words_in(word)]


def by_section(hit: Hit, generator: random.Random) -> str | None:
    """Two words of the section that the chunk does not have, and two that it has."""
    content = telling_words(hit.content or "")
    known = {word.lower() for word in content}
    section = [word for word in telling_words(hit.section or "") if word.lower() not in known]
    if len(section) < 2 or len(content) < 2:  # noqa: PLR2004 - as the query has
        return None
    return " ".join(generator.sample(section, 2) + generator.sample(content, 2))


def by_content(hit: Hit, generator: random.Random) -> str | None:
    """Five words of the chunk."""
    content = telling_words(hit.content or "")
    return " ".join(generator.sample(content, 5)) if len(content) >= 5 else None  # noqa: PLR2004


KINDS: Final[dict[str, Callable[[Hit, random.Random], str | None]]] = {
    "two words of the section, two of the chunk": by_section,
    "five words of the chunk": by_content,
}


def table(folder: Path) -> Iterator[str]:
    """For each number of repeats, how chunks of a folder are found: share at rank 1, mean 1/rank.

    Args:
        folder: files with headings.
    """
    kinds: list[list[Item]] = []
    for repeats in REPEATS:
        with tempfile.TemporaryDirectory() as scratch:
            index = Path(scratch) / "index"
            write(folder, index, repeats)
            with Searcher(index, program="batch") as searcher:
                if not kinds:
                    kinds = [*questions(searcher)]
                    counts = ", ".join(str(len(items)) for items in kinds)
                    yield f"{folder.name} ({counts} queries)\n"
                    yield f"| repeats | {' | | '.join(KINDS)} | |"
                    yield "|---:|" + "---:|---:|" * len(KINDS)
                cells = " | ".join(figures(searcher, items) for items in kinds)
                yield f"| {repeats} | {cells} |"


def write(folder: Path, index: Path, repeats: int) -> None:
    """Write an index of a folder with the words of sections repeated."""
    from idx.cli.options import ReadingOptions
    from idx.cli.run_options import extraction_options, limits
    from idx.crawl.patterns import Selection, Selections
    from idx.sync.events import Kept
    from idx.sync.plan import SyncOptions
    from idx.sync.synchronize import synchronize

    options = SyncOptions(
        index_path=index,
        selections=Selections(Selection(), {}),
        extraction=extraction_options(ReadingOptions(), index),
        limits=limits(ReadingOptions()),
        workers=2,
        wait=10,
        create=True,
    )
    with patch("shared.storage.mapping._SECTION_REPEATS", repeats):
        deque(synchronize([folder], options, Kept()), maxlen=0)


def questions(searcher: Searcher) -> Iterator[list[Item]]:
    """Yield the questions of each kind, for chunks chosen at random."""
    hits = [
        hit
        for offset in range(0, 2_000, 100)
        for hit in searcher.search("", limit=100, offset=offset).results
    ]
    generator = random.Random(1)  # noqa: S311 - reproducible, not secret
    generator.shuffle(hits)
    for make in KINDS.values():
        asked = ((hit.id, make(hit, generator)) for hit in hits)
        yield [*islice((Item(name, query) for name, query in asked if query), CHUNKS)]


def figures(searcher: Searcher, items: Sequence[Item]) -> str:
    """Return the share of chunks at rank 1, and the mean of 1/rank, as two cells."""
    ranks = [rank(searcher, item) for item in items]
    first = sum(place == 1 for place in ranks) / len(ranks)
    return f"{first:.3f} | {sum(1 / place for place in ranks if place) / len(ranks):.3f}"


def rank(searcher: Searcher, item: Item) -> int:
    """Return the rank of a chunk among the hits of its query, from 1; 0 if it is not there."""
    found = searcher.search(item.query, limit=DEPTH, content="none", syntax="plain").results
    return next((place for place, hit in enumerate(found, 1) if hit.id == item.chunk), 0)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print("\n".join(table(Path(name))), end="\n\n", flush=True)

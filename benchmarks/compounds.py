"""Whether German compounds should be found by their parts, and by which way of splitting them.

Indexes the documents of compounds.toml once for each way, with the parts in a field of their own,
and asks the queries beside them; then indexes other texts, for time and size. It needs
``pip install --group lemmas`` and ``pip install pyphen``, downloads the nouns of LanguageTool's
dictionary, and writes its table into docs/measured/languages.md.
"""

import argparse
import re
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean, median
from typing import Any, Final
from unittest.mock import patch

from benchmarks.compound_parts import Parts, lemmas_of, ways
from benchmarks.page import machine, write_figures
from shared import Document, Index, Searcher, create
from shared.java import vm
from shared.model.weights import DEFAULT_WEIGHTS, Weights

FIELD: Final = "parts"
WEIGHT: Final = 0.5
"""Of a part of a word: less than of any word as it is written."""

HITS: Final = 10
ROUNDS: Final = 5
WITHOUT: Final = Weights(compound=0.0)


def main() -> None:
    """Measure, print the table, and write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path, help="a file of German texts, one in each line")
    texts = parser.parse_args().texts.read_text("utf-8").splitlines()
    vm.start("server")
    with tempfile.TemporaryDirectory() as files, tempfile.TemporaryDirectory() as folder:
        data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
        documents = data["documents"].strip().splitlines()
        lines = list(table(Path(files), Path(folder), data, documents, texts))
    lines += [
        "",
        (
            f"{len(documents)} documents, {len(data['parts'])} queries for parts of "
            f"{len({word for words in data['parts'].values() for word in words.split()})} "
            f"compounds, and {len(data['accidents'])} for words that are in others by chance; "
            f"size and time of {sum(len(text.split()) for text in texts):,} words. "
            f"{machine()}."
        ),
    ]
    print("\n".join(lines))
    write_figures("languages.md", lines, writer="benchmarks.compounds")


def table(
    files: Path, folder: Path, data: Mapping[str, Any], documents: list[str], texts: list[str]
) -> Iterator[str]:
    """The lines of the table.

    Args:
        files: an empty folder, for what the ways need.
        folder: another one, for indexes.
        data: the queries.
        documents: what they are asked of.
        texts: what is indexed for time and size.
    """
    splitting = ways(files)
    names = list(splitting)
    for number, make in enumerate(splitting.values()):
        build(folder / str(number), documents, make and make())
    judged = judgements(folder / "0", data, documents)
    spent: dict[str, list[float]] = {name: [] for name in names}
    size: dict[str, int] = {}
    for turn in range(ROUNDS):
        for number, (name, make) in enumerate(splitting.items()):
            path = folder / f"{number}-{turn}"
            spent[name].append(build(path, texts, make and make()))
            size[name] = sum(file.stat().st_size for file in path.iterdir())
    yield (
        "| way | recall, part in the index | recall, part in no chunk | precision "
        "| precision, by chance | size | time |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for number, name in enumerate(names):
        ratios = map(float.__truediv__, spent[name], spent[names[0]])
        cells = [
            *judged.figures(folder / str(number), WITHOUT),
            f"{size[name] / size[names[0]]:.3f}",
        ]
        yield f"| {name} | {' | '.join(cells)} | {median(ratios):.2f} |"
        if number == 0:
            cells = [*judged.figures(folder / "0", DEFAULT_WEIGHTS), "1.000", "1.00"]
            yield f"| **no parts, compounds looked for** | {' | '.join(cells)} |"


def build(path: Path, texts: Iterable[str], parts: Parts | None) -> float:
    """Write an index of texts and of the parts of their words; returns the processor's seconds."""
    from shared.storage.mapping import _field, _terms, chunk_search_fields

    known = cache(lambda word: tuple(parts(word)) if parts else ())

    def fields(document: Document, content: str, section: str = "") -> Iterator[Any]:
        yield from chunk_search_fields(document, content, section)
        words = dict.fromkeys(re.findall(r"\w{6,}", content)) if parts else ()
        if found := dict.fromkeys(part for word in words for part in known(word)):
            yield _field(FIELD, " ".join(found), _terms())

    create(path)
    with patch("shared.storage.mapping.chunk_search_fields", fields):
        begin = time.process_time()
        with Index(path) as index:
            for number, text in enumerate(texts):
                index.add(Document(str(number), f"n{number}", text))
        return time.process_time() - begin


@dataclass(frozen=True)
class Judgements:
    """Which documents are right.

    Attributes:
        compounds: those of the compounds that a query is a part of.
        accidents: the same, of queries that are in other words by chance.
        written: those that have the word of a query itself.
    """

    compounds: Mapping[str, set[str]]
    accidents: Mapping[str, set[str]]
    written: Mapping[str, set[str]]

    def figures(self, path: Path, weights: Weights) -> Iterator[str]:
        """Recall of compounds where the index has the part and where not, and both precisions."""
        with searching_parts(), Searcher(path, weights=weights) as searcher:
            found = {query: asked(searcher, query) for query in self.written}
        recalls: dict[bool, list[float]] = {True: [], False: []}
        for query, right in self.compounds.items():
            share = len(right.intersection(found[query])) / min(HITS, len(right))
            recalls[bool(self.written[query])].append(share)
        yield from (f"{mean(recalls[has_part]):.2f}" for has_part in (True, False))
        for queries in (self.compounds, self.accidents):
            shares = (
                mean(hit in right | self.written[query] for hit in found[query])
                for query, right in queries.items()
                if found[query]
            )
            yield f"{mean(shares):.3f}"


def judgements(path: Path, data: Mapping[str, Any], documents: Sequence[str]) -> Judgements:
    """The judgements of all queries, with the help of an index without parts."""
    words = [set(re.findall(r"\w+", document)) for document in documents]
    compounds, accidents = (
        {
            query: {str(n) for n, has in enumerate(words) if not has.isdisjoint(right.split())}
            for query, right in data[kind].items()
        }
        for kind in ("parts", "accidents")
    )
    exact = Weights(compound=0.0, similar=0.0)
    with Searcher(path, weights=exact) as searcher:
        written = {q: set(asked(searcher, q, len(documents))) for q in (*compounds, *accidents)}
    return Judgements(compounds, accidents, written)


def asked(searcher: Searcher, query: str, limit: int = HITS) -> list[str]:
    """The documents that a query finds, best first."""
    return [hit.source_document for hit in searcher.search(query, limit=min(limit, 100)).results]


def searching_parts() -> Any:
    """Has words looked for among the parts of others, too."""
    from shared.query.steps.words import _WordSearch
    from shared.query.tree import Nothing, Terms, any_of, weighted

    original = _WordSearch.plain

    def plain(self: Any, text: str, terms: Any) -> Any:
        lemmas = tuple(dict.fromkeys(lemmas_of(text)))
        parts = weighted(Terms(FIELD, lemmas), WEIGHT) if lemmas else Nothing()
        return any_of(original(self, text, terms), parts)

    return patch.object(_WordSearch, "plain", plain)


if __name__ == "__main__":
    main()

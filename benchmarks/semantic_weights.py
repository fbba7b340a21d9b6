"""Whether the weights of search by meaning hold for texts that they were not chosen on.

Asks the queries of the three test collections with each combination of weights, chooses the best
one on two of them, and measures it on the third. It writes a table of docs/measured/semantic.md;
ten minutes on two cores.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Final, NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks.collection import Collection, collections
from benchmarks.page import write_figures
from idx.evaluation.collection.judgements import read_judgements
from idx.evaluation.collection.queries import read_queries
from idx.evaluation.experiment import SearchSettings, ask_all, embed_texts, temporary_index
from idx.evaluation.measures import MAIN_DEPTH, measure
from idx.evaluation.report.figures import change, figure
from idx.evaluation.search_settings import Configuration
from shared.search import meaning


class Weights(NamedTuple):
    """Weights of the fusion.

    Attributes:
        without: the weight of the meaning if the best hit by words lacks some of them.
        most: the greatest one if it has all of them.
        feedback: the distance by which the query's vector is moved.
    """

    without: float
    most: float
    feedback: float


_LEAST: Final = meaning._WITH_ALL_WORDS[0]  # noqa: SLF001 - what is measured
SHIPPED: Final = Weights(meaning._WITHOUT, meaning._WITH_ALL_WORDS[1], meaning._FEEDBACK)  # noqa: SLF001

GRID: Final = [
    Weights(*values)
    for values in product((0.55, 0.65, 0.75, 0.85), (0.3, 0.45, 0.6), (0.0, 0.25, 0.5, 1.0))
]

Means = Mapping[Weights | None, float]
"""Mean nDCG@10 with each combination; None for search by words."""


def main() -> None:
    """Measure, print the table and write it."""
    found = {collection.folder.name: measured(collection) for collection in collections()}
    lines = list(table(found))
    print("\n".join(lines))
    write_figures("semantic.md", lines, writer="python -m benchmarks.semantic_weights")


def measured(collection: Collection) -> Means:
    """Ask the queries of a collection with each combination of weights."""
    judgements = read_judgements(collection.judgements)
    queries = [
        query for query in read_queries(collection.queries) if judgements.has_relevant(query.id)
    ]
    ids = [query.id for query in queries]
    settings = SearchSettings(MAIN_DEPTH, "or", "plain")
    with temporary_index(collection.documents) as (index_path, _):
        embed_texts(index_path)

        def mean(way: Configuration) -> float:
            (run,) = ask_all(index_path, queries, [way], settings)
            return float(np.mean(measure(run, judgements, ids, [MAIN_DEPTH])[:, 0]))

        means: dict[Weights | None, float] = {None: mean(Configuration("words", search="words"))}
        for weights in GRID:
            with patch.multiple(
                meaning,
                _WITHOUT=weights.without,
                _WITH_ALL_WORDS=(_LEAST, weights.most),
                _FEEDBACK=weights.feedback,
            ):
                means[weights] = mean(Configuration("both", search="both"))
            print(collection.folder.name, json.dumps(weights), figure(means[weights]), flush=True)
    return means


def best(means: Sequence[Means]) -> Weights:
    """The combination with the highest mean of several collections."""
    return max(GRID, key=lambda weights: sum(one[weights] for one in means))


def table(found: Mapping[str, Means]) -> Iterator[str]:
    """The gain on each collection with weights chosen on the others, and with all on all."""
    yield (
        "| held back | chosen on the others: w without, with all words, feedback | nDCG@10 words "
        "| both | gain | with the weights in use |"
    )
    yield "|---|---|---:|---:|---:|---:|"
    for name, means in found.items():
        chosen = best([other for key, other in found.items() if key != name])
        yield row(name, chosen, means)
    together: dict[Weights | None, float] = {
        weights: float(np.mean([means[weights] for means in found.values()]))
        for weights in (None, *GRID)
    }
    yield row("none", best([together]), together)


def row(name: str, chosen: Weights, means: Means) -> str:
    """A row of the table."""
    words = means[None]
    cells = (
        *(name, ", ".join(f"{value:g}" for value in chosen)),
        *(figure(words), figure(means[chosen]), change(means[chosen] - words)),
        change(means[SHIPPED] - words),
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()

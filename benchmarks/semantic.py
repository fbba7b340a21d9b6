"""What search by meaning brings, and how likely its hits are to answer.

Asks the queries of the three test collections by words, by meaning and by both, looks for texts by
their own words, and fits the confidence of hits by both to the same questions as that by words. It
writes the tables of docs/measured/semantic.md, and fails where the coefficients of
`shared.search.confidence` are not those of the fit.
"""

import math
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from benchmarks.calibration import Model, Numbers, Sample, log_loss
from benchmarks.collection import Collection, collections
from benchmarks.known_items import FEWEST_WORDS, KINDS, TEXTS
from benchmarks.off_topic import OFF_TOPIC
from benchmarks.page import machine, write_figures
from benchmarks.relevance import rows
from idx.evaluation.collection.documents import read_documents
from idx.evaluation.collection.judgements import read_judgements
from idx.evaluation.collection.queries import read_queries
from idx.evaluation.experiment import SearchSettings, ask_all, embed_texts, temporary_index
from idx.evaluation.measures import MAIN_DEPTH, measure
from idx.evaluation.report.figures import change, figure
from idx.evaluation.search_settings import Configuration
from shared import Searcher
from shared.model.request import Search
from shared.query.pipeline import ParsedQuery
from shared.search.confidence import (
    COSINE,
    EXPONENT_WITH_COSINE,
    LOW,
    ODDS_WITH_COSINE,
    WHOLE_POWER,
    WHOLE_WITH_COSINE,
    evidence,
    probability,
    probability_with_cosine,
)

WAYS: Final[tuple[Search, ...]] = ("words", "meaning", "both")
HITS: Final = 10
_LEAST: Final = 0.05
"""What less evidence counts as in the fit: a hit by meaning alone has none."""

KNOWN_ITEMS_COUNT: Final = 0.1
"""What known items count for in the fit, as in `benchmarks.confidence`."""


@dataclass(frozen=True, slots=True)
class Hits:
    """The hits of a question: evidence, share and cosine of each, and whether it answers."""

    features: Sequence[tuple[float, float, float]]
    relevant: Sequence[bool]


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured in one collection.

    Attributes:
        values: nDCG@10 of each query, by way to search.
        known: the shares of texts that come first, by kind and way.
        queries: the hits of its queries by both.
        off_topic: the hits of questions on other topics.
        items: the hits of known items.
    """

    values: Mapping[str, Numbers]
    known: Mapping[tuple[str, str], float]
    queries: Sequence[Hits]
    off_topic: Sequence[Hits]
    items: Sequence[Hits]


def main() -> None:
    """Measure, print the tables and write them."""
    found = {collection.folder.name: measured(collection) for collection in collections()}
    model = fitted(list(found.values()))
    intercept, exponent, whole, cosine = model.coefficients
    expected = {
        "ODDS_WITH_COSINE": round(math.exp(intercept), 3),
        "EXPONENT_WITH_COSINE": round(exponent, 1),
        "WHOLE_WITH_COSINE": round(whole, 1),
        "COSINE": round(cosine, 1),
    }
    lines = [
        *relevance_table(found),
        "",
        *known_table(found),
        "",
        *confidence_table(found),
        "",
        "Fitted: " + ", ".join(f"`{name}` {value}" for name, value in expected.items()) + ".",
        "",
        f"On {machine()}.",
    ]
    print("\n".join(lines))
    write_figures("semantic.md", lines)
    now = (ODDS_WITH_COSINE, EXPONENT_WITH_COSINE, WHOLE_WITH_COSINE, COSINE)
    if now != tuple(expected.values()):
        sys.exit(f"shared/search/confidence.py should have {expected}")


def measured(collection: Collection) -> Measured:
    """Embed a collection, and ask it everything."""
    judgements = read_judgements(collection.judgements)
    queries = [
        query for query in read_queries(collection.queries) if judgements.has_relevant(query.id)
    ]
    ids = [query.id for query in queries]
    documents = list(read_documents(collection.documents))
    ways = [Configuration(way, search=way) for way in WAYS]
    with temporary_index(collection.documents) as (index_path, _):
        embed_texts(index_path)
        runs = ask_all(index_path, queries, ways, SearchSettings(100, "or", "plain"))
        values: dict[str, Numbers] = {
            way: measure(run, judgements, ids, [MAIN_DEPTH])[:, 0]
            for way, run in zip(WAYS, runs, strict=True)
        }
        generator = random.Random(1)  # noqa: S311 - reproducible, not secret
        long_enough = [one for one in documents if len(one.content.split()) >= FEWEST_WORDS]
        asked = {
            kind: [
                (one.id, words_of(one.content.split(), count, generator))
                for one in generator.sample(long_enough, min(TEXTS, len(long_enough)))
            ]
            for kind, (words_of, count) in KINDS.items()
        }
        with asking(index_path) as (searcher, hits_of):
            known = {
                (kind, way): sum(
                    first_document(searcher, text, way) == document for document, text in items
                )
                / len(items)
                for kind, items in asked.items()
                for way in ("words", "both")
            }
            return Measured(
                values,
                known,
                [hits_of(query.text, judged(judgements.relevance[query.id])) for query in queries],
                [
                    hits_of(question, lambda _: False)
                    for questions in OFF_TOPIC.values()
                    for question in questions
                ],
                [
                    hits_of(text, document.__eq__, 1)
                    for items in asked.values()
                    for document, text in items
                ],
            )


def judged(relevance: Mapping[str, int]) -> Callable[[str], bool]:
    """Whether a document answers a query, by the judgements."""
    return lambda document: relevance.get(document, 0) > 0


def first_document(searcher: Searcher, text: str, way: Search) -> str | None:
    """The document of the first hit."""
    found = searcher.search(text, limit=1, content="none", syntax="plain", search=way).results
    return found[0].source_document if found else None


@contextmanager
def asking(index_path: Path) -> Iterator[tuple[Searcher, Callable[..., Hits]]]:
    """What asks an index by words and meaning, and tells the evidence of each hit."""
    told: list[tuple[float, float, float]] = []

    def tell(searcher: Any, query: ParsedQuery, hits: Sequence[Any]) -> list[float]:
        pairs = evidence(searcher, query, hits) if query.parts else [(1.0, 1.0)] * len(hits)
        told[:] = [
            (*pair, math.nan if hit.cosine is None else hit.cosine)
            for pair, hit in zip(pairs, hits, strict=True)
        ]
        return [1.0] * len(hits)

    def hits_of(text: str, is_relevant: Callable[[str], bool], limit: int = HITS) -> Hits:
        told.clear()
        with patch("shared.search.answer.confidences", new=tell):
            found = searcher.search(text, limit=limit, content="none", syntax="plain").results
        return Hits(told[len(told) - len(found) :], [is_relevant(h.source_document) for h in found])

    with Searcher(index_path, program="batch") as searcher:
        yield searcher, hits_of


def fitted(measured_: Sequence[Measured]) -> Model:
    """The model of confidence that fits all collections, each of which counts as much."""
    return Model.fitted(sample(measured_), features)


def features(values: Numbers) -> Numbers:
    """The logarithm of the evidence, a power of the share, and the cosine."""
    return np.column_stack(
        [np.log(np.maximum(values[:, 0], _LEAST)), values[:, 1] ** WHOLE_POWER, values[:, 2]]
    )


def sample(measured_: Sequence[Measured]) -> Sample:
    """The hits that have a cosine."""
    evidence_: list[tuple[float, float, float]] = []
    relevant: list[bool] = []
    weights: list[float] = []
    for one in measured_:
        kinds = ((one.queries, 1.0), (one.off_topic, 1.0), (one.items, KNOWN_ITEMS_COUNT))
        for asked, weight in kinds:
            with_hits = [hits for hits in asked if any(not math.isnan(f[2]) for f in hits.features)]
            for hits in with_hits:
                pairs = [
                    pair
                    for pair in zip(hits.features, hits.relevant, strict=True)
                    if not math.isnan(pair[0][2])
                ]
                evidence_ += [values for values, _ in pairs]
                relevant += [is_relevant for _, is_relevant in pairs]
                weights += [weight / len(with_hits) / len(pairs)] * len(pairs)
    return Sample(*(np.asarray(values, dtype=float) for values in (evidence_, relevant, weights)))


def relevance_table(found: Mapping[str, Measured]) -> Iterator[str]:
    """nDCG@10 of each way to search."""
    yield f"| nDCG@10 | {' | '.join(found)} | mean | to words | 95 % interval |"
    yield f"|---|{'---:|' * len(found)}---:|---:|---|"
    for row in rows([one.values for one in found.values()], []):
        difference = row.difference
        interval = f"[{change(difference.low)}, {change(difference.high)}]"
        last = " | " if row.name == "words" else f"{change(difference.mean)} | {interval}"
        mean = figure(sum(row.means) / len(row.means))
        yield f"| {row.name} | {' | '.join(map(figure, row.means))} | {mean} | {last} |"


def known_table(found: Mapping[str, Measured]) -> Iterator[str]:
    """The share of texts that come first if they are looked for by their own words."""
    yield f"| looked for by | {' | '.join(f'{name}: words | both' for name in found)} |"
    yield f"|---|{'---:|---:|' * len(found)}"
    for kind in KINDS:
        cells = [
            f"{one.known[kind, 'words']:.3f} | {one.known[kind, 'both']:.3f}"
            for one in found.values()
        ]
        yield f"| {kind} | {' | '.join(cells)} |"


def confidence_table(found: Mapping[str, Measured]) -> Iterator[str]:
    """Which questions have low confidence, and how well the fit holds on each collection."""
    yield (
        "| `low_confidence` by both | its queries | questions on other topics | known items "
        "| log loss | fitted to the others |"
    )
    yield "|---|---:|---:|---:|---:|---:|"
    for name, one in found.items():
        others = fitted([other for key, other in found.items() if key != name])
        own = sample([one])
        now = [probability_with_cosine(*map(float, values)) for values in own.evidence]
        cells = [
            *(
                f"{np.mean(list(map(is_low, asked))):.0%}"
                for asked in (one.queries, one.off_topic, one.items)
            ),
            f"{log_loss(own, np.asarray(now)):.3f}",
            f"{log_loss(own, others.probabilities(own.evidence)):.3f}",
        ]
        yield f"| {name} | {' | '.join(cells)} |"


def is_low(hits: Hits) -> bool:
    """Whether none of the first three hits is likely to answer."""
    likely = [
        probability(values[0], values[1])
        if math.isnan(values[2])
        else probability_with_cosine(*values)
        for values in hits.features[:3]
    ]
    return max(likely, default=0.0) < LOW


if __name__ == "__main__":
    main()

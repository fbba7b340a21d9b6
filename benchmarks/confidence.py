"""How far confidence can be trusted, and what its coefficients have to be.

Fits confidence to one half of the queries of a test collection, of questions on other topics, and
of known items that are looked for, and measures it on the other half, and on the documents and
queries of tests/relevance. Writes the tables and the picture of
docs/measured/confidence.md, and fails where the coefficients of `shared.search.confidence` are not
those of the fit.
"""

import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final
from unittest.mock import patch

import numpy as np

from benchmarks.calibration import (
    Asked,
    Bin,
    Model,
    Numbers,
    Sample,
    bins,
    brier_score,
    calibration_error,
    log_loss,
)
from benchmarks.collection import Collection
from benchmarks.confidence_plot import draw
from benchmarks.confidence_questions import Asking, asked_of_collection, asked_of_library, halved
from benchmarks.first_hits import best_confidence, first_hits_table, is_low
from benchmarks.page import MEASURED, write_figures
from idx.evaluation.experiment import temporary_index
from shared.search.confidence import EXPONENT, LOW, ODDS, WHOLE, WHOLE_POWER, probability

PICTURE: Final = MEASURED / "confidence.svg"
KNOWN_ITEMS_COUNT: Final = 0.1
"""What known items count for in the fit, where the queries count for 1, and the questions on other
topics too: enough for what they alone can tell, that is how good the hits are that lack nothing."""

TOLD: Final = 0.85
"""The share of the questions on other topics of the fit whose first hits are all below ``LOW``.
More of them takes more of the queries with it, and those are what people ask."""

BOUNDS: Final = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
"""The least confidence in each row of the table."""

POWERS: Final = (0, WHOLE_POWER)
"""The features of the model: the logarithm of the evidence, and a power of it."""

VARIANTS: Final[Sequence[tuple[str, dict[str, float], Sequence[int]]]] = (
    ("as it is", {}, POWERS),
    ("without the high power", {}, (0,)),
    ("the evidence itself, no logarithm", {}, (1, WHOLE_POWER)),
    ("a word anywhere counts 0.3", {"LOOSE": 0.3}, POWERS),
    ("a word anywhere counts 0.7", {"LOOSE": 0.7}, POWERS),
    ("without nearness", {"MOST_PAIRS": 0}, POWERS),
    ("without nearness and titles", {"LOOSE": 1.0}, POWERS),
    ("the same, neither logarithm nor power", {"LOOSE": 1.0}, (1,)),
)
"""What is compared: constants of `shared.search.coverage`, and the features of the model."""


def main() -> None:
    """Fit, measure, print the tables, and write them and the picture."""
    collection = Collection.from_arguments(__doc__)
    with temporary_index(collection.documents) as (index_path, _):
        asking = asked_of_collection(collection, index_path)
        variants = list(variant_table(collection, index_path))
    model = Model.fitted(asking.to_fit(0, KNOWN_ITEMS_COUNT), POWERS)
    intercept, exponent, whole = model.coefficients
    fitted = {
        "ODDS": round(math.exp(intercept), 1),
        "EXPONENT": round(exponent, 1),
        "WHOLE": round(whole, 1),
        "LOW": low(halved(asking.off_topic, 0)),
    }
    held_out = asking.answered_and_not(1)
    queries = Sample.of((asking.queries[1::2], 1.0))
    strangers = Sample.of((halved(asking.off_topic, 1), 1.0))
    of_all, of_queries = (binned(sample, BOUNDS) for sample in (held_out, queries))
    draw(
        PICTURE,
        of_all,
        of_queries,
        [confidences(sample.evidence) for sample in (queries, strangers)],
        LOW,
    )
    lines = [
        *group_table(collection, asking),
        "",
        *first_hits_table(collection.folder.parent),
        "",
        *reliability_table(of_all, of_queries),
        "",
        f"![Confidence against precision, and how many hits have it]({PICTURE.name})",
        "",
        *variants,
        "",
        "Fitted: " + ", ".join(f"`{name}` {value}" for name, value in fitted.items()) + ".",
    ]
    print("\n".join(lines))
    write_figures("confidence.md", lines)
    if fitted != {"ODDS": ODDS, "EXPONENT": EXPONENT, "WHOLE": WHOLE, "LOW": LOW}:
        sys.exit(f"shared/search/confidence.py should have {fitted}")


def confidences(evidence: Numbers) -> Numbers:
    """The confidence that the search has by its own coefficients."""
    return np.asarray([probability(float(share)) for share in evidence])


def binned(sample: Sample, bounds: Sequence[float]) -> list[Bin]:
    """The hits of a sample by the confidence that the search has in them."""
    return bins(sample, confidences(sample.evidence), bounds)


def low(off_topic: Sequence[Asked]) -> float:
    """The confidence that most questions on other topics are below, rounded up to two digits."""
    best = [best_confidence(asked) for asked in off_topic]
    return math.ceil(100 * float(np.quantile(best, TOLD))) / 100


def group_table(collection: Collection, asking: Asking) -> Iterator[str]:
    """The first hits of each kind of queries."""
    yield "| asked | questions | first hit, mean | right | `low_confidence` | no hit |"
    yield "|---|---:|---:|---:|---:|---:|"
    kinds = [
        ("the collection's queries", asking.queries[1::2]),
        ("the same, two words misspelled", asking.misspelled[1::2]),
        *((kind, questions[1::2]) for kind, questions in asking.known_items.items()),
        ("questions on other topics", halved(asking.off_topic, 1)),
        *((f"of these, {kind}", questions[1::2]) for kind, questions in asking.off_topic.items()),
        *asked_of_library(collection),
    ]
    for name, questions in kinds:
        first = [probability(asked.evidence[0]) for asked in questions if asked.evidence]
        unsure = statistics.mean(map(is_low, questions))
        right = [asked.relevant[0] for asked in questions if asked.evidence]
        yield (
            f"| {name} | {len(questions)} | {statistics.mean(first):.3f} "
            f"| {statistics.mean(right):.0%} | {unsure:.0%} "
            f"| {len(questions) - len(first)} |"
        )


def reliability_table(of_all: Sequence[Bin], of_queries: Sequence[Bin]) -> Iterator[str]:
    """How many of the hits with some confidence are relevant."""
    yield "| confidence | hits | expected | relevant | of queries alone | expected | relevant |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    by_bounds = {found.low: found for found in of_queries}
    for found in of_all:
        alone = by_bounds.get(found.low)
        cells = f"{alone.hits} | {alone.expected:.3f} | {alone.precision:.3f}" if alone else "0 | |"
        yield (
            f"| {found.low} to {found.high} | {found.hits} | {found.expected:.3f} "
            f"| {found.precision:.3f} | {cells} |"
        )


def variant_table(collection: Collection, index_path: Path) -> Iterator[str]:
    """The model as it is and with changes, each fitted on one half and measured on the other."""
    yield "| variant | log loss | Brier score | calibration error | known items | swapped |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name, constants, powers in VARIANTS:
        with ExitStack() as stack:
            for constant, value in constants.items():
                stack.enter_context(patch(f"shared.search.coverage.{constant}", new=value))
            asking = asked_of_collection(collection, index_path)
        models = [Model.fitted(asking.to_fit(half, KNOWN_ITEMS_COUNT), powers) for half in (0, 1)]
        held_out, known, swapped = (
            (sample, model.probabilities(sample.evidence))
            for sample, model in (
                (asking.answered_and_not(1), models[0]),
                (asking.of_known_items(1), models[0]),
                (asking.answered_and_not(0), models[1]),
            )
        )
        figures = (
            log_loss(*held_out),
            brier_score(*held_out),
            calibration_error(*held_out),
            log_loss(*known),
            log_loss(*swapped),
        )
        yield f"| {name} | {' | '.join(f'{value:.3f}' for value in figures)} |"


if __name__ == "__main__":
    main()

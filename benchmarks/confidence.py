"""How far confidence can be trusted, and what its coefficients have to be.

Fits confidence to the queries of the three collections, questions on other topics and known items,
and measures it on each collection with the coefficients of the others. Writes the tables and the
picture of docs/measured/confidence.md, and fails where the coefficients of
`shared.search.confidence` are not those of the fit.
"""

import math
import statistics
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from benchmarks.calibration import Asked, Bin, Features, Model, Numbers, Sample, bins, log_loss
from benchmarks.collection import collections
from benchmarks.confidence_plot import draw
from benchmarks.confidence_questions import Asking, asked_of_collection, asked_of_library
from benchmarks.first_hits import best_confidence, first_hits_table, is_low, order_table
from benchmarks.page import MEASURED, write_figures
from idx.evaluation.experiment import temporary_index
from shared.search.confidence import EXPONENT, LOW, ODDS, WHOLE, WHOLE_POWER, probability

PICTURE: Final = MEASURED / "confidence.svg"
KNOWN_ITEMS_COUNT: Final = 0.1
"""What known items count for in the fit, where the queries count for 1, and the questions on other
topics too: enough for what they alone can tell, that is how good the hits are that lack nothing."""

BOUNDS: Final = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
"""The least confidence in each row of the table."""

_LEAST: Final = 0.01
"""What less evidence counts as in the fit: none at all has no logarithm."""


def _log(numbers: Numbers) -> Numbers:
    return np.log(np.maximum(numbers, _LEAST))


def as_it_is(evidence: Numbers) -> Numbers:
    """The features of the model: the logarithm of the evidence, and a power of the share."""
    return np.column_stack([_log(evidence[:, 0]), evidence[:, 1] ** WHOLE_POWER])


VARIANTS: Final[Mapping[str, Features]] = {
    "as it is": as_it_is,
    "without the power": lambda e: _log(e[:, :1]),
    "the share of the query alone": lambda e: _log(e[:, 1:]),
    "the score alone": lambda e: _log(2 * e[:, :1] - e[:, 1:]),
    "share and score apart": lambda e: _log(np.column_stack([e[:, 1], 2 * e[:, 0] - e[:, 1]])),
}
"""The features that are compared; the evidence is the mean of the share and of the score."""


def main() -> None:
    """Fit, measure, print the tables, and write them and the picture."""
    askings = {}
    for collection in collections():
        with temporary_index(collection.documents) as (index_path, _):
            askings[collection.folder.name] = asked_of_collection(collection, index_path)
    model = Model.fitted(sample(askings.values()), as_it_is)
    intercept, exponent, whole = model.coefficients
    fitted = {"ODDS": math.exp(intercept), "EXPONENT": exponent, "WHOLE": whole}
    fitted = {name: round(value, 1) for name, value in fitted.items()}
    by_collection = {name: binned(sample([asking])) for name, asking in askings.items()}
    draw(PICTURE, by_collection, LOW)
    lines = [
        *group_table(askings),
        "",
        *first_hits_table(askings),
        "",
        *order_table(askings),
        "",
        *reliability_table(by_collection),
        "",
        f"![Confidence against precision, by collection]({PICTURE.name})",
        "",
        *variant_table(askings),
        "",
        "Fitted: " + ", ".join(f"`{name}` {value}" for name, value in fitted.items()) + ".",
    ]
    print("\n".join(lines))
    write_figures("confidence.md", lines)
    if fitted != {"ODDS": ODDS, "EXPONENT": EXPONENT, "WHOLE": WHOLE}:
        sys.exit(f"shared/search/confidence.py should have {fitted}")


def sample(askings: Iterable[Asking]) -> Sample:
    """The hits of what was asked of some collections, of which each counts as much."""
    kinds: list[tuple[Sequence[Asked], float]] = []
    for asking in askings:
        kinds += [
            (asking.queries, 1.0),
            (asking.all_off_topic, 1.0),
            (asking.all_known_items, KNOWN_ITEMS_COUNT),
        ]
    return Sample.from_queries(*kinds)


def binned(found: Sample) -> list[Bin]:
    """The hits of a sample by the confidence that the search has in them."""
    return bins(found, np.asarray([probability(*pair) for pair in found.evidence]), BOUNDS)


def group_table(askings: Mapping[str, Asking]) -> Iterator[str]:
    """The first hits of each kind of queries."""
    yield "| asked | questions | first hit, mean | right | `low_confidence` | no hit |"
    yield "|---|---:|---:|---:|---:|---:|"
    kinds = [
        (f"{name}: {kind}", questions)
        for name, asking in askings.items()
        for kind, questions in (
            ("its queries", asking.queries),
            ("the same, two words misspelled", asking.misspelled),
            *asking.known_items.items(),
            ("questions on other topics", asking.all_off_topic),
        )
    ]
    for name, questions in [*kinds, *asked_of_library()]:
        first = [probability(*asked.evidence[0]) for asked in questions if asked.evidence]
        right = [asked.relevant[0] for asked in questions if asked.evidence]
        yield (
            f"| {name} | {len(questions)} | {statistics.mean(first):.3f} "
            f"| {statistics.mean(right):.0%} | {statistics.mean(map(is_low, questions)):.0%} "
            f"| {len(questions) - len(first)} |"
        )


def reliability_table(by_collection: Mapping[str, Sequence[Bin]]) -> Iterator[str]:
    """How many of the hits with some confidence are relevant, in each collection."""
    heads = " | ".join(f"{name}: hits | expected | relevant" for name in by_collection)
    yield f"| confidence | {heads} |"
    yield f"|---|{'---:|---:|---:|' * len(by_collection)}"
    for low, high in zip(BOUNDS, (*BOUNDS[1:], 1.0), strict=True):
        cells = []
        for found in by_collection.values():
            within = [one for one in found if one.low == low]
            cells += [f"{one.hits} | {one.expected:.2f} | {one.precision:.2f}" for one in within]
            cells += [] if within else ["0 | | "]
        yield f"| {low} to {high} | {' | '.join(cells)} |"


def variant_table(askings: Mapping[str, Asking]) -> Iterator[str]:
    """The model with other features, each fitted to two collections and measured on the third."""
    yield "| features | " + " | ".join(f"{name}: log loss | told apart" for name in askings) + " |"
    yield f"|---|{'---:|---:|' * len(askings)}"
    for variant, features in VARIANTS.items():
        cells = []
        for name, asking in askings.items():
            others = [other for key, other in askings.items() if key != name]
            model = Model.fitted(sample(others), features)
            held_out = sample([asking])
            loss = log_loss(held_out, model.probabilities(held_out.evidence))
            cells.append(f"{loss:.3f} | {_told_apart(model, asking):.2f}")
        yield f"| {variant} | {' | '.join(cells)} |"


def _told_apart(model: Model, asking: Asking) -> float:
    """The share of pairs of a query and a question on another topic that confidence orders."""

    def best(questions: Sequence[Asked]) -> Numbers:
        return np.asarray(
            [
                best_confidence(asked, lambda pairs: model.probabilities(np.asarray(pairs)))
                for asked in questions
            ]
        )

    on, off = best(asking.queries)[:, None], best(asking.all_off_topic)[None]
    return float((on > off).mean() + (on == off).mean() / 2)


if __name__ == "__main__":
    main()

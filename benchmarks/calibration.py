"""Fitting confidence to judged hits, and how well it says how many of them are relevant."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

Numbers = np.ndarray[Any, np.dtype[np.float64]]

Features = Callable[[Numbers], Numbers]
"""Makes the features of a model, a row a hit, of the evidence of hits."""

_ENOUGH: Final = 1e-9  # steps below this change nothing that is shown
_MOST_STEPS: Final = 100  # Newton's method needs fewer than ten, or never ends


@dataclass(frozen=True, slots=True)
class Asked:
    """A query and its hits, best first."""

    query: str
    evidence: Sequence[tuple[float, float]]
    relevant: Sequence[bool]


@dataclass(frozen=True, slots=True)
class Sample:
    """Judged hits of several queries."""

    evidence: Numbers
    relevant: Numbers
    weights: Numbers

    @classmethod
    def from_queries(cls, *kinds: tuple[Sequence[Asked], float]) -> Self:
        """Return the hits of several kinds of queries, and what each kind counts for together.

        Within a kind each query that has hits counts as much as each other, and so does each hit of
        it.
        """
        evidence: list[tuple[float, float]] = []
        relevant: list[bool] = []
        weights: list[float] = []
        for queries, weight in kinds:
            found = [asked for asked in queries if asked.evidence]
            for asked in found:
                evidence += asked.evidence
                relevant += asked.relevant
                hits = len(asked.evidence)
                weights += [weight / len(found) / hits] * hits
        return cls(*(np.asarray(values, dtype=float) for values in (evidence, relevant, weights)))


@dataclass(frozen=True, slots=True)
class Model:
    """What makes a probability of evidence: a logistic regression on some features of it."""

    features: Features
    coefficients: Sequence[float]

    @classmethod
    def fitted(cls, sample: Sample, features: Features) -> Self:
        """The model under which the sample is likeliest, by Newton's method."""
        columns = _with_intercept(features(sample.evidence))
        coefficients = np.zeros(columns.shape[1])
        for _ in range(_MOST_STEPS):
            likely = _logistic(columns @ coefficients)
            gradient = columns.T @ (sample.weights * (likely - sample.relevant))
            curvature = (columns.T * (sample.weights * likely * (1 - likely))) @ columns
            try:
                step = np.linalg.solve(curvature, gradient)
            except np.linalg.LinAlgError:
                break
            coefficients -= step
            if np.abs(step).max() <= _ENOUGH:
                return cls(features, [float(value) for value in coefficients])
        raise ValueError("no model is the likeliest: these hits are too few, or too easily told")

    def probabilities(self, evidence: Numbers) -> Numbers:
        """How likely hits are to answer, from 0 to 1."""
        return _logistic(_with_intercept(self.features(evidence)) @ np.asarray(self.coefficients))


def _with_intercept(features: Numbers) -> Numbers:
    return np.column_stack([np.ones(len(features)), features])


def _logistic(logits: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-logits))


@dataclass(frozen=True, slots=True)
class Bin:
    """The hits whose confidence is within bounds."""

    low: float
    high: float
    hits: int
    expected: float
    precision: float


def bins(sample: Sample, confidences: Numbers, bounds: Iterable[float]) -> list[Bin]:
    """The hits by their confidence; bins without hits are left out."""
    lows = list(bounds)
    found = []
    for low, high in zip(lows, [*lows[1:], 1.0], strict=True):
        within = (confidences >= low) & ((confidences < high) | (high == 1))
        if within.any():
            weights = sample.weights[within]
            expected = float(np.average(confidences[within], weights=weights))
            precision = float(np.average(sample.relevant[within], weights=weights))
            found.append(Bin(low, high, int(within.sum()), expected, precision))
    return found


def calibration_error(sample: Sample, confidences: Numbers) -> float:
    """The expected calibration error (Naeini et al. 2015), by ten bins of the same width."""
    total, error = sample.weights.sum(), 0.0
    numbers = np.minimum((confidences * 10).astype(int), 9)
    for number in np.unique(numbers):
        within = numbers == number
        differences = sample.weights[within] * (confidences[within] - sample.relevant[within])
        error += abs(float(differences.sum()))
    return error / float(total)


def brier_score(sample: Sample, confidences: Numbers) -> float:
    """The mean square of the distance to the truth (Brier 1950); 0 is best."""
    return float(np.average((confidences - sample.relevant) ** 2, weights=sample.weights))


def log_loss(sample: Sample, confidences: Numbers) -> float:
    """The mean surprise at the truth, in nats; 0 is best."""
    of_truth = np.where(sample.relevant == 1, confidences, 1 - confidences)
    return float(np.average(-np.log(of_truth), weights=sample.weights))

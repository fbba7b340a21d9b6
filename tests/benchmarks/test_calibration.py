"""The fit of confidence to judged hits, and the figures that tell how good it is."""

import math

import numpy as np
import pytest

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

# A quarter of the hits with little evidence answers, and three quarters of those with much.
LITTLE, MUCH = (0.2, 0.2), (0.8, 0.8)
ASKED = [
    Asked("a", [LITTLE] * 4, [True, False, False, False]),
    Asked("b", [MUCH] * 4, [True, True, True, False]),
]
SAMPLE = Sample.from_queries((ASKED, 1.0))


def evidence_alone(evidence: Numbers) -> Numbers:
    return evidence[:, :1]


TRUTH = np.array([0.25] * 4 + [0.75] * 4)


def test_the_likeliest_model_says_how_many_hits_answer() -> None:
    model = Model.fitted(SAMPLE, evidence_alone)
    assert model.probabilities(SAMPLE.evidence) == pytest.approx(TRUTH)


def test_hits_that_are_told_apart_without_doubt_have_no_likeliest_model() -> None:
    certain = [Asked("a", [LITTLE, MUCH], [False, True])]
    with pytest.raises(ValueError, match="no model is the likeliest"):
        Model.fitted(Sample.from_queries((certain, 1.0)), evidence_alone)


def test_the_scores_are_those_of_their_definitions() -> None:
    assert brier_score(SAMPLE, TRUTH) == pytest.approx(0.25 * 0.75)
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert log_loss(SAMPLE, TRUTH) == pytest.approx(entropy)
    assert calibration_error(SAMPLE, TRUTH) == pytest.approx(0)
    # All of them said to be certain: half of the hits are not.
    assert calibration_error(SAMPLE, np.ones(8)) == pytest.approx(0.5)
    assert brier_score(SAMPLE, np.ones(8)) == pytest.approx(0.5)


def test_hits_are_counted_in_the_bin_of_their_confidence() -> None:
    assert bins(SAMPLE, TRUTH, [0, 0.25, 0.5]) == [
        Bin(0.25, 0.5, 4, 0.25, 0.25),
        Bin(0.5, 1.0, 4, 0.75, 0.75),
    ]


def test_each_query_counts_as_much_as_each_other() -> None:
    few, many = Asked("few", [LITTLE], [True]), Asked("many", [LITTLE] * 3, [False] * 3)
    sample = Sample.from_queries(([few, many, Asked("none", [], [])], 2.0))
    assert sample.weights == pytest.approx([1.0, 1 / 3, 1 / 3, 1 / 3])

"""Confidence intervals of means over queries, as bootstrap percentile intervals (Efron 1979)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

RESAMPLES: Final = 1000
SEED: Final = 20_240_229
"""Seed of the random numbers; any value works, and a fixed one makes intervals reproducible."""

PERCENT_OUTSIDE: Final = 2.5
"""Share of the resamples on each side of a 95 % interval, in per cent."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Mean over queries with its 95 % confidence interval."""

    mean: float
    low: float
    high: float


def estimates(values: "NDArray[float64]") -> list[Estimate]:
    """Estimate the mean of each column.

    The queries are resampled with replacement, and each time all columns are averaged over the same
    sample. So a column of differences between two configurations gets a paired interval.

    Args:
        values: a row for each query, at least one.
    """
    import numpy as np

    count = len(values)
    random = np.random.default_rng(SEED)
    means = np.array(
        [values[random.integers(0, count, count)].mean(axis=0) for _ in range(RESAMPLES)]
    )
    low, high = np.percentile(means, [PERCENT_OUTSIDE, 100 - PERCENT_OUTSIDE], axis=0)
    return [
        Estimate(float(mean), float(least), float(most))
        for mean, least, most in zip(values.mean(axis=0), low, high, strict=True)
    ]

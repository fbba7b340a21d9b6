"""How sure a mean over queries is: percentile intervals by the bootstrap (Efron 1979)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

RESAMPLES: Final = 1000
SEED: Final = 20_240_229
"""Any number does; the same one gives the same intervals each time."""

OUTSIDE: Final = 2.5
"""Per cent of the resamples on each side of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over queries and its 95 % confidence interval."""

    mean: float
    low: float
    high: float


def estimates(values: "NDArray[float64]") -> list[Estimate]:
    """Estimate the mean of each column.

    The queries are drawn anew, with replacement, and each time all columns are averaged over the
    same draw. A column of differences between two configurations gives a paired interval so.

    Args:
        values: a row for each query, at least one.
    """
    import numpy as np

    count = len(values)
    # Not for secrets.
    random = np.random.default_rng(SEED)
    means = np.array(
        [values[random.integers(0, count, count)].mean(axis=0) for _ in range(RESAMPLES)]
    )
    low, high = np.percentile(means, [OUTSIDE, 100 - OUTSIDE], axis=0)
    return [
        Estimate(float(mean), float(least), float(most))
        for mean, least, most in zip(values.mean(axis=0), low, high, strict=True)
    ]

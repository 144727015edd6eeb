"""Statistics of a few runs that differ only in their seed: a typical value, its interval, and whether one group beats another.

The interquartile mean (IQM) leaves out the lowest and the highest quarter of the values, rounded down, and averages the rest;
it and the probability of improvement are what Agarwal et al. (NeurIPS 2021, arXiv 2108.13264) recommend for few seeds. They
take percentile bootstraps, stratified where there are several tasks; over a single task these cover too little: of 95 %
intervals of the IQM 75 % with 3 and 90 % with 5 normal values, of the probability of improvement 91 % with 5 against 5 and next
to nothing once every value of one group beats the other. So other intervals are used here:

- IQM: Yuen's t, the trimmed mean over its standard error from the winsorised variance (Tukey and McLaughlin 1963, Yuen 1974).
  Its quantiles for up to 30 values are those of normal samples, as Student's with h - 1 degrees of freedom are too small there.
- Probability of improvement: Newcombe's score interval for the Mann-Whitney measure, his method 5 (Statistics in Medicine 25,
  2006), which stays an interval where the groups do not overlap.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from parsers.model import Floats

FEW = 5
"""With fewer values, intervals are wide and comparisons uncertain."""
Z = 1.959963984540054
"""Two-sided 95 % of a normal distribution."""
# Of |trimmed mean / standard error| of n = 4 .. 30 normal values, from 4 million samples each; a test draws them anew.
_YUEN = (
    16.12, 4.913, 3.427, 2.911, 3.601, 3.008, 2.709, 2.546, 2.763, 2.585, 2.467, 2.385, 2.488, 2.403, 2.336, 2.288, 2.353,
    2.303, 2.257, 2.229, 2.268, 2.238, 2.210, 2.191, 2.212, 2.193, 2.174,
)  # fmt: skip


class Estimate(NamedTuple):
    """A value, the ends of its 95 % interval (NaN where there is none), and how many finite numbers it was made of."""

    value: float
    low: float
    high: float
    n: int


def interquartile_mean(values: Floats) -> Estimate:
    """Return the IQM of the finite values and its interval; NaN for no values, no interval for one."""
    ordered = np.sort(values[np.isfinite(values)])
    n = ordered.size
    if not n:
        return Estimate(math.nan, math.nan, math.nan, 0)
    cut = n // 4
    size = float(np.abs(ordered).max()) or 1.0
    ordered = ordered / size
    middle = float(ordered[cut : n - cut].mean())
    if n < 2:
        return Estimate(float(values[np.isfinite(values)][0]), math.nan, math.nan, n)
    left = n - 2 * cut
    pulled = np.clip(ordered, ordered[cut], ordered[n - cut - 1])
    error = math.sqrt((n - 1) * float(pulled.var(ddof=1)) / (left * (left - 1)))
    from parsers.analysis.curves.student import student  # with the module statistics; few charts have intervals

    half = error * (_YUEN[n - 4] if 4 <= n < 4 + len(_YUEN) else student(left - 1))
    return Estimate(middle * size, (middle - half) * size, (middle + half) * size, n)


def improvement(values: Floats, baseline: Floats, better: str = "max") -> Estimate:
    """Estimate the probability that one of values is better than one of baseline, ties counting half (Mann-Whitney).

    better is "max" or "min". Only finite values count; n is the number of the smaller group. NaN where a group has none.
    """
    if better not in ("max", "min"):
        raise ValueError(f"better: expected 'max' or 'min', found {better!r}")
    x, y = values[np.isfinite(values)], np.sort(baseline[np.isfinite(baseline)])
    n = min(x.size, y.size)
    if not n:
        return Estimate(math.nan, math.nan, math.nan, 0)
    below = np.searchsorted(y, x, "left").sum() + np.searchsorted(y, x, "right").sum()
    share = float(below) / (2.0 * x.size * y.size)
    share = share if better == "max" else 1.0 - share
    return Estimate(share, _end(share, x.size, y.size, 0.0), _end(share, x.size, y.size, 1.0), n)


def _end(share: float, m: int, n: int, edge: float) -> float:
    """Where share is Z standard errors away, on the side of edge; the error is that of the place, not of share."""

    def far(place: float) -> bool:
        rest = 1.0 - place
        spread = 1.0 + ((m + n) / 2.0 - 1.0) * (rest / (1.0 + rest) + place / (1.0 + place))
        return abs(share - place) > Z * math.sqrt(max(place * rest * spread / (m * n), 0.0))

    near, edge_now = share, edge
    for _ in range(60):
        middle = (near + edge_now) / 2.0
        near, edge_now = (near, middle) if far(middle) else (middle, edge_now)
    return edge_now

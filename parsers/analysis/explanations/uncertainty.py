"""How sure a network is of its probabilities: the distribution of their standard deviations, and the widest intervals.

mindspore-xai records the standard deviation of a probability over passes with dropout, and a 95 % interval of the Beta
distribution with this mean and variance. A probability p has a deviation of at most sqrt(p (1 - p)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.model import Floats, Ints

LEAST_RATIO = 30.0
"""From this ratio of the largest to the smallest deviation on, bins are of equal ratio, not of equal width."""


@dataclass(frozen=True, slots=True)
class DeviationSpread:
    """The distribution of standard deviations.

    Bin i holds the count[i] deviations from edges[i] to edges[i + 1], the last one with its upper end. logarithmic: edges have
    equal ratios; then the `zeros` are in no bin. known: how many deviations there are; unknown: rows without one, or with one
    that is none (negative or not finite). low, median and high are the 5 %, 50 % and 95 % quantiles, NaN if none is known.
    """

    edges: Floats
    count: Ints
    logarithmic: bool
    zeros: int
    known: int
    unknown: int
    low: float
    median: float
    high: float


def is_deviation(sd: Floats) -> NDArray[np.bool_]:
    """Return which numbers can be a standard deviation: finite and not negative."""
    found: NDArray[np.bool_] = np.isfinite(sd) & (sd >= 0.0)
    return found


def spread_of(sd: Floats, bins: int = 40) -> DeviationSpread:
    """Return the distribution of standard deviations."""
    values = sd[is_deviation(sd)]
    zeros = int((values == 0.0).sum())
    positive = values[values > 0.0]
    if not len(values):
        return DeviationSpread(np.zeros(1), np.zeros(0, np.int64), False, 0, 0, len(sd), *[float("nan")] * 3)
    low, high = (float(positive.min()), float(positive.max())) if len(positive) else (0.0, 0.0)
    logarithmic = bool(len(positive)) and high / low >= LEAST_RATIO
    if logarithmic:
        edges = np.geomspace(low, high, bins + 1)
        edges[0], edges[-1] = low, high  # geomspace may miss its ends by a rounding
    else:
        low = float(values.min())
        edges = np.linspace(low, high, bins + 1) if high > low else np.array([low, low])
    counted = positive if logarithmic else values
    count = np.histogram(counted, edges)[0] if len(edges) > 2 else np.array([len(counted)])
    ends = np.quantile(values, [0.05, 0.5, 0.95]).tolist()
    numbers = len(values), len(sd) - len(values)
    return DeviationSpread(edges, count.astype(np.int64), logarithmic, zeros * logarithmic, *numbers, *ends)


def widths(low: Floats, high: Floats, sd: Floats) -> tuple[Floats, bool]:
    """Return how wide the interval of each probability is, and whether intervals were recorded.

    Without any interval these are the standard deviations. NaN for what was not recorded or is none.
    """
    width = high - low
    known = np.isfinite(width) & (width >= 0.0)
    if known.any():
        return np.where(known, width, np.nan), True
    return np.where(is_deviation(sd), sd, np.nan), False


def widest_of_each(start: Ints, width: Floats) -> Ints:
    """Return for each sample the row of its widest interval, of equal ones the first; -1 if it has none.

    Sample i has the rows start[i]:start[i + 1].
    """
    found = np.full(len(start) - 1, -1, np.int64)
    having = np.flatnonzero(start[1:] > start[:-1])
    if not len(having):
        return found
    least = np.where(np.isnan(width), -np.inf, width)
    most = np.maximum.reduceat(least, start[having])
    size = start[having + 1] - start[having]
    sample = np.repeat(having, size)
    widest = np.flatnonzero((least == np.repeat(most, size)) & (least > -np.inf))
    found[sample[widest][::-1]] = widest[::-1]  # of several assignments to one place the last one stays
    return found


def extremes(rows: Ints, width: Floats, most: int) -> tuple[Ints, Ints]:
    """Return up to `most` of these rows, the widest first, and as many of them, the narrowest first.

    No row is in both: of few rows the wider half is among the widest.
    """
    ordered = rows[np.argsort(-width[rows], kind="stable")]
    upper = min(most, (len(ordered) + 1) // 2)
    return ordered[:upper], ordered[::-1][: min(most, len(ordered) - upper)]


def one_of_each_cell(x: Floats, y: Floats, group: Ints, columns: int, lines: int) -> tuple[Ints, Ints]:
    """Return (points, how many points each stands for): of points of a group in one cell of a picture, the first.

    x and y are finite; the cells divide the ranges of both.
    """
    groups = int(group.max()) + 1 if len(group) else 1
    cell = (_cells(x, columns) * lines + _cells(y, lines)) * groups + group
    count = np.bincount(cell, minlength=columns * lines * groups)
    first = np.zeros(len(count), np.int64)
    first[cell[::-1]] = np.arange(len(cell))[::-1]  # of several assignments to one place the last one stays
    used = np.flatnonzero(count)
    return first[used], count[used]


def _cells(values: Floats, cells: int) -> Ints:
    if not len(values):
        return np.zeros(0, np.int64)
    low, high = float(values.min()), float(values.max())
    found: Ints = np.minimum((values - low) / ((high - low) or 1.0) * cells, cells - 1).astype(np.int64)
    return found

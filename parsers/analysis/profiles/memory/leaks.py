"""Whether memory grows from step to step: the least memory of each step, its slope by Theil and Sen, and a test by Kendall."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from parsers.model import Floats, Ints

FEWEST = 10
"""Steps from which on a verdict is given."""
CRITICAL = 2.58
"""Least z of Kendall's S: 1 % two-sided."""
GROWTH = 0.001
"""Least growth over all steps, as a part of the memory allocated."""
LASTING = 1 / 3
"""Least slope of the later half of the steps, as a part of that of all: what filled up and stays level is no leak."""
MOST = 2_000
"""Steps of which all pairs are compared; of more, the least value of neighbouring ones counts."""


class Leak(NamedTuple):
    """verdict: "leak", "none", or "cannot tell" with fewer than FEWEST steps.

    slope is the median growth in bytes per step, low and high its 99 % interval, growth the slope over all steps in bytes,
    share that as a part of the median memory, z that of Kendall's S, steps how many have a value. NaN where it cannot be told.
    """

    verdict: str
    steps: int
    slope: float = math.nan
    low: float = math.nan
    high: float = math.nan
    growth: float = math.nan
    share: float = math.nan
    z: float = math.nan


def leak(minima: Sequence[int] | Ints) -> Leak:
    """Return whether memory leaks, from its minimum within each step in order (bytes; negative: unknown).

    The slope is the median of (y_j - y_i) / (j - i) over all pairs of steps, z = S / sqrt(n (n - 1) (2 n + 5) / 18) for
    Kendall's S, and the interval has the slopes at (N -+ 2.58 sqrt(variance)) / 2 of N pairs (Sen, 1968). It is a leak if
    z > 2.58, memory grows by more than 0.1 % over all steps, and the later half of them has at least a third of the slope: a
    cache that fills up and stays level is no leak. Minima are compared, as peaks and means vary with the operators of a step.
    """
    values = np.asarray(minima, np.float64)
    place = np.flatnonzero(values >= 0)
    values = values[place]
    if len(values) < FEWEST:
        return Leak("cannot tell", len(values))
    steps = int(place[-1] - place[0])
    number = len(values)
    at = place.astype(np.float64)
    if number > MOST:
        at, values = _thinned(at, values)
    n = len(values)
    first, second = np.triu_indices(n, 1)
    rise = values[second] - values[first]
    pairs = rise / (at[second] - at[first])
    later = float(np.median(pairs[first >= n // 2]))
    slopes = np.sort(pairs)
    variance = n * (n - 1) * (2 * n + 5) / 18
    z = float(np.sign(rise).sum()) / math.sqrt(variance)
    wide = CRITICAL * math.sqrt(variance)
    low = slopes[max(int((len(slopes) - wide) / 2), 0)]
    high = slopes[min(int((len(slopes) + wide) / 2), len(slopes) - 1)]
    slope = float(np.median(slopes))
    growth = slope * steps
    middle = float(np.median(values))
    share = growth / middle if middle > 0 else math.nan
    found = z > CRITICAL and share > GROWTH and later >= LASTING * slope
    return Leak("leak" if found else "none", number, slope, float(low), float(high), growth, share, z)


def _thinned(at: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return the least of each group of neighbouring steps, at most MOST groups."""
    width = -(-len(values) // MOST)
    starts = np.arange(0, len(values), width)
    return at[starts], np.minimum.reduceat(values, starts)

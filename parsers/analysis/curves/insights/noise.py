"""Finds where the noise of a curve grows for good: the same course, but values farther and farther from it.

The noise is measured in blocks by second differences, which hardly see the course. That of counts and rewards grows with
their level as a matter of course: it must have grown relative to the level, too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.insights.levels import noisy, running
from parsers.analysis.curves.insights.rules import LEAST, RULES
from parsers.model import Floats

_BLOCKS = 64
_POINTS = 6
"""Minimum points in a block."""
_SIDE = 4
"""Minimum blocks before and after."""
_NORMAL = 1.2533
"""Standard deviation of normal noise over its mean absolute deviation."""
_SURE = 5.0
"""Standard errors by which the logarithm of the noise must have grown."""
_HABIT = 1.4
"""The noise at the end is this many times that of any stretch before."""
_TIES = 0.1
"""From this share of equal neighbours on the values are counts or rounded, whose noise depends on where they are."""
_ABOVE = 3.0
"""A level of more than this many times the noise is one that the noise may go with."""


class Growth(NamedTuple):
    """first: index of the point from which on. before, after: standard deviation of the noise."""

    first: int
    before: float
    after: float


def growth(value: Floats) -> Growth | None:
    """Return where the noise of an array without NaN grew."""
    if np.count_nonzero(value[1:] == value[:-1]) > _TIES * value.size or not noisy(value):
        return None
    size = max(_POINTS, -(-value.size // _BLOCKS))
    count = (value.size - 2) // size
    if count < 2 * _SIDE:
        return None
    away = np.abs(value[1:-1] - (value[:-2] + value[2:]) / 2.0)[: count * size].reshape(count, size)
    noise = away.mean(axis=1) * (_NORMAL / math.sqrt(1.5))
    if not noise.min() > 0.0:
        return None
    size_of_noise = np.log(noise)
    at = _split(size_of_noise)
    before = float(np.exp(np.median(size_of_noise[:at])))
    after = float(np.exp(np.median(size_of_noise[-max(_SIDE, (count - at) // 2) :])))
    least = LEAST * RULES["noisier"].limit
    left = np.concatenate((size_of_noise[:at] - math.log(before), size_of_noise[at:] - np.median(size_of_noise[at:])))
    error = float(left.std()) * math.sqrt(1.0 / at + 1.0 / (count - at))
    rise = float(np.median(size_of_noise[at:])) - math.log(before)
    if after < least * before or rise < max(_SURE * error, math.log(least) / 2.0):
        return None
    earlier = float(running(noise, 5)[: max(1, at - 2)].max())
    low, high = (abs(float(np.median(part))) for part in (value[: at * size], value[at * size :]))
    if after < _HABIT * earlier or (low > _ABOVE * before and after / high < least * before / low):
        return None
    return Growth(at * size + 1, before, after)


def _split(values: Floats) -> int:
    """Return the place at which two constants, one before and one after it, leave least."""
    places = np.arange(_SIDE, values.size - _SIDE + 1)
    sums = np.cumsum(values)
    before, after = sums[places - 1] / places, (sums[-1] - sums[places - 1]) / (values.size - places)
    return int(places[np.argmax((after - before) ** 2 * places * (values.size - places))])

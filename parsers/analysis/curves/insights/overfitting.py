"""Finds where a curve that is evaluated now and then turns for the worse: it is best, and loses part of what it gained since.

A validation curve has few points, often fewer than `trends.divergence` can judge, and turns slowly. Less is better here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.insights.levels import SIGMA, levels, running
from parsers.analysis.curves.insights.rules import LEAST, RULES
from parsers.model import Floats

_BLOCKS = 64
"""Maximum levels of the curve."""
_FELL = 6.0
"""A curve has fallen if it did by this many standard deviations of its noise."""
_ROSE = 4.5
"""It has risen again if it did by this many."""
_EARLIEST = 0.05
"""A minimum before this fraction of the curve is one of its warm-up."""
_HABIT = 1.5
"""The rise is this many times as high as any before it."""
_KEEPS = 0.6
"""Fraction of its highest rise that the curve keeps to its end."""
_FAR = 1.5
"""A curve that rises by more than this multiple of its fall has turned, however suddenly."""
_LASTS = 0.35
"""Fraction of the levels after the turn, at least, that lie above a quarter of the rise."""


class OverfittingTurn(NamedTuple):
    """first: index of the best point. best, end: levels there and at the end. share: of the fall, what was lost again."""

    first: int
    best: float
    end: float
    share: float


def turn(value: Floats) -> OverfittingTurn | None:
    """Return where an array without NaN, of which less is better, turned for the worse."""
    known = levels(value, _BLOCKS)
    level = known.level
    smooth = running(level, 3 if level.size < 40 else 5)
    wide = max(3, level.size // 8)
    at = int(level.size - 1 - smooth[::-1].argmin())
    if not max(2, _EARLIEST * level.size) <= at <= level.size - wide:
        return None
    low, end, start = float(smooth[at]), float(np.median(level[-wide:])), float(level[:2].mean())
    noise = max(known.noise, SIGMA * float(np.median(np.abs(level - running(level, 5)))), np.finfo(float).tiny)
    fall, rise = start - low, end - low
    if fall < _FELL * noise or rise < max(_ROSE * noise, LEAST * RULES["overfitting"].limit * fall):
        return None
    earlier = smooth[: at + 1] - np.minimum.accumulate(smooth[: at + 1])
    if rise < _HABIT * float(earlier.max()) or rise < _KEEPS * float(smooth[at:].max() - low):
        return None
    # A curve that jumps up in its last points has not turned; `trends.ending` judges that.
    if rise < _FAR * fall and np.count_nonzero(smooth[at:] > low + rise / 4.0) < _LASTS * min(level.size - at, wide * 3):
        return None
    first = int(known.first[at])
    point = first + int(value[first : first + known.size].argmin())
    return OverfittingTurn(point, low, end, rise / fall)


def turn_by_ratio(value: Floats) -> OverfittingTurn | None:
    """Return the same of the logarithms of a loss: one that fell from 2 to 0.2 and rose to 0.63 is half of the way back.

    A loss near zero that doubles has lost little of the difference by which it fell, and yet the network fits its validation
    data as it did long before. `best` and `end` are losses. None of values that are not all positive.
    """
    if not value.size or float(value.min()) <= 0.0:
        return None
    found = turn(np.log(value))
    return None if found is None else found._replace(best=float(np.exp(found.best)), end=float(np.exp(found.end)))

"""Tensors whose norm leaves its own history: they explode or vanish before anything is NaN or Inf.

The decimal logarithm of the L2 norm is compared with the median of up to 50 iterations before; its spread is 1.4826 times the
median absolute deviation, at least SPREAD decades. A norm has left its history if it is more than SCORE spreads, DECADES
decades and RANGES times the range of the history away, after at least HISTORY iterations. (Robust z-score: Iglewicz and
Hoaglin, 1993, with a stricter limit, since thousands of tensors are looked at.)
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.dumps.operators import latest_rows
from parsers.model import Ints

HISTORY, LONGEST = 3, 50
SCORE, DECADES, RANGES, SPREAD = 8.0, 1.5, 3.0, 0.05
_LEAST = -50.0
"""Logarithm that stands for a norm of 0."""
Reals = NDArray[np.float64]


def departures(series: Ints, iteration: Ints, norm: Reals) -> tuple[NDArray[np.int8], Reals]:
    """Return for each row 1 (explodes), -1 (vanishes) or 0, and the median norm of its history (NaN without one).

    series numbers the tensors; rows of one tensor and iteration are one value, the last. A norm of NaN is no value.
    """
    sign, usual = np.zeros(len(series), np.int8), np.full(len(series), np.nan)
    rows = latest_rows(series, iteration)
    rows = rows[(iteration[rows] >= 0) & np.isfinite(norm[rows])]
    if not len(rows):
        return sign, usual
    lines, line = np.unique(series[rows], return_inverse=True)
    steps, step = np.unique(iteration[rows], return_inverse=True)
    table = np.full((len(lines), len(steps)), np.nan)
    with np.errstate(divide="ignore"):
        table[line, step] = np.maximum(np.log10(norm[rows]), _LEAST)
    middle = np.full(table.shape, np.nan)
    away = np.zeros(table.shape, np.int8)
    for place in range(HISTORY, len(steps)):
        before = table[:, max(place - LONGEST, 0) : place]
        median, usual_gap = _history(before)
        gap = table[:, place] - median
        with np.errstate(invalid="ignore"):
            left = np.abs(gap) > usual_gap
        middle[:, place] = median
        away[:, place] = np.where(left, np.sign(gap), 0)
    sign[rows] = away[line, step]
    usual[rows] = 10.0 ** middle[line, step]
    return sign, usual


def _history(before: Reals) -> tuple[Reals, Reals]:
    """Return the median of each line, and how far from it values may be; NaN for lines with less than HISTORY values."""
    enough = np.count_nonzero(~np.isnan(before), axis=1) >= HISTORY
    median, allowed = np.full(len(before), np.nan), np.full(len(before), np.nan)
    if enough.any():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            median[enough] = np.nanmedian(before[enough], axis=1)
            deviation = np.nanmedian(np.abs(before[enough] - median[enough][:, None]), axis=1)
            extent = np.nanmax(before[enough], axis=1) - np.nanmin(before[enough], axis=1)
        spread = np.maximum(1.4826 * deviation, SPREAD)
        allowed[enough] = np.maximum.reduce([SCORE * spread, RANGES * extent, np.full(len(spread), DECADES)])
    return median, allowed

"""Tensors whose norm leaves its own history: they explode or vanish before anything is NaN or Inf.

The decimal logarithm of the L2 norm is compared with the median of up to 50 iterations before; its spread is 1.4826 times the
median absolute deviation, at least SPREAD decades. A norm has left its history if it is more than SCORE spreads, RANGES times
the range of the history and DECADES decades away (below it FALLEN_DECADES and once that range: few samples or a ReLU that is
nearly always 0 make norms small for one iteration), after at least HISTORY iterations; with no more than these EARLY decades
more above it, since three values may be alike by chance. (Robust z-score: Iglewicz and Hoaglin, 1993, with a stricter limit,
since thousands of tensors are looked at.) A norm has moved if it is away by the weaker
limits MOVED_SCORE and MOVED_DECADES, and beyond the range.

What has left its history is no part of it later, nor is a norm that moved up by leaps: otherwise the fault itself would widen
the range that later values are compared with. Norms that fall, as gradients do when training succeeds, stay in it. So do leaps
once the norm has come back: an expert that gets many samples in one iteration and few in the next has not exploded.

A norm of 0 is no value: in the outputs of a ReLU, an expert without samples or a layer that is not trained yet it is usual, and
what differs from it has not exploded. It has vanished only if it never was 0 before, is 0 in all iterations to the last one, at
least ZEROS of them, and fell to it at once: an expert may get no sample a few times in a row.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.dumps.operators import latest_rows
from parsers.model import Ints

HISTORY, LONGEST = 3, 50
SCORE, DECADES, FALLEN_DECADES, RANGES, SPREAD = 8.0, 1.8, 2.5, 3.0, 0.05
MOVED_SCORE, MOVED_DECADES = 4.0, 0.5
EARLY = 0.3
ZEROS = 5
LEAP = 0.15
"""Decades from one iteration to the next from which on a norm that moved up is no part of its history: a factor of 1.4."""
_LEAST = -50.0
"""Logarithm that stands for a norm of 0 that stays."""
Reals = NDArray[np.float64]
Signs = NDArray[np.int8]


@dataclass(frozen=True, slots=True, eq=False)
class NormChanges:
    """How each norm is against its history. sign: 1 explodes, -1 vanishes, 0 neither; moved: the same by the weaker limits.

    usual is the median norm of the history, NaN without one; decades is how far the norm is from it.
    """

    sign: Signs
    moved: Signs
    usual: Reals
    decades: Reals


def departures(series: Ints, iteration: Ints, norm: Reals) -> tuple[Signs, Reals]:
    """Return `sign` and `usual` of `norm_changes`."""
    found = norm_changes(series, iteration, norm)
    return found.sign, found.usual


def norm_changes(series: Ints, iteration: Ints, norm: Reals) -> NormChanges:
    """Compare each norm with its history.

    series numbers the tensors; rows of one tensor and iteration are one value, the last. A norm of NaN is no value.
    """
    sign, moved = np.zeros(len(series), np.int8), np.zeros(len(series), np.int8)
    usual, decades = np.full(len(series), np.nan), np.full(len(series), np.nan)
    rows = latest_rows(series, iteration)
    rows = rows[(iteration[rows] >= 0) & np.isfinite(norm[rows])]
    if len(rows):
        lines, line = np.unique(series[rows], return_inverse=True)
        steps, step = np.unique(iteration[rows], return_inverse=True)
        table = np.full((len(lines), len(steps)), np.nan)
        with np.errstate(divide="ignore"):
            table[line, step] = np.log10(norm[rows])
        away, weakly, middle = _compared(_without_passing_zeros(table))
        sign[rows], moved[rows] = away[line, step], weakly[line, step]
        usual[rows] = 10.0 ** middle[line, step]
        decades[rows] = table[line, step] - middle[line, step]
    return NormChanges(sign, moved, usual, decades)


def _without_passing_zeros(table: Reals) -> Reals:
    """Return logarithms with _LEAST for 0 that stays to the end, NaN for any other 0."""
    zero, known = np.isneginf(table), ~np.isnan(table)
    # From the last iteration backwards: zeros, or iterations in which the tensor is unknown.
    staying = np.logical_and.accumulate((zero | ~known)[:, ::-1], axis=1)[:, ::-1] & zero
    enough = (staying.sum(axis=1) >= ZEROS) & (staying.sum(axis=1) == zero.sum(axis=1))
    kept = np.where(zero, np.nan, table)
    kept[staying & enough[:, None]] = _LEAST
    return kept


def _compared(table: Reals) -> tuple[Signs, Signs, Reals]:
    """Return the signs by both limits and the median of the history, of logarithms by tensor and iteration."""
    trusted = table.copy()
    away, weakly = np.zeros(table.shape, np.int8), np.zeros(table.shape, np.int8)
    middle = np.full(table.shape, np.nan)
    last, leapt, slowly = table[:, 0].copy(), np.zeros(len(table), np.bool_), np.zeros(len(table), np.bool_)
    leaps = np.zeros(table.shape, np.bool_)
    for place in range(1, table.shape[1]):
        value = table[:, place]
        median, rises, falls, moving = _history(trusted[:, max(place - LONGEST, 0) : place])
        gap = value - median
        with np.errstate(invalid="ignore"):
            # What fell step by step before it was 0 has not left its history.
            slowly = (value == _LEAST) & np.where(last == _LEAST, slowly, last - median < -MOVED_DECADES)
            left = (gap > rises) | ((gap < -falls) & ~slowly)
            has_moved = (np.abs(gap) > moving) & ~slowly
            leapt = has_moved & (gap > 0) & (leapt | (value - last > LEAP))
        middle[:, place] = median
        away[:, place], weakly[:, place] = np.where(left, np.sign(gap), 0), np.where(left | has_moved, np.sign(gap), 0)
        trusted[left | leapt, place] = np.nan
        leaps[:, place] = leapt & ~left
        back = (np.abs(gap) <= moving)[:, None] & leaps
        trusted[back] = table[back]
        leaps &= ~back
        last = np.where(np.isnan(value), last, value)
    return away, weakly, middle


def _history(before: Reals) -> tuple[Reals, Reals, Reals, Reals]:
    """Return the median of each line, how far above and below it values may be, and how far by the weaker limit.

    All are NaN for lines with less than HISTORY values.
    """
    known = np.count_nonzero(~np.isnan(before), axis=1)
    enough = known >= HISTORY
    median, rises, falls, moving = (np.full(len(before), np.nan) for _ in range(4))
    if enough.any():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            median[enough] = np.nanmedian(before[enough], axis=1)
            deviation = np.nanmedian(np.abs(before[enough] - median[enough][:, None]), axis=1)
            extent = np.nanmax(before[enough], axis=1) - np.nanmin(before[enough], axis=1)
        spread = np.maximum(1.4826 * deviation, SPREAD)
        usual = np.maximum(SCORE * spread, RANGES * extent)
        rises[enough] = np.maximum(usual, np.where(known[enough] == HISTORY, DECADES + EARLY, DECADES))
        falls[enough] = np.maximum(usual, FALLEN_DECADES + extent)
        moving[enough] = np.maximum.reduce([MOVED_SCORE * spread, extent, np.full(len(spread), MOVED_DECADES)])
    return median, rises, falls, moving

"""Robust levels of a noisy curve: medians of blocks, and their scatter."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from parsers.model import Floats, Ints

SIGMA = 1.4826
"""Standard deviation of normal noise over its median absolute deviation."""
BLOCKS = 512
"""Maximum levels of a curve, which locate a change to a fifth of a percent of its length."""
_CHUNK = 1 << 14
"""Points ordered at a time, so that their copy stays in the cache: a copy of all takes as long as ordering them."""
_LONG = 512
"""Values from which on a row is long,"""
_LONG_CHUNK = 1 << 16
"""values of long rows looked at at a time,"""
_EVERY = 8
"""of which every eighth is ordered,"""
_NEAR = 0.08
"""and share of the values on either side among which the median of a row is, by these."""
_TURNS = 0.2
"""Minimum share of the points at which a noisy curve turns; a schedule hardly ever does."""


class Levels(NamedTuple):
    """first: index of the first point of each block. level: its median. size: points in each block but the last.

    noise: robust standard deviation of the levels about the curve.
    """

    first: Ints
    level: Floats
    size: int
    noise: float


def levels(value: Floats, blocks: int = BLOCKS) -> Levels:
    """Compute the levels of an array without NaN."""
    size = max(1, -(-value.size // blocks))
    whole = value.size // size
    level = medians(value[: whole * size].reshape(whole, size))
    if whole * size < value.size:
        level = np.append(level, np.median(value[whole * size :]))
    return Levels(np.arange(level.size) * size, level, size, scatter(level))


def medians(rows: Floats) -> Floats:
    """Median of each row, the lower of two middle values."""
    if rows.shape[1] == 1:
        return rows[:, 0].copy()
    if rows.shape[1] >= _LONG:
        return _long_medians(rows)
    middle = (rows.shape[1] - 1) // 2
    found = np.empty(len(rows))
    step = max(1, _CHUNK // rows.shape[1])
    for at in range(0, len(rows), step):
        part = rows[at : at + step].copy()
        part.partition(middle, axis=1)
        found[at : at + step] = part[:, middle]
    return found


def _long_medians(rows: Floats) -> Floats:
    """Return the same of long rows: of each, some values tell about where its median is, and only those near it are ordered."""
    size = rows.shape[1]
    middle = (size - 1) // 2
    found = np.empty(len(rows))
    step = max(1, _LONG_CHUNK // size)
    count = -(-size // _EVERY)
    low, high = int((0.5 - _NEAR) * count), int((0.5 + _NEAR) * count)
    for at in range(0, len(rows), step):
        part = np.ascontiguousarray(rows[at : at + step])
        some = np.partition(part[:, ::_EVERY], (low, high), axis=1)
        # Written so that NaN, which is greater than any number, is not near.
        below, upto = part < some[:, low, None], part <= some[:, high, None]
        near = np.flatnonzero(upto & ~below)
        ends = np.searchsorted(near, np.arange(1, len(part) + 1) * size).tolist()
        for number, values in enumerate(np.split(part.ravel()[near], ends[:-1])):
            place, ordered = middle - int(np.count_nonzero(below[number])), values
            if not 0 <= place < values.size:
                place, ordered = middle, part[number].copy()
            ordered.partition(place)
            found[at + number] = ordered[place]
    return found


def scatter(level: Floats) -> float:
    """Estimate the standard deviation of the noise of neighbouring levels, independent of the trend.

    A level less the mean of its neighbours has 3/2 the variance of independent noise; the median does not see jumps.
    """
    if level.size < 3:
        return 0.0
    return SIGMA * float(np.median(np.abs(level[1:-1] - (level[:-2] + level[2:]) / 2.0))) / math.sqrt(1.5)


def running(level: Floats, width: int) -> Floats:
    """Running median over `width` (odd) levels, fewer at the ends."""
    width = min(width, level.size if level.size % 2 else level.size - 1)
    if width < 3:
        return level.copy()
    padded = np.pad(level, width // 2, mode="edge")
    return medians(np.lib.stride_tricks.sliding_window_view(padded, width))


def noisy(value: Floats) -> bool:
    """Return whether a curve goes up and down from point to point, as measured values do and schedules do not."""
    turns, changed, last = 0, 0, np.empty(0, np.bool_)
    for at in range(0, value.size - 1, _CHUNK):
        part = value[at : at + _CHUNK + 1]
        rising, same = part[1:] > part[:-1], part[1:] == part[:-1]
        changes = rising[~same] if same.any() else rising
        changed += changes.size
        turns += int(np.count_nonzero(changes[1:] != changes[:-1])) + int(np.count_nonzero(changes[:1] != last))
        last = changes[-1:] if changes.size else last
    return turns >= _TURNS * max(1, changed - 1)

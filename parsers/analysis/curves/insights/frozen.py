"""Finds values that no longer change: a noisy curve that repeats one number, bit for bit or but for a trace of its noise.

A schedule that has reached its end, a metric at its best possible value, a clipped norm and a value written more often than
it is computed repeat numbers too, and are none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.curves.insights.levels import medians, noisy
from parsers.analysis.curves.insights.rules import LEAST, RULES
from parsers.model import Floats, Ints

_SHARE = 0.01
"""Minimum share of the points."""
_LONGER = 4.0
"""Factor on the usual longest repetition of the curve."""
_OTHERS = 3
"""The usual longest repetition is that of this rank among the others: a value may freeze more than once."""
_BEFORE = 200
"""Number of values before it that must show noise."""
_QUIET = 0.1
"""A value is frozen if its deviation is below this share of the usual change from point to point before."""
_TIES = 0.3
"""From this share of equal neighbours on values are rounded coarsely, if"""
_UNITS = 1.5
"""most changes are by less than this many times the smallest one."""
_BLOCKS = 512
_FEWEST = 10
"""Minimum points of a block in which the deviation is measured."""
_CHUNK = 1 << 14
"""Points looked at at a time, so that they stay in the cache."""
_AROUND = 8
"""Blocks before it from which the usual change is taken."""
_JUST = 20
"""Points right before it that must show the noise, too."""
_EDGE = 6.0
"""A point this many deviations from the frozen value is another value."""


class Frozen(NamedTuple):
    """first and last are indices of the repeated value, limit the number of equal values from which on it is reported."""

    first: int
    last: int
    limit: float


def frozen(value: Floats, *, wanted: str = "") -> Frozen | None:
    """Return the longest repetition of one value in an array without NaN, if the curve usually changes.

    wanted: "min" or "max" if less or more is better; if neither is, a value that drops to 0 is no best possible value.
    """
    found = _repeated(value, wanted)
    if found is None or found.last - found.first + 1 < LEAST * found.limit:
        return _quiet(value)
    return found


def _repeated(value: Floats, wanted: str) -> Frozen | None:
    """Return the longest run of values that are equal bit for bit."""
    least = RULES["frozen"].limit
    same = value[1:] == value[:-1]
    if np.count_nonzero(same) < least / 2:
        return None
    starts = np.concatenate(([0], np.flatnonzero(~same) + 1))
    length = np.diff(np.append(starts, value.size))
    at = int(length.argmax())
    if at < 10 or not noisy(value[starts[max(0, at - _BEFORE) : at]]) or _bound(value[starts], at, wanted):
        return None
    if _coarse(value, same):
        return None
    others = np.delete(length, at)
    rank = min(_OTHERS, others.size)
    usual = float(np.partition(others, others.size - rank)[others.size - rank])
    first = int(starts[at])
    return Frozen(first, first + int(length[at]) - 1, max(least, _SHARE * value.size, _LONGER * usual))


def _coarse(value: Floats, same: NDArray[np.bool_]) -> bool:
    """Return whether the values are rounded to more than their noise, such as an accuracy of few samples.

    They change by one unit or not at all, and not for long where the course is in the middle of a unit. same: equal to the
    next value.
    """
    if np.count_nonzero(same) < _TIES * same.size:
        return False
    changes = np.abs(np.diff(value))[~same]
    return bool(np.median(changes) < _UNITS * changes.min())


def _quiet(value: Floats) -> Frozen | None:
    """Return the longest stretch in which the noise of the curve is gone but for a trace, such as rounding leaves.

    The deviation within a block contains any trend, and the change from point to point before it hardly does: no curve that
    settles is as quiet as that at once.
    """
    size = max(_FEWEST, -(-value.size // _BLOCKS))
    count = value.size // size
    if count < _AROUND:
        return None
    deviation, change = _noise(value[: count * size].reshape(count, size))
    # The block before a quiet one may be quiet in part.
    usual = medians(np.lib.stride_tricks.sliding_window_view(np.pad(change, (_AROUND, 0), mode="edge"), _AROUND))[:-2]
    usual = np.concatenate((usual[:1], usual))
    begins = np.flatnonzero(deviation[1:] <= _QUIET * usual[1 : deviation.size]) + 1
    longest, taken = (0, 0), 0
    for begin in begins.tolist():
        if begin < taken:
            continue
        loud = np.flatnonzero(deviation[begin:] > _QUIET * usual[begin])
        taken = begin + (int(loud[0]) if loud.size else count - begin)
        longest = max(longest, (taken - begin, begin))
    if not longest[0]:
        return None
    begin, end = longest[1] * size, (longest[0] + longest[1]) * size
    still = value[begin:end]
    if np.count_nonzero(still[1:] == still[:-1]) > still.size // 2:
        return None  # what is repeated exactly has been judged
    kept, near = float(np.median(still)), _EDGE * float(still.std())
    before, after = (np.flatnonzero(np.abs(part - kept) > near) for part in (value[:begin], value[end:]))
    first = int(before[-1]) + 1 if before.size else 0
    last = end + (int(after[0]) if after.size else value.size - end) - 1
    if first < _FEWEST or not noisy(value[max(0, first - _BEFORE) : first]):
        return None
    # The noise ends at once; that of a curve which falls by orders of magnitude shrinks with it.
    if float(still.std()) > _QUIET * float(np.abs(np.diff(value[max(0, first - _JUST) : first])).mean()):
        return None
    just = value[max(0, first - _JUST) : first]
    if value.min() > 0.0 and float(still.std()) / kept > _QUIET * float(np.abs(np.diff(np.log(just))).mean()):
        return None  # the noise goes with the level
    return Frozen(first, last, max(RULES["frozen"].limit, _SHARE * value.size))


def _noise(blocks: Floats) -> tuple[Floats, Floats]:
    """Return of each block the standard deviation, and the mean change from point to point."""
    deviation, change = np.empty(len(blocks)), np.empty(len(blocks))
    step = max(1, _CHUNK // blocks.shape[1])
    for at in range(0, len(blocks), step):
        part = slice(at, at + step)
        deviation[part] = blocks[part].std(axis=1)
        apart = np.diff(blocks[part], axis=1)
        change[part] = np.abs(apart, out=apart).mean(axis=1)
    return deviation, change


def _bound(value: Floats, at: int, wanted: str) -> bool:
    """Return whether a value is the lowest or highest, and a round number or one that is reached again and again."""
    one = float(value[at])
    if value.min() < one < value.max():
        return False
    if one == 0.0 and not wanted:
        return _often(value, one)
    return float(np.float32(f"{one:.2g}")) == float(np.float32(one)) or _often(value, one)


def _often(value: Floats, one: float) -> bool:
    again: Ints = np.flatnonzero(value == one)
    return again.size > _OTHERS

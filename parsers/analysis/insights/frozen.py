"""Finds values that no longer change: a noisy curve that repeats one number again and again, bit for bit.

A schedule that has reached its end, a metric at its best possible value, a clipped norm and a value written more often than
it is computed repeat numbers too, and are none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parsers.analysis.insights.levels import noisy
from parsers.analysis.insights.rules import RULES
from parsers.model import Floats, Ints

_SHARE = 0.01
"""Minimum share of the points."""
_LONGER = 4.0
"""Factor on the usual longest repetition of the curve."""
_OTHERS = 3
"""The usual longest repetition is that of this rank among the others: a value may freeze more than once."""
_BEFORE = 200
"""Number of values before it that must show noise."""


class Frozen(NamedTuple):
    """first and last are indices of the repeated value, limit the number of equal values from which on it is reported."""

    first: int
    last: int
    limit: float


def frozen(value: Floats) -> Frozen | None:
    """Return the longest repetition of one value in an array without NaN, if the curve usually changes."""
    least = RULES["frozen"].limit
    same = value[1:] == value[:-1]
    if np.count_nonzero(same) < least / 2:
        return None
    starts = np.concatenate(([0], np.flatnonzero(~same) + 1))
    length = np.diff(np.append(starts, value.size))
    at = int(length.argmax())
    if at < 10 or not noisy(value[starts[max(0, at - _BEFORE) : at]]) or _bound(value[starts], at):
        return None
    others = np.delete(length, at)
    rank = min(_OTHERS, others.size)
    usual = float(np.partition(others, others.size - rank)[others.size - rank])
    first = int(starts[at])
    return Frozen(first, first + int(length[at]) - 1, max(least, _SHARE * value.size, _LONGER * usual))


def _bound(value: Floats, at: int) -> bool:
    """Return whether a value is the lowest or highest, and a round number or one that is reached again and again."""
    one = float(value[at])
    if value.min() < one < value.max():
        return False
    return float(np.float32(f"{one:.2g}")) == float(np.float32(one)) or _often(value, one)


def _often(value: Floats, one: float) -> bool:
    again: Ints = np.flatnonzero(value == one)
    return again.size > _OTHERS

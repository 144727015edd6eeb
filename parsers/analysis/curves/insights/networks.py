"""Medians of many short rows at once, by networks of comparisons: a least and a greatest of two whole columns at a time.

numpy orders short rows one by one; from column to column its least and greatest handle several rows with one instruction.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.insights.levels import medians
from parsers.model import Floats


class _Exchange(NamedTuple):
    """Columns of which the first gets the lesser values and the second the greater ones; of which either may be unneeded."""

    low: int
    high: int
    lesser: bool
    greater: bool


def medians_of_columns(columns: Floats) -> Floats:
    """Return the median of each column of an array of shape (size, columns), the lower of two middle values.

    Equal to `levels.medians` of the transposed array, also where there is NaN.
    """
    exchanges, middle = _network(len(columns))
    held = list(columns.copy())
    spare = np.empty(columns.shape[1])
    for low, high, lesser, greater in exchanges:
        one, other = held[low], held[high]
        if lesser and greater:
            np.minimum(one, other, out=spare)
            np.maximum(one, other, out=other)
            held[low], spare = spare, one
        elif lesser:
            np.minimum(one, other, out=one)
        else:
            np.maximum(one, other, out=other)
    found: Floats = held[middle]
    # Every value has a part in its median, and NaN is both the least and the greatest of two.
    unordered = np.flatnonzero(np.isnan(found))
    if unordered.size:
        found[unordered] = medians(columns[:, unordered].T)
    return found


@cache
def _network(size: int) -> tuple[tuple[_Exchange, ...], int]:
    """Return (exchanges, the column that has the medians after them).

    Of a few more than half of the values neither the least nor the greatest is the median: both are forgotten, another value is
    taken in, and so on (N. Devillard, "Fast median search: an ANSI C implementation", 1998, section 3).
    """
    below, above = (size - 1) // 2, size // 2
    pairs: list[tuple[int, int]] = []
    held = list(range(min(size, max(below, above) + 2)))
    waiting = list(range(len(held), size))
    while below or above:
        count = len(held)
        if below and above:
            pairs += [(held[at], held[-1 - at]) for at in range(count // 2)]
            pairs += [(held[0], held[at]) for at in range(1, (count + 1) // 2)]
            pairs += [(held[at], held[-1]) for at in range(count // 2, count - 1)]
            held, below, above = held[1:-1], below - 1, above - 1
        else:
            pairs += [(held[at], held[-1]) for at in range(count - 1)]
            held, above = held[:-1], above - 1
        if waiting:
            held.append(waiting.pop(0))
    return _needed(pairs, held[0]), held[0]


def _needed(pairs: list[tuple[int, int]], middle: int) -> tuple[_Exchange, ...]:
    """Return the exchanges without results that none of those after them, nor the middle, depends on."""
    wanted = {middle}
    kept: list[_Exchange] = []
    for low, high in reversed(pairs):
        if low in wanted or high in wanted:
            kept.append(_Exchange(low, high, low in wanted, high in wanted))
            wanted |= {low, high}
    return tuple(reversed(kept))

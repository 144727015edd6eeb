"""The y of a long curve, as recorded or smoothed, computed only where it is needed.

A smoothed curve is known by the average at the start of each block; from there the values of a block follow, so that a view
costs what it shows. They are those of `parsers.analysis.smoothing.smooth` within 4e-16 relative, whatever part is asked for, and
the same every time; the least and greatest of each block are of all its values. Nothing is approximated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Protocol

import numpy as np

from parsers.analysis.blocks import BLOCK, Blocks, rows_of
from parsers.analysis.segments import merged
from parsers.model import Floats, Ints

# Blocks that advance together: 1,024 blocks stay in the second-level cache.
_TOGETHER = 1024
# Blocks with a restart or with values that are not finite are computed value by value and kept: at most one in so many.
_BLOCKS_PER_ODD = 16
# Averages of larger values could overflow where they are divided by 1 - w**n.
_LARGEST = 1e300


Ends = Callable[[Blocks | None], Blocks]


class Heights(Protocol):
    """Values of a curve by blocks."""

    @property
    def blocks(self) -> Blocks:
        """The ends of each block and the runs of values that are not finite."""
        ...

    def rows(self, number: Ints) -> Floats:
        """Return the values of some blocks, shape (blocks, BLOCK), with any values after the last one of the curve."""
        ...

    def at(self, index: Ints) -> Floats:
        """Return the values at ascending indices."""
        ...

    def between(self, first: int, stop: int) -> Floats:
        """Return the values from first to before stop."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """The values as they were recorded."""

    value: Floats
    blocks: Blocks

    def rows(self, number: Ints) -> Floats:
        """Return the values of some blocks, shape (blocks, BLOCK)."""
        return rows_of(self.value, number)

    def at(self, index: Ints) -> Floats:
        """Return the values at some indices."""
        found: Floats = self.value[index]
        return found

    def between(self, first: int, stop: int) -> Floats:
        """Return the values from first to before stop."""
        return self.value[first:stop]


@dataclass(frozen=True, eq=False)
class Averages:
    """What a smoothed curve is computed from: mean (not yet divided by 1 - w**n) and n at the start of each block.

    odd: numbers of the blocks with a restart or with values that are not finite; rows: their smoothed values.
    """

    weight: float
    mean: Floats
    n: Ints
    odd: Ints
    rows: Floats


class Smoothed:
    """The exponential moving average of a curve, see `parsers.analysis.smoothing`.

    ends returns the blocks, given the function that computes them from those of the curve when it had fewer values (None: from
    nothing); it may keep them.
    """

    def __init__(self, recorded: Recorded, averages: Averages, ends: Callable[[Ends], Blocks] = lambda ends: ends(None)) -> None:
        self._averages, self._recorded, self._ends = averages, recorded, ends
        self._divisors = _divisors(averages.weight)

    @cached_property
    def blocks(self) -> Blocks:
        """The ends of each block and the runs of values that are not finite."""
        return self._ends(self._blocks)

    def _blocks(self, shorter: Blocks | None) -> Blocks:
        recorded = self._recorded.blocks
        low, high = np.empty_like(recorded.low), np.empty_like(recorded.high)
        begin = 0
        if shorter is not None:
            begin = shorter.size // BLOCK
            low[:begin], high[:begin] = shorter.low[:begin], shorter.high[:begin]
        value, full = self._recorded.value, recorded.size // BLOCK
        grid = value[: full * BLOCK].reshape(full, BLOCK)
        for at in range(begin, full, _TOGETHER):
            stop = min(at + _TOGETHER, full)
            across = self._across(grid[at:stop], slice(at, stop))
            np.minimum.reduce(across, axis=0, out=low[at:stop])
            np.maximum.reduce(across, axis=0, out=high[at:stop])
        if full < low.size:
            last = self.between(full * BLOCK, recorded.size)
            low[full], high[full] = last.min(), last.max()
        odd, rows = self._averages.odd, self._averages.rows
        finite = np.isfinite(rows)
        low[odd] = np.where(finite, rows, np.inf).min(axis=1, initial=np.inf)
        high[odd] = np.where(finite, rows, -np.inf).max(axis=1, initial=-np.inf)
        return recorded._replace(low=low, high=high)

    def rows(self, number: Ints) -> Floats:
        """Return the values of some blocks, shape (blocks, BLOCK)."""
        rows = np.empty((number.size, BLOCK))
        for at in range(0, number.size, _TOGETHER):
            part = number[at : at + _TOGETHER]
            rows[at : at + _TOGETHER] = self._across(self._recorded.rows(part), part).T
        odd = self._averages.odd
        if odd.size:
            place = np.minimum(np.searchsorted(odd, number), odd.size - 1)
            known = odd[place] == number
            rows[known] = self._averages.rows[place[known]]
        return rows

    def at(self, index: Ints) -> Floats:
        """Return the values at ascending indices."""
        number = index // BLOCK
        fresh = np.ones(number.size, bool)
        np.not_equal(number[1:], number[:-1], out=fresh[1:])
        rows = self.rows(number[fresh])
        found: Floats = rows[np.cumsum(fresh) - 1, index - number * BLOCK]
        return found

    def between(self, first: int, stop: int) -> Floats:
        """Return the values from first to before stop."""
        begin = first // BLOCK
        rows = self.rows(np.arange(begin, -(-stop // BLOCK)))
        return rows.reshape(-1)[first - begin * BLOCK : stop - begin * BLOCK]

    def _across(self, rows: Floats, number: Ints | slice) -> Floats:
        """Return the smoothed values of regular blocks, one column per block; what it returns for odd blocks is undefined."""
        weight, last = self._averages.weight, self._averages.mean[number]
        across = np.multiply(rows.T, 1.0 - weight, order="C")
        step = np.empty(across.shape[1])
        for row in across:
            np.multiply(last, weight, out=step)
            np.add(row, step, out=row)
            last = row
        n = self._averages.n[number]
        early = np.flatnonzero(n < self._divisors.size)
        if early.size:
            place = np.minimum(n[early] + np.arange(BLOCK)[:, None], self._divisors.size - 1)
            across[:, early] /= self._divisors[place]
        return across


def averages_of(recorded: Recorded, weight: float, starts: Ints, shorter: Averages | None = None) -> Averages | None:
    """Return what a smoothed curve is computed from; None if so many blocks have restarts or values that are not finite that
    `smooth` is quicker, or if averages could overflow.

    weight is in (0, 1), starts are those of `smooth`. shorter: the same of the curve when it had fewer values.
    """
    value, blocks = recorded.value, recorded.blocks
    odd = merged(blocks.touched(), starts // BLOCK)
    if odd.size > blocks.low.size // _BLOCKS_PER_ODD + 64:
        return None
    if max(-blocks.low.min(initial=np.inf), blocks.high.max(initial=-np.inf)) > _LARGEST:
        return None
    count = blocks.low.size
    mean, n = np.zeros(count), np.zeros(count, np.int64)
    rows = np.empty((odd.size, BLOCK))
    begin, state, done = 0, (0.0, 0), 0
    if shorter is not None:
        begin = shorter.mean.size - 1
        mean[:begin], n[:begin] = shorter.mean[:begin], shorter.n[:begin]
        state = float(shorter.mean[begin]), int(shorter.n[begin])
        done = int(np.searchsorted(shorter.odd, begin))
        rows[:done] = shorter.rows[:done]
    full = value.size // BLOCK
    grid = value[: full * BLOCK].reshape(full, BLOCK)
    decay = [(1.0 - weight) * weight**place for place in range(BLOCK - 1, -1, -1)]
    gained = np.einsum("ij,j->i", grid[begin:], np.array(decay))
    over_block = weight**BLOCK
    for at, number in enumerate([*odd[done:].tolist(), count], done):
        # Along regular blocks the average is itself an average with the weight of a block.
        means = list(accumulate(gained[: number - begin].tolist(), lambda m, g: over_block * m + g, initial=state[0]))
        regular = number - begin
        mean[begin:number] = means[:regular]
        n[begin:number] = state[1] + BLOCK * np.arange(regular)
        if number == count:
            break
        first = number * BLOCK
        state = means[-1], state[1] + BLOCK * regular
        mean[number], n[number] = state
        inside = starts[np.searchsorted(starts, first) : np.searchsorted(starts, first + BLOCK)]
        state, shown = _by_value(value[first : first + BLOCK], weight, state, set((inside - first).tolist()))
        rows[at] = shown
        gained, begin = gained[regular + 1 :], number + 1
    return Averages(weight, mean, n, odd, rows)


def _by_value(value: Floats, weight: float, state: tuple[float, int], starts: set[int]) -> tuple[tuple[float, int], list[float]]:
    """Return (mean and n after a block, its smoothed values, NaN after the end of the curve)."""
    mean, n = state
    shown = []
    for place, v in enumerate(value.tolist()):
        if place in starts:
            mean, n = 0.0, 0
        if not math.isfinite(v):
            shown.append(v)
            continue
        mean, n = weight * mean + (1.0 - weight) * v, n + 1
        shown.append(mean / (1.0 - weight**n))
    return (mean, n), shown + [math.nan] * (BLOCK - len(shown))


def _divisors(weight: float) -> Floats:
    """Return 1 - w**n for n from 1 until it is 1.0 in double precision. Python's power, as in `smooth`."""
    last = math.ceil(math.log(2.0**-54) / math.log(weight)) + 1
    return np.array([1.0 - weight**n for n in range(1, last + 1)])

"""The y of a long curve, as recorded or smoothed, computed only where it is needed.

A smoothed curve is known by the average at the start of each span of 120 values; from there the values of a span follow, so
that a view costs what it shows. Nothing is approximated: a value is the same in every view and equals the plain loop of
`parsers.analysis.curves.smoothing` but for rounding (2e-15 of the greatest value), and the ends of a block are of all its
values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.curves.blocks import BLOCK, CurveBlocks, ranges, rows_of
from parsers.analysis.curves.segments import merged
from parsers.model import Floats, Ints

# Not a power of two: spans that are taken side by side would fall on the same lines of the cache, which doubles the time.
SPAN = BLOCK // 2
# Spans that advance together: 1,000 spans stay in the second-level cache.
_TOGETHER = 1000
# Spans with a restart, or with finite values and others, are computed value by value and kept: at most one in so many.
_SPANS_PER_ODD = 16
# Averages of larger values could overflow where they are divided by 1 - w**n.
_LARGEST = 1e300


Ends = Callable[[CurveBlocks | None], CurveBlocks]


class Heights(Protocol):
    """Values of a curve by blocks."""

    @property
    def blocks(self) -> CurveBlocks:
        """The ends of each block and the runs of values that are not finite."""
        ...

    @property
    def recorded(self) -> CurveBlocks:
        """The blocks of the values as recorded, which have the same runs and need no computation."""
        ...

    def rows(self, number: Ints) -> Floats:
        """Return the values of some blocks, in ascending order, shape (blocks, BLOCK); anything after the end of the curve."""
        ...

    def at(self, index: Ints) -> Floats:
        """Return the values at ascending indices."""
        ...

    def between(self, first: int, stop: int) -> Floats:
        """Return the values from first to before stop."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class RecordedHeights:
    """The values as they were recorded."""

    value: Floats
    blocks: CurveBlocks

    @property
    def recorded(self) -> CurveBlocks:
        """The same blocks."""
        return self.blocks

    def rows(self, number: Ints) -> Floats:
        """Return the values of some blocks, in ascending order, shape (blocks, BLOCK)."""
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
    """What a smoothed curve of `size` values is computed from: mean (not divided by 1 - w**n) and n at each span's start.

    odd: numbers of the spans with a restart, or with finite values and others; rows: their smoothed values.
    """

    weight: float
    size: int
    mean: Floats
    n: Ints
    odd: Ints
    rows: Floats


class Smoothed:
    """The exponential moving average of a curve, see `parsers.analysis.curves.smoothing`.

    ends returns the blocks, given the function that computes them from those of the curve when it had fewer values (or from
    None); it may keep them.
    """

    def __init__(
        self, recorded: RecordedHeights, averages: Averages, ends: Callable[[Ends], CurveBlocks] | None = None
    ) -> None:
        self._averages, self._recorded, self._ends = averages, recorded, ends
        self._divisors = _divisors(averages.weight)
        # One view asks for the same values several times: some blocks, or a stretch from an index on.
        self._number, self._rows = np.empty(0, np.int64), np.empty((0, BLOCK))
        self._near: tuple[int, Floats] = 0, np.empty(0)

    @cached_property
    def blocks(self) -> CurveBlocks:
        """The ends of each block and the runs of values that are not finite."""
        return self._blocks(None) if self._ends is None else self._ends(self._blocks)

    @property
    def recorded(self) -> CurveBlocks:
        """The blocks of the values as recorded."""
        return self._recorded.blocks

    def _blocks(self, shorter: CurveBlocks | None) -> CurveBlocks:
        recorded = self._recorded.blocks
        value, spans = self._recorded.value, 2 * recorded.low.size
        low, high = np.full(spans, np.inf), np.full(spans, -np.inf)
        known = 0 if shorter is None else shorter.size // BLOCK
        full = value.size // SPAN
        grid = value[: full * SPAN].reshape(full, SPAN)
        buffer = _buffer(full)
        for at in range(2 * known, full, _TOGETHER):
            stop = min(at + _TOGETHER, full)
            across = self._across(grid[at:stop], slice(at, stop), buffer)
            np.minimum.reduce(across, axis=0, out=low[at:stop])
            np.maximum.reduce(across, axis=0, out=high[at:stop])
        odd, rows = self._averages.odd, self._averages.rows
        if full * SPAN < value.size:
            odd, rows = np.append(odd, full), np.concatenate((rows, self._computed(np.array([full]))))
            rows[-1, value.size - full * SPAN :] = np.nan
        empty = ranges(*_empty(recorded))
        low[empty], high[empty] = np.inf, -np.inf
        finite = np.isfinite(rows)
        low[odd], high[odd] = np.where(finite, rows, np.inf).min(axis=1), np.where(finite, rows, -np.inf).max(axis=1)
        low, high = low.reshape(-1, 2).min(axis=1), high.reshape(-1, 2).max(axis=1)
        if shorter is not None:
            low[:known], high[:known] = shorter.low[:known], shorter.high[:known]
        return recorded._replace(low=low, high=high)

    def rows(self, number: Ints) -> Floats:
        """Return the values of some blocks, in ascending order, shape (blocks, BLOCK)."""
        new = number
        if self._number.size:
            place = np.minimum(np.searchsorted(self._number, number), self._number.size - 1)
            new = number[self._number[place] != number]
        if new.size:
            spans = np.stack((2 * new, 2 * new + 1), axis=1).reshape(-1)
            every = np.concatenate((self._number, new))
            order = np.argsort(every, kind="stable")
            self._number = every[order]
            self._rows = np.concatenate((self._rows, self._computed(spans).reshape(-1, BLOCK)))[order]
        found: Floats = self._rows[np.searchsorted(self._number, number)]
        return found

    def _computed(self, number: Ints) -> Floats:
        """Return the values of some spans, in ascending order, shape (spans, SPAN)."""
        rows = np.empty((number.size, SPAN))
        buffer = _buffer(number.size)
        value = self._recorded.value
        full = value.size // SPAN
        grid = value[: full * SPAN].reshape(full, SPAN)
        for at in range(0, number.size, _TOGETHER):
            part = number[at : at + _TOGETHER]
            one, last = int(part[0]), int(part[-1])
            together = last - one == part.size - 1 and last < full
            values = grid[one : last + 1] if together else rows_of(value, part, SPAN)
            rows[at : at + _TOGETHER] = self._across(values, part, buffer).T
        odd = self._averages.odd
        if odd.size:
            place = np.minimum(np.searchsorted(odd, number), odd.size - 1)
            known = odd[place] == number
            rows[known] = self._averages.rows[place[known]]
        if not self.recorded.whole:
            empty = _inside(number, *_empty(self.recorded))
            rows[empty] = rows_of(value, number[empty], SPAN)
        return rows

    def at(self, index: Ints) -> Floats:
        """Return the values at ascending indices."""
        begin, near = self._near
        if index.size and begin <= index[0] and index[-1] < begin + near.size:
            return near[index - begin]
        found = np.empty(index.size)
        number = index // BLOCK
        known = np.zeros(index.size, bool)
        if self._number.size:
            place = np.minimum(np.searchsorted(self._number, number), self._number.size - 1)
            known = self._number[place] == number
            found[known] = self._rows[place[known], (index - number * BLOCK)[known]]
        index = index[~known]
        span = index // SPAN
        fresh = np.ones(span.size, bool)
        np.not_equal(span[1:], span[:-1], out=fresh[1:])
        found[~known] = self._computed(span[fresh])[np.cumsum(fresh) - 1, index - span * SPAN]
        return found

    def between(self, first: int, stop: int) -> Floats:
        """Return the values from first to before stop."""
        begin = first // SPAN
        values = self._computed(np.arange(begin, -(-stop // SPAN))).reshape(-1)
        self._near = begin * SPAN, values
        return values[first - begin * SPAN : stop - begin * SPAN]

    def _across(self, rows: Floats, number: Ints | slice, buffer: Floats) -> Floats:
        """Return the smoothed values of regular spans, one column per span, in a part of the buffer, whose shape is (SPAN + 1,
        spans or more). What it returns for odd spans is undefined.
        """
        weight, last = self._averages.weight, self._averages.mean[number]
        across, step = buffer[:-1, : len(rows)], buffer[-1, : len(rows)]
        np.multiply(rows.T, 1.0 - weight, out=across)
        with np.errstate(invalid="ignore"):  # of odd spans
            for row in across:
                np.multiply(last, weight, out=step)
                np.add(row, step, out=row)
                last = row
        n = self._averages.n[number]
        early = np.flatnonzero(n < self._divisors.size)
        if early.size:
            place = np.minimum(n[early] + np.arange(SPAN)[:, None], self._divisors.size - 1)
            across[:, early] /= self._divisors[place]
        return across


def averages_of(recorded: RecordedHeights, weight: float, starts: Ints, shorter: Averages | None = None) -> Averages | None:
    """Return what a smoothed curve is computed from; None if so many spans have restarts or values that are not finite that
    `smooth` is quicker, or if averages could overflow.

    weight is in (0, 1), starts are those of `smooth`. shorter: the same of the curve when it had fewer values.
    """
    value, blocks = recorded.value, recorded.blocks
    count = -(-value.size // SPAN)
    empty, empty_stop = _empty(blocks)
    # A restart among values that are not finite is one all the same.
    begun = merged(starts // SPAN)
    cut = begun[_inside(begun, empty, empty_stop)]
    empty, empty_stop = merged(empty, cut + 1), merged(empty_stop, cut)
    odd = merged(ranges(blocks.first // SPAN, (blocks.stop - 1) // SPAN + 1), begun)
    odd = odd[~_inside(odd, empty, empty_stop)]
    if odd.size > count // _SPANS_PER_ODD + 64:
        return None
    if max(-blocks.low.min(initial=np.inf), blocks.high.max(initial=-np.inf)) > _LARGEST:
        return None
    # One more than there are spans: the last span may grow.
    mean, n = np.zeros(count + 1), np.zeros(count + 1, np.int64)
    rows = np.empty((odd.size, SPAN))
    begin, done = 0, 0
    if shorter is not None:
        begin = shorter.size // SPAN
        mean[: begin + 1], n[: begin + 1] = shorter.mean[: begin + 1], shorter.n[: begin + 1]
        done = int(np.searchsorted(shorter.odd, begin))
        rows[:done] = shorter.rows[:done]
    full = value.size // SPAN
    decay = [(1.0 - weight) * weight**place for place in range(SPAN - 1, -1, -1)]
    gained = np.empty(count)
    gained[begin:full] = np.einsum("ij,j->i", value[begin * SPAN : full * SPAN].reshape(-1, SPAN), np.array(decay))
    gained[full:] = np.nan  # the average after an unfinished span is of no use
    over_span = weight**SPAN
    skipped = zip(np.maximum(empty, begin).tolist(), empty_stop.tolist(), strict=True)
    events = [*((one, stop) for one, stop in skipped if stop > one), *((number, 0) for number in odd[done:].tolist())]
    for number, stop in [*sorted(events), (count, 0)]:
        mean[begin + 1 : number + 1] = _accumulated(gained[begin:number], over_span, float(mean[begin]))
        n[begin + 1 : number + 1] = n[begin] + SPAN * np.arange(1, number - begin + 1)
        if number == count:
            break
        if stop:
            mean[number + 1 : stop + 1], n[number + 1 : stop + 1] = mean[number], n[number]
            begin = stop
            continue
        first = number * SPAN
        inside = starts[np.searchsorted(starts, first) : np.searchsorted(starts, first + SPAN)]
        state = float(mean[number]), int(n[number])
        state, rows[done] = _by_value(value[first : first + SPAN], weight, state, set((inside - first).tolist()))
        mean[number + 1], n[number + 1] = state
        begin, done = number + 1, done + 1
    return Averages(weight, value.size, mean, n, odd, rows)


def _empty(blocks: CurveBlocks) -> tuple[Ints, Ints]:
    """Return the ranges [first, stop) of spans that have no finite value: an average stays what it is across them."""
    first, stop = -(-blocks.first // SPAN), blocks.stop // SPAN
    there = stop > first
    return first[there], stop[there]


def _inside(number: Ints, first: Ints, stop: Ints) -> NDArray[np.bool_]:
    """Return which numbers are in one of the ranges [first, stop)."""
    place = np.searchsorted(first, number, "right") - 1
    found: NDArray[np.bool_] = (place >= 0) & (number < np.append(stop, 0)[place])
    return found


def _accumulated(gained: Floats, weight: float, begin: float) -> Floats:
    """Return m[i] = weight * m[i - 1] + gained[i], where m[-1] is begin, by adding ever longer stretches to each other."""
    mean = gained.copy()
    mean[:1] += weight * begin
    reach = 1
    while reach < mean.size and weight > 0.0:
        mean[reach:] += weight * mean[:-reach]
        weight, reach = weight * weight, 2 * reach
    return mean


def _by_value(
    value: Floats, weight: float, state: tuple[float, int], starts: set[int]
) -> tuple[tuple[float, int], list[float]]:
    """Return (mean and n after a span, its smoothed values, NaN after the end of the curve)."""
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
    return (mean, n), shown + [math.nan] * (SPAN - len(shown))


def _buffer(spans: int) -> Floats:
    return np.empty((SPAN + 1, min(spans, _TOGETHER)))


def _divisors(weight: float) -> Floats:
    """Return 1 - w**n for n from 1 until it is 1.0 in double precision. Python's power, as in `smooth`."""
    last = math.ceil(math.log(2.0**-54) / math.log(weight)) + 1
    return np.array([1.0 - weight**n for n in range(1, last + 1)])

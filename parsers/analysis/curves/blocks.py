"""What a view needs to know of a long column of values without looking at every one: the ends of each block of 240 values.

A block has its least and greatest finite value; values that are not finite are kept as runs. That costs 0.07 bytes per point.
A second level, of blocks of blocks, would save nothing: all blocks of 5 million points are searched in 0.1 ms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.model import Floats, Ints

BLOCK = 240
# Values per numpy call: they stay in the second-level cache from one pass to the next.
_CHUNK = BLOCK * 256
# Each run of values that are not finite takes 24 bytes. A column with more than one run in _VALUES_PER_RUN values has no
# blocks.
_VALUES_PER_RUN = 64
_NONE: Ints = np.empty(0, np.int64)


class CurveBlocks(NamedTuple):
    """size: number of values. low, high: least and greatest finite value of each block, inf and -inf if it has none.

    first, stop: the runs of values that are not finite, as [first, stop). total: how many values the runs before each run have,
    one entry more than there are runs.
    """

    size: int
    low: Floats
    high: Floats
    first: Ints
    stop: Ints
    total: Ints

    @property
    def whole(self) -> bool:
        """Return whether all values are finite."""
        return not self.first.size

    def after(self, at: Ints) -> Ints:
        """Return the first finite value at or after each index, `size` if there is none."""
        if self.whole:
            return at
        run = np.searchsorted(self.first, at, "right") - 1
        inside = (run >= 0) & (at < self.stop[run])
        return np.where(inside, self.stop[run], at)

    def before(self, at: Ints) -> Ints:
        """Return the last finite value at or before each index, -1 if there is none."""
        if self.whole:
            return at
        run = np.searchsorted(self.first, at, "right") - 1
        inside = (run >= 0) & (at < self.stop[run])
        return np.where(inside, self.first[run] - 1, at)

    def finite(self, first: Ints, stop: Ints) -> Ints:
        """Return the number of finite values in each range [first, stop)."""
        return stop - first - (self._bad_before(stop) - self._bad_before(first))

    def _bad_before(self, at: Ints) -> Ints:
        if self.whole:
            return np.zeros_like(at)
        run = np.searchsorted(self.first, at, "right") - 1
        inside = np.minimum(at, self.stop[run]) - self.first[run]
        return np.where(run >= 0, self.total[run] + inside, 0)

    def bad(self) -> Ints:
        """Return the indices of all values that are not finite."""
        return ranges(self.first, self.stop)


    def beyond(self, value: Floats, low: float, high: float, first: int = 0, stop: int | None = None) -> Ints:
        """Return the indices of the finite values below low or above high, of those in [first, stop).

        value is the column itself.
        """
        begin, end = first // BLOCK, None if stop is None else -(-stop // BLOCK)
        number = np.flatnonzero((self.high[begin:end] > high) | (self.low[begin:end] < low)) + begin
        rows = rows_of(value, number)
        row, place = np.nonzero(np.isfinite(rows) & ((rows < low) | (rows > high)))
        at = number[row] * BLOCK + place
        return at[(at >= first) & (at < (self.size if stop is None else stop))]


def blocks_of(value: Floats, shorter: CurveBlocks | None = None) -> CurveBlocks | None:
    """Return the blocks of a column; None if values that are not finite are in so many runs that they need much memory.

    shorter: the blocks of the column when it had fewer values, which saves looking at these again.
    """
    size = value.size
    known = 0 if shorter is None else shorter.size // BLOCK
    begin = known * BLOCK
    low, high = np.empty(-(-size // BLOCK)), np.empty(-(-size // BLOCK))
    if shorter is not None:
        low[:known], high[:known] = shorter.low[:known], shorter.high[:known]
    full = size // BLOCK
    rows = value[: full * BLOCK].reshape(full, BLOCK)
    step = _CHUNK // BLOCK
    for at in range(known, full, step):
        part = rows[at : min(at + step, full)]
        np.minimum.reduce(part, axis=1, out=low[at : at + len(part)])
        np.maximum.reduce(part, axis=1, out=high[at : at + len(part)])
    if full * BLOCK < size:
        low[-1], high[-1] = value[full * BLOCK :].min(), value[full * BLOCK :].max()
    # Both ends are finite if and only if all values of the block are: NaN is the least and the greatest of any values.
    odd = np.flatnonzero(~(np.isfinite(low[known:]) & np.isfinite(high[known:]))) + known
    first, stop = (shorter.first, shorter.stop) if shorter is not None else (_NONE, _NONE)
    if shorter is not None and shorter.size > begin:
        first, stop = _cut(first, stop, begin)
    if odd.size:
        padded = rows_of(value, odd)
        finite = np.isfinite(padded)
        low[odd] = np.where(finite, padded, np.inf).min(axis=1)
        high[odd] = np.where(finite, padded, -np.inf).max(axis=1)
        new_first, new_stop = _runs(odd, finite, size)
        first, stop = _joined(first, stop, new_first, new_stop)
        if first.size * _VALUES_PER_RUN > size + BLOCK * _VALUES_PER_RUN:
            return None
    total = np.zeros(first.size + 1, np.int64)
    np.cumsum(stop - first, out=total[1:])
    return CurveBlocks(size, low, high, first, stop, total)


def rows_of(value: Floats, number: Ints, length: int = BLOCK) -> Floats:
    """Return the values of some blocks of a length, in ascending order, shape (blocks, length); NaN after the last value."""
    full = value.size // length
    found = np.empty((number.size, length))
    inside = int(np.searchsorted(number, full))
    np.take(value[: full * length].reshape(full, length), number[:inside], axis=0, out=found[:inside], mode="clip")
    if inside < number.size:
        found[inside:] = np.nan
        if number[inside] == full:
            found[inside, : value.size - full * length] = value[full * length :]
    return found


def ranges(first: Ints, stop: Ints) -> Ints:
    """Return the integers of several ranges [first, stop), one range after the other."""
    length = stop - first
    end = np.cumsum(length)
    total = int(end[-1]) if end.size else 0
    found: Ints = np.arange(total) + np.repeat(first - (end - length), length)
    return found


def _runs(number: Ints, finite: NDArray[np.bool_], size: int) -> tuple[Ints, Ints]:
    """Return the runs [first, stop) of values that are not finite, from the blocks that have any."""
    at = (number[:, None] * BLOCK + np.arange(BLOCK))[~finite]
    at = at[at < size]
    cut = np.flatnonzero(np.diff(at) > 1) + 1
    return at[np.append(0, cut)], at[np.append(cut - 1, at.size - 1)] + 1


def _cut(first: Ints, stop: Ints, begin: int) -> tuple[Ints, Ints]:
    """Return the part of runs that lies before an index."""
    kept = first < begin
    return first[kept], np.minimum(stop[kept], begin)


def _joined(first: Ints, stop: Ints, later_first: Ints, later_stop: Ints) -> tuple[Ints, Ints]:
    """Return runs and later runs; a run that continues the last one is joined with it."""
    if first.size and later_first.size and stop[-1] == later_first[0]:
        return np.concatenate((first, later_first[1:])), np.concatenate((stop[:-1], later_stop))
    return np.concatenate((first, later_first)), np.concatenate((stop, later_stop))

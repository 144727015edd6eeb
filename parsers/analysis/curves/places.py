"""The x of a long curve, computed only where it is needed: a column of steps or times, and a rising function of it.

Between two places where x falls (restarts) it only rises, so that a place is found by bisection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from parsers.model import Floats, Ints

Numbers = NDArray[Any]
# A column that falls more often than once in so many values is not searched by bisection.
_VALUES_PER_FALL = 256
_CHUNK = 65_536


class Rises(NamedTuple):
    """Where a column of finite numbers falls: indices of numbers less than the one before; low and high: its ends.

    repeats: whether a number equals the one before.
    """

    size: int
    falls: Ints
    low: int | float
    high: int | float
    repeats: bool


def rises_of(column: Numbers, shorter: Rises | None = None) -> Rises | None:
    """Return where a column falls; None if it has numbers that are not finite, falls very often, or is empty.

    shorter: the same of the column when it had fewer numbers.
    """
    size = column.size
    if not size:
        return None
    begin = 1 if shorter is None else shorter.size
    falls, repeats = ([], False) if shorter is None else ([shorter.falls], shorter.repeats)
    for at in range(begin, size, _CHUNK):
        here, before = column[at : min(at + _CHUNK, size)], column[at - 1 : min(at + _CHUNK, size) - 1]
        if (here <= before).any():
            falls.append(np.flatnonzero(here < before) + at)
            repeats = repeats or bool((here == before).any())
    found: Ints = np.concatenate(falls) if falls else np.empty(0, np.int64)
    if found.size * _VALUES_PER_FALL > size + 64 * _VALUES_PER_FALL:
        return None
    if column.dtype.kind == "f":
        part = column if shorter is None else column[shorter.size :]
        if part.size and not (np.isfinite(part.min()) and np.isfinite(part.max())):  # NaN is the least and greatest of any
            return None
    starts = np.append(0, found)
    ends = np.append(found - 1, size - 1)
    return Rises(size, found, column[starts].min().item(), column[ends].max().item(), repeats)


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """x of every point of a curve: `convert` of a column, finite everywhere. convert never falls where the column rises.

    It can be indexed like an array of float64, and `numpy.asarray` makes one.
    """

    column: Numbers
    convert: Callable[[Numbers], Floats]
    rises: Rises

    @property
    def size(self) -> int:
        """Number of points."""
        return self.column.size

    @property
    def ends(self) -> tuple[float, float]:
        """Least and greatest x."""
        low, high = self.convert(np.array([self.rises.low, self.rises.high], self.column.dtype))
        return float(low), float(high)

    def __len__(self) -> int:
        return self.column.size

    def __getitem__(self, index: Any) -> Any:
        return self.convert(self.column[index])

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.convert(self.column), dtype, copy=copy or None)

    def falls(self) -> Ints:
        """Return the indices at which x is less than at the point before."""
        at = self.rises.falls
        return at[self[at] < self[at - 1]] if at.size else at

    def reaching(self, first: Ints, stop: Ints, reached: Callable[[Floats], NDArray[np.bool_]]) -> Ints:
        """Return for each range [first, stop), in which x never falls, the first index at which `reached` of x is true.

        reached takes one x per range; once true it stays true as x rises. The result is `stop` if it is nowhere true.
        """
        low, high = first.copy(), stop.copy()
        longest = int((high - low).max(initial=0))
        for _ in range(longest.bit_length()):
            middle = (low + high) >> 1
            open_ = low < high
            true = reached(self[np.minimum(middle, self.size - 1)])
            high = np.where(open_ & true, middle, high)
            low = np.where(open_ & ~true, middle + 1, low)
        return low


def as_step(step: Ints, rises: Rises) -> Places:
    """Return steps as places."""
    return Places(step, _floats, rises)


def since(wall_time: Floats, started: float, rises: Rises) -> Places:
    """Return wall times as places in seconds since `started`."""

    def convert(times: Numbers) -> Floats:
        found: Floats = times - started
        return found

    return Places(wall_time, convert, rises)


def local_milliseconds(wall_time: Floats, zone: float, rises: Rises) -> Places:
    """Return wall times as places in milliseconds of the local time, which is `zone` seconds ahead."""

    def convert(times: Numbers) -> Floats:
        found: Floats = (times + zone) * 1000.0
        return found

    return Places(wall_time, convert, rises)


def _floats(numbers: Numbers) -> Floats:
    found: Floats = numbers.astype(np.float64)
    return found

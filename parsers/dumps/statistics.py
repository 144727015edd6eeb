"""Statistics of one tensor, computed chunk by chunk: memory does not depend on its size.

max, min, mean, standard deviation (of the population), L2 norm and mean of absolute values are of the finite values, as
MindInsight has them; zeros, values below and above zero, NaN, +Inf and -Inf are counted. Moments of chunks are sums in
float64 and are joined by Chan, Golub and LeVeque (1979), so a large mean does not swallow the deviation. float64 has no
integers beyond 2^53 but every 2nd, 4th ... one: 64-bit integers are therefore measured from the middle of their range, which
is subtracted as an integer. Of complex values the absolute values count; texts have none. Squares are float64, too: of values
beyond 1e154 standard deviation and norm may be infinite, of those below 1e-162 they may be 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

PIECE = 1 << 16
"""Values that are looked at together: their temporary arrays stay in the processor's cache."""
_ROW = 1 << 13
"""Values of one scalar product: from 10,000 on OpenBLAS starts threads."""
_SUMMED = (1 << 53) // PIECE
"""Integers up to this size have exact sums in float64."""


@dataclass(slots=True)
class TensorStatistics:
    """Statistics of one tensor. NaN stands for what no finite value gives, or is unknown, -1 for an unknown count."""

    max: float = math.nan
    min: float = math.nan
    mean: float = math.nan
    std: float = math.nan
    l2: float = math.nan
    abs_mean: float = math.nan
    count: int = -1
    zero: int = -1
    negative: int = -1
    positive: int = -1
    nan: int = -1
    positive_inf: int = -1
    negative_inf: int = -1

    @property
    def finite(self) -> int:
        """Number of finite values; -1 for unknown."""
        known = min(self.count, self.nan, self.positive_inf, self.negative_inf) >= 0
        return self.count - self.nan - self.positive_inf - self.negative_inf if known else -1


NAMES = tuple(one.name for one in fields(TensorStatistics))


class Scratch:
    """Arrays that are used again for one tensor after the other: new ones would cost more than what is computed."""

    def __init__(self) -> None:
        self.wide = self.other = np.empty(0, np.float64)
        self.mask = np.empty(0, np.bool_)
        self._bytes = np.empty(0, np.uint8)

    def fit(self, size: int) -> None:
        """Make room for this many values."""
        if size > len(self.wide):
            self.wide, self.other, self.mask = np.empty(size), np.empty(size), np.empty(size, np.bool_)

    def bytes_of(self, count: int, dtype: np.dtype[np.generic]) -> NDArray[Any]:
        """Return an array of this many values."""
        size = count * dtype.itemsize
        if size > len(self._bytes):
            self._bytes = np.empty(size, np.uint8)
        return self._bytes[:size].view(dtype)


def statistics_of(pieces: Iterable[NDArray[Any]], scratch: Scratch | None = None) -> TensorStatistics:
    """Compute the statistics of a tensor given in pieces of one dtype; without a value all counts are 0."""
    adder = _Adder(scratch or Scratch())
    for piece in pieces:
        if piece.dtype.kind in "SU":
            return TensorStatistics(count=-1)
        adder.add_all(piece)
    return adder.sums.found()


def sums_of(pieces: Iterable[NDArray[Any]], scratch: Scratch | None = None) -> Sums:
    """Return what statistics are made of, for numbers that are a part of a tensor."""
    adder = _Adder(scratch or Scratch())
    for piece in pieces:
        adder.add_all(piece)
    return adder.sums


@dataclass(slots=True)
class Sums:
    """What has been seen of a tensor so far. mean, deviation and absolute are of the finite values.

    mean is the distance from origin, which is 0 but for large integers. deviation is the sum of squared distances from the
    mean, absolute that of absolute values.
    """

    count: int = 0
    zero: int = 0
    negative: int = 0
    nan: int = 0
    positive_inf: int = 0
    negative_inf: int = 0
    finite: int = 0
    origin: int = 0
    mean: float = 0.0
    deviation: float = 0.0
    absolute: float = 0.0
    max: float = -math.inf
    min: float = math.inf

    def join(self, other: Sums) -> None:
        """Add what was seen of another part of the tensor."""
        for name in ("count", "zero", "negative", "nan", "positive_inf", "negative_inf"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if other.finite:
            self.absolute += other.absolute
            self.max, self.min = max(self.max, other.max), min(self.min, other.min)
            self.shift(other.finite, other.mean, other.deviation, other.origin)

    def shift(self, count: int, mean: float, deviation: float, origin: int = 0) -> None:
        """Take in a number of further finite values, given their mean as a distance from an origin, and their deviation."""
        if not self.finite:  # the square of a mean beyond 1e154 is infinite, also where it counts nothing
            self.finite, self.origin, self.mean, self.deviation = count, origin, mean, deviation
            return
        whole = self.finite + count
        gap = (mean - self.mean) + (origin - self.origin)
        self.deviation += deviation + gap * gap * (self.finite * count / whole)
        self.mean += gap * (count / whole)
        self.finite = whole

    def found(self) -> TensorStatistics:
        """Return the statistics."""
        counts = {
            "count": self.count, "zero": self.zero, "negative": self.negative,
            "positive": self.count - self.zero - self.negative - self.nan, "nan": self.nan,
            "positive_inf": self.positive_inf, "negative_inf": self.negative_inf,
        }  # fmt: skip
        if not self.finite:
            return TensorStatistics(**counts)
        mean = float(self.origin + Fraction(self.mean)) if self.origin and math.isfinite(self.mean) else self.mean
        square = mean * mean * self.finite
        return TensorStatistics(
            max=self.max, min=self.min, mean=mean, std=math.sqrt(self.deviation / self.finite),
            l2=math.sqrt(self.deviation + square), abs_mean=self.absolute / self.finite, **counts,
        )  # fmt: skip


class _Adder:
    """Adds values to sums."""

    def __init__(self, scratch: Scratch) -> None:
        self.sums = Sums()
        self._scratch = scratch

    def add_all(self, piece: NDArray[Any]) -> None:
        """Add numbers; of complex ones the absolute values."""
        values = piece.reshape(-1)
        if values.dtype.kind == "c":
            values = np.abs(values)
        with np.errstate(invalid="ignore", over="ignore"):
            for at in range(0, len(values), PIECE):
                self._add(values[at : at + PIECE])

    def _add(self, values: NDArray[Any]) -> None:
        sums, size, kind = self.sums, len(values), values.dtype.kind
        self._scratch.fit(size)
        mask = self._scratch.mask[:size]
        sums.count += size
        sums.zero += int(np.count_nonzero(np.equal(values, 0, out=mask)))
        if kind not in "ub":
            sums.negative += int(np.count_nonzero(np.less(values, 0, out=mask)))
        wide = self._scratch.wide[:size]
        np.copyto(wide, values, casting="unsafe")
        total = float(np.add.reduce(wide))
        if kind == "f" and not math.isfinite(total):
            values = wide = self._only_finite(wide)
            if not len(wide):
                return
            total = float(wide.sum())
        self._add_finite(values, wide, total)

    def _only_finite(self, wide: NDArray[np.float64]) -> NDArray[np.float64]:
        """Count NaN and Inf; return the other values."""
        bad = wide[~np.isfinite(wide)]
        if not len(bad):
            return wide
        self.sums.nan += int(np.count_nonzero(np.isnan(bad)))
        self.sums.positive_inf += int(np.count_nonzero(bad == np.inf))
        self.sums.negative_inf += int(np.count_nonzero(bad == -np.inf))
        return wide[np.isfinite(wide)]

    def _add_finite(self, values: NDArray[Any], wide: NDArray[np.float64], total: float) -> None:
        sums, count, origin = self.sums, len(wide), 0
        most, least = np.maximum.reduce(values), np.minimum.reduce(values)
        sums.max, sums.min = max(sums.max, float(most)), min(sums.min, float(least))
        mean = total / count
        if not math.isfinite(mean):  # values of float64 whose sum exceeds it
            mean = float((wide / count).sum())
        if values.dtype.kind in "iu" and max(int(most), -int(least)) > _SUMMED:
            sums.absolute += float(np.abs(wide, out=self._scratch.other[:count]).sum())
            origin = _from_middle(values, int(least), int(most), wide)
            mean = float(wide.sum()) / count
            deviation = self._deviation(wide, mean)
        else:
            deviation = self._deviation(wide, mean)
            sums.absolute += abs(total) if least >= 0 or most <= 0 else float(np.add.reduce(np.abs(wide, out=wide)))
        sums.shift(count, mean, deviation, origin)

    def _deviation(self, wide: NDArray[np.float64], mean: float) -> float:
        """Return the sum of squared distances from the mean.

        Where the mean is small against the values, as that of weights and gradients is, it is what squares exceed that of the
        mean by: at least half of the sum is left then, so no more than a bit of it is lost.
        """
        squares = _sum_of_squares(wide)
        of_mean = len(wide) * mean * mean
        if math.isfinite(squares) and of_mean <= squares / 2:
            return squares - of_mean
        return _sum_of_squares(np.subtract(wide, mean, out=self._scratch.other[: len(wide)]))


def _sum_of_squares(values: NDArray[np.float64]) -> float:
    whole = len(values) // _ROW * _ROW
    rows, rest = values[:whole].reshape(-1, _ROW), values[whole:]
    return float(np.vecdot(rows, rows).sum()) + float(np.vecdot(rest, rest))


def _from_middle(values: NDArray[Any], least: int, most: int, out: NDArray[np.float64]) -> int:
    """Set out to the distances of 64-bit integers from the middle of their range, which is returned.

    The middle is at most 2^63 above the least one and less than 2^63 below the greatest one, so the distances are those modulo
    2^64 as numbers with a sign. They are exact in float64 up to 2^53; beyond that the spread is as large.
    """
    middle = (least + most + 1) // 2
    distances = values.astype(np.uint64 if values.dtype.kind == "u" else np.int64, copy=False).view(np.uint64)
    np.copyto(out, (distances - np.uint64(middle % (1 << 64))).view(np.int64), casting="unsafe")
    return middle

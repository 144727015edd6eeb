"""Statistics of one tensor, computed chunk by chunk: memory does not depend on its size.

max, min, mean, standard deviation (of the population), L2 norm and mean of absolute values are of the finite values, as
MindInsight has them; zeros, values below and above zero, NaN, +Inf and -Inf are counted. Moments of chunks are sums in
float64 and are joined by Chan, Golub and LeVeque (1979), so a large mean does not swallow the deviation. Of complex
values the absolute values count; texts have none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

PIECE = 1 << 16
"""Values that are looked at together: their temporary arrays stay in the processor's cache."""


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


def statistics_of(pieces: Iterable[NDArray[Any]]) -> TensorStatistics:
    """Compute the statistics of a tensor given in pieces of one dtype; without a value all counts are 0."""
    sums = _Sums()
    for piece in pieces:
        values = piece.reshape(-1)
        if values.dtype.kind in "SU":
            return TensorStatistics(count=-1)
        if values.dtype.kind == "c":
            values = np.abs(values)
        for at in range(0, len(values), PIECE):
            sums.add(values[at : at + PIECE])
    return sums.found()


class _Sums:
    """What has been seen of a tensor so far."""

    def __init__(self) -> None:
        self.count = self.zero = self.negative = self.nan = self.positive_inf = self.negative_inf = 0
        self.finite = 0
        self.mean = self.deviation = self.absolute = 0.0
        self.max, self.min = -math.inf, math.inf
        self._wide = self._other = np.empty(0, np.float64)
        self._mask = np.empty(0, np.bool_)

    def add(self, values: NDArray[Any]) -> None:
        """Add up to PIECE values. Arrays are used again: new ones would cost more than what is computed."""
        size, kind = len(values), values.dtype.kind
        if size > len(self._wide):
            self._wide, self._other, self._mask = np.empty(size), np.empty(size), np.empty(size, np.bool_)
        mask = self._mask[:size]
        self.count += size
        self.zero += int(np.count_nonzero(np.equal(values, 0, out=mask)))
        if kind not in "ub":
            self.negative += int(np.count_nonzero(np.less(values, 0, out=mask)))
        wide = self._wide[:size]
        with np.errstate(invalid="ignore", over="ignore"):
            np.copyto(wide, values, casting="unsafe")
            total = float(wide.sum())
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
        self.nan += int(np.count_nonzero(np.isnan(bad)))
        self.positive_inf += int(np.count_nonzero(bad == np.inf))
        self.negative_inf += int(np.count_nonzero(bad == -np.inf))
        return wide[np.isfinite(wide)]

    def _add_finite(self, values: NDArray[Any], wide: NDArray[np.float64], total: float) -> None:
        self.max, self.min = max(self.max, float(values.max())), min(self.min, float(values.min()))
        count = len(wide)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = total / count
            if not math.isfinite(mean):  # values of float64 whose sum exceeds it
                mean = float((wide / count).sum())
            self.absolute += float(np.abs(wide, out=self._other[:count]).sum())
            deviations = np.subtract(wide, mean, out=self._other[:count])
            deviation = float(np.einsum("i,i->", deviations, deviations))  # np.dot starts threads
        whole = self.finite + count
        gap = mean - self.mean
        self.deviation += deviation + gap * gap * (self.finite * count / whole)
        self.mean += gap * (count / whole)
        self.finite = whole

    def found(self) -> TensorStatistics:
        counts = {
            "count": self.count, "zero": self.zero, "negative": self.negative,
            "positive": self.count - self.zero - self.negative - self.nan, "nan": self.nan,
            "positive_inf": self.positive_inf, "negative_inf": self.negative_inf,
        }  # fmt: skip
        if not self.finite:
            return TensorStatistics(**counts)
        square = self.mean * self.mean * self.finite
        return TensorStatistics(
            max=self.max, min=self.min, mean=self.mean, std=math.sqrt(self.deviation / self.finite),
            l2=math.sqrt(self.deviation + square), abs_mean=self.absolute / self.finite, **counts,
        )  # fmt: skip

"""The formulas of conditions, as functions of statistics or of pieces of one or two tensors. NaN and Inf are left out.

* zero percentage: 100 * zeros / finite values;
* not changed: the greatest of |cur - prev| - (1e-8 + rtol * |prev|) is at most 0 (all |cur - prev| <= atol + rtol * |prev|);
* update ratio: mean |cur - prev| / (mean |prev| + 1e-9);
* range percentage: 100 * values in [start, end] / finite values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

ATOL, EPSILON = 1e-8, 1e-9
Column = Callable[[str], NDArray[Any]]
Reals = NDArray[np.float64]


def _finite(column: Column) -> Reals:
    """Return the number of finite values, NaN for unknown."""
    counts = [column(name) for name in ("count", "nan", "positive_inf", "negative_inf")]
    known = np.minimum.reduce(counts) >= 0
    return np.where(known, counts[0] - counts[1] - counts[2] - counts[3], np.nan)


def _zero_percentage(column: Column) -> Reals:
    finite, zero = _finite(column), column("zero")
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((finite > 0) & (zero >= 0), 100.0 * zero / finite, np.nan)


def _stated(name: str) -> Callable[[Column], Reals]:
    return lambda column: np.asarray(column(name), np.float64)


def _spread(column: Column) -> Reals:
    with np.errstate(invalid="ignore"):
        return np.asarray(column("max") - column("min"), np.float64)


MEASURES: Mapping[str, Callable[[Column], Reals]] = {
    "zero_percentage_ge": _zero_percentage,
    **{f"{name}_{end}": _stated(name) for name in ("abs_mean", "max", "min", "mean") for end in ("gt", "lt")},
    "max_min_gt": _spread,
    "max_min_lt": _spread,
    "sd_gt": _stated("std"),
    "sd_lt": _stated("std"),
}
"""Parameter -> its measure for all rows, from columns of statistics; NaN where these do not tell."""


def exceeded(name: str, actual: Reals, limit: float) -> NDArray[np.bool_]:
    """Return where a limit is exceeded: strictly, unless its name ends in _ge. NaN exceeds nothing."""
    with np.errstate(invalid="ignore"):
        if name.endswith("_ge"):
            return actual >= limit
        return actual > limit if name.endswith("_gt") else actual < limit


def range_percentage(pieces: Iterable[NDArray[Any]], start: float, end: float) -> float:
    """Return which percentage of the finite values of a tensor is in [start, end]; NaN if there are none."""
    inside = finite = 0
    for piece in pieces:
        values = piece.astype(np.float64, copy=False)
        finite += int(np.count_nonzero(np.isfinite(values)))
        inside += int(np.count_nonzero((values >= start) & (values <= end) & np.isfinite(values)))
    return 100.0 * inside / finite if finite else math.nan


class TensorChange:
    """What changed between two tensors, from pieces of both: only places where both are finite count."""

    def __init__(self, rtol: float = 0.0) -> None:
        self.rtol = rtol
        self.count = self.left_out = 0
        self.excess = -math.inf
        self._changed = self._before = 0.0

    def add(self, now: NDArray[Any], before: NDArray[Any]) -> None:
        """Add the same piece of both."""
        cur, prev = now.astype(np.float64, copy=False), before.astype(np.float64, copy=False)
        with np.errstate(invalid="ignore", over="ignore"):
            change = np.abs(cur - prev)
            size = np.abs(prev)
            if not (math.isfinite(float(change.sum())) and math.isfinite(float(size.sum()))):
                usable = np.isfinite(cur) & np.isfinite(prev)
                self.left_out += int(len(usable) - np.count_nonzero(usable))
                change, size = change[usable], size[usable]
            if not len(change):
                return
            self.count += len(change)
            self._changed += float(change.sum())
            self._before += float(size.sum())
            self.excess = max(self.excess, float((change - (ATOL + self.rtol * size)).max()))

    @property
    def unchanged(self) -> bool:
        """Whether all values are within the tolerance."""
        return self.count > 0 and self.excess <= 0.0

    @property
    def ratio(self) -> float:
        """Mean absolute change over mean absolute value before; NaN without a value."""
        return (self._changed / self.count) / (self._before / self.count + EPSILON) if self.count else math.nan

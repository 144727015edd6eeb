"""How far kernels use the units of a device, by operator type and shape, from the counters in the frame `kernels`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.profiles.efficiency.counters import PREFIX, HardwareCounters, adds_up, counters_of, most_of, numbers
from parsers.analysis.profiles.efficiency.groups import Floats, RowGrouping, grouping, medians
from parsers.deferred import pandas as pd
from parsers.model import Ints
from parsers.schema import Column, Schema

BOUND_FROM = 0.8
"""Share of cycles from which a kernel is bound by a pipe, as msprof-analyze's rule for operators without a bound has it."""
FAR = 3.5
"""Distance from the median of kernels alike, in units of their scaled median deviation, from which one is far from it."""
FAR_SHARE = 1.5
"""A kernel far from the median takes at least this multiple of it."""
LEAST_ALIKE = 5
"""Fewer kernels alike have no median that could say so."""
NOT_COUNTED = ("COMMUNICATION", "HCCL", "COPY", "HOST_CPU", "")
"""What has no counters: communication and the host."""
_ALIKE = ("type", "core", "input_shapes", "input_types")
_TYPES = ("type", "core")
_SHAPES = ("type", "core", "input_shapes")

EFFICIENCY = Schema(
    "efficiency",
    "Kernels by operator type, core and shapes, the ones that took longest first.",
    (
        Column("type", "category", "", "operator type"),
        Column("core", "category", "", "what the kernels ran on"),
        Column("input_shapes", "category", "", "shapes of the inputs; empty if kernels of all shapes are together"),
        Column("count", "int64", "", "executions"),
        Column("total_ns", "int64", "ns", "time of all executions"),
        Column("counted_ns", "int64", "ns", "time of the executions whose operations were counted"),
        Column("operations", "float64", "", "operations counted; NaN without counters"),
        Column("per_s", "float64", "1/s", "operations per second of those executions; NaN without counters"),
        Column("share", "float64", "", "of the peak of the matrix units; NaN without one"),
        Column("compute", "float64", "", "share of cycles in which a unit computed, mean by time; NaN without counters"),
        Column("memory", "float64", "", "share of cycles in which main memory was read or written, mean by time; NaN likewise"),
        Column("bound", "category", "", "compute, memory, neither; empty without counters"),
        Column("by", "category", "", "the counter that is highest"),
    ),
    (Column(PREFIX, "float64", "", "a counter: shares as means by time, operations and data moved as sums; NaN without it"),),
)

OUTLIERS = Schema(
    "slow_kernels",
    "Kernels that took far longer than others of their type, core and shapes, the ones with the most excess first.",
    (
        Column("row", "int64", "", "row in the frame kernels"),
        Column("name", "category", "", "kernel"),
        Column("type", "category", "", "operator type"),
        Column("input_shapes", "category", "", "shapes of the inputs"),
        Column("start_ns", "int64", "ns", "begin by the clock of the file"),
        Column("duration_ns", "int64", "ns", "time it took"),
        Column("median_ns", "float64", "ns", "median of those alike"),
        Column("alike", "int64", "", "executions alike"),
        Column("distance", "float64", "", "from the median in units of 1.4826 x median deviation"),
    ),
)


class DeviceUse:
    """The kernels of a device and their counters, summed once by type, core, shapes and data types of the inputs.

    Communication and the host are left out, because they have no counters. Counters that are 0 in a row with a duration count
    as 0, missing ones do not count.
    """

    def __init__(self, kernels: pd.DataFrame) -> None:
        left_out = np.append(kernels["core"].cat.categories.isin(NOT_COUNTED), True)  # the last one is of missing ones
        whole = ~left_out[kernels["core"].cat.codes] & (kernels["duration_ns"].to_numpy() >= 0)
        self._kernels = kernels
        self._rows = None if whole.all() else np.flatnonzero(whole)
        self.counters = counters_of(kernels)

    def __len__(self) -> int:
        return len(self._kernels) if self._rows is None else len(self._rows)

    def _values(self, name: str) -> NDArray[np.float64]:
        values = self._kernels[name].to_numpy()
        return np.asarray(values if self._rows is None else values[self._rows])

    @cached_property
    def _alike(self) -> RowGrouping:
        return grouping(self._kernels, _ALIKE, self._rows)

    @cached_property
    def _duration(self) -> Floats:
        return self._values("duration_ns").astype(np.float64)

    def _sums(self, weights: Floats) -> Floats:
        return _summed(self._alike, weights)

    @cached_property
    def _operations(self) -> tuple[Floats, Floats, Floats]:
        """Operations, and number and time of the kernels whose operations were counted."""
        operations, counted = np.zeros(len(self)), np.zeros(len(self), np.bool_)
        for name in self.counters.operations:
            values = self._values(PREFIX + name)
            counted |= values >= 0
            operations += np.where(values > 0, values, 0.0)
        counts = counted.astype(np.float64)
        return self._sums(operations), self._sums(counts), self._sums(counts * self._duration)

    @cached_property
    def _counters(self) -> dict[str, tuple[Floats, Floats, int]]:
        """Name of a counter -> sum of value x weight, sum of weights, and rows whose value cannot be.

        Weights are times for shares, and 1 for what adds up.
        """
        found = {}
        for name in numbers(self._kernels):
            most = np.inf if adds_up(name) else most_of(name)
            if np.isnan(most):
                continue
            values = self._values(PREFIX + name)
            valid = (values >= 0) & (values <= most)
            wrong = int(np.count_nonzero(~valid & ~np.isnan(values)))
            weight = np.where(valid, 1.0 if most == np.inf else self._duration, 0.0)
            found[name] = self._sums(np.where(valid, values, 0.0) * weight), self._sums(weight), wrong
        return found

    @property
    def wrong(self) -> dict[str, int]:
        """Shares that some kernels have below 0 or above 1, with their number; these were left out."""
        return {name: wrong for name, (_, _, wrong) in self._counters.items() if wrong}

    @property
    def counted(self) -> int:
        """Kernels whose operations were counted."""
        return round(float(self._operations[1].sum()))

    @property
    def achieved(self) -> tuple[float, float]:
        """Operations of all kernels, and the time in ns of those whose operations were counted."""
        return float(self._operations[0].sum()), float(self._operations[2].sum())

    def table(self, *, by_shape: bool = True, peak_per_s: float = np.nan) -> pd.DataFrame:
        """Return the kernels by type, core and shapes (schema EFFICIENCY).

        peak_per_s is that of the matrix units in operations per second.
        """
        groups = grouping(self._kernels, _SHAPES if by_shape else _TYPES, self._alike.first)
        total = _summed(groups, self._sums(self._duration))
        groups = _in_order(groups, np.argsort(-total, kind="stable"))
        sums, count = partial(_summed, groups), len(groups.first)

        done, has, counted_ns = map(sums, self._operations)
        per_s = np.divide(done * 1e9, counted_ns, out=np.full(count, np.nan), where=(has > 0) & (counted_ns > 0))
        means = {name: _mean(sums(value), sums(weight), name) for name, (value, weight, _) in self._counters.items()}
        heads = {name: self._kernels[name].array[groups.first] for name in _SHAPES}
        columns = heads | ({} if by_shape else {"input_shapes": _texts(np.zeros(count, np.int8), [""])}) | {
            "count": sums(self._sums(np.ones(len(self)))).astype(np.int64),
            "total_ns": sums(self._sums(self._duration)).astype(np.int64), "counted_ns": counted_ns.astype(np.int64),
            "operations": np.where(has > 0, done, np.nan), "per_s": per_s, "share": per_s / peak_per_s,
        } | _bound(means, self.counters, count) | {PREFIX + name: values for name, values in means.items()}  # fmt: skip
        return pd.DataFrame(columns, copy=False)  # copying the columns of 367,000 groups takes longer than summing them

    def slow(self) -> pd.DataFrame:
        """Return kernels that are far from their own median (schema OUTLIERS).

        Of at least LEAST_ALIKE kernels with the same type, core, shapes and data types, those that take at least FAR_SHARE
        times their median and lie FAR scaled median deviations above it; the deviation is at least 1 % of the median.
        """
        group, count = self._alike.of, len(self._alike.first)
        duration = self._values("duration_ns").astype(np.int64)
        twice = np.rint(2 * medians(duration, self._alike)).astype(np.int64)  # of two whole numbers: whole when doubled
        deviation = 1.4826 * medians(np.abs(2 * duration - twice[group]), self._alike) / 2
        median = twice / 2
        alike = np.bincount(group, minlength=count)
        limit = np.maximum(FAR * np.maximum(deviation, 0.01 * median), (FAR_SHARE - 1) * median)
        excess = duration - median[group]
        limit[(alike < LEAST_ALIKE) | (median <= 0)] = np.inf
        found = np.flatnonzero(excess >= limit[group])
        found = found[np.argsort(-excess[found], kind="stable")]
        of = group[found]
        chosen = self._kernels.iloc[found if self._rows is None else self._rows[found]]
        scale = np.maximum(deviation, 0.01 * median)[of]
        return pd.DataFrame({
            "row": chosen.index.to_numpy(np.int64), "name": chosen["name"].array, "type": chosen["type"].array,
            "input_shapes": chosen["input_shapes"].array, "start_ns": chosen["start_ns"].to_numpy(),
            "duration_ns": chosen["duration_ns"].to_numpy(), "median_ns": median[of], "alike": alike[of].astype(np.int64),
            "distance": excess[found] / scale,
        })  # fmt: skip


def efficiency(kernels: pd.DataFrame, *, by_shape: bool = True, peak_per_s: float = np.nan) -> pd.DataFrame:
    """Return the kernels of the device by type, core and shapes, as `DeviceUse.table` does."""
    return DeviceUse(kernels).table(by_shape=by_shape, peak_per_s=peak_per_s)


def slow_kernels(kernels: pd.DataFrame) -> pd.DataFrame:
    """Return kernels that are far from their own median, as `DeviceUse.slow` does."""
    return DeviceUse(kernels).slow()


def _summed(groups: RowGrouping, weights: Floats) -> Floats:
    return np.bincount(groups.of, weights, len(groups.first)).astype(np.float64, copy=False)


def _in_order(groups: RowGrouping, order: Ints) -> RowGrouping:
    """Number groups anew: order are their old numbers."""
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return RowGrouping(number[groups.of], groups.first[order])


def _mean(value: Floats, weight: Floats, name: str) -> Floats:
    """The mean of a share, or the sum of what adds up; NaN where nothing was counted."""
    if adds_up(name):
        return np.asarray(np.where(weight > 0, value, np.nan))
    return np.asarray(np.divide(value, weight, out=np.full(len(value), np.nan), where=weight > 0))


def _highest(means: dict[str, Floats], names: Sequence[str], count: int) -> tuple[Floats, Ints]:
    """Return the highest of several means by group and its place in names; NaN and -1 for none."""
    best, place = np.full(count, np.nan), np.full(count, -1, np.int64)
    for number, name in enumerate(names):
        higher = means[name] > np.nan_to_num(best, nan=-np.inf)
        best, place = np.where(higher, means[name], best), np.where(higher, number, place)
    return best, place


_BOUNDS = ("compute", "memory", "neither", "")


def _bound(means: dict[str, Floats], counters: HardwareCounters, count: int) -> dict[str, Any]:
    """Return compute, memory, what bounds each group, and the counter that says so: the higher share, from BOUND_FROM on."""
    compute, by_compute = _highest(means, counters.compute, count)
    memory, by_memory = _highest(means, counters.memory, count)
    by_computing = np.nan_to_num(compute, nan=-1.0) >= np.nan_to_num(memory, nan=-1.0)
    highest = np.where(by_computing, compute, memory)
    otherwise = np.where(np.isfinite(compute) & np.isfinite(memory), _BOUNDS.index("neither"), _BOUNDS.index(""))
    bound = np.where(highest >= BOUND_FROM, np.where(by_computing, 0, 1), otherwise)
    by = np.where(by_computing, by_compute, np.where(by_memory >= 0, by_memory + len(counters.compute), -1))
    names = [*counters.compute, *counters.memory, ""]
    by[by < 0] = len(names) - 1
    return {"compute": compute, "memory": memory, "bound": _texts(bound, _BOUNDS), "by": _texts(by, names)}


def _texts(codes: NDArray[Any], texts: Sequence[str]) -> pd.Categorical:
    return pd.Categorical.from_codes(codes, categories=pd.Index(list(texts), dtype="str"))

"""Roofline: operations per second over operations per byte of main memory, joined from two sessions.

The counters of operations (ArithmeticUtilization) and those of data moved to and from main memory (MemoryAccess) cannot be
collected in one run. Kernels of two sessions are taken as the same if name, type, core, shapes and data types of their inputs
agree; counters are means over the executions of each session, times are from the one with operations. Source of the model:
Williams, Waterman, Patterson 2009, Roofline: an insightful visual performance model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsers.analysis.profiles.efficiency.counters import OPERATIONS, PREFIX, TRAFFIC_KB
from parsers.analysis.profiles.efficiency.groups import Floats, RowGrouping, grouping
from parsers.deferred import pandas as pd
from parsers.model import Ints
from parsers.schema import Column, Schema

KB = 1e3
_SAME = ["name", "type", "core", "input_shapes", "input_types"]

ROOFLINE = Schema(
    "roofline",
    "Kernels that two sessions have in common, the ones that took longest first.",
    (
        Column("name", "category", "", "kernel"),
        Column("type", "category", "", "operator type"),
        Column("core", "category", "", "what the kernels ran on"),
        Column("input_shapes", "category", "", "shapes of the inputs"),
        Column("input_types", "category", "", "their data types"),
        Column("count", "int64", "", "executions in the session with operations"),
        Column("total_ns", "int64", "ns", "time of these executions"),
        Column("operations", "float64", "", "operations of one execution, mean"),
        Column("bytes", "float64", "B", "bytes read from and written to main memory by one execution, mean"),
        Column("per_byte", "float64", "1/B", "operations for each byte of main memory"),
        Column("per_s", "float64", "1/s", "operations per second"),
    ),
)


@dataclass(frozen=True, slots=True)
class JoinedRoofline:
    """The frame ROOFLINE, and how many groups of kernels only one of the sessions has."""

    frame: pd.DataFrame
    only_operations: int
    only_traffic: int


def roofline(operations: pd.DataFrame, traffic: pd.DataFrame) -> JoinedRoofline:
    """Join the frames `kernels` of two sessions, one with counters of operations, one with those of main memory."""
    ours, theirs = _means(operations, OPERATIONS), _means(traffic, TRAFFIC_KB)
    left, right = _common(operations, ours.groups.first, traffic, theirs.groups.first)
    total, count = ours.total_ns[left], ours.count[left]
    order = np.argsort(-total, kind="stable")
    left, right, total, count = left[order], right[order], total[order], count[order]
    done, moved = ours.mean[left], theirs.mean[right] * KB
    made: dict[str, Any] = {name: operations[name].array[ours.groups.first[left]] for name in _SAME}
    made |= {
        "count": count, "total_ns": total, "operations": done, "bytes": moved,
        "per_byte": np.divide(done, moved, out=np.full(len(done), np.nan), where=moved > 0),
        "per_s": np.divide(done * count * 1e9, total, out=np.full(len(done), np.nan), where=total > 0),
    }  # fmt: skip
    return JoinedRoofline(pd.DataFrame(made), len(ours.count) - len(left), len(theirs.count) - len(left))


@dataclass(frozen=True, slots=True)
class _Means:
    """Kernels that are the same: number and time in ns of those with counters, and the mean of the sum of their counters."""

    groups: RowGrouping
    count: Ints
    total_ns: Ints
    mean: Floats


def _means(kernels: pd.DataFrame, names: Sequence[str]) -> _Means:
    sums, counted = np.zeros(len(kernels)), np.zeros(len(kernels), np.bool_)
    for name in (PREFIX + name for name in names if PREFIX + name in kernels and kernels[PREFIX + name].dtype == np.float64):
        values = kernels[name].to_numpy(np.float64)
        counted |= values >= 0
        sums += np.where(values > 0, values, 0.0)
    duration = kernels["duration_ns"].to_numpy(np.float64)
    rows = np.flatnonzero(counted & (duration >= 0))
    groups = grouping(kernels, _SAME, rows)
    count = np.bincount(groups.of, minlength=len(groups.first)).astype(np.int64)
    total = np.bincount(groups.of, duration[rows], len(count)).astype(np.int64)
    return _Means(groups, count, total, np.bincount(groups.of, sums[rows], len(count)) / np.maximum(count, 1))


def _common(ours: pd.DataFrame, first: Ints, theirs: pd.DataFrame, other: Ints) -> tuple[Ints, Ints]:
    """Return the places in `first` and in `other`, rows of two frames, of those that agree in all of _SAME.

    Texts are compared once for each category, and rows by their numbers: profiles may have a million groups.
    """
    columns: dict[str, Any] = {}
    known = np.ones(len(other), np.bool_)
    for name in _SAME:
        here, there = ours[name].cat, theirs[name].cat
        place = np.append(here.categories.get_indexer(there.categories), -1)[there.codes.to_numpy()[other]]
        known &= place >= 0
        codes = np.concatenate((here.codes.to_numpy()[first], place))
        columns[name] = pd.Categorical.from_codes(codes, categories=here.categories)
    of = grouping(pd.DataFrame(columns), _SAME).of
    at = np.full(int(of.max(initial=-1)) + 1, -1, np.int64)
    at[of[: len(first)]] = np.arange(len(first))
    left = np.where(known, at[of[len(first) :]], -1)
    right = np.flatnonzero(left >= 0)
    return left[right], right

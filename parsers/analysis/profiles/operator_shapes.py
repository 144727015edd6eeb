"""Sums the time of operators by the shapes of their inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.profile_frames import OPERATORS
from parsers.profiler.frame_parts import joined

_KEYS = ("type", "core", "input_shapes", "input_types")
_SUMMED = ("count", "total_ns", "self_ns", "min_ns", "max_ns")


def by_shapes(operators: pd.DataFrame, executions: pd.DataFrame | None = None) -> pd.DataFrame:
    """Sum up the time of each type by the shapes and types of the inputs; the longest first.

    Executions (schema KERNELS) count one by one on the cores for which their shapes are known, since one operator may run with
    several shapes. Operators (schema OPERATORS) count on all other cores.
    Columns: type, core, input_shapes, input_types, operators (different names), count, total_ns, self_ns, mean_ns, min_ns,
    max_ns.
    """
    rows = _rows(operators, executions)
    first, groups = _groups(rows)
    number = len(first)
    total = np.bincount(groups, rows["total_ns"].fillna(0.0), number)
    count = np.bincount(groups, rows["count"], number)
    own = rows["self_ns"].groupby(groups).sum(min_count=1).to_numpy()
    names = rows["full_name"].array
    pairs = np.unique(groups * (len(names.categories) + 1) + names.codes)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / count
    columns: dict[str, Any] = {name: rows[name].array[first] for name in _KEYS}
    columns |= {
        "operators": np.bincount(pairs // (len(names.categories) + 1), minlength=number).astype(np.float64), "count": count,
        "total_ns": total, "self_ns": own, "mean_ns": mean,
        "min_ns": _extreme(np.fmin, rows["min_ns"], groups, number),
        "max_ns": _extreme(np.fmax, rows["max_ns"], groups, number),
    }  # fmt: skip
    return pd.DataFrame(columns).sort_values("total_ns", ascending=False, kind="stable", ignore_index=True)


def _rows(operators: pd.DataFrame, executions: pd.DataFrame | None) -> pd.DataFrame:
    """Return the rows to sum up: executions where their shapes are known, else operators."""
    columns = [*_KEYS, *_SUMMED, "full_name"]
    if executions is None or executions.empty:
        return operators[columns]
    shapes = executions["input_shapes"].array
    known = np.append(shapes.categories.to_numpy(object) != "", False)[shapes.codes]
    shaped = executions["core"][known].unique()
    single = executions[executions["core"].isin(shaped)]
    duration = single["duration_ns"].to_numpy(np.float64)
    times = dict.fromkeys(("total_ns", "min_ns", "max_ns"), duration)
    single = single.assign(count=np.ones(len(single)), self_ns=np.full(len(single), np.nan), full_name=single["name"], **times)
    return joined(OPERATORS, [single[columns], operators[columns][~operators["core"].isin(shaped)]])


def _groups(frame: pd.DataFrame) -> tuple[NDArray[Any], NDArray[Any]]:
    """Group the rows that are equal in all keys: (first row of each group, group of each row)."""
    key = np.zeros(len(frame), np.int64)
    for name in _KEYS:
        codes = frame[name].cat.codes.to_numpy().astype(np.int64)
        key = pd.factorize(key * (len(frame[name].cat.categories) + 1) + codes)[0].astype(np.int64)
    return np.unique(key, return_index=True)[1], key


def _extreme(of: np.ufunc, values: pd.Series[Any], groups: NDArray[Any], number: int) -> NDArray[np.float64]:
    found = np.full(number, np.nan)
    of.at(found, groups, values.to_numpy(np.float64))
    return found

"""Operators of a profile by execution unit, and their times by type and by the shapes of their inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from layouts.pages.operators.asks import VARIANTS

_CORES = {
    "GPU": "gpu", "GPU_KERNEL": "gpu_kernel", "AI_CPU": "ai_cpu", "AICPU": "ai_cpu", "HOST_CPU": "host_cpu",
    "HCCL": "communication", "COMMUNICATION": "communication",
}  # fmt: skip


def variant_of(core: str) -> str:
    """Return the tab of a core. Unknown cores are cores of the device."""
    return _CORES.get(core, "ai_core")


def present(frame: pd.DataFrame) -> list[str]:
    """Return the variants that have rows, in the order of their tabs."""
    there = {variant_of(core) for core in frame["core"].unique()}
    return [name for name in VARIANTS if name in there]


def of_variant(frame: pd.DataFrame, variant: str) -> pd.DataFrame:
    """Return the rows of a variant in order; the frame itself if it has no others."""
    column = frame["core"].array
    chosen = np.array([variant_of(core) == variant for core in column.categories], np.bool_)
    if chosen.all():
        return frame
    rows = chosen[column.codes] if len(chosen) else np.zeros(len(frame), np.bool_)
    return frame[rows].reset_index(drop=True)


def with_shares(frame: pd.DataFrame) -> pd.DataFrame:
    """Add a column `share`: the fraction of the total time of all rows, from 0 to 1."""
    total = float(np.nansum(frame["total_ns"]))
    share = frame["total_ns"].to_numpy() / total if total > 0.0 else np.full(len(frame), np.nan)
    return frame.assign(share=share)


def by_shapes(operators: pd.DataFrame) -> pd.DataFrame:
    """Sum up the operators of each type by the shapes and types of their inputs; the longest first.

    Columns: type, core, input_shapes, input_types, operators, count, total_ns, share, mean_ns, min_ns, max_ns.
    """
    keys = ("type", "core", "input_shapes", "input_types")
    first, groups = _groups(operators, keys)
    total = np.bincount(groups, operators["total_ns"].fillna(0.0), len(first))
    count = np.bincount(groups, operators["count"], len(first))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / count
    columns: dict[str, Any] = {name: operators[name].array[first] for name in keys}
    columns |= {
        "operators": np.bincount(groups, minlength=len(first)).astype(np.float64), "count": count, "total_ns": total,
        "share": np.full(len(first), np.nan), "mean_ns": mean,
        "min_ns": _extreme(np.fmin, operators["min_ns"].to_numpy(), groups, len(first)),
        "max_ns": _extreme(np.fmax, operators["max_ns"].to_numpy(), groups, len(first)),
    }  # fmt: skip
    return with_shares(pd.DataFrame(columns)).sort_values("total_ns", ascending=False, kind="stable", ignore_index=True)


def _groups(frame: pd.DataFrame, names: Sequence[str]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Group the rows that are equal in these columns: (first row of each group, group of each row)."""
    key = np.zeros(len(frame), np.int64)
    for name in names:
        codes = frame[name].cat.codes.to_numpy().astype(np.int64)
        key = pd.factorize(key * (len(frame[name].cat.categories) + 1) + codes)[0].astype(np.int64)
    return np.unique(key, return_index=True)[1], key


def _extreme(of: np.ufunc, values: NDArray[Any], groups: NDArray[Any], number: int) -> NDArray[np.float64]:
    found = np.full(number, np.nan)
    of.at(found, groups, values)
    return found

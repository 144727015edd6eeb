"""What counters say of a whole profile, computed once: tables of kernels and the operations per second that were achieved."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from parsers.analysis.profiles.efficiency.counters import HardwareCounters
from parsers.analysis.profiles.efficiency.kernels import DeviceUse
from parsers.deferred import pandas as pd


@dataclass(frozen=True, slots=True)
class KernelUse:
    """The use of a device by its kernels, before anything is known of its peak.

    kernels and their time in ns are all of the device, counted those whose operations were counted, in counted_ns. wrong:
    counters that are below 0 or above what they can be, with the number of kernels. types and shapes have the schema
    EFFICIENCY with shares of NaN, slow has OUTLIERS.
    """

    counters: HardwareCounters
    kernels: int
    total_ns: int
    counted: int
    operations: float
    counted_ns: float
    wrong: dict[str, int]
    types: pd.DataFrame
    shapes: pd.DataFrame
    slow: pd.DataFrame


def measured(kernels: pd.DataFrame) -> KernelUse:
    """Return what the counters in a frame `kernels` say."""
    use = DeviceUse(kernels)
    operations, counted_ns = use.achieved
    types = use.table(by_shape=False)
    total = int(types["total_ns"].sum())
    return KernelUse(
        use.counters, len(use), total, use.counted, operations, counted_ns, use.wrong, types, use.table(), use.slow()
    )


@dataclass(frozen=True, slots=True)
class Achieved:
    """Operations per second, NaN for unknown. source: "counters", "summary" (a file that MindSpore wrote), or ""."""

    per_s: float
    source: str


def achieved(found: KernelUse | None, flops: pd.DataFrame | None) -> Achieved:
    """Return operations per second of the kernels whose operations were counted, else those of cube units in a frame FLOPS.

    Counters that are all 0 say nothing: the profiler had not turned them on.
    """
    if found is not None and found.counted_ns > 0 and found.operations > 0:
        return Achieved(found.operations * 1e9 / found.counted_ns, "counters")
    cube = [] if flops is None else flops[flops["unit"] == "cube"]["flops_per_s"].dropna().tolist()
    return Achieved(float(cube[0]), "summary") if cube and cube[0] > 0 else Achieved(math.nan, "")


def of_peak(table: pd.DataFrame, peak_per_s: float) -> pd.DataFrame:
    """Return a table of EFFICIENCY with shares of a peak in operations per second, NaN for unknown."""
    return table.assign(share=table["per_s"] / (peak_per_s if peak_per_s > 0 else np.nan))


def above_peak(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a table of EFFICIENCY with more operations per second than the peak, the highest share first."""
    return table[table["share"] > 1].sort_values("share", ascending=False, kind="stable", ignore_index=True)


def bound_times(table: pd.DataFrame) -> dict[str, int]:
    """Return the time in ns of kernels bound by "compute", by "memory", by "neither", and without counters that say so ("")."""
    sums = table.groupby(table["bound"].astype("str"), observed=True)["total_ns"].sum()
    return {name: int(sums.get(name, 0)) for name in ("compute", "memory", "neither", "")}

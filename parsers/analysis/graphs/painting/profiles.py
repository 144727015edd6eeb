"""Amounts from the frames of a profile: operators, kernels and allocations of memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from parsers.analysis.graphs.painting.amounts import WHOLE, Amounts
from parsers.analysis.profiles.efficiency.counters import COMPUTE, OPERATIONS, PREFIX
from parsers.analysis.profiles.operator_times import measure
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

FRAMES: Mapping[str, tuple[str, ...]] = {
    "time": ("operators", "kernels"),
    "flops": ("operators", "kernels"),
    "use": ("operators", "kernels"),
    "memory": ("operator_memory", "step_times"),
}
"""Metric -> the frames it is computed from. The first one has the values of the whole profile."""


def amounts_of(metric: str, frames: Mapping[str, pd.DataFrame]) -> Amounts:
    """Return the amounts of one metric (a key of FRAMES); frames that are missing are left out.

    Values of the whole profile are those of the table of operators, values of steps those of kernels that are marked with
    one, and of allocations within the time of a step. Where both have a metric, both are there.
    """
    if metric == "memory":
        return _memory(frames.get("operator_memory"), frames.get("step_times"))
    operators, kernels = frames.get("operators"), frames.get("kernels")
    parts = []
    if operators is not None and len(operators):
        parts.append(_of_operators(metric, operators))
    if kernels is not None and len(kernels):
        step = kernels["step"].to_numpy(np.int64)
        if not any(map(len, parts)):
            parts.append(_of_kernels(metric, kernels, np.full(len(kernels), WHOLE, np.int64)))
        if (step > WHOLE).any():
            marked = kernels[step > WHOLE]
            parts.append(_of_kernels(metric, marked, step[step > WHOLE]))
    return Amounts.joined(parts)


def _of_operators(metric: str, operators: pd.DataFrame) -> Amounts:
    name = operators["full_name"].array
    if metric == "time":
        value = operators[measure(operators)].fillna(operators["mean_ns"]).to_numpy(np.float64)
    elif metric == "flops":
        parts = operators[["flops", "vector_flops"]].to_numpy(np.float64)
        value = np.where(np.isnan(parts).all(axis=1), np.nan, np.nansum(parts, axis=1))
        value = value * operators["count"].fillna(1.0).to_numpy(np.float64)
    else:
        parts = operators[["flops_use", "vector_flops_use"]].to_numpy(np.float64)
        value = np.fmax(parts[:, 0], parts[:, 1])
    return _entries(name, np.full(len(operators), WHOLE, np.int64), value)


def _of_kernels(metric: str, kernels: pd.DataFrame, step: Ints) -> Amounts:
    name = kernels["name"].array
    duration = kernels["duration_ns"].to_numpy(np.float64)
    duration = np.where(duration >= 0, duration, np.nan)
    if metric == "time":
        return _entries(name, step, duration)
    columns = [PREFIX + one for one in (OPERATIONS if metric == "flops" else COMPUTE) if PREFIX + one in kernels]
    counters = [kernels[one].to_numpy(np.float64) for one in columns if kernels[one].dtype == np.float64]
    if not counters:
        return Amounts.empty()
    table = np.stack(counters)
    if metric == "flops":
        table = np.where(table >= 0, table, np.nan)
        return _entries(name, step, np.where(np.isnan(table).all(axis=0), np.nan, np.nansum(table, axis=0)))
    return _mean_use(name, step, duration, table)


def _mean_use(name: pd.Categorical, step: Ints, duration: Floats, table: Floats) -> Amounts:
    """The highest of several shares by name and step, each a mean weighted by time."""
    step_codes, steps = pd.factorize(step)
    cell = name.codes.astype(np.int64) * len(steps) + step_codes
    cells, place = np.unique(cell, return_inverse=True)
    best = np.full(len(cells), np.nan)
    for share in table:
        valid = (share >= 0) & (share <= 1) & (duration > 0)
        weight = np.bincount(place, np.where(valid, duration, 0.0), len(cells))
        total = np.bincount(place, np.where(valid, share * np.nan_to_num(duration), 0.0), len(cells))
        mean = np.divide(total, weight, out=np.full(len(cells), np.nan), where=weight > 0)
        best = np.fmax(best, mean)
    texts = name.categories.tolist()
    return Amounts.of(texts, cells // len(steps), np.asarray(steps, np.int64)[cells % len(steps)], best)


def _memory(blocks: pd.DataFrame | None, steps: pd.DataFrame | None) -> Amounts:
    """Bytes allocated by operator: in the whole recording, and within the time of each step."""
    if blocks is None or not len(blocks):
        return Amounts.empty()
    size = blocks["size_bytes"].to_numpy(np.float64)
    size = np.where(size >= 0, size, np.nan)
    name = blocks["name"].array
    parts = [_entries(name, np.full(len(blocks), WHOLE, np.int64), size)]
    if steps is not None and len(steps):
        order = np.argsort(steps["start_ns"].to_numpy(), kind="stable")
        start, end = steps["start_ns"].to_numpy(np.int64)[order], steps["end_ns"].to_numpy(np.int64)[order]
        time = blocks["allocated_ns"].to_numpy(np.int64)
        place = np.searchsorted(start, time, "right") - 1
        inside = (place >= 0) & (time >= 0) & (time < end[np.maximum(place, 0)])
        rows = np.flatnonzero(inside)
        number = steps["step"].to_numpy(np.int64)[order][place[rows]]
        parts.append(_entries(name.take(rows), number, size[rows]))
    return Amounts.joined(parts)


def _entries(name: Any, step: Ints, value: Floats) -> Amounts:
    known = name.codes >= 0
    return Amounts.of(name.categories.tolist(), name.codes[known].astype(np.int64), step[known], value[known])

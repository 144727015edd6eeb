"""Advice from kernels of torch: many short ones, and products in float32 where the device has tensor cores."""

from __future__ import annotations

import numpy as np

from parsers.analysis.jobs.advice.launching import covered_by, kernels_of_steps
from parsers.analysis.jobs.advice.model import MOST_ROWS, Advice, Frames, Told, Unchecked, frame_of
from parsers.analysis.profiles.busy import COMMUNICATION, COPY
from parsers.analysis.profiles.efficiency.tensor_cores import multiplies_float32, tensor_cores
from parsers.analysis.profiles.launches import LAUNCH_BEGIN, LAUNCH_END
from parsers.deferred import pandas as pd

SHORT_NS = 10_000
"""Kernels shorter than this one are short: a launch takes about as long."""


def short_kernels(frames: Frames, limit: float) -> Advice | None:
    """Kernels of less than 10 us, launched one by one, take more than this fraction of the steps with the gaps between them.

    Time beside longer kernels does not count, nor do gaps in which the host had not launched yet, which are those of another
    rule. The gaps between two short kernels are what joining them saves at least.
    """
    kernels, whole, number = kernels_of_steps(frames)
    begin = kernels[LAUNCH_BEGIN]
    alone = ~((begin >= 0) & begin.duplicated(keep=False))  # A graph is one launch of many kernels.
    computes = (kernels["core"] != COPY) & ~kernels["core"].isin(COMMUNICATION)
    chosen = (computes & alone & (kernels["duration_ns"] < SHORT_NS)).to_numpy(bool)
    short = kernels[chosen]
    if short.empty:
        return None
    gaps = float(_gaps(kernels, chosen))
    spent = covered_by(kernels) - covered_by(kernels[~chosen]) + gaps
    if not spent / whole > limit:
        return None
    times = short.groupby("type", observed=True)["duration_ns"].agg(["count", "mean", "sum"]).reset_index()
    shown = times.rename(columns={"mean": "mean_ns", "sum": "total_ns"}).sort_values("total_ns", ascending=False)
    told: Told = {"kernels": str(round(len(short) / number)), "kernel_ns": float(short["duration_ns"].median())}
    return Advice("short_kernels", spent / whole, limit, gaps / number, shown.head(MOST_ROWS), "operators", told=told)


def _gaps(kernels: pd.DataFrame, chosen: np.ndarray) -> int:
    """Return the time in which the device ran nothing between two of the chosen kernels, the second of which was launched."""
    order = np.argsort(kernels["start_ns"].to_numpy(), kind="stable")
    start, chosen = kernels["start_ns"].to_numpy()[order], chosen[order]
    end = start + kernels["duration_ns"].to_numpy()[order]
    launched = kernels[LAUNCH_END].to_numpy()[order]
    last = np.maximum.accumulate(end)[:-1]
    gap = np.maximum(start[1:] - last, 0)
    steps = kernels["step"].to_numpy()[order]
    counts = chosen[1:] & chosen[:-1] & (launched[1:] <= last) & (steps[1:] == steps[:-1])
    return int(gap[counts].sum())


def float32(frames: Frames, limit: float) -> Advice | None:
    """Products of float32 without tensor cores take more than this fraction of the steps, on a device that has these.

    How much shorter they would be depends on their sizes, so nothing is said of what this saves.
    """
    hardware = frame_of(frames, "hardware")
    chips = [] if hardware is None else [name for name in hardware["chip"].astype(str) if name]
    able = {tensor_cores(name) for name in chips}
    kernels, whole, number = kernels_of_steps(frames)
    if len(able) != 1 or "" in able:
        raise Unchecked(reason="no_tensor_cores")
    names = kernels["name"].array.categories
    product = np.append([multiplies_float32(name) for name in names], False).astype(bool)[kernels["name"].array.codes]
    products = kernels[product & (kernels["core"] != COPY).to_numpy()]
    spent = covered_by(products)
    if products.empty or not spent / whole > limit:
        return None
    times = products.groupby("type", observed=True)["duration_ns"].agg(["count", "mean", "sum"]).reset_index()
    shown = times.rename(columns={"mean": "mean_ns", "sum": "total_ns"}).sort_values("total_ns", ascending=False)
    told: Told = {"chip": chips[0], "sum_ns": spent / number}
    return Advice(
        "float32", spent / whole, limit, float("nan"), shown.head(MOST_ROWS), "operators", variant=able.pop(), told=told
    )

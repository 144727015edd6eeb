"""Advice from traces of torch: steps that fetch data, copies from pageable memory, and a host that launches too slowly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parsers.analysis.jobs.advice.model import MOST_ROWS, Advice, Frames, Told, Unchecked, frame_of, needed
from parsers.analysis.jobs.warm_up import first_differs
from parsers.analysis.profiles.busy import COMMUNICATION, COPY, covered
from parsers.analysis.profiles.launches import LAUNCH_BEGIN, LAUNCH_END, launch_figures
from parsers.deferred import pandas as pd
from parsers.model import Ints

TRACE = "chrome_trace"
SHORT_DELAY_NS = 10_000
"""A device that begins within this time of its launches has nothing to do but wait for them."""
_ITERATORS = {"_SingleProcessDataLoaderIter": "in_process", "_MultiProcessingDataLoaderIter": "by_workers"}


class Fetching(NamedTuple):
    """What fetching data takes of the steps: share of the host's time, ns of a step that it holds the device up for at most,
    their share of the steps on the device, and the steps."""

    share: float
    saved_ns: float
    saved_share: float
    steps: pd.DataFrame


def fetching_of(frames: Frames) -> Fetching | None:
    """Return what fetching data takes, None where no trace tells.

    A device that computes meanwhile loses nothing, so a step would be shorter by no more than it is idle. A first step that
    warms up does not count: its workers start.
    """
    steps, times = frame_of(frames, "steps"), frame_of(frames, "step_times")
    if steps is None or times is None:
        return None
    rows = _usual(steps)
    rows = rows[rows["fetching_ns"].notna() & (rows["step"] >= 0)]
    window = times.drop_duplicates("step").set_index("step")
    whole = (window["end_ns"] - window["start_ns"]).reindex(rows["step"])
    if not float(whole.sum()) > 0:
        return None
    held = np.minimum(rows["fetching_ns"], rows["free_ns"].fillna(np.inf))
    share = float(rows["fetching_ns"].sum() / whole.sum())
    return Fetching(share, float(held.mean()), float(held.sum() / rows["total_ns"].sum()), rows)


def fetching(frames: Frames, limit: float) -> Advice | None:
    """Fetching data by torch's DataLoader takes more than this fraction of the steps on the host, and may hold the device up
    for more than this fraction of its steps: a host that runs ahead of its device can fetch while that works."""
    found = fetching_of(frames)
    if found is None:
        raise Unchecked(TRACE)
    if not min(found.share, found.saved_share) > limit:
        return None
    operators = frame_of(frames, "operators")
    names = [] if operators is None else operators["name"].cat.categories.tolist()
    variant = next((how for text, how in _ITERATORS.items() if any(text in name for name in names)), "")
    rows = found.steps.sort_values("fetching_ns", ascending=False)
    shown = rows[["step", "fetching_ns", "free_ns", "total_ns"]].head(MOST_ROWS)
    return Advice("fetching", found.share, limit, found.saved_ns, shown, "steps", variant=variant)


def pageable(frames: Frames, limit: float) -> Advice | None:
    """Copies from pageable memory of the host, beside which nothing computes, take more than this fraction of the steps."""
    kernels, whole, number = kernels_of_steps(frames)
    copies = kernels[kernels["core"] == COPY]
    names = copies["name"].astype(str)
    to_device = names.str.contains("HtoD", regex=False)
    if to_device.any() and not names[to_device].str.contains("Pageable|Pinned").any():
        raise Unchecked(reason="no_kind_of_memory")
    chosen = copies[to_device & names.str.contains("Pageable", regex=False)]
    if chosen.empty:
        return None
    computing = kernels[(kernels["core"] != COPY) & ~kernels["core"].isin(COMMUNICATION)]
    alone = covered_by(pd.concat([chosen, computing])) - covered_by(computing)
    if not alone / whole > limit:
        return None
    size = chosen["pmu/bytes (B)"] if "pmu/bytes (B)" in chosen else pd.Series(np.nan, chosen.index)
    shown = chosen.assign(size_bytes=size).sort_values("duration_ns", ascending=False)
    shown = shown[["step", "name", "duration_ns", "size_bytes", "stream"]].head(MOST_ROWS)
    told: Told = {"copies": str(len(chosen)), "sum_ns": float(chosen["duration_ns"].sum()) / number}
    return Advice("pageable", alone / whole, limit, alone / number, shown, "operators", told=told)


def launching(frames: Frames, limit: float) -> Advice | None:
    """The busiest stream waits for launches for more than this fraction of the steps, and begins soon after each of them.

    It also waits for a call that began before it had nothing to do: with kernels of 2 to 6 us most calls do. What fetching data
    explains is not counted, as the host launches nothing meanwhile, nor is a host that waited for a copy (`held_of`).
    """
    kernels, whole, number = kernels_of_steps(frames)
    found = launch_figures(kernels)
    if found is None:
        raise Unchecked(TRACE)
    stream = found.streams[0]
    fetched = fetching_of(frames)
    late = stream.late_ns - held_of(kernels) - (0.0 if fetched is None else fetched.saved_ns * number)
    if not (found.median_ns < SHORT_DELAY_NS and late / whole > limit):
        return None
    times = kernels.groupby("type", observed=True)["duration_ns"].agg(["count", "mean", "sum"]).reset_index()
    shown = times.rename(columns={"mean": "mean_ns", "sum": "total_ns"}).sort_values("count", ascending=False).head(MOST_ROWS)
    told: Told = {
        "delay_ns": found.median_ns, "launches": str(round(len(found.delay_ns) / number)),
        "kernel_ns": float(kernels["duration_ns"].median()), "stream": str(stream.stream),
        "longer_share": found.longer_calls / len(found.delay_ns),
    }  # fmt: skip
    return Advice("launching", late / whole, limit, late / number, shown, "operators", told=told)


def held_of(kernels: pd.DataFrame) -> int:
    """Return how long (ns) the device had nothing to do after a copy to the host that the host waited for.

    That is a copy whose call ended after it, as that of `item`, with nothing else launched meanwhile: the gap until the next
    kernel of the same step, which was launched once the copy had ended. The gap to the next step is left to other rules.
    """
    timed = kernels[(kernels[LAUNCH_BEGIN] >= 0) & (kernels["start_ns"] >= 0)].sort_values("start_ns", kind="stable")
    start, called = timed["start_ns"].to_numpy(np.int64), timed[LAUNCH_BEGIN].to_numpy(np.int64)
    end, step = start + timed["duration_ns"].to_numpy(np.int64), timed["step"].to_numpy()
    names = timed["name"].cat.categories
    to_host = timed["name"].isin(names[names.str.contains("DtoH", regex=False)]).to_numpy()
    waited = (to_host & (timed["core"] == COPY).to_numpy() & (timed[LAUNCH_END].to_numpy() >= end))[:-1]
    busy = np.maximum.accumulate(end)[:-1]
    waited &= (called[1:] >= end[:-1]) & (step[1:] == step[:-1])
    return int(np.maximum(start[1:] - busy, 0)[waited].sum())


def kernels_of_steps(frames: Frames) -> tuple[pd.DataFrame, float, int]:
    """Return the kernels of whole steps but a first one that warms up, the time of these steps, and their number; Unchecked
    without any."""
    kernels, steps = needed(frames, "kernels", TRACE), needed(frames, "steps", TRACE)
    if LAUNCH_BEGIN not in kernels:
        raise Unchecked(TRACE)
    rows = _usual(steps)
    rows = rows[rows["total_ns"] > 0]
    chosen = kernels[kernels["step"].isin(rows["step"])]
    if rows.empty or chosen.empty:
        raise Unchecked(TRACE)
    return chosen, float(rows["total_ns"].sum()), len(rows)


def _usual(steps: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of whole steps, without a first one that warms up."""
    rows = steps[steps["kind"] == "step"]
    return rows.iloc[1:] if len(rows) and first_differs(rows["total_ns"].to_numpy(np.float64)) else rows


def covered_by(kernels: pd.DataFrame) -> int:
    """Return the length of the union of kernels, ns."""
    start: Ints = kernels["start_ns"].to_numpy()
    return covered(start, start + kernels["duration_ns"].to_numpy())

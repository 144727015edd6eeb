"""Advice about feeding: queues that run empty, slow operations of the pipeline, a busy machine."""

from __future__ import annotations

import math

import numpy as np

from parsers.analysis.jobs.advice.model import MOST_ROWS, Advice, Frames, Unchecked, frame_of, needed
from parsers.analysis.jobs.advice.steps import fed, interval_of
from parsers.analysis.profiles.preparation import (
    QUEUE_USE,
    WAITED,
    Waited,
    cpu_use,
    flow,
    limiting_operation,
    queue_rates,
    slow_operations,
    waited,
)
from parsers.deferred import pandas as pd

LONG_NS = 500_000.0
"""Interval between steps from which on they wait for their data, as in MindInsight."""
LEAST_BATCHES = 2
"""Minimum batches for a statement about a queue: before the first one every queue is empty."""
ENOUGH = 10
"""Batches, or samples, from which on nothing found means that there is nothing: fewer miss a fault of one in five in a third of
cases (0.8 ** 5), ten in a tenth."""
_QUEUE_FILES = ("device_queue", "dataset_iterator")
_PIPELINE_FILES = ("pipeline_profiling", "pipeline_raw")


def empty(frames: Frames, limit: float) -> Advice | None:
    """MindInsight: the host queue is empty, so steps wait for the pipeline; or the queue of the device is, for transmission.

    Which operations are slow is said where the pipeline tells. Cost: mean time to get the data, or to push it on,
    where it is more than the millisecond that is counted in.
    """
    queues = needed(frames, "queues", *_QUEUE_FILES)
    rates, wait = judged_rates(queues), waited(queues)
    way = flow(rates, wait)
    if not way.slow:
        raise Unchecked(*_QUEUE_FILES)
    if fed(frames):
        return None
    _enough_waits(frames, queues, wait)
    long = wait is not None and wait.share > WAITED
    if way.slow not in ("pipeline", "transmission") or (way.slow == "pipeline" and not way.empty > limit and not long):
        _enough(float(rates["batches"].max()), "few_batches")
        return None
    if wait is not None and long and not way.empty > limit:
        return _waiting(queues, wait, way.slow)
    kinds = ["device"] if way.slow == "transmission" else ["host", "iterator"]
    row = rates[rates["queue"].isin(kinds)].iloc[0]
    if row["empty"] < LEAST_BATCHES:
        _enough(float(row["batches"]), "few_batches")
        return None
    part = "get_ns" if way.slow == "pipeline" else "push_ns"
    host = rates[rates["queue"] == "host"]
    timed = host.iloc[0] if way.slow == "transmission" and len(host) else row
    empty = queues[(queues["queue"] == row["queue"]) & (queues["size"] == 0)]
    shown = empty[["queue", "step", "size", "capacity", "total_ns", "get_ns"]].head(MOST_ROWS)
    value = float(row["empty"]) / float(row["batches"])
    exceeded = limit if way.slow == "pipeline" else 0.0
    cost = float(timed[part]) or math.nan
    return Advice("empty", value, exceeded, cost, shown, "preparation", (way.slow,))


def _waiting(queues: pd.DataFrame, wait: Waited, stage: str) -> Advice:
    """Say how long steps waited, where a queue was seldom empty: the share and the longest waits."""
    names = ["device"] if (queues["queue"] == "device").any() else ["iterator"]
    rows = queues[queues["queue"].isin(names)].sort_values("get_ns", ascending=False)
    shown = rows[["queue", "step", "size", "capacity", "total_ns", "get_ns"]].head(MOST_ROWS)
    return Advice("empty", wait.share, WAITED, wait.wait_ns, shown, "preparation", (stage,), variant="waited")


def queue_use(frames: Frames, limit: float) -> Advice | None:
    """MindInsight: operations of the pipeline whose queues are hardly used, where the host queue is empty too often."""
    pipeline, queues = needed(frames, "pipeline", *_PIPELINE_FILES), frame_of(frames, "queues")
    if queues is not None:
        samples = queues[queues["queue"] == "operator"].groupby("op_id").size()
        pipeline = pipeline[~pipeline["op_id"].isin(samples.index[samples < LEAST_BATCHES])]
    if not pipeline["queue_use"].notna().any():
        raise Unchecked(*_PIPELINE_FILES)
    if queues is not None and not fed(frames):
        _enough_waits(frames, queues, waited(queues))
    if fed(frames) or (queues is not None and _not_the_pipeline(frames, judged_rates(queues), waited(queues))):
        return None
    slow = limiting_operation(pipeline, queues) if queues is not None else []
    slow = slow or slow_operations(pipeline, (limit, min(limit, QUEUE_USE[1])))
    if not slow:
        _enough(_most_samples(queues), "few_samples")
        return None
    rows = pipeline[pipeline["op_id"].isin([one.op_id for one in slow]) & (pipeline["stage"] == "")]
    shown = rows[["op_id", "type", "workers", "queue_mean", "queue_length", "queue_use", "queue_empty"]].head(MOST_ROWS)
    types = tuple(dict.fromkeys(one.type for one in slow))
    return Advice("queue_use", min(one.use for one in slow), limit, math.nan, shown, "preparation", types)


def cpu(frames: Frames, limit: float) -> Advice | None:
    """The cores of the machine run programs or the kernel for more than 80 % of the time.

    MindInsight takes 100 % less idle time, which counts a core that waits for a disk as busy; it counts where nothing else is
    known.
    """
    machine = cpu_use(needed(frames, "cpu", "cpu_utilization"))
    machine = machine[machine["scope"] == "machine"]
    if not len(machine):
        raise Unchecked("cpu_utilization")
    user, system, idle = (float(machine[name].iloc[0]) for name in ("user", "system", "idle"))
    busy = 1.0 - idle if math.isnan(user + system) else user + system
    if not np.isfinite(busy):
        raise Unchecked("cpu_utilization")
    if busy > limit:
        return Advice("cpu", busy, limit, math.nan, machine, "preparation")
    _enough(float(machine["samples"].iloc[0]), "few_samples")
    return None


def _enough(number: float, reason: str) -> None:
    """Raise Unchecked if there are too few batches or samples to conclude that nothing is wrong."""
    if number < ENOUGH:
        raise Unchecked(reason=reason)


def _enough_waits(frames: Frames, queues: pd.DataFrame, wait: Waited | None) -> None:
    """Raise Unchecked if so few waits are timed that an empty queue may be chance, and no trace says that steps wait."""
    timed = queues[queues["queue"].isin(["iterator", "device"]) & (queues["time_ns"] >= 0)]
    steps = frame_of(frames, "steps")
    found = interval_of(steps) if steps is not None else None
    if wait is None and len(timed) and not (found is not None and found[0] > LONG_NS):
        _enough(float(timed.groupby("queue", observed=True).size().max()), "few_batches")


def _most_samples(queues: pd.DataFrame | None) -> float:
    """Return how often the queue of an operation was sampled, of the one with most; infinite where only its mean is known."""
    samples = None if queues is None else queues[queues["queue"] == "operator"].groupby("op_id").size()
    return float(samples.max()) if samples is not None and len(samples) else math.inf


def judged_rates(queues: pd.DataFrame) -> pd.DataFrame:
    """Return the rates of the queues with enough batches."""
    rates = queue_rates(queues)
    return rates[rates["batches"] >= LEAST_BATCHES]


def _not_the_pipeline(frames: Frames, rates: pd.DataFrame, wait: Waited | None) -> bool:
    """Return whether queues show that steps do not wait for the pipeline.

    A queue on the device that is never empty does not if the trace records long intervals nevertheless.
    """
    slow = flow(rates, wait).slow
    if slow in ("", "pipeline") or wait is not None:
        return slow not in ("", "pipeline")
    steps = frame_of(frames, "steps")
    found = interval_of(steps) if steps is not None else None
    waits = found is not None and found[0] > LONG_NS
    return not waits or bool(rates["queue"].isin(["host", "iterator"]).any())

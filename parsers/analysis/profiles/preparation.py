"""Analyses how data gets from the data set to the network, and finds the bottleneck: queues and operations of the pipeline.

Data passes, in this order: operations of the pipeline, each with an output queue; the queue on the host; transmission; if data
is sunk, the queue on the device and get_next there; forward and backward. An empty queue means that its producer is slower than
its consumer, a full one the reverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parsers.deferred import pandas as pd
from parsers.model import Floats
from parsers.schema import Column, Schema

EMPTY_RATE = 0.3
"""A host queue that is empty in more of its batches keeps the steps waiting (MindInsight's rule for its process diagram)."""
QUEUE_USE = (0.8, 0.6)
"""MindInsight's thresholds of its pipeline helper: where all queues are used above the first nothing is slow, an operation
without any before it is slow where its queue is used below the second."""
USE_DROP = 0.1
"""An operation is slow if its input queue is used this much more than its output queue."""
WAITING = 0.01
"""Steps that wait for their data for less than this fraction of their time do not profit from a faster pipeline."""
WAITED = 0.02
"""Steps that wait for more than this fraction of their time are slowed down by it, however seldom a queue is empty."""
LEAST_WAITS = 9
"""Steps, without the first, from which on their waits are taken for those of others."""
LEAST_STARVED = 5
"""Samples in which the last queue is empty from which on they tell the operation that the others wait for."""
LARGEST_DROP = 0.4
"""Of queues from full (data that is read) to empty (the last one), the operation that the others wait for drops this much."""
STAGES = ("pipeline", "host_queue", "transmission", "device_queue", "get_next", "forward_backward")
"""What data passes, in order; feeding without sinking ends its list of stages after transmission."""

QUEUE_RATES = Schema(
    "queue_rates",
    "Queues of steps in numbers, a row for each.",
    (
        Column("queue", "str", "", "host, iterator or device"),
        Column("batches", "int64", "", "steps whose queue size is known"),
        Column("empty", "int64", "", "of them with an empty queue"),
        Column("full", "int64", "", "of them with a full queue; 0 where the capacity is not known"),
        Column("capacity", "float64", "", "entries the queue can hold; NaN for unknown"),
        Column("mean_size", "float64", "", "mean of its entries; NaN for no batch"),
        Column("total_ns", "float64", "ns", "mean time that a step was fed or waited; NaN for unknown"),
        Column("push_ns", "float64", "ns", "mean time to push the data on; NaN for unknown"),
        Column("get_ns", "float64", "ns", "mean time to get the data; NaN for unknown"),
    ),
)


def queue_rates(queues: pd.DataFrame) -> pd.DataFrame:
    """Empty and full batches of the queues of steps (frame QUEUES -> schema QUEUE_RATES), in the order data passes them."""
    rows = []
    for name in ("host", "iterator", "device"):
        one = queues[queues["queue"] == name]
        if not len(one):
            continue
        size, capacity = one["size"].to_numpy(), one["capacity"].to_numpy()
        known = np.isfinite(size)
        rows.append({
            "queue": name, "batches": int(known.sum()), "empty": int((size[known] == 0).sum()),
            "full": int((known & (capacity > 0) & (size >= capacity)).sum()), "capacity": _largest(capacity),
            "mean_size": _mean(size), **{part: _mean(one[part].to_numpy()) for part in ("total_ns", "push_ns", "get_ns")},
        })  # fmt: skip
    frame = pd.DataFrame(rows, columns=list(QUEUE_RATES.names))
    return QUEUE_RATES.check(frame.astype({column.name: column.dtype for column in QUEUE_RATES.columns}))


@dataclass(frozen=True, slots=True)
class DataFlow:
    """The stages that data passes in a profile, and the slow one ("" if unknown).

    sunk: whether data goes through a queue on the device. empty: part of the batches that found the queue to judge by empty.
    """

    sunk: bool
    slow: str
    empty: float

    @property
    def stages(self) -> tuple[str, ...]:
        """Of STAGES, those that data passes."""
        return STAGES if self.sunk else tuple(stage for stage in STAGES if stage not in ("device_queue", "get_next"))


@dataclass(frozen=True, slots=True)
class Waited:
    """How long steps waited for their data, without the first, which fills the queues: by the rest of their time (share), on
    average (wait_ns), over how many (steps); and the stage that they waited for."""

    share: float
    wait_ns: float
    steps: int
    stage: str


def waited(queues: pd.DataFrame) -> Waited | None:
    """How long steps waited, of get_next on the device or else of the iterator (frame QUEUES).

    None without times, or for fewer than LEAST_WAITS. The device waits only while the host gets the data or pushes it. So the
    pipeline is at fault if the host got data for at least half the time that the device waited, and else the transmission.
    Pushing tells nothing: it waits for room as well.
    """
    device, iterator, host = (queues[queues["queue"] == name].iloc[1:] for name in ("device", "iterator", "host"))
    rows = device if len(device) else iterator
    time, get = rows["time_ns"].to_numpy(), rows["get_ns"].to_numpy()
    if len(rows) < LEAST_WAITS or (time < 0).any() or not np.isfinite(get).all():
        return None
    # The device has the start of the wait, the iterator its end: either way one wait is outside the span of the others.
    inside = get[:-1] if len(device) else get[1:]
    wait, rest = float(inside.sum()), float(time.max() - time.min() - inside.sum())
    if rest <= 0:
        return None
    got = host["get_ns"].to_numpy()
    late = len(device) and len(host) and np.isfinite(got).all() and float(got.sum()) < wait / 2
    return Waited(wait / rest, wait / len(inside), len(rows) + 1, "transmission" if late else "pipeline")


def flow(rates: pd.DataFrame, wait: Waited | None = None) -> DataFlow:
    """Find the slow stage: where it is known how long steps waited, by that (`waited`), else by MindInsight's rule.

    That rule (reference: process diagram of its data preparation page) says the pipeline where the host queue was empty in more
    than EMPTY_RATE of the batches; else, where the queue on the device was ever empty, the transmission; else the device
    itself: forward and backward.
    """
    by_queue = {str(row["queue"]): row for _, row in rates.iterrows() if row["batches"]}
    host = by_queue.get("host", by_queue.get("iterator"))
    device = by_queue.get("device")
    if host is None and device is None:
        return DataFlow(False, "", float("nan"))
    measure = host if host is not None else device
    assert measure is not None
    empty = float(measure["empty"]) / float(measure["batches"])
    if wait is not None:
        return DataFlow(device is not None, wait.stage if wait.share >= WAITING else "forward_backward", empty)
    if host is not None and empty > EMPTY_RATE:
        return DataFlow(device is not None, "pipeline", empty)
    if device is not None and device["empty"]:
        return DataFlow(True, "transmission", empty)
    return DataFlow(device is not None, "forward_backward", empty)


@dataclass(frozen=True, slots=True)
class Slow:
    """An operation of the pipeline that keeps the others waiting: its id and type, the use of its queue and of those before
    it (NaN for an operation that reads the data)."""

    op_id: int
    type: str
    use: float
    before: float


def slow_operations(pipeline: pd.DataFrame, thresholds: Sequence[float] = QUEUE_USE, drop: float = USE_DROP) -> list[Slow]:
    """Operations that are slower than those before them (frame PIPELINE), by MindInsight's rule, in the order of the data.

    None where every queue is used by the first threshold or more. Otherwise an operation whose queue is used by more than drop
    less than a queue before it, and one that reads data and whose queue is used by less than the second threshold.
    """
    rows = pipeline[(pipeline["op_id"] >= 0) & (pipeline["stage"] == "")]
    use = dict(zip(rows["op_id"].tolist(), rows["queue_use"].tolist(), strict=True))
    known = [each for each in use.values() if np.isfinite(each)]
    if not known or min(known) >= thresholds[0]:
        return []
    before: dict[int, list[float]] = {}
    for op_id, parent in zip(rows["op_id"].tolist(), rows["parent"].tolist(), strict=True):
        before.setdefault(parent, []).append(use[op_id])
    found = []
    for op_id, kind in zip(rows["op_id"].tolist(), rows["type"].astype(str).tolist(), strict=True):
        own, others = use[op_id], before.get(op_id)
        if not np.isfinite(own):
            continue
        feeding = max((each for each in others if np.isfinite(each)), default=float("nan")) if others else float("nan")
        if others and feeding - own > drop:
            found.append(Slow(op_id, kind, own, feeding))
        elif not others and own < thresholds[1]:
            found.append(Slow(op_id, kind, own, float("nan")))
    return found[::-1]


def limiting_operation(pipeline: pd.DataFrame, queues: pd.DataFrame) -> list[Slow]:
    """The operation that the others wait for, while the network waits (frames PIPELINE and QUEUES); empty if that is not clear.

    Of the samples in which the last queue is empty: behind the operation queues are empty, before it they are full. It is the
    one with the largest difference between the emptiest queue before it (1 for what reads data) and its own.
    """
    rows = pipeline[(pipeline["op_id"] >= 0) & (pipeline["stage"] == "")].drop_duplicates("op_id")
    sampled = queues[(queues["queue"] == "operator") & (queues["capacity"] > 0)]
    used = sampled.assign(use=sampled["size"] / sampled["capacity"]).drop_duplicates(["step", "op_id"])
    sizes = used.pivot(index="step", columns="op_id", values="use")
    known = [op for op in rows["op_id"].tolist() if op in sizes.columns]
    if not known:
        return []
    starved = sizes[sizes[known[0]] == 0]
    if len(starved) < LEAST_STARVED:
        return []
    use = starved.mean()
    drops = []
    for op_id, kind in zip(rows["op_id"].tolist(), rows["type"].astype(str).tolist(), strict=True):
        before = [use.get(child, float("nan")) for child in rows.loc[rows["parent"] == op_id, "op_id"]]
        if op_id in known:
            feeding = min(before, default=1.0)
            slow = Slow(op_id, kind, float(use[op_id]), float(feeding) if before else float("nan"))
            drops.append((feeding - use[op_id], slow))
    largest, slow = max(drops, key=lambda drop: drop[0])
    return [slow] if largest >= LARGEST_DROP else []


def cpu_use(cpu: pd.DataFrame, first: int | None = None, last: int | None = None) -> pd.DataFrame:
    """Mean use of the CPU by scope and operation over the samples of steps first to last (frame CPU): columns scope, op_id,
    samples, user, system, io, idle, as parts of all cores.

    The first sample, which covers what was before the profile, counts only where there is no other (MindInsight drops it).
    """
    step = cpu["step"]
    chosen = cpu[(step >= (-1 if first is None else first)) & (step <= (step.max() if last is None else last))]
    later = chosen[chosen["sample"] > 0]
    chosen = later if len(later) else chosen
    parts = ["user", "system", "io", "idle"]
    grouped = chosen.groupby(["scope", "op_id"], observed=True, sort=True)[parts]
    return grouped.mean().assign(samples=grouped.size()).reset_index()[["scope", "op_id", "samples", *parts]]


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else float("nan")


def _largest(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.max()) if known.size else float("nan")

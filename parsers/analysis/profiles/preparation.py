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
class Flow:
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


def flow(rates: pd.DataFrame) -> Flow:
    """Find the slow stage by MindInsight's rule (reference: process diagram of its data preparation page).

    The pipeline where the host queue was empty in more than EMPTY_RATE of the batches; else, where the queue on the device was
    ever empty, the transmission; else the device itself: forward and backward.
    """
    by_queue = {str(row["queue"]): row for _, row in rates.iterrows() if row["batches"]}
    host = by_queue.get("host", by_queue.get("iterator"))
    device = by_queue.get("device")
    if host is None and device is None:
        return Flow(False, "", float("nan"))
    measure = host if host is not None else device
    assert measure is not None
    empty = float(measure["empty"]) / float(measure["batches"])
    if host is not None and empty > EMPTY_RATE:
        return Flow(device is not None, "pipeline", empty)
    if device is not None and device["empty"]:
        return Flow(True, "transmission", empty)
    return Flow(device is not None, "forward_backward", empty)


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

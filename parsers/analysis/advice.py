"""Advice from a profile: rules over its frames, each with the rows that support it and the time that could be saved.

The rules and their thresholds are those of MindInsight's helper (`THRESHOLDS`), with a counterpart for step traces that have
idle time instead of an iteration interval, and one for operators that fell back to the AI CPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd

from parsers.analysis.preparation import EMPTY_RATE, QUEUE_USE, cpu_use, flow, queue_rates, slow_operations
from parsers.analysis.steps import IDLE, average, breakdowns

THRESHOLDS: Mapping[str, float] = MappingProxyType({
    "interval": 500_000.0, "idle": 0.1, "empty": EMPTY_RATE, "cpu": 0.8, "queue_use": QUEUE_USE[0], "ai_cpu": 0.05,
})  # fmt: skip
"""Rule -> threshold to exceed, for `queue_use` to fall below. interval in ns, all others are fractions of 1."""
FEEDING = ("InitData", "GetNext", "EndOfSequence")
"""Operators that feed data and always run on the AI CPU."""
MOST_ROWS = 20
"""Maximum rows of evidence; the page named in the advice shows all."""


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """The finding of a rule. value: what exceeds (or falls below) threshold. cost_ns: time per step that could be saved, NaN if
    unknown. evidence: the rows that support it, from the frame that `page` shows. subject: the affected part, such as the
    slow stage of feeding or types of operators; "" for the whole.
    """

    rule: str
    value: float
    threshold: float
    cost_ns: float
    evidence: pd.DataFrame
    page: str
    subject: tuple[str, ...] = ()


Frames = Mapping[str, pd.DataFrame | None]


def advise(frames: Frames, thresholds: Mapping[str, float] = THRESHOLDS) -> list[Advice]:
    """Return advice from the frames of a profile by name (steps, queues, pipeline, cpu, operators; None or missing: no file).

    Advice always has supporting rows. The largest cost comes first, unknown costs last. thresholds override those of
    THRESHOLDS; KeyError for an unknown rule.
    """
    unknown = set(thresholds) - set(THRESHOLDS)
    if unknown:
        raise KeyError(f"expected rules {', '.join(THRESHOLDS)}; found {', '.join(sorted(unknown))}")
    limits = {**THRESHOLDS, **thresholds}
    judged = (judge(frames, limits[rule]) for rule, judge in _RULES.items())
    found = [advice for advice in judged if advice is not None and len(advice.evidence)]
    return sorted(found, key=lambda one: (math.isnan(one.cost_ns), -one.cost_ns if one.cost_ns == one.cost_ns else 0.0))


def _frame(frames: Frames, name: str) -> pd.DataFrame | None:
    frame = frames.get(name)
    return frame if frame is not None and len(frame) else None


def _interval(frames: Frames, limit: float) -> Advice | None:
    """MindInsight: the average iteration interval is longer than 0.5 ms."""
    steps = _frame(frames, "steps")
    if steps is None:
        return None
    for breakdown in breakdowns(steps):
        usual = average(breakdown) if "interval" in breakdown.parts else None
        if usual is not None and (waited := usual.time_of("interval")) > limit:
            rows = steps[(steps["kind"] == "step") & (steps["interval_ns"] > limit)]
            shown = rows.sort_values("interval_ns", ascending=False)[["step", "interval_ns", "total_ns"]]
            return Advice("interval", waited, limit, waited, shown.head(MOST_ROWS), "steps")
    return None


def _idle(frames: Frames, limit: float) -> Advice | None:
    """Counterpart for new step traces: the device neither computes nor communicates for more than this fraction of the step."""
    steps = _frame(frames, "steps")
    if steps is None:
        return None
    for breakdown in breakdowns(steps):
        usual = average(breakdown) if breakdown.form == "new" else None
        if usual is None or not usual.whole_ns > 0:
            continue
        idle = math.fsum(usual.time_of(part) for part in IDLE)
        if idle / usual.whole_ns > limit:
            rows = steps[steps["kind"] == "step"].sort_values("free_ns", ascending=False)
            shown = rows[["step", "free_ns", "preparing_ns", "total_ns"]].head(MOST_ROWS)
            return Advice("idle", idle / usual.whole_ns, limit, idle, shown, "steps")
    return None


def _empty(frames: Frames, limit: float) -> Advice | None:
    """MindInsight: the host queue is empty, so steps wait for the pipeline; or the queue of the device is, for transmission.

    Which operations are slow is said where the pipeline tells. Cost: mean time to get the data, or to push it on,
    where it is more than the millisecond that is counted in.
    """
    queues = _frame(frames, "queues")
    if queues is None:
        return None
    rates = queue_rates(queues)
    way = flow(rates)
    if way.slow not in ("pipeline", "transmission") or (way.slow == "pipeline" and not way.empty > limit):
        return None
    kinds = ["device"] if way.slow == "transmission" else ["host", "iterator"]
    row = rates[rates["queue"].isin(kinds) & (rates["batches"] > 0)].iloc[0]
    part = "get_ns" if way.slow == "pipeline" else "push_ns"
    host = rates[rates["queue"] == "host"]
    timed = host.iloc[0] if way.slow == "transmission" and len(host) else row
    empty = queues[(queues["queue"] == row["queue"]) & (queues["size"] == 0)]
    shown = empty[["queue", "step", "size", "capacity", "total_ns", "get_ns"]].head(MOST_ROWS)
    value = float(row["empty"]) / float(row["batches"])
    exceeded = limit if way.slow == "pipeline" else 0.0
    cost = float(timed[part]) or math.nan
    return Advice("empty", value, exceeded, cost, shown, "preparation", (way.slow,))


def _slow(frames: Frames, limit: float) -> Advice | None:
    """MindInsight: operations of the pipeline whose queues are hardly used, where the host queue is empty too often."""
    pipeline, queues = _frame(frames, "pipeline"), _frame(frames, "queues")
    if pipeline is None:
        return None
    way = flow(queue_rates(queues)) if queues is not None else None
    if way is not None and way.slow and way.slow != "pipeline":
        return None
    slow = slow_operations(pipeline, (limit, min(limit, QUEUE_USE[1])))
    if not slow:
        return None
    rows = pipeline[pipeline["op_id"].isin([one.op_id for one in slow]) & (pipeline["stage"] == "")]
    shown = rows[["op_id", "type", "workers", "queue_mean", "queue_length", "queue_use", "queue_empty"]].head(MOST_ROWS)
    types = tuple(dict.fromkeys(one.type for one in slow))
    return Advice("queue_use", min(one.use for one in slow), limit, math.nan, shown, "preparation", types)


def _cpu(frames: Frames, limit: float) -> Advice | None:
    """MindInsight: 100 % - average idle of the machine is more than 80 %."""
    cpu = _frame(frames, "cpu")
    if cpu is None:
        return None
    machine = cpu_use(cpu)
    machine = machine[machine["scope"] == "machine"]
    if not len(machine) or not np.isfinite(machine["idle"].iloc[0]):
        return None
    busy = 1.0 - float(machine["idle"].iloc[0])
    return Advice("cpu", busy, limit, math.nan, machine, "preparation") if busy > limit else None


def _ai_cpu(frames: Frames, limit: float) -> Advice | None:
    """Operators on the AI CPU take more than this fraction of all device time; evidence are the longest ones."""
    operators = _frame(frames, "operators")
    if operators is None:
        return None
    operators = operators[~operators["type"].astype(str).isin(FEEDING)]
    core = operators["core"].astype(str)
    device, slow = operators[~core.isin(["HOST_CPU", "COMMUNICATION", ""])], operators[core == "AI_CPU"]
    # Legacy files have only the time of one execution.
    whole, spent = (float(some["total_ns"].fillna(some["mean_ns"]).sum()) for some in (device, slow))
    if not whole > 0 or not spent / whole > limit:
        return None
    shown = slow.sort_values("total_ns", ascending=False)[["name", "type", "count", "total_ns", "mean_ns"]].head(MOST_ROWS)
    steps = _frame(frames, "steps")
    told = steps["step"][steps["kind"] == "step"].nunique() if steps is not None else 0
    new = operators["file"].astype(str).str.contains("kernel_details|operator_details|op_statistic|\\.db")
    cost = spent / told if told and new.any() else (math.nan if new.any() else spent)
    types = tuple(dict.fromkeys(shown["type"].astype(str).head(3)))
    return Advice("ai_cpu", spent / whole, limit, cost, shown, "operators", types)


_RULES: Mapping[str, Callable[[Frames, float], Advice | None]] = MappingProxyType({
    "interval": _interval, "idle": _idle, "empty": _empty, "queue_use": _slow, "cpu": _cpu, "ai_cpu": _ai_cpu,
})  # fmt: skip

"""Advice from a profile: rules over its frames, each with the rows that support it and the time that could be saved.

The rules and their thresholds are those of MindInsight's helper (`THRESHOLDS`), with a counterpart for step traces that have
idle time instead of an iteration interval, and rules for communication that no computing overlaps, for calls of the host that
wait for the device, for gaps of a stream that the host causes (by the trace), and for operators that fell back to the AI CPU.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from parsers.analysis.preparation import EMPTY_RATE, QUEUE_USE, cpu_use, flow, queue_rates, slow_operations
from parsers.analysis.steps import IDLE, Average, average, breakdowns
from parsers.deferred import pandas as pd
from parsers.profiler.registry import FILE_KINDS, display_name
from parsers.profiler.trace.gaps import CAUSES

THRESHOLDS: Mapping[str, float] = MappingProxyType({
    "interval": 500_000.0, "idle": 0.1, "communication": 0.1, "synchronising": 0.05, "gaps": 0.1, "empty": EMPTY_RATE,
    "queue_use": QUEUE_USE[0], "cpu": 0.8, "ai_cpu": 0.05,
})  # fmt: skip
"""Rule -> threshold to exceed, for `queue_use` to fall below. interval in ns, all others are fractions of 1."""
FRAMES = ("steps", "communication", "operators", "queues", "pipeline", "cpu")
"""The frames that the rules look at."""
GAPS = ("gap_steps", "gap_calls")
"""Frames of `parsers.profiler.trace.idle` that the rules look at too; there are none until the trace has been read."""
FEEDING = ("InitData", "GetNext", "EndOfSequence")
"""Operators that feed data and always run on the AI CPU."""
NOT_COMPUTING = ("HOST_CPU", "COMMUNICATION", "HCCL", "")
"""Cores whose time is no computing of the device."""
SYNCHRONISING = re.compile(
    r"(?:.*::)?(?:item|_local_scalar_dense|is_nonzero|nonzero|equal|.*synchronize.*|.*memcpy.*|copy_?)", re.IGNORECASE
)
"""Operators of the host that wait for the device, or move data between the two."""
LEAST_BATCHES = 2
"""Minimum batches for a statement about a queue: before the first one every queue is empty."""
WAITING = 0.01
"""Steps that wait for their data for less than this fraction of their time do not profit from a faster pipeline."""
MOST_ROWS = 20
"""Maximum rows of evidence; the page named in the advice shows all."""


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """The finding of a rule. value: what exceeds (or falls below) threshold. cost_ns: time per step that could be saved, NaN if
    unknown. evidence: the rows that support it, from the frame that `page` shows. subject: the affected part, such as the
    slow stage of feeding or types of operators; "" for the whole. parts_ns: what the time consists of, by name, if known.
    """

    rule: str
    value: float
    threshold: float
    cost_ns: float
    evidence: pd.DataFrame
    page: str
    subject: tuple[str, ...] = ()
    parts_ns: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Review:
    """What the rules found. found: advice, the largest cost first, unknown costs last. fine: rules that had data and found
    nothing. unchecked: rule -> names of files, any of which has the data that it lacks.
    """

    found: tuple[Advice, ...]
    fine: tuple[str, ...]
    unchecked: Mapping[str, tuple[str, ...]]


class Unchecked(Exception):
    """Raised by a rule that lacks data; its arguments are the kinds (or names) of files any of which has them."""


Frames = Mapping[str, "pd.DataFrame | None"]


def advise(frames: Frames, thresholds: Mapping[str, float] = THRESHOLDS) -> list[Advice]:
    """Return the advice of `review`."""
    return list(review(frames, thresholds).found)


def review(frames: Frames, thresholds: Mapping[str, float] = THRESHOLDS) -> Review:
    """Apply all rules to the frames of a profile by name (those in FRAMES; None or missing: no file).

    Advice always has supporting rows. thresholds override those of THRESHOLDS; KeyError for an unknown rule.
    """
    unknown = set(thresholds) - set(THRESHOLDS)
    if unknown:
        raise KeyError(f"expected rules {', '.join(THRESHOLDS)}; found {', '.join(sorted(unknown))}")
    limits = {**THRESHOLDS, **thresholds}
    found: list[Advice] = []
    fine: list[str] = []
    unchecked: dict[str, tuple[str, ...]] = {}
    for rule, judge in _RULES.items():
        try:
            advice = judge(frames, limits[rule])
        except Unchecked as lacking:
            unchecked[rule] = tuple(display_name(kind) if kind in FILE_KINDS else kind for kind in lacking.args)
            continue
        if advice is not None and len(advice.evidence):
            found.append(advice)
        else:
            fine.append(rule)
    found.sort(key=lambda one: (math.isnan(one.cost_ns), -one.cost_ns if one.cost_ns == one.cost_ns else 0.0))
    return Review(tuple(found), tuple(fine), MappingProxyType(unchecked))


def _frame(frames: Frames, name: str) -> pd.DataFrame | None:
    frame = frames.get(name)
    return frame if frame is not None and len(frame) else None


def _needed(frames: Frames, name: str, *files: str) -> pd.DataFrame:
    frame = _frame(frames, name)
    if frame is None:
        raise Unchecked(*files)
    return frame


def _usual(steps: pd.DataFrame, form: str) -> Average | None:
    """Return the average step of the traces of one form, the one of most steps."""
    return next((average(one) for one in breakdowns(steps) if one.form == form), None)


def _interval_of(steps: pd.DataFrame) -> tuple[float, pd.DataFrame] | None:
    """Return the average interval of legacy steps and its rows; None if no step and no average has one.

    The first step of a trace begins with its forward pass: if there is no other one, the recorded average is the only value.
    """
    known = steps[steps["interval_ns"].notna() & (steps["step"] >= 0) & (steps["kind"] == "step")]
    usual = _usual(steps, "legacy")
    if usual is not None and (known["interval_ns"] > 0).any():
        return usual.time_of("interval"), known
    recorded = steps[(steps["kind"] == "average") & np.isfinite(steps["interval_ns"]) & (steps["interval_ns"] > 0)]
    return (float(recorded["interval_ns"].iloc[-1]), recorded.tail(1)) if len(recorded) else None


def _interval(frames: Frames, limit: float) -> Advice | None:
    """MindInsight: the average iteration interval is longer than 0.5 ms."""
    found = _interval_of(_needed(frames, "steps", "step_trace_raw"))
    if found is None:
        raise Unchecked("step_trace_raw")
    waited, rows = found
    if not waited > limit:
        return None
    rows = rows[rows["interval_ns"] > limit].sort_values("interval_ns", ascending=False)
    shown = rows[["step", "interval_ns", "total_ns"]].head(MOST_ROWS)
    return Advice("interval", waited, limit, waited, shown, "steps")


def _new_steps(frames: Frames) -> tuple[pd.DataFrame, Average]:
    steps = _needed(frames, "steps", "step_trace_time", "analysis")
    usual = _usual(steps, "new")
    if usual is None or not usual.whole_ns > 0:
        raise Unchecked("step_trace_time", "analysis")
    return steps, usual


def _idle(frames: Frames, limit: float) -> Advice | None:
    """Counterpart for new step traces: the device neither computes nor communicates for more than this fraction of the step."""
    steps, usual = _new_steps(frames)
    idle = math.fsum(usual.time_of(part) for part in IDLE)
    if not idle / usual.whole_ns > limit:
        return None
    rows = steps[steps["kind"] == "step"].sort_values("free_ns", ascending=False)
    shown = rows[["step", "free_ns", "preparing_ns", "total_ns"]].head(MOST_ROWS)
    return Advice("idle", idle / usual.whole_ns, limit, idle, shown, "steps")


def _communication(frames: Frames, limit: float) -> Advice | None:
    """Communication that no computing overlaps takes more than this fraction of the step.

    communication.json tells how much of all communication is transit, waiting for other ranks, and idle.
    """
    steps, usual = _new_steps(frames)
    exposed = usual.time_of("exposed")
    if not exposed / usual.whole_ns > limit:
        return None
    operators = _frame(frames, "communication")
    if operators is None:
        rows = steps[steps["kind"] == "step"].sort_values("exposed_ns", ascending=False)
        shown, parts = rows[["step", "exposed_ns", "overlapped_ns", "total_ns"]].head(MOST_ROWS), {}
    else:
        rows = operators.sort_values("duration_ns", ascending=False)
        shown = rows[["step", "kind", "name", "duration_ns", "transit_ns", "wait_ns", "idle_ns"]].head(MOST_ROWS)
        number = max(operators["step"].nunique(), 1)
        names = {"all": "duration_ns", "transit": "transit_ns", "wait": "wait_ns", "idle": "idle_ns"}
        parts = {part: float(operators[name].sum()) / number for part, name in names.items()}
    return Advice("communication", exposed / usual.whole_ns, limit, exposed, shown, "steps", parts_ns=parts)


def _synchronising(frames: Frames, limit: float) -> Advice | None:
    """Calls of the host that wait for the device take more than this fraction of the step, or of the self time of the host.

    Self times are summed up, as a call that waits is often counted again in the one around it. Evidence are the longest ones
    by the place in the program that calls them.
    """
    operators = _needed(frames, "operators", "operator_details")
    host = operators[(operators["core"] == "HOST_CPU") & operators["self_ns"].notna()]
    if host.empty:
        raise Unchecked("operator_details")
    names = host["name"].cat.categories[[SYNCHRONISING.fullmatch(name) is not None for name in host["name"].cat.categories]]
    calls = host[host["name"].isin(names)]
    spent = float(calls["self_ns"].sum())
    steps = _frame(frames, "steps")
    usual = _usual(steps, "new") if steps is not None else None
    number = max(steps["step"][steps["kind"] == "step"].nunique(), 1) if steps is not None else 1
    whole = usual.whole_ns * number if usual is not None else float(host["self_ns"].sum())
    if not whole > 0 or not spent / whole > limit:
        return None
    grouped = calls.groupby(["name", "stack"], observed=True, sort=False)[["count", "self_ns", "total_ns"]].sum().reset_index()
    shown = grouped.sort_values("self_ns", ascending=False)[["name", "count", "self_ns", "total_ns", "stack"]].head(MOST_ROWS)
    subject = tuple(dict.fromkeys(shown["name"].astype(str).head(3)))
    cost = spent / number if usual is not None else math.nan
    return Advice("synchronising", spent / whole, limit, cost, shown, "operators", subject)


def _gaps(frames: Frames, limit: float) -> Advice | None:
    """A stream of the device has nothing to do for more than this fraction of the step because of the host.

    That is: the host launched late, waited for the device, or waited for data. Evidence are the calls that caused the gaps,
    with their idle time per step; parts_ns are all causes, which together are the idle time of the average step.
    """
    steps, calls = frames.get("gap_steps"), _frame(frames, "gap_calls")
    if steps is None or not len(steps) or not (whole := float(steps["duration_ns"].mean())) > 0:
        raise Unchecked(*_TRACE_FILES)
    parts: dict[str, float] = {cause: float(steps[f"{cause}_ns"].mean()) for cause in CAUSES}
    late = math.fsum(parts[cause] for cause in LATE)
    if not late / whole > limit or calls is None:
        return None
    rows = calls[calls["cause"].isin(LATE)].head(MOST_ROWS)
    shown = rows[["cause", "site", "name", "count", "idle_ns", "duration_ns", "start_ns", "stack"]]
    shown = shown.assign(idle_ns=shown["idle_ns"] / len(steps))
    cost = late if (steps["step"] != "").all() else math.nan
    subject = tuple(called(site, name) for site, name in shown[["site", "name"]].head(1).itertuples(index=False))
    return Advice("gaps", late / whole, limit, cost, shown, "timeline", subject, {"whole": whole, **parts})


def called(site: str, name: str) -> str:
    """Return the line of a program and the call it made in few words: main.py:373 .item(); the name alone without a line."""
    found, method = _SITE.match(site), _METHOD.match(name)
    call = f"{'' if method[3] else '.'}{method[1] or method[2] or method[3] or 'item'}()" if method else name
    if found is None:
        return call
    own = call in (site, "ProfilerStep", "Step")
    return f"{found[1]}:{found[2]} {found[3] if own else call}"


def _fed(frames: Frames) -> bool:
    """Return whether steps are known to hardly wait for their data."""
    steps = _frame(frames, "steps")
    if steps is None:
        return False
    legacy, new = _usual(steps, "legacy"), _usual(steps, "new")
    if legacy is not None and legacy.whole_ns > 0:
        found = _interval_of(steps)
        return found is not None and found[0] / legacy.whole_ns < WAITING
    return new is not None and new.whole_ns > 0 and new.idle < WAITING


def _judged_rates(queues: pd.DataFrame) -> pd.DataFrame:
    """Return the rates of the queues with enough batches."""
    rates = queue_rates(queues)
    return rates[rates["batches"] >= LEAST_BATCHES]


def _empty(frames: Frames, limit: float) -> Advice | None:
    """MindInsight: the host queue is empty, so steps wait for the pipeline; or the queue of the device is, for transmission.

    Which operations are slow is said where the pipeline tells. Cost: mean time to get the data, or to push it on,
    where it is more than the millisecond that is counted in.
    """
    queues = _needed(frames, "queues", *_QUEUE_FILES)
    rates = _judged_rates(queues)
    way = flow(rates)
    if not way.slow:
        raise Unchecked(*_QUEUE_FILES)
    if _fed(frames) or way.slow not in ("pipeline", "transmission") or (way.slow == "pipeline" and not way.empty > limit):
        return None
    kinds = ["device"] if way.slow == "transmission" else ["host", "iterator"]
    row = rates[rates["queue"].isin(kinds)].iloc[0]
    if row["empty"] < LEAST_BATCHES:
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


def _slow(frames: Frames, limit: float) -> Advice | None:
    """MindInsight: operations of the pipeline whose queues are hardly used, where the host queue is empty too often."""
    pipeline, queues = _needed(frames, "pipeline", *_PIPELINE_FILES), _frame(frames, "queues")
    if queues is not None:
        samples = queues[queues["queue"] == "operator"].groupby("op_id").size()
        pipeline = pipeline[~pipeline["op_id"].isin(samples.index[samples < LEAST_BATCHES])]
    if not pipeline["queue_use"].notna().any():
        raise Unchecked(*_PIPELINE_FILES)
    if _fed(frames) or (queues is not None and _not_the_pipeline(frames, _judged_rates(queues))):
        return None
    slow = slow_operations(pipeline, (limit, min(limit, QUEUE_USE[1])))
    if not slow:
        return None
    rows = pipeline[pipeline["op_id"].isin([one.op_id for one in slow]) & (pipeline["stage"] == "")]
    shown = rows[["op_id", "type", "workers", "queue_mean", "queue_length", "queue_use", "queue_empty"]].head(MOST_ROWS)
    types = tuple(dict.fromkeys(one.type for one in slow))
    return Advice("queue_use", min(one.use for one in slow), limit, math.nan, shown, "preparation", types)


def _not_the_pipeline(frames: Frames, rates: pd.DataFrame) -> bool:
    """Return whether queues show that steps do not wait for the pipeline.

    A queue on the device that is never empty does not if the trace records long intervals nevertheless.
    """
    if flow(rates).slow in ("", "pipeline"):
        return False
    steps = _frame(frames, "steps")
    found = _interval_of(steps) if steps is not None else None
    waits = found is not None and found[0] > THRESHOLDS["interval"]
    return not waits or bool(rates["queue"].isin(["host", "iterator"]).any())


def _cpu(frames: Frames, limit: float) -> Advice | None:
    """MindInsight: 100 % - average idle of the machine is more than 80 %."""
    machine = cpu_use(_needed(frames, "cpu", "cpu_utilization"))
    machine = machine[machine["scope"] == "machine"]
    if not len(machine) or not np.isfinite(machine["idle"].iloc[0]):
        raise Unchecked("cpu_utilization")
    busy = 1.0 - float(machine["idle"].iloc[0])
    return Advice("cpu", busy, limit, math.nan, machine, "preparation") if busy > limit else None


def _ai_cpu(frames: Frames, limit: float) -> Advice | None:
    """Operators on the AI CPU take more than this fraction of all device time; evidence are the longest ones."""
    operators = _needed(frames, "operators", *_DEVICE_FILES)
    operators = operators[~operators["type"].astype(str).isin(FEEDING)]
    core = operators["core"].astype(str)
    device, slow = operators[~core.isin(NOT_COMPUTING)], operators[core == "AI_CPU"]
    # Legacy files have only the time of one execution.
    whole, spent = (float(some["total_ns"].fillna(some["mean_ns"]).sum()) for some in (device, slow))
    if not whole > 0:
        raise Unchecked(*_DEVICE_FILES)
    if not spent / whole > limit:
        return None
    shown = slow.sort_values("total_ns", ascending=False)[["name", "type", "count", "total_ns", "mean_ns"]].head(MOST_ROWS)
    steps = _frame(frames, "steps")
    told = steps["step"][steps["kind"] == "step"].nunique() if steps is not None else 0
    new = operators["file"].astype(str).str.contains("kernel_details|operator_details|op_statistic|\\.db")
    cost = spent / told if told and new.any() else (math.nan if new.any() else spent)
    types = tuple(dict.fromkeys(shown["type"].astype(str).head(3)))
    return Advice("ai_cpu", spent / whole, limit, cost, shown, "operators", types)


LATE = ("host", "synchronisation", "data")
"""Causes of gaps that are the host's."""
_SITE = re.compile(r"^(?:.*[/\\\\])?([^/\\\\]+\.py)\(([0-9]+)\): (.*)$")
_METHOD = re.compile(
    r"^<built-in method (\w+) of \w*(?:Tensor|Parameter)\w* object>$|^aten::(item|tolist|nonzero|is_nonzero)$|"
    r"^aten::_local_scalar_dense$|^<built-in (?:method|function) (\w+)\b.*>$"
)
_TRACE_FILES = ("trace_view.json", "ascend_*_profiler_*.db")
_QUEUE_FILES = ("device_queue", "dataset_iterator")
_PIPELINE_FILES = ("pipeline_profiling", "pipeline_raw")
_DEVICE_FILES = ("kernel_details", "aicore_detail", "database")
_RULES: Mapping[str, Callable[[Frames, float], Advice | None]] = MappingProxyType({
    "interval": _interval, "idle": _idle, "communication": _communication, "synchronising": _synchronising, "gaps": _gaps,
    "empty": _empty, "queue_use": _slow, "cpu": _cpu, "ai_cpu": _ai_cpu,
})  # fmt: skip

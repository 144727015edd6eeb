"""Advice from the steps of one rank: waiting for data, idle time, communication that nothing overlaps."""

from __future__ import annotations

import numpy as np

from parsers.analysis.jobs.advice.cluster import over_ranks
from parsers.analysis.jobs.advice.model import MOST_ROWS, Advice, Frames, Unchecked, frame_of, needed
from parsers.analysis.jobs.transfer import parts_per_step
from parsers.analysis.profiles.preparation import WAITING, waited
from parsers.analysis.profiles.steps import Average, average, breakdowns
from parsers.deferred import pandas as pd


def interval(frames: Frames, limit: float) -> Advice | None:
    """MindInsight: the average iteration interval is longer than 0.5 ms; and 1 % of the step, where its time is known.

    Where queues tell that data was there for most of it, the steps wait for the program (variant host).
    """
    steps = needed(frames, "steps", "step_trace_raw")
    found = interval_of(steps)
    if found is None:
        raise Unchecked("step_trace_raw")
    between, rows = found
    usual, queues = usual_of(steps, "legacy"), frame_of(frames, "queues")
    if not between > limit or (usual is not None and between < WAITING * usual.whole_ns):
        return None
    wait = waited(queues) if queues is not None else None
    variant = "host" if wait is not None and wait.wait_ns < between / 2 else ""
    rows = rows[rows["interval_ns"] > limit].sort_values("interval_ns", ascending=False)
    shown = rows[["step", "interval_ns", "total_ns"]].head(MOST_ROWS)
    return Advice("interval", between, limit, between, shown, "steps", variant=variant)


def idle(frames: Frames, limit: float) -> Advice | None:
    """Counterpart for new step traces: the device neither computes nor communicates for more than this fraction of the step.

    Of a job with several ranks all are judged.
    """
    try:
        return over_ranks(frames, "idle", "free_ns", limit)
    except LookupError:
        steps, usual = new_steps(frames)
    idle = usual.time_of("free")
    if not idle / usual.on_device_ns > limit:
        return None
    rows = steps[steps["kind"] == "step"].sort_values("free_ns", ascending=False)
    shown = rows[["step", "free_ns", "preparing_ns", "total_ns"]].head(MOST_ROWS)
    return Advice("idle", idle / usual.on_device_ns, limit, idle, shown, "steps")


def communication(frames: Frames, limit: float) -> Advice | None:
    """Communication that no computing overlaps takes more than this fraction of the step.

    Of a job with several ranks all are judged. What communication consists of is computed from the operations of the job
    (`parsers.analysis.jobs.transfer`); without these it is what communication.json has: transit, waiting, idle.
    """
    try:
        return over_ranks(frames, "communication", "exposed_ns", limit)
    except LookupError:
        steps, usual = new_steps(frames)
    exposed = usual.time_of("exposed")
    if not exposed / usual.on_device_ns > limit:
        return None
    operators = frame_of(frames, "communication")
    if operators is None:
        rows = steps[steps["kind"] == "step"].sort_values("exposed_ns", ascending=False)
        shown, parts = rows[["step", "exposed_ns", "overlapped_ns", "total_ns"]].head(MOST_ROWS), {}
    else:
        rows = operators.sort_values("duration_ns", ascending=False)
        shown = rows[["step", "kind", "name", "duration_ns", "transit_ns", "wait_ns", "idle_ns"]].head(MOST_ROWS)
        number = max(operators["step"].nunique(), 1)
        names = {"all": "duration_ns", "transit": "transit_ns", "wait": "wait_ns", "idle": "idle_ns"}
        told = operators["transit_ns"].notna().any()
        parts = {part: float(operators[name].sum()) / number for part, name in names.items()} if told else {}
        collectives = frame_of(frames, "collectives")
        # One rank alone whose file has neither sizes nor transit does not tell transfer from waiting.
        if collectives is not None and (told or collectives["rank"].nunique() > 1 or (collectives["size_bytes"] >= 0).any()):
            parts = parts_per_step(collectives, frame_of(frames, "links"))
    return Advice("communication", exposed / usual.on_device_ns, limit, exposed, shown, "steps", parts_ns=parts)


def usual_of(steps: pd.DataFrame, form: str) -> Average | None:
    """Return the average step of the traces of one form, the one of most steps."""
    return next((average(one) for one in breakdowns(steps) if one.form == form), None)


def interval_of(steps: pd.DataFrame) -> tuple[float, pd.DataFrame] | None:
    """Return the average interval of legacy steps and its rows; None if no step and no average has one.

    The first step of a trace begins with its forward pass: if there is no other one, the recorded average is the only value.
    """
    known = steps[steps["interval_ns"].notna() & (steps["step"] >= 0) & (steps["kind"] == "step")]
    usual = usual_of(steps, "legacy")
    if usual is not None and (known["interval_ns"] > 0).any():
        return usual.time_of("interval"), known
    recorded = steps[(steps["kind"] == "average") & np.isfinite(steps["interval_ns"]) & (steps["interval_ns"] > 0)]
    return (float(recorded["interval_ns"].iloc[-1]), recorded.tail(1)) if len(recorded) else None


def new_steps(frames: Frames) -> tuple[pd.DataFrame, Average]:
    """Return new steps and their average. Unchecked without any."""
    steps = needed(frames, "steps", "step_trace_time", "analysis")
    usual = usual_of(steps, "new")
    if usual is None or not usual.on_device_ns > 0:
        raise Unchecked("step_trace_time", "analysis")
    return steps, usual


def fed(frames: Frames) -> bool:
    """Return whether steps are known to hardly wait for their data: by their queues, else by the step trace."""
    queues = frame_of(frames, "queues")
    wait = waited(queues) if queues is not None else None
    if wait is not None:
        return wait.share < WAITING
    steps = frame_of(frames, "steps")
    if steps is None:
        return False
    legacy, new = usual_of(steps, "legacy"), usual_of(steps, "new")
    if legacy is not None and legacy.whole_ns > 0:
        found = interval_of(steps)
        return found is not None and found[0] / legacy.whole_ns < WAITING
    return new is not None and new.whole_ns > 0 and new.idle < WAITING

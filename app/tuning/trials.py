"""One trial while it runs: its process, the values it records, and why it is to end."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.tuning.claims import Claim
from app.tuning.following import Reports, TagFollower, first_bad
from app.tuning.processes import Ending, TrialProcess
from app.tuning.results import tags_of
from parsers.analysis.curves.insights import insights_of
from parsers.tuning.description import Tuning

LOOK = 0.5
"""Seconds between two looks at what a trial has recorded."""
PLATEAU_LOOK = 10.0
"""Seconds between two searches for a plateau, which read the whole curve."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Why a trial is ended early. state is "pruned", "plateau" or "interrupted"; step the last one that was seen."""

    state: str
    reason: str
    step: int = -1


@dataclass(slots=True)
class Active:
    """A trial that this worker looks after. settings are as scripts see them."""

    number: int
    trial_id: int
    settings: Mapping[str, Any]
    run: str
    device: str
    kept: TrialProcess
    claim: Claim
    began: float
    adopted: bool = False
    decision: Decision | None = None
    last_step: int = -1
    follower: TagFollower | None = None
    reports: Reports = field(default_factory=Reports)
    next_look: float = 0.0
    next_plateau: float = 0.0


def follower_of(tuning: Tuning, run: str) -> TagFollower | None:
    """Return the reader of the scalar by which a trial is pruned; None if trials are not pruned."""
    if tuning.pruning is not None:
        return TagFollower(run, tags_of(tuning.pruning.tag))
    if tuning.end_on_nan or tuning.end_on_plateau:
        return TagFollower(run, tags_of(tuning.targets[0].name))
    return None


def looked(active: Active, tuning: Tuning) -> tuple[list[tuple[int, float]], Decision | None]:
    """Read what the trial has recorded since the last look: values to report, and whether it is to end."""
    if active.follower is None:
        return [], None
    steps, values = active.follower.look()
    if not steps.size:
        return [], None
    active.last_step = max(active.last_step, int(steps.max()))
    if tuning.end_on_nan:
        bad = first_bad(steps, values)
        if bad is not None:
            text = f"{active.follower.tag} is NaN or infinite at step {bad}"
            return active.reports.of(steps, values), Decision("pruned", text, bad)
    decision = _plateau(active) if tuning.end_on_plateau else None
    return active.reports.of(steps, values), decision


def _plateau(active: Active) -> Decision | None:
    now = time.monotonic()
    if active.follower is None or now < active.next_plateau:
        return None
    active.next_plateau = now + PLATEAU_LOOK
    series = active.follower.series
    found = [one for one in insights_of(active.follower.tag, series) if one.kind == "plateau" and one.score >= 1.0]
    if not found or found[0].last_place < series.step.size - 1:
        return None
    text = f"{active.follower.tag} has not changed since step {found[0].step}"
    return Decision("plateau", text, active.last_step)


def failure_of(ending: Ending, command: Sequence[str], time_limit: float | None) -> str:
    """Return why a process failed, "" if it did not."""
    if ending.why == "not_started":
        return f"the command could not be started: {ending.error}: {command[0]}"
    if ending.why == "time_limit":
        return f"the time limit of {time_limit or math.nan:g} s"
    if ending.why == "lost":
        return "its processes were killed from outside, or the machine was restarted"
    if ending.why == "not_kept":
        return "its state cannot be written to the workspace (is the disk full?)"
    if ending.why == "ended":
        return "it was asked to end"
    if ending.exit is None or ending.exit == 0:
        return ""
    if ending.exit > 0:
        return f"exit code {ending.exit}"
    try:
        return f"killed by signal {signal.Signals(-ending.exit).name}"
    except ValueError:
        return f"killed by signal {-ending.exit}"

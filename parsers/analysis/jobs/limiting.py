"""What limits a job: what of a step is not computing, and how close its memory is to the end.

Four things may take time: communication that no computing overlaps, time in which a device has nothing to do, waiting for one
slow rank, waiting for other stages of a pipeline. The last two are part of the exposed communication and are taken from it, so
no time counts twice. Memory takes no time; it limits what else could be done.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from parsers.analysis.jobs.bubble import without_pipeline
from parsers.analysis.jobs.held_memory import held_bytes
from parsers.analysis.jobs.stragglers import Straggler
from parsers.analysis.jobs.warm_up import WarmUp, steady, warm_up
from parsers.analysis.jobs.who_is_slow import who_is_slow
from parsers.deferred import pandas as pd

PARTS = ("exposed", "free", "slow_rank", "bubble", "memory")
LEAST_SHARE = 0.05
"""Share of a step from which something limits a job; a slow rank does whenever it is one."""
NOTABLE = 1.05
"""A rank has the most of something if it has this many times the mean; else all ranks are alike."""
LEAST_MEMORY = 0.95
"""Share of the capacity from which memory limits a job."""


@dataclass(frozen=True, slots=True)
class LimitingPart:
    """One of PARTS, as it is on average over ranks and steps.

    ns: time per step, NaN for memory. share: of the step, of memory of the capacity. rank: the one with the most of it, -1 for
    none or if all are alike. at_most: it may be less (a bubble, where no file tells when kernels ran). straggler: who is slow,
    for slow_rank; then ns is what the step would be shorter, and waited_ns what ranks wait for it, on average. Computing,
    waited_ns and the ns of the others add up to the step.
    """

    name: str
    ns: float
    share: float
    rank: int = -1
    at_most: bool = False
    straggler: Straggler | None = None
    waited_ns: float = math.nan

    @property
    def limits(self) -> bool:
        """Whether this is enough to limit the job."""
        if self.name == "slow_rank":
            return self.straggler is not None
        return self.share >= (LEAST_MEMORY if self.name == "memory" else LEAST_SHARE)


@dataclass(frozen=True, slots=True)
class LimitingFactors:
    """What was checked, what takes most first; why the others were not, by name; the mean step in ns and computing in it.

    The first step counts for none of these if it is a warm_up.

    A reason is the name of the frame that is missing, "steps" for too few steps, "one_rank" if only one has steps, "no_group"
    if no group is known whose ranks do the same work, "no_waits" if no operation tells who waited, "capacity" for an unknown
    one, "no_stages" if nothing tells of a pipeline.
    """

    parts: tuple[LimitingPart, ...]
    unchecked: Mapping[str, str]
    step_ns: float
    computing_ns: float
    warm_up: WarmUp | None = None

    @property
    def first(self) -> LimitingPart | None:
        """What limits the job; None if nothing that was checked does."""
        return next((part for part in self.parts if part.limits), None)


def limiting(frames: Mapping[str, pd.DataFrame | None]) -> LimitingFactors:
    """Return what limits a job. frames are those in JOB_FRAMES by name: cluster_steps, collectives, groups, links, ranks."""
    first = warm_up(frames.get("cluster_steps"))
    frames = steady(frames)
    rows = _rows(frames.get("cluster_steps"))
    unchecked: dict[str, str] = {}
    found: list[LimitingPart] = []
    step = _mean(rows, "total_ns") if len(rows) else math.nan
    if len(rows):
        slow = _slow(frames, step, unchecked)
        bubble = _of_step("bubble", "own_bubble_ns", rows)
        if bubble is None:
            unchecked["bubble"] = "collectives"
        elif without_pipeline(rows):
            bubble, unchecked["bubble"] = None, "no_stages"
        elif (rows["bubble_source"].astype("str") == "at most").any():
            bubble = LimitingPart(bubble.name, bubble.ns, bubble.share, bubble.rank, at_most=True)
        others = rows.assign(exposed_ns=rows["exposed_ns"] - rows["own_bubble_ns"].fillna(0.0))
        exposed = _of_step("exposed", "exposed_ns", others)
        if exposed is not None:
            waited = min(_waited(slow, frames, rows), exposed.ns)
            exposed = LimitingPart("exposed", exposed.ns - waited, (exposed.ns - waited) / step, exposed.rank)
            slow = None if slow is None else replace(slow, waited_ns=waited)
        found = [part for part in (exposed, _of_step("free", "free_ns", rows), slow, bubble) if part is not None]
    unchecked |= {name: "cluster_steps" for name in PARTS[:2] if name not in {part.name for part in found}}
    if not len(rows):
        unchecked |= dict.fromkeys(("slow_rank", "bubble"), "cluster_steps")
    memory = _memory(frames.get("ranks"), unchecked)
    found.sort(key=lambda part: (not part.limits, -part.share))
    computing = _mean(rows, "computing_ns") if len(rows) else math.nan
    return LimitingFactors((*found, *([memory] if memory is not None else [])), unchecked, step, computing, first)


def _rows(steps: pd.DataFrame | None) -> pd.DataFrame:
    if steps is None:
        return pd.DataFrame()
    return steps[(steps["kind"].astype("str") == "rank") & (steps["total_ns"] > 0.0)]


def _mean(rows: pd.DataFrame, column: str) -> float:
    """Return the mean over ranks of what each has in its mean step, which is how all pages take it."""
    return float(rows.groupby("rank")[column].mean().mean())


def _of_step(name: str, column: str, rows: pd.DataFrame) -> LimitingPart | None:
    """Return the mean of a column over ranks and steps, and its share of the step of the ranks that have it; None for none."""
    known = rows[rows[column].notna()]
    if known.empty:
        return None
    means = known.groupby("rank")[column].mean()
    mean = float(means.mean())
    step = _mean(known, "total_ns")
    place = int(np.argmax(means.to_numpy()))
    apart = float(means.iloc[place]) > NOTABLE * mean
    return LimitingPart(name, mean, mean / step, int(str(means.index[place])) if apart else -1)


def _slow(frames: Mapping[str, pd.DataFrame | None], step: float, unchecked: dict[str, str]) -> LimitingPart | None:
    found = who_is_slow(frames)
    if found.reason:
        unchecked["slow_rank"] = found.reason
        return None
    first = next(iter(found.slow), None)
    if first is None:
        return LimitingPart("slow_rank", 0.0, 0.0)
    return LimitingPart("slow_rank", first.saved_ns, first.saved_ns / step, first.rank, straggler=first)


def _waited(slow: LimitingPart | None, frames: Mapping[str, pd.DataFrame | None], rows: pd.DataFrame) -> float:
    """Return what the ranks of the job wait for a slow rank on average, in ns: only those of its group do."""
    groups = frames.get("groups")
    if slow is None or slow.straggler is None or groups is None:
        return 0.0
    sizes = groups.loc[groups["group"].astype("str") == slow.straggler.group, "size"]
    size, own = int(sizes.iloc[0]) if len(sizes) else 1, max(len(slow.straggler.replica), 1)
    return slow.straggler.lateness_ns * (size - 1) * own / rows["rank"].nunique()


def _memory(ranks: pd.DataFrame | None, unchecked: dict[str, str]) -> LimitingPart | None:
    peaks = ranks[held_bytes(ranks) > 0] if ranks is not None else None
    if peaks is None or peaks.empty:
        unchecked["memory"] = "ranks"
        return None
    known = peaks[peaks["capacity_bytes"] > 0]
    if known.empty:
        unchecked["memory"] = "capacity"
        return None
    shares = held_bytes(known) / known["capacity_bytes"].to_numpy()
    most = int(np.argmax(shares))
    return LimitingPart("memory", math.nan, float(shares[most]), int(known["rank"].iloc[most]))

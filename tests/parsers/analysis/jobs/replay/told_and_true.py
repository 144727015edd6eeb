"""What replays say that a cause costs, beside what it costs: the simulation run again without it.

`python -m tests.parsers.analysis.jobs.replay.told_and_true --seeds 60 --first 1000` prints the table of
docs/performance/replay.md.
A job's first step is left out: nothing was recorded before it, so files do not tell when its ranks could have begun.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from app.demo.simulated.job_records import recorded
from app.demo.simulated.jobs import simulate
from app.demo.simulated.programs import Fault, JobPlan
from parsers.analysis.jobs.replay import changes
from parsers.analysis.jobs.replay.graph import JobGraph, graph_of, has_kernels, lengths, receives_unawaited
from parsers.analysis.jobs.replay.recording import NotJudged
from parsers.analysis.jobs.replay.replaying import JobChange, replayed_all, unchanged
from parsers.analysis.jobs.replay.what_ifs import EXACT, bound_of
from parsers.model import Floats
from tests.simulations.job_frames import frames
from tests.simulations.jobs import draw

LEAST = 0.003
"""Share of a step below which a ratio says nothing."""
HOLDS = 1.02
"""An upper bound holds if the truth is no more than this times it."""
KINDS = ("slow_rank", "slow_replica", "slow_link", "late_host", "stage")
LARGEST = 32
"""Ranks of the largest job that is tried."""


@dataclass(frozen=True, slots=True)
class Case:
    """A job: its cause, its stages, what was told and is true as shares of a step; NaN for one that was not judged.

    upper says whether what is told is only an upper bound.
    """

    kind: str
    pp: int
    told: float
    true: float
    upper: bool = False

    @property
    def ratio(self) -> float:
        """told / true."""
        return self.told / self.true


def cases(kind: str, seeds: Iterable[int], *, steps: int = 6) -> Iterator[Case]:
    """A fault in jobs of equal data, and what free communication and no waiting for stages save in them."""
    for seed in seeds:
        if kind == "stage":
            plan = draw(np.random.default_rng(seed), steps=steps)
            sizes = [0.15, 0.3, 0.6]
            fault = Fault(kind, seed % max(plan.pp, 1), sizes[seed % 3])
            plan = replace(plan, fault=fault)
            if plan.pp == 1:
                continue
        else:
            plan = draw(np.random.default_rng(seed), fault=kind, steps=steps)
        if plan.ranks <= LARGEST:
            yield from of_plan(replace(plan, unequal=0.0))


def of_plan(plan: JobPlan) -> list[Case]:
    """The cases of one job."""
    fault = plan.fault
    assert fault is not None
    job, clean = simulate(plan), simulate(_without(plan))
    try:
        graph = graph_of(frames(recorded(job)))
    except NotJudged:
        return [Case(fault.kind, plan.pp, np.nan, 1.0)]
    change = change_of(graph, plan)
    asked = [change, changes.communication_free(graph, most=True), replace(change, released=frozenset())]
    ends = lengths(replayed_all(graph, [unchanged(graph), *asked]), graph.begin)
    free = simulate(plan, transfers=0.0)
    first = max(fault.since, 1)
    step = float(job.step_ns[first:].mean())
    told, held = (_mean(ends[0] - one, first) for one in (ends[1], ends[3]))
    cause = {"slow_link": "link", "stage": "stages"}.get(fault.kind, "rank")
    kernels = has_kernels(graph) and not receives_unawaited(graph)
    bounds = bound_of(cause, told, held, step, kernels=kernels) != EXACT
    return [
        Case(fault.kind + " at most" * bounds, plan.pp, told / step, _mean(job.step_ns - clean.step_ns, first) / step, bounds),
        Case("free", plan.pp, _mean(ends[0] - ends[2], 1) / step, _mean(job.step_ns - free.step_ns, 1) / step, upper=True),
    ]


def _mean(saved: Floats, first: int) -> float:
    return float(saved[first:].mean())


def _without(plan: JobPlan) -> JobPlan:
    """The job without its fault; of an unbalanced pipeline, the same work spread evenly over the stages."""
    fault = plan.fault
    if fault is None or fault.kind != "stage":
        return replace(plan, fault=None)
    usual = plan.stages or (1.0,) * plan.pp
    took = [one * (1.0 + fault.size * (place == fault.place)) for place, one in enumerate(usual)]
    return replace(plan, fault=None, stages=(float(np.mean(took)),) * plan.pp)


def change_of(graph: JobGraph, plan: JobPlan) -> JobChange:
    """The change that takes the fault of a plan away."""
    fault = plan.fault
    assert fault is not None
    if fault.kind == "slow_rank":
        return changes.computing_as_peers(graph, [fault.place], since=fault.since)
    if fault.kind == "late_host":
        return changes.host_as_peers(graph, [fault.place], since=fault.since)
    if fault.kind == "slow_replica":
        ranks = [rank for rank in range(plan.ranks) if plan.place(rank)[0] == fault.place]
        return changes.computing_as_peers(graph, ranks, since=fault.since)
    if fault.kind == "slow_link":
        group = plan.group(next(kind for kind in ("dp", "tp", "pp") if len(plan.group(kind, fault.place)) > 1), fault.place)
        target = group[(group.index(fault.place) + 1) % len(group)]
        return changes.link_as_others(graph, fault.place, target, 1.0 - fault.size, since=fault.since)
    return changes.stages_balanced(graph)


def table(found: Iterable[Case]) -> list[tuple[str, str, int, float, float, float, float]]:
    """Rows: cause, stages, n, share within 0.8 to 1.2, least and highest ratio, and the largest error of smaller savings.

    Jobs that were not judged count as outside. Of upper bounds the share is that of those that hold (HOLDS).
    """
    rows = []
    known = list(found)
    for kind in dict.fromkeys(one.kind for one in known):
        for pp in (0, 1, 2, 4):
            own = [one for one in known if one.kind == kind and pp in (0, one.pp)]
            large = [one for one in own if one.true > LEAST or np.isnan(one.told)]
            small = [abs(one.told - one.true) for one in own if one.true <= LEAST and not np.isnan(one.told)]
            if not large:
                continue
            ratios = np.array([one.ratio for one in large])
            inside = ratios * HOLDS >= 1.0 if large[0].upper else (ratios >= 0.8) & (ratios <= 1.2)
            rows.append((kind, str(pp or "all"), len(large), float(inside.mean()), float(np.nanmin(ratios)),
                         float(np.nanmax(ratios)), max(small, default=0.0)))  # fmt: skip
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--kinds", default=",".join(KINDS))
    asked = parser.parse_args()
    found = [one for kind in asked.kinds.split(",") for one in cases(kind, range(asked.first, asked.first + asked.seeds))]
    for kind, pp, number, inside, least, most, error in table(found):
        print(f"| {kind} | {pp} | {number} | {inside:.0%} | {least:.2f} to {most:.2f} | {error:.2%} |")


if __name__ == "__main__":
    main()

"""Ranks x steps of a job: times, ranks that others wait for, and the place of each rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from parsers.analysis.jobs.dimensions import Dimension, dimensions
from parsers.analysis.jobs.experts import Load, loads
from parsers.analysis.jobs.job_choices import offers
from parsers.analysis.jobs.links import SlowLink, slow_links
from parsers.analysis.jobs.peers import alike
from parsers.analysis.jobs.step_parts import RankSteps, rank_steps
from parsers.analysis.jobs.stragglers import Straggler
from parsers.analysis.jobs.warm_up import steady
from parsers.analysis.jobs.who_is_slow import SlowRanks, who_is_slow
from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, GROUPS, JOB_FRAMES, LINKS
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints
from parsers.profiler.frame_parts import joined
from parsers.profiler.groups import ranks_of
from parsers.profiler.jobs import JobFiles

OF_OPERATIONS = ("lateness", "waited")
"""Times by operations: what others wait for a rank, and what it waits for others."""
_TELLING = {
    "memory": ("memory_record", "database", "msprof", "memory_summary"), "flops": ("kernel_details", "flops_summary"),
    "host": ("database", "msprof", "cluster_database"),
}  # fmt: skip
"""Values of ranks, and the kinds of files that may tell them."""


@dataclass(slots=True, eq=False)
class RanksByStep:
    """The frames of a job and what follows from them.

    frames has those that files give, of the chosen session; sessions the steps of all sessions of the job in their order, with
    the place of the chosen one. slow are the ranks that others wait for, judged the groups they were looked for in, links the
    slow links. may are the values of ranks that files may tell: memory, flops, host. whole_story is whether the steps of all
    sessions could be judged together, pending whether other sessions are still being read. offered are the groups and steps to
    choose from, metrics those that some rank has; doubled is the number of rows beyond the first of a rank and step.
    """

    frames: Mapping[str, pd.DataFrame]
    sessions: tuple[pd.DataFrame, ...]
    session: int
    steps: RankSteps
    slow: SlowRanks
    judged: tuple[str, ...]
    links: list[SlowLink]
    hosts: Mapping[int, str]
    may: frozenset[str]
    whole_story: bool = False
    pending: bool = False
    extra: dict[str, Floats] = field(default_factory=dict)
    _places: tuple[Ints, Ints, Ints] | None = None
    _dimensions: dict[int | None, list[Dimension]] = field(default_factory=dict)
    _load: tuple[pd.DataFrame | None, Load | None] | None = None
    _stacked: dict[int | None, tuple[tuple[str, ...], Floats]] = field(default_factory=dict)
    offered: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    doubled: int = 0

    def __post_init__(self) -> None:
        rows = self.frame(CLUSTER_STEPS.name)
        self.offered = offers(self.frame(GROUPS.name), rows)
        self.doubled = int(rows[(rows["kind"] == "rank").to_numpy()].duplicated(["rank", "step"]).sum())
        own = tuple(name for name in OF_OPERATIONS if bool(np.isfinite(self.extra[name]).any()))
        self.metrics = (*self.steps.metrics, *own)

    @property
    def late(self) -> tuple[Straggler, ...]:
        """The ranks that others wait for: the slow ones, then those of single steps."""
        return (*self.slow.slow, *self.slow.once)

    def frame(self, name: str) -> pd.DataFrame:
        """Return a frame; an empty one if no file has it."""
        return self.frames[name] if name in self.frames else JOB_FRAMES[name].empty()

    def places(self) -> tuple[Ints, Ints, Ints]:
        """Return dp, pp and tp of each rank; -1 for unknown."""
        if self._places is None:
            rows = self.frame(CLUSTER_STEPS.name)
            own = rows[(rows["kind"] == "rank").to_numpy()].drop_duplicates("rank").set_index("rank")
            found = [own[name].reindex(self.steps.ranks, fill_value=-1).to_numpy(np.int64) for name in ("dp", "pp", "tp")]
            self._places = found[0], found[1], found[2]
        return self._places

    def stacked(self, step: int | None) -> tuple[tuple[str, ...], Floats]:
        """Return the parts of a step, or of the mean step, of all ranks: names, and times of ranks x parts."""
        step = step if step is not None and self.steps.place(step) is not None else None
        if step not in self._stacked:
            self._stacked = {step: self.steps.stacked(step)}
        return self._stacked[step]

    def dimensions(self, step: int | None) -> list[Dimension]:
        """Return the communication of each dimension in one step, or the mean; of a step that nobody has the mean, too."""
        step = step if step is not None and self.steps.place(step) is not None else None
        if step not in self._dimensions:
            self._dimensions[step] = dimensions(self.frame(COLLECTIVES.name), self.frame(GROUPS.name), step)
        return self._dimensions[step]

    def load(self, ranks: pd.DataFrame | None) -> Load | None:
        """Return the load of experts, with the frame `ranks` or without it."""
        if self._load is None or self._load[0] is not ranks:
            self._load = ranks, loads(self.frame(COLLECTIVES.name), self.frame(GROUPS.name), ranks)
        return self._load[1]

    def values(self, metric: str, step: int | None) -> Floats:
        """Return a metric of all ranks in one step, or the mean over the steps; NaN for unknown."""
        return self.steps.of(self.table(metric), step)

    def table(self, metric: str) -> Floats:
        """Return a metric as ranks x steps."""
        return self.extra[metric] if metric in self.extra else self.steps.values[metric]


def ranks_by_step(
    frames: Mapping[str, pd.DataFrame], sessions: Sequence[tuple[pd.DataFrame, ...]], place: int, job: JobFiles | None
) -> RanksByStep:
    """Compute the tables of ranks by step from frames of the chosen session, and steps and operations of all sessions.

    place is that of the chosen session. Only the steps need be there: a session without operations has steps alone, and without
    any session those of frames count. job has the files, which tell hosts and what can be read of ranks.
    """
    steps = frames.get(CLUSTER_STEPS.name, CLUSTER_STEPS.empty())
    sessions = sessions or [(steps,)]
    tables = tuple(own[0] for own in sessions)
    groups = frames.get(GROUPS.name, GROUPS.empty())
    operations = [own[1] for own in sessions if len(own) > 1]
    whole = len(tables) == len(operations) > 1 and _disjoint(tables)
    table = rank_steps(tables, None if whole else place)
    all_steps = joined(CLUSTER_STEPS, list(tables)) if whole else steps
    collectives = joined(COLLECTIVES, operations) if whole else frames.get(COLLECTIVES.name, COLLECTIVES.empty())
    links = slow_links(frames.get(LINKS.name, LINKS.empty()))
    judging = {**frames, CLUSTER_STEPS.name: all_steps, COLLECTIVES.name: collectives}
    judged = tuple(alike(groups)) if len(collectives) else ()
    members = job.members if job is not None else ()
    files = [*(one.files for one in members), *(one.files for one in (job.whole if job is not None else ()))]
    kinds = {file.kind for own in files for file in own}
    may = frozenset(name for name, giving in _TELLING.items() if kinds.intersection(giving))
    extra = waits_by_step(table, operations if len(operations) == len(tables) else [], judged)
    return RanksByStep(
        frames, tables, place, table, who_is_slow(steady(judging)), judged, links,
        {member.rank: member.host for member in members}, may, whole, extra=extra,
    )  # fmt: skip


def _disjoint(tables: Sequence[pd.DataFrame]) -> bool:
    """Return whether the steps of sessions are different ones, all of them numbered."""
    numbers = [set(np.unique(table["step"].to_numpy()).tolist()) for table in tables]
    return -1 not in set().union(*numbers) and sum(map(len, numbers)) == len(set().union(*numbers))


def waits_by_step(table: RankSteps, operations: Sequence[pd.DataFrame], judged: Sequence[str]) -> dict[str, Floats]:
    """Return what others wait for each rank in each step, in groups of ranks with the same work, and what it waits; in ns.

    operations are those of each session (schema COLLECTIVES), judged the groups that count
    (`parsers.analysis.jobs.peers.alike`).
    """
    found = {name: np.full((len(table.ranks), len(table.steps)), np.nan) for name in OF_OPERATIONS}
    for session, frame in enumerate(operations):
        own = np.flatnonzero(table.session == session)
        rows = frame["rank"].isin(table.ranks).to_numpy() & frame["step"].isin(table.steps[own]).to_numpy()
        for name, column in zip(OF_OPERATIONS, ("lateness_ns", "own_wait_ns"), strict=True):
            values = frame[column].to_numpy()
            chosen = np.flatnonzero(rows & np.isfinite(values) & frame["group"].isin(judged).to_numpy())
            if not len(chosen):
                continue
            rank = np.searchsorted(table.ranks, frame["rank"].to_numpy()[chosen])
            step = own[np.searchsorted(table.steps[own], frame["step"].to_numpy()[chosen])]
            cells = rank * len(table.steps) + step
            sums = np.bincount(cells, values[chosen], found[name].size)
            there = np.bincount(cells, minlength=found[name].size) > 0
            found[name].ravel()[there] = sums[there]
    return found


def rank_values(ranks: pd.DataFrame, numbers: Ints, metric: str) -> Floats:
    """Return a value of whole ranks (schema RANKS); NaN for unknown. Sizes in bytes, operations per step and per second, ns."""
    rows = ranks.drop_duplicates("rank").set_index("rank").reindex(numbers)
    if metric == "flops":
        both = rows[["cube_flops", "vector_flops"]].to_numpy(np.float64)
        return np.where(np.isfinite(both).any(axis=1), np.nan_to_num(both).sum(axis=1), np.nan)
    column = {"operators": "operators_ns", "flops_per_s": "flops_per_s"}.get(metric, f"{metric}_bytes")
    values = rows[column].to_numpy(np.float64)
    return np.where(values >= 0.0, values, np.nan)


def hosts_of(job: RanksByStep, ranks: pd.DataFrame | None) -> list[str]:
    """Return the host of each rank: as its files tell, else as its directory is named; "" for unknown. They are kept."""
    if ranks is not None:
        told = zip(ranks["rank"].tolist(), ranks["host"].astype("str").tolist(), strict=True)
        job.hosts = {**job.hosts, **{rank: host for rank, host in told if host}}
    return [job.hosts.get(rank, "") for rank in job.steps.ranks.tolist()]


def members_of(job: RanksByStep, group: str) -> tuple[int, ...]:
    """Return the ranks of a group by its hash; none for an unknown one."""
    groups = job.frame(GROUPS.name)
    found = groups.loc[groups["group"] == group, "ranks"].tolist() if group else []
    return ranks_of(str(found[0])) if found else ()

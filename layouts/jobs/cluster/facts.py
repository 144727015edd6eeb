"""What the page knows of a job: tables of ranks x steps, who is late, and where each rank is. Kept while its frames stay."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from parsers.analysis.jobs.dimensions import Dimension, dimensions
from parsers.analysis.jobs.experts import Load, loads
from parsers.analysis.jobs.links import SlowLink, slow_links
from parsers.analysis.jobs.step_parts import RankSteps, rank_steps
from parsers.analysis.jobs.stragglers import Straggler, alike, stragglers
from parsers.caches import Cache
from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, GROUPS, JOB_FRAMES, LINKS, RANKS
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints
from parsers.profiler.frame_parts import joined
from parsers.profiler.groups import ranks_of

from layouts.jobs.cluster.asks import FRAMES, OF_OPERATIONS
from layouts.profiles.frames import ProfileFrame
from layouts.profiles.job_choices import offers
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

MOST_SESSIONS = 64
"""Sessions of a job that are joined."""
_KEPT = 4
_NUMBER = re.compile(r" \(\d+\)$")
_MEMORY = ("memory_record", "database", "msprof", "memory_summary")
_FLOPS = ("kernel_details", "flops_summary")
_HOSTS = ("database", "msprof", "cluster_database")


@dataclass(slots=True, eq=False)
class ClusterFacts:
    """The frames of a job and what follows from them.

    frames has those that files give, of the chosen session; sessions the steps of all sessions of the job in their order, with
    the place of the chosen one. late are the ranks that others wait for, judged the groups they were looked for in, links the
    slow links. may are the values of ranks that files may tell: memory, flops, host. whole_story is whether the steps of all
    sessions could be judged together, pending whether other sessions are still being read. offered are the groups and steps to
    choose from, metrics those that some rank has; doubled is the number of rows beyond the first of a rank and step.
    """

    frames: Mapping[str, pd.DataFrame]
    sessions: tuple[pd.DataFrame, ...]
    session: int
    steps: RankSteps
    late: list[Straggler]
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


class FactsCache:
    """The facts of the jobs looked at last; they are used again while the frames they are made of are the same objects."""

    def __init__(self) -> None:
        self._facts: Cache[tuple[str, str, int], ClusterFacts] = Cache(_KEPT)

    def facts(self, source: ProfileSources, choice: ProfileChoice) -> ClusterFacts:
        """Return the facts of the job of a profile, from the frames that are ready."""
        frames = {name: frame for name in FRAMES if (frame := choice.frame(source, name)) is not None}
        asked = [(one, _steps_and_operations(source, one)) for one in sessions_of(source, choice)]
        ready = [(one, pair) for one, (pair, _) in asked]
        pending = any(being_read for _, (_, being_read) in asked)
        mark = (*frames.values(), *(frame for _, pair in ready for frame in pair))
        key = choice.run, choice.session, choice.rank
        found = self._facts.made(key, lambda: _facts(source, choice, frames, ready), mark)
        found.pending = pending
        return found


def sessions_of(source: ProfileSources, choice: ProfileChoice) -> list[ProfileChoice]:
    """Return the same rank in all sessions of a job in the order of their jobs, the chosen one included."""
    job = source.profiles.job(choice.run, choice.session, choice.rank)
    if job is None:
        return [choice]
    name = _NUMBER.sub("", job.name)
    found = []
    for row in source.profiles.rows(choice.run):
        if row.rank != choice.rank:
            continue
        other = job if row.session == choice.session else source.profiles.job(choice.run, row.session, row.rank)
        if other is not None and _NUMBER.sub("", other.name) == name and other.size == job.size:
            found.append((other.name, ProfileChoice(choice.run, row.session, row.rank)))
    numbered = sorted(found, key=lambda one: (len(one[0]), one[0]))
    return [one for _, one in numbered][:MOST_SESSIONS] or [choice]


def _steps_and_operations(source: ProfileSources, choice: ProfileChoice) -> tuple[tuple[pd.DataFrame, ...], bool]:
    """Return steps and operations of a session if they have been read, and whether they are being read, which this begins."""
    names = (CLUSTER_STEPS.name, COLLECTIVES.name)
    found = [source.profiles.frame(choice.run, choice.session, choice.rank, name) for name in names]
    being_read = any(one.state in ("reading", "waiting") for one in found)
    frames = [one.frame for one in found]
    if being_read or frames[0] is None:
        return (), being_read
    return tuple(frame for frame in frames if frame is not None), False


def _facts(
    source: ProfileSources, choice: ProfileChoice, frames: Mapping[str, pd.DataFrame],
    ready: Sequence[tuple[ProfileChoice, tuple[pd.DataFrame, ...]]],
) -> ClusterFacts:
    steps = frames.get(CLUSTER_STEPS.name, CLUSTER_STEPS.empty())
    sessions = [(one, pair) for one, pair in ready if pair] or [(choice, (steps,))]
    tables = tuple(pair[0] for _, pair in sessions)
    place = next((number for number, (one, _) in enumerate(sessions) if one.session == choice.session), 0)
    groups = frames.get(GROUPS.name, GROUPS.empty())
    operations = [pair[1] for _, pair in sessions if len(pair) > 1]
    whole = len(tables) == len(operations) > 1 and _disjoint(tables)
    table = rank_steps(tables, None if whole else place)
    all_steps = joined(CLUSTER_STEPS, list(tables)) if whole else steps
    collectives = joined(COLLECTIVES, operations) if whole else frames.get(COLLECTIVES.name, COLLECTIVES.empty())
    links = slow_links(frames.get(LINKS.name, LINKS.empty()))
    judged = tuple(alike(groups)) if len(collectives) else ()
    job = source.profiles.job(choice.run, choice.session, choice.rank)
    members = job.members if job is not None else ()
    kinds = {file.kind for member in members for file in member.files}
    kinds |= {file.kind for session in (job.whole if job is not None else ()) for file in session.files}
    telling = (("memory", _MEMORY), ("flops", _FLOPS), ("host", _HOSTS))
    may = {name for name, giving in telling if kinds.intersection(giving)}
    extra = _of_operations(table, operations if len(operations) == len(tables) else [], judged)
    return ClusterFacts(
        frames, tables, place, table, stragglers(collectives, all_steps, groups, links), judged, links,
        {member.rank: member.host for member in members}, frozenset(may), whole, extra=extra,
    )  # fmt: skip


def _disjoint(tables: Sequence[pd.DataFrame]) -> bool:
    """Return whether the steps of sessions are different ones, all of them numbered."""
    numbers = [set(np.unique(table["step"].to_numpy()).tolist()) for table in tables]
    return -1 not in set().union(*numbers) and sum(map(len, numbers)) == len(set().union(*numbers))


def _of_operations(table: RankSteps, operations: Sequence[pd.DataFrame], judged: Sequence[str]) -> dict[str, Floats]:
    """Return what others wait for each rank in each step, in groups of ranks with the same work, and what it waits; in ns."""
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


def of_ranks(source: ProfileSources, choice: ProfileChoice) -> ProfileFrame:
    """Return the frame `ranks` of the job, or the progress of reading it."""
    return source.profiles.frame(choice.run, choice.session, choice.rank, RANKS.name)


def rank_values(ranks: pd.DataFrame, numbers: Ints, metric: str) -> Floats:
    """Return a value of whole ranks (schema RANKS); NaN for unknown. Sizes in bytes, operations per step and per second, ns."""
    rows = ranks.drop_duplicates("rank").set_index("rank").reindex(numbers)
    if metric == "flops":
        both = rows[["cube_flops", "vector_flops"]].to_numpy(np.float64)
        return np.where(np.isfinite(both).any(axis=1), np.nan_to_num(both).sum(axis=1), np.nan)
    column = {"operators": "operators_ns", "flops_per_s": "flops_per_s"}.get(metric, f"{metric}_bytes")
    values = rows[column].to_numpy(np.float64)
    return np.where(values >= 0.0, values, np.nan)


def hosts_of(facts: ClusterFacts, ranks: pd.DataFrame | None) -> list[str]:
    """Return the host of each rank: as its files tell, else as its directory is named; "" for unknown. The facts keep them."""
    if ranks is not None:
        told = zip(ranks["rank"].tolist(), ranks["host"].astype("str").tolist(), strict=True)
        facts.hosts = {**facts.hosts, **{rank: host for rank, host in told if host}}
    return [facts.hosts.get(rank, "") for rank in facts.steps.ranks.tolist()]


def members_of(facts: ClusterFacts, group: str) -> tuple[int, ...]:
    """Return the ranks of a group by its hash; none for an unknown one."""
    groups = facts.frame(GROUPS.name)
    found = groups.loc[groups["group"] == group, "ranks"].tolist() if group else []
    return ranks_of(str(found[0])) if found else ()

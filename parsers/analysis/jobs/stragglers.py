"""Which rank or replica of the model the others wait for, since which step, and why: computing, host, or a slow link.

Two things must agree. By the elapse times of operations, so without comparing clocks, others wait for the rank; and its own
steps say why: it computes longer than the other ranks of its stage, or its device is idle longer. How often it comes last is
no criterion: with many operations in a step each of them waits for another rank. The rule and its hits are in
docs/performance/ranks.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from parsers.analysis.jobs.links import SlowLink
from parsers.analysis.jobs.peers import alike, replica_of, stage_of
from parsers.analysis.jobs.rank_table import RankTable, rank_table
from parsers.analysis.jobs.slow_tests import CAUSES, LIMITS, SlowRankLimits, SlowRankVerdict, slow_ranks, slow_replicas
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

SMALL = 3
"""Largest stage without a usable median distance."""
ONCE = {**CAUSES, "bubble": "pipeline"}
"""Times of the table that tell why others waited for a rank in single steps: it may itself have waited for another stage."""
_HALF = 0.5
"""A cause explains waiting of which it is at least this part."""


@dataclass(frozen=True, slots=True)
class Straggler:
    """A rank that others wait for, or a whole replica.

    rank: the rank, of a replica its first one; replica: all ranks of it, () for a single rank; place: its number among
    replicas, -1 for a rank. group and kind: the group that waits longest for it. peers: ranks (replicas) it was compared with,
    itself included. cause: computing (it computes longer), host (its device is idle longer), link (a slow link of its), and
    of single steps pipeline (it waits longer for another stage) or unknown. steps: those in which it is above its peers in
    that, of `of` steps; of single steps those in which others waited for it. since: the first step from which on it is
    so. persistent: it is slow; else others waited for it in these steps, and no more is said. lateness_ns: what that group
    waits per step. share: that as a share of the step. excess_ns: by how much it is above the median of the others of its
    stage, per step; excess_share: that as a share of the step. z: the excess in spreads of its peers. saved_ns: the less of
    what others wait and the excess. last: share of its operations to which it came last. between_two: two or three are
    compared, so only their difference is known.
    """

    rank: int
    group: str
    kind: str
    cause: str
    steps: tuple[int, ...]
    of: int
    since: int
    persistent: bool
    lateness_ns: float
    share: float
    z: float
    excess_ns: float
    excess_share: float
    saved_ns: float
    last: float
    between_two: bool
    peers: int
    replica: tuple[int, ...] = ()
    place: int = -1


def stragglers(
    collectives: pd.DataFrame,
    steps: pd.DataFrame,
    groups: pd.DataFrame,
    slow: Collection[SlowLink] = (),
    *,
    limits: SlowRankLimits = LIMITS,
) -> list[Straggler]:
    """Return the ranks and replicas that others wait for: the slow ones, then those of single steps, the costliest first.

    Takes the frames of a job (schemas COLLECTIVES, CLUSTER_STEPS, GROUPS) and its slow links. Groups whose kind is unknown are
    judged only if nothing is known of any kind. Of fewer than limits.steps steps nobody is called slow.
    """
    table = rank_table(collectives, steps, alike(groups))
    if table is None:
        return []
    stage, replica = stage_of(table.ranks, groups), replica_of(table.ranks, groups, table.dp)
    kinds = dict(zip(groups["group"].astype("str"), groups["kind"].astype("str"), strict=True))
    ends = {rank for one in slow for rank in (one.source, one.target)}
    found: list[Straggler] = []
    verdicts: list[SlowRankVerdict] = []
    if len(table.steps) >= limits.steps:
        verdicts = slow_replicas(table, stage, replica, limits)
        gone = np.isin(np.arange(len(table.ranks)), [row for one in verdicts for row in one.rows])
        verdicts += slow_ranks(table, np.where(gone, -1, stage), replica, limits, np.isin(table.ranks, sorted(ends)))
        found = [_named(table, one, replica, kinds) for one in verdicts]
    known = {rank for one in found for rank in (one.replica or (one.rank,))}
    found.sort(key=lambda one: -one.saved_ns)
    once = [one for one in _once(table, stage, ends, kinds, limits) if one.rank not in known]
    return [*found, *sorted(once, key=lambda one: -one.lateness_ns)]


def _named(table: RankTable, one: SlowRankVerdict, replica: Ints, kinds: Mapping[str, str]) -> Straggler:
    rows, window = list(one.rows), slice(one.since, None)
    total, every = float(table.total[rows, window].mean()), float(table.late[rows, window].mean())
    first, whole = rows[0], len(rows) > 1
    group, late = table.waiting(first, np.arange(len(table.steps)) >= one.since)
    counts = table.operations[rows, window].sum()
    saved = every if one.cause == "link" else min(every, one.excess_ns)
    return Straggler(
        int(table.ranks[first]), group, kinds.get(group, ""), one.cause,
        tuple(table.steps[np.flatnonzero(one.above)].tolist()), len(table.steps), int(table.steps[one.since]), True, late,
        late / total, one.z, one.excess_ns, one.excess_ns / total, saved,
        float(table.came_last[rows, window].sum() / counts) if counts else 0.0, one.peers <= SMALL, one.peers,
        tuple(table.ranks[rows].tolist()) if whole else (), int(replica[first]) if whole else -1,
    )  # fmt: skip


def _once(
    table: RankTable, stage: Ints, ends: Collection[int], kinds: Mapping[str, str], limits: SlowRankLimits
) -> list[Straggler]:
    """Return the ranks that others waited for in single steps, with what they had above their peers then."""
    chosen = table.late >= limits.once * table.total
    found = []
    excess: dict[str, Floats] = {name: table.excess(name, stage) for name in ONCE} if chosen.any() else {}
    for row in np.flatnonzero(chosen.any(axis=1)).tolist():
        own = chosen[row]
        rank, total = int(table.ranks[row]), float(table.total[row, own].mean())
        group, late = table.waiting(row, own)
        means = {name: float(np.nan_to_num(values[row, own]).mean()) for name, values in excess.items()}
        name = max(means, key=lambda name: means[name])
        explained = means[name] >= _HALF * late
        cause = ONCE[name] if explained else "link" if rank in ends else "unknown"
        more = means[name] if explained else 0.0
        peers = int(np.count_nonzero(stage == stage[row]))
        steps = tuple(table.steps[own].tolist())
        last = float(table.came_last[row, own].sum() / table.operations[row, own].sum())
        found.append(
            Straggler(
                rank, group, kinds.get(group, ""), cause, steps, len(table.steps), steps[0], False, late, late / total,
                0.0, more, more / total, _saved(cause, late, more), last, peers <= SMALL, peers,
            )
        )  # fmt: skip
    return found


def _saved(cause: str, late: float, more: float) -> float:
    """Return what a step would be shorter if others did not wait for the rank; nothing, if it waits for others itself."""
    return {"link": late, "pipeline": 0.0}.get(cause, min(late, max(more, 0.0)))


def moves_with(first: Straggler, second: Straggler, hosts: Sequence[Mapping[int, str]]) -> str:
    """Return what a straggler of two jobs follows: rank, host, both (nothing moved), or "" if it follows none of them.

    hosts are the hosts of the ranks in the first and in the second job.
    """
    same_rank = first.rank == second.rank
    names = hosts[0].get(first.rank, ""), hosts[1].get(second.rank, "")
    same_host = bool(names[0]) and names[0] == names[1]
    if same_rank and same_host:
        return "both"
    return "rank" if same_rank else "host" if same_host else ""

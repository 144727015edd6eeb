"""Which rank the others wait for, since which step, and why: it computes longer, it is late from the host, or a link is slow.

Two things must agree. By the elapse times of operations, so without comparing clocks, the rank comes last; and its own parts of
steps say why. A rank is called slow only if that is so in enough steps: one step alone names wrongly in half of all cases.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.links import SlowLink
from parsers.analysis.jobs.robust import z_scores
from parsers.deferred import pandas as pd
from parsers.model import Floats

ALIKE = ("dp", "tp", "cp", "ep", "sp", "dp_cp", "tp_cp", "tp_dp", "dp_ep", "tp_ep")
"""Kinds of groups whose ranks do the same work. pp, mp, embd and default_group carry the shape of the pipeline."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When a rank is slow.

    lateness: least share of a step that the others wait for it. z: least z-score of its computing or free time. spread:
    smallest relative spread that is believed. pair: least (highest - lowest) / mean in groups of two and three. last: least
    share of the group's operations to which it comes last, and of steps in which it is late. steps: least number of steps to
    speak of more than a step.
    """

    lateness: float = 0.01
    z: float = 3.5
    spread: float = 0.01
    pair: float = 0.05
    last: float = 0.5
    steps: int = 5


LIMITS = Limits()
OF_LAST_STEPS = 0.65
"""Least share of steps in which a rank is late, of those since it is: few steps are chosen out of all more easily."""
SMALL = 3
"""Largest group without a usable median distance."""


@dataclass(frozen=True, slots=True)
class Straggler:
    """A rank that the others of a group wait for.

    cause: computing (it computes longer), host (it comes late and does not compute longer), link (a slow link of its), or
    unknown. steps: those in which it was late, of `of` steps. since: the step from which on it was late in most of them.
    persistent: enough steps to be more than chance; else it was late in these steps, and no more is said. lateness_ns: what the
    others wait per step. share: that as a share of the step. z: its z-score in what the cause is. excess_ns: by how much it is
    above the median
    of the group in that, per step. saved_ns: what a step would save if it were as fast as the median. last: share of
    operations to which it came last. between_two: the group has two or three ranks, so only their difference is known.
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
    saved_ns: float
    last: float
    between_two: bool


@dataclass(frozen=True, slots=True)
class _Table:
    """Values of the ranks of a group by step: rows are ranks, columns the steps known of all of them.

    late is what the others waited (ns), came_last to how many operations a rank came last, operations how many there were.
    """

    ranks: Sequence[int]
    steps: Sequence[int]
    total: Floats
    computing: Floats
    free: Floats
    late: Floats
    came_last: Floats
    operations: Floats


def stragglers(
    collectives: pd.DataFrame,
    steps: pd.DataFrame,
    groups: pd.DataFrame,
    slow: Collection[SlowLink] = (),
    *,
    limits: Limits = LIMITS,
) -> list[Straggler]:
    """Return the ranks that others wait for, the costliest first; each rank once, in the group that waits most for it.

    Takes the frames of a job (schemas COLLECTIVES, CLUSTER_STEPS, GROUPS) and its slow links. Groups whose kind is unknown are
    judged only if nothing is known of any kind.
    """
    judged = alike(groups)
    if not len(judged) or not len(collectives) or not len(steps):
        return []
    kinds = dict(zip(groups["group"].astype("str"), groups["kind"].astype("str"), strict=True))
    ends = {rank for one in slow for rank in (one.source, one.target)}
    found: dict[int, Straggler] = {}
    for group, table in _tables(collectives, steps, judged):
        for one in _of_group(group, kinds.get(group, ""), table, ends, limits):
            known = found.get(one.rank)
            if known is None or (one.persistent, one.lateness_ns) > (known.persistent, known.lateness_ns):
                found[one.rank] = one
    return sorted(found.values(), key=lambda one: (not one.persistent, -one.lateness_ns))


def alike(groups: pd.DataFrame) -> list[str]:
    """Return the groups whose ranks do the same work (schema GROUPS)."""
    kinds = groups["kind"].astype("str")
    if not kinds.ne("").any():
        chosen = groups["sections"].astype("str").eq("collective")
    else:
        chosen = kinds.isin(ALIKE)
    return [str(group) for group in groups.loc[chosen & (groups["size"] > 1), "group"]]


def _of_group(group: str, kind: str, table: _Table, ends: Collection[int], limits: Limits) -> list[Straggler]:
    late, came_last, counts = table.late, table.came_last, table.operations
    found = []
    for place, rank in enumerate(table.ranks):
        shares = late[place] / table.total[place]
        chosen = np.isfinite(shares) & (shares >= limits.lateness)
        if not chosen.any():
            continue
        since = _since(chosen, limits.steps)
        everything, run = np.ones(len(chosen), np.bool_), np.arange(len(chosen)) >= since
        for window in (run, everything, chosen):
            mean, total = float(np.nanmean(late[place][window])), float(np.nanmean(table.total[place][window]))
            share_last = float(np.nansum(came_last[place][window]) / np.nansum(counts[window]))
            number = int(np.count_nonzero(window))
            wanted = limits.last if window.all() else max(limits.last, OF_LAST_STEPS)
            often = int(np.count_nonzero(window & chosen)) >= wanted * number  # one hiccup moves the mean of ten steps
            enough = number >= limits.steps and often and share_last >= limits.last and mean >= limits.lateness * total
            if not enough and window is not chosen:
                continue
            cause, z, excess = _judged(place, table, window, limits)
            cause = "link" if cause == "unknown" and rank in ends else cause
            if cause != "unknown":
                break
        else:
            continue
        slow = tuple(step for step, is_slow in zip(table.steps, chosen.tolist(), strict=True) if is_slow)
        saved = mean if cause == "link" else min(mean, excess)
        found.append(
            Straggler(
                rank, group, kind, cause, slow, len(table.steps), table.steps[since], enough and window is not chosen, mean,
                mean / total, z, excess, saved, share_last, len(table.ranks) <= SMALL,
            )
        )  # fmt: skip
    return found


def _tables(collectives: pd.DataFrame, steps: pd.DataFrame, judged: Collection[str]) -> Iterator[tuple[str, _Table]]:
    """Yield each group with the values of its ranks, if some step is known of all of them."""
    lateness = collectives["lateness_ns"].to_numpy()
    codes = collectives["group"].cat.codes.to_numpy()
    usable = np.append(collectives["group"].cat.categories.isin(list(judged)), False)[codes] & np.isfinite(lateness)
    rows = np.flatnonzero(usable)
    parts = steps[(steps["kind"].astype("str") == "rank").to_numpy()].drop_duplicates(["rank", "step"])
    ranks, rank_of = np.unique(collectives["rank"].to_numpy()[rows], return_inverse=True)
    numbers, step_of = np.unique(collectives["step"].to_numpy()[rows], return_inverse=True)
    if not len(rows) or not len(parts):
        return
    grids = [np.full((len(ranks), len(numbers)), np.nan) for _ in range(3)]
    kept = parts["rank"].isin(ranks).to_numpy() & parts["step"].isin(numbers).to_numpy()
    at = np.searchsorted(ranks, parts["rank"].to_numpy()[kept]), np.searchsorted(numbers, parts["step"].to_numpy()[kept])
    for grid, name in zip(grids, ("total_ns", "computing_ns", "free_ns"), strict=True):
        grid[at] = parts[name].to_numpy()[kept]
    pairs, pair_of = np.unique(codes[rows].astype(np.int64) * len(ranks) + rank_of, return_inverse=True)
    cell = pair_of * len(numbers) + step_of
    shape = len(pairs), len(numbers)
    late, came_last, operations = (
        np.bincount(cell, weights, shape[0] * shape[1]).astype(np.float64).reshape(shape)
        for weights in (lateness[rows], lateness[rows] > 0.0, np.ones(len(rows)))
    )
    of_pair, rank_of_pair = pairs // len(ranks), pairs % len(ranks)
    begins = np.flatnonzero(np.r_[True, of_pair[1:] != of_pair[:-1]]).tolist()
    for begin, end in zip(begins, [*begins[1:], len(pairs)], strict=True):
        mine = rank_of_pair[begin:end]
        total = grids[0][mine]
        known = (total > 0.0).all(axis=0) & (operations[begin:end] > 0).all(axis=0)
        if end - begin < 2 or not known.any():
            continue
        computing, free = (grid[mine][:, known] for grid in grids[1:])
        own = late[begin:end][:, known], came_last[begin:end][:, known]
        counted = operations[begin, known]
        whole = ranks[mine].tolist(), numbers[known].tolist()
        group = str(collectives["group"].cat.categories[of_pair[begin]])
        yield group, _Table(*whole, total[:, known], computing, free, own[0], own[1], counted)


def _judged(place: int, table: _Table, window: NDArray[np.bool_], limits: Limits) -> tuple[str, float, float]:
    """Return cause, z-score of the computing and excess per step in ns of a rank over some steps; cause unknown for none."""
    computing, free = np.nanmean(table.computing[:, window], axis=1), np.nanmean(table.free[:, window], axis=1)
    small = len(table.ranks) <= SMALL
    z = float(z_scores(computing, limits.spread)[place])
    usual, idle = (float(values.min() if small else np.median(values)) for values in (computing, free))
    excess, more_free = float(computing[place]) - usual, float(free[place]) - idle
    if small:
        longer = int(np.argmax(computing)) == place and excess >= limits.pair * float(computing.mean())
    else:
        longer = z >= limits.z
    if longer:
        return "computing", z, excess
    if (small or abs(z) < limits.z) and more_free >= limits.lateness * float(np.nanmean(table.total[place][window])):
        return "host", z, more_free
    return "unknown", z, 0.0


def _since(chosen: NDArray[np.bool_], least: int) -> int:
    """Return the place from which on chosen steps outnumber others most, of at least `least` steps; of several the first one.

    A single other step in between does not part what was before it from what follows.
    """
    starts = np.flatnonzero(chosen)
    starts = starts[starts <= len(chosen) - least]
    if not len(starts):
        return int(np.flatnonzero(chosen)[0])
    after = np.cumsum(chosen[::-1])[::-1]
    return int(starts[np.argmax(2 * after[starts] - (len(chosen) - starts))])


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

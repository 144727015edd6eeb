"""Tests of whether a rank, or a whole replica, is above its peers in more than chance and in more than single steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.rank_table import RankTable
from parsers.analysis.jobs.robust import NORMAL, median_of_others, middle_mean, t_limit
from parsers.model import Floats, Ints

CAUSES = {"computing": "computing", "free": "host"}
"""Times of the table that a slow rank has too much of, and the cause that this is."""


@dataclass(frozen=True, slots=True)
class SlowRankLimits:
    """When a rank is slow; the same on all pages.

    excess: least share of a step by which its computing or idle time is above its peers. waited: least share of a step that
    others wait for it. often: least share of steps in which it is above them. spreads: least number of spreads of its peers,
    where there are `peers` of them. level: probability of one wrong name in a job without a slow rank. steps: least number of
    recorded steps; since: least number of steps since it became slow. once: in a single step, others must wait for
    a rank for at least this share of it before the rank is named for that step.
    """

    excess: float = 0.02
    waited: float = 0.001
    often: float = 0.8
    spreads: float = 3.5
    peers: int = 4
    level: float = 0.01
    steps: int = 8
    since: int = 5
    once: float = 0.01


LIMITS = SlowRankLimits()
HALF = 0.5
"""Least part of the excess of a replica that each of its ranks has, and of a corrected excess that the plain one has."""
_MANY = 4
"""Ranks of a replica or stage of which one slow rank does not move the median."""
_FEWEST = 4
"""Steps of which the variance of a middle mean is known."""
_PRIOR = 8
"""Most degrees of freedom that the variances of peers lend to that of a rank."""


@dataclass(frozen=True, slots=True)
class SlowRankVerdict:
    """Rows of the table that are slow together; cause; the place of the step since which; excess per step; its spreads.

    above marks the steps in which it is above its peers; peers is how many ranks or replicas were compared.
    """

    rows: tuple[int, ...]
    cause: str
    since: int
    excess_ns: float
    z: float
    above: NDArray[np.bool_]
    peers: int


def slow_replicas(table: RankTable, stage: Ints, replica: Ints, limits: SlowRankLimits = LIMITS) -> list[SlowRankVerdict]:
    """Return the replicas that are slow as a whole: their mean passes, and each of their ranks has at least half of it."""
    numbers = np.unique(replica[(replica >= 0) & (stage >= 0)])
    if len(numbers) < 2 or (replica[stage >= 0] < 0).any():
        return []
    members = [np.flatnonzero((replica == number) & (stage >= 0)) for number in numbers.tolist()]
    late = np.stack([table.late[rows].mean(axis=0) for rows in members])
    total = np.stack([table.total[rows].mean(axis=0) for rows in members])
    found: dict[int, SlowRankVerdict] = {}
    for name, cause in CAUSES.items():
        excess, usual = _of_replicas(getattr(table, name), stage, members)
        values = np.stack([excess[rows].mean(axis=0) for rows in members])
        scale = usual.mean(axis=1) if name == "computing" else np.ones(len(usual))
        for one in _passing(values, total, late, cause, len(numbers) * len(CAUSES), limits):
            rows = members[one.rows[0]]
            own = middle_mean(excess[rows][:, one.since :])[0] / scale[rows]
            known = found.get(one.rows[0])
            if own.min() >= HALF * own.mean() and (known is None or known.excess_ns < one.excess_ns):
                found[one.rows[0]] = SlowRankVerdict(
                    tuple(rows.tolist()), cause, one.since, one.excess_ns, one.z, one.above, len(numbers)
                )
    return [*found.values()]


def _of_replicas(values: Floats, stage: Ints, members: list[Ints]) -> tuple[Floats, Floats]:
    """Return by how much each rank is above the median of the other replicas in its stage, and that median."""
    usual = np.full(values.shape, np.nan)
    for number in np.unique(stage[stage >= 0]).tolist():
        own = [rows[stage[rows] == number] for rows in members]
        kept = [rows for rows in own if len(rows)]
        others = median_of_others(np.stack([values[rows].mean(axis=0) for rows in kept]))
        for rows, median in zip(kept, others, strict=True):
            usual[rows] = median
    with np.errstate(invalid="ignore"):
        return values - usual, usual


def slow_ranks(
    table: RankTable, stage: Ints, replica: Ints, limits: SlowRankLimits = LIMITS, linked: NDArray[np.bool_] | None = None
) -> list[SlowRankVerdict]:
    """Return the single ranks that are slow. stage is -1 for ranks that are left out; linked marks ends of slow links.

    Where ranks share a model, computing is compared a second time after dividing by the median of the other ranks of the same
    replica and step, since data differ by replica. Where both stage and replica have two or three ranks, that counts only
    if the plain excess is at least half of it: in a job of 2 x 2 ranks the opposite corner looks the same.
    """
    found: dict[int, SlowRankVerdict] = {}
    stages = [np.flatnonzero(stage == number) for number in np.unique(stage[stage >= 0]).tolist()]
    stages = [rows for rows in stages if len(rows) > 1]
    tests = sum(map(len, stages)) * (len(CAUSES) + 1)
    kept = np.where(stage >= 0, replica, -1)
    levels = np.ones(table.computing.shape)
    for rows in stages:
        levels[rows] = table.computing[rows] / np.median(table.computing[rows])
    divided, sizes = _divided(levels, kept), np.bincount(kept + 1)[kept + 1]
    for rows in stages:
        total, late = table.total[rows], table.late[rows]
        for name, cause in CAUSES.items():
            own = getattr(table, name)[rows]
            plain = own - median_of_others(own)
            verdicts = _passing(plain, total, late, cause, tests, limits)
            if name == "computing" and np.isfinite(divided[rows]).all():
                corrected = (divided[rows] - median_of_others(divided[rows])) * np.median(own, axis=0)
                for one in _passing(corrected, total, late, cause, tests, limits):
                    row = one.rows[0]
                    enough = middle_mean(plain[row : row + 1, one.since :])[0][0] >= HALF * one.excess_ns
                    if enough or max(sizes[rows[row]], len(rows)) >= _MANY:
                        verdicts.append(one)
            _keep(found, rows, verdicts)
        if linked is not None and linked[rows].any():
            verdicts = _passing(late - median_of_others(late), total, late, "link", tests, limits)
            _keep(found, rows, [one for one in verdicts if linked[rows[one.rows[0]]] and int(rows[one.rows[0]]) not in found])
    return [*found.values()]


def _keep(found: dict[int, SlowRankVerdict], rows: Ints, verdicts: list[SlowRankVerdict]) -> None:
    """Keep the largest excess of each rank."""
    for one in verdicts:
        row = int(rows[one.rows[0]])
        if row not in found or found[row].excess_ns < one.excess_ns:
            found[row] = SlowRankVerdict((row,), one.cause, one.since, one.excess_ns, one.z, one.above, one.peers)


def _divided(values: Floats, replica: Ints) -> Floats:
    """Return values divided by the median of the other ranks of the same replica and step; NaN without such ranks."""
    found = np.full(values.shape, np.nan)
    for number in np.unique(replica[replica >= 0]).tolist():
        rows = np.flatnonzero(replica == number)
        others = median_of_others(values[rows])
        found[rows] = np.divide(values[rows], others, out=np.full(others.shape, np.nan), where=others > 0.0)
    return found


def _passing(
    values: Floats, total: Floats, late: Floats, cause: str, tests: int, limits: SlowRankLimits
) -> list[SlowRankVerdict]:
    """Return verdicts on the rows of values (excess over peers by step, ns), each from the step since which it is so.

    tests is how many such rows the job has: the level is divided by it, and by the number of possible steps if one was chosen.
    """
    steps = values.shape[1]
    since = _since(values, limits.since)
    found = []
    for begin in sorted({0, *since.tolist()}):
        chances = tests * (1 if begin == 0 else max(steps - limits.since, 1))
        passed, mean, z = _tested(values, begin, total[:, begin:], late[:, begin:], chances, limits)
        chosen = passed & ((since == begin) | (begin == 0))
        found += [
            SlowRankVerdict((row,), cause, begin, float(mean[row]), float(z[row]), values[row] > 0.0, len(values))
            for row in np.flatnonzero(chosen).tolist()
        ]
    latest = {one.rows[0]: one for one in found}
    return [latest[row] for row in sorted(latest)]


def _tested(
    values: Floats, begin: int, total: Floats, late: Floats, tests: int, limits: SlowRankLimits
) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """Return which rows pass all limits from the step at `begin` on, their middle means and these in spreads of the peers.

    The variance of a row of few steps is itself uncertain: those of its peers are mixed in, as if they were further steps.
    """
    mean, variance, own = _from_on(values, begin)
    values = values[:, begin:]
    count = len(values)
    lent = min(count - 1, _PRIOR) if count >= limits.peers else 0
    mixed = (own * variance + lent * np.median(variance)) / (own + lent)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mixed > 0.0, mean / np.sqrt(mixed), np.where(mean > 0.0, np.inf, 0.0))
    usual = total.mean(axis=1)
    passed = (
        (mean >= limits.excess * usual) & (t >= t_limit(limits.level / tests, own + lent))
        & ((values > 0.0).mean(axis=1) >= limits.often) & (late.mean(axis=1) >= limits.waited * usual)
    )  # fmt: skip
    z = np.zeros(count)
    for row in np.flatnonzero(passed).tolist():
        z[row] = _spreads(mean, row, limits.excess / (2.0 * limits.spreads) * float(usual[row]))
    if count >= limits.peers:
        passed &= z >= limits.spreads
    return passed, mean, z


def _from_on(values: Floats, begin: int) -> tuple[Floats, Floats, int]:
    """Return middle means from a step on, their variances, and the degrees of freedom of these.

    The steps before tell as well how far steps differ: few steps that were chosen for their mean may agree by chance.
    """
    mean, variance = middle_mean(values[:, begin:])
    after = values.shape[1] - begin
    if begin < _FEWEST:
        return mean, variance, after - 3
    scale = after / (after - 2) ** 2
    earlier = middle_mean(values[:, :begin])[1] * ((begin - 2) ** 2 / begin)
    freedom = after - 3 + begin - 3
    return mean, scale * ((after - 3) * variance / scale + (begin - 3) * earlier) / freedom, freedom


def _spreads(means: Floats, row: int, least: float) -> float:
    """Return how many spreads (of at least `least`) of the others a row is above their median."""
    others = np.delete(means, row)
    middle = float(np.median(others))
    return (float(means[row]) - middle) / max(NORMAL * float(np.median(np.abs(others - middle))), least)


def _since(values: Floats, least: int) -> Ints:
    """Return the place of the step that parts lower values from higher ones best, of each row; 0 if nothing parts them.

    The lowest and highest value of a row are drawn in to their neighbours. At least `least` steps follow, and what was before
    is less than half of what follows.
    """
    count, steps = values.shape
    if steps <= least:
        return np.zeros(count, np.int64)
    ordered = np.sort(values, axis=1)
    sums = np.cumsum(np.clip(values, ordered[:, 1:2], ordered[:, -2:-1]), axis=1)
    number = np.arange(1, steps - least + 1)
    before = sums[:, : steps - least] / number
    after = (sums[:, -1:] - sums[:, : steps - least]) / (steps - number)
    gain = np.where(before < HALF * after, (after - before) ** 2 * number * (steps - number), 0.0)
    best = np.argmax(gain, axis=1)
    return np.where(gain[np.arange(count), best] > 0.0, best + 1, 0)

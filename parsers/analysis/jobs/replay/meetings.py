"""Which operations of ranks are one: collectives by group and name, sends and receives in pairs; by how much clocks differ.

Files do not tell to whom a rank sent, and names count by rank: operations of neighbours in a pipeline are a pair if they end
together, the nearest first. What is left in a group of two ranks is matched in its order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.choosing import coded, numbered
from parsers.analysis.jobs.clocks import clock_offsets
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints
from parsers.profiler.groups import ranks_of

TOGETHER_NS = 60_000.0
"""Ends that differ by no more belong together."""
SENDS, RECEIVES, EXCHANGES = 1, 2, 3
"""What an operation between two ranks does; collectives are 0."""
_DOES = {"send": SENDS, "receive": RECEIVES, "recv": RECEIVES}
_FIRST_STEPS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Meetings:
    """What ranks take part in together, by row of operations.

    of is the number of the meeting, `number` how many there are. peer is the place of the other rank of a pair, -1 for none.
    ahead is by how many ns the clock of each rank is ahead. alone are operations between two ranks whose pair was not found;
    sends are those that never wait for their receiver (eager). does is SENDS, RECEIVES, EXCHANGES, or 0.
    """

    of: Ints
    number: int
    peer: Ints
    ahead: Floats
    alone: NDArray[np.bool_]
    sends: NDArray[np.bool_]
    does: Ints


def meetings_of(
    chosen: pd.DataFrame, rank: Ints, step: Ints, groups: pd.DataFrame, ranks: Ints
) -> Meetings:
    """Return the meetings of operations in order of step, rank and begin (schema COLLECTIVES); rank and step are places."""
    group, name = (chosen[column].cat.codes.to_numpy().astype(np.int64) for column in ("group", "name"))
    own, _ = numbered(group, name, step, rank)
    named, first = numbered(group, name, step, _nth(own))
    between = coded(chosen["section"], ("p2p",))
    start, elapse = chosen["start_ns"].to_numpy(), chosen["elapse_ns"].to_numpy(np.float64)
    kinds = chosen["kind"].cat
    table = np.array([*(_DOES.get(str(kind), EXCHANGES) for kind in kinds.categories), EXCHANGES])
    rows = _Pairing(
        group, step, rank, table[kinds.codes.to_numpy()], (start - start.min()) + elapse, between
    )  # fmt: skip
    chains = _chains(rows, chosen["group"].cat.categories.tolist(), groups, ranks)
    ahead = _ahead(chosen, rank, step, ranks, rows, chains)
    ends = rows.ends - ahead[rank]
    peer = np.full(len(rank), -1, np.int64)
    of = np.where(between, len(first) + np.arange(len(rank)), named)
    for some in _by_group(rows):
        for one, other in _pairs(rows, some, chains[int(group[some[0]])], ends):
            peer[one], peer[other] = rank[other], rank[one]
            of[other] = of[one]
    of, _ = numbered(of)
    sends = _never_wait(of, rows.does, peer, elapse, ends)
    return Meetings(of, int(of.max()) + 1, peer, ahead, between & (peer < 0), sends, np.where(between, rows.does, 0))


def _by_group(rows: _Pairing) -> list[Ints]:
    """Return the rows between two ranks of each group and step."""
    chosen = np.flatnonzero(rows.between)
    if not len(chosen):
        return []
    number, first = numbered(rows.group[chosen], rows.step[chosen])
    order = np.argsort(number, kind="stable")
    return np.split(chosen[order], np.cumsum(np.bincount(number, minlength=len(first)))[:-1])


def _chains(rows: _Pairing, names: Sequence[str], groups: pd.DataFrame, ranks: Ints) -> dict[int, list[int]]:
    """Return the ranks of each group with operations between two ranks, in order, as places."""
    members = dict(zip(groups["group"].astype("str"), map(ranks_of, groups["ranks"].astype("str")), strict=True))
    places = {int(number): place for place, number in enumerate(ranks.tolist())}
    found = {}
    for code in np.unique(rows.group[rows.between]).tolist():
        told = [places[one] for one in members.get(names[code] if code >= 0 else "", ()) if one in places]
        found[code] = told or np.unique(rows.rank[rows.between & (rows.group == code)]).tolist()
    return found


def _nth(key: Ints) -> Ints:
    """Return the number of each row among those of equal key, in their order."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    begins = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    found = np.empty(len(key), np.int64)
    found[order] = np.arange(len(key)) - np.repeat(begins, np.diff(np.r_[begins, len(key)]))
    return found


def _ahead(
    chosen: pd.DataFrame, rank: Ints, step: Ints, ranks: Ints, pairs: _Pairing, groups: Mapping[int, Sequence[int]]
) -> Floats:
    """Return by how many ns the clock of each rank is ahead, after the first step that compares most of them.

    Ranks that share no collective are compared by what neighbours of a chain send and receive: most ends of one are then the
    same distance from ends of the other. Ranks that nothing compares begin together.
    """
    for rows in (step == step.min(), np.ones(len(step), np.bool_)):
        found = clock_offsets(chosen[rows])
        if found["part"].nunique() == 1 and len(found) == len(ranks):
            break
    ahead, part = np.zeros(len(ranks)), np.full(len(ranks), -1, np.int64)
    at = np.searchsorted(ranks, found["rank"].to_numpy())
    ahead[at], part[at] = found["offset_ns"].to_numpy(np.float64), found["part"].to_numpy()
    lonely = np.flatnonzero(part < 0)
    part[lonely] = (part.max() if len(part) else -1) + 1 + np.arange(len(lonely))
    _by_pairs(pairs, groups, ahead, part)
    begins = np.full(len(ranks), np.inf)
    np.minimum.at(begins, rank, pairs.ends)
    for number in np.unique(part)[1:].tolist():
        here, main = part == number, part == part[0]
        ahead[here] += float((begins[here] - ahead[here]).min() - (begins[main] - ahead[main]).min())
    return ahead


def _neighbours(chain: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pairs of ranks of a chain that follow each other; its last and first one, too, as interleaved stages do."""
    found = list(pairwise(chain))
    return [*found, (chain[-1], chain[0])] if len(chain) > 2 else found


@dataclass(frozen=True, slots=True, eq=False)
class _Pairing:
    """Rows of operations between two ranks: their group, step, rank, what they do, and end by the clock of the rank."""

    group: Ints
    step: Ints
    rank: Ints
    does: Ints
    ends: Floats
    between: NDArray[np.bool_]


def _by_pairs(rows: _Pairing, groups: Mapping[int, Sequence[int]], ahead: Floats, part: Ints) -> None:
    """Compare sets of ranks by ends of what neighbours in different sets send and receive; changes ahead and part."""
    while True:
        found: dict[tuple[int, int], list[Floats]] = {}
        for code, chain in groups.items():
            for one, other in _neighbours(chain):
                if part[one] != part[other]:
                    apart = _all_apart(rows, code, one, other) - (ahead[other] - ahead[one])
                    low = part[one] < part[other]
                    key = (int(part[one]), int(part[other])) if low else (int(part[other]), int(part[one]))
                    found.setdefault(key, []).append(apart if low else -apart)
        agreed = [(*_most_common(np.sort(np.concatenate(apart))), *key) for key, apart in found.items()]
        if not agreed:
            return
        _, apart, first, second = max(agreed)
        ahead[part == second] += apart
        part[part == second] = first


def _all_apart(rows: _Pairing, code: int, one: int, other: int) -> Floats:
    """Return by how much each end of `other` is later than each end of `one` that may be its pair, in the first steps."""
    own = rows.between & (rows.group == code)
    found = [np.empty(0)]
    for step in np.unique(rows.step[own & (rows.rank == one)])[:_FIRST_STEPS].tolist():
        here = own & (rows.step == step)
        mine, yours = np.flatnonzero(here & (rows.rank == one)), np.flatnonzero(here & (rows.rank == other))
        fit = _fits(rows.does[mine][:, None], rows.does[yours][None, :])
        found.append((rows.ends[yours][None, :] - rows.ends[mine][:, None])[fit])
    return np.concatenate(found)


def _most_common(apart: Floats) -> tuple[float, float]:
    """Return how many of some distances in order nearly agree, and on which one. Those within a smaller width count again."""
    if not len(apart):
        return 0.0, 0.0
    agreed = np.zeros(len(apart))
    for width in (TOGETHER_NS, TOGETHER_NS / 4, TOGETHER_NS / 16):
        agreed += np.searchsorted(apart, apart + width, "right") - np.searchsorted(apart, apart - width)
    best = int(np.argmax(agreed))
    near = apart[np.abs(apart - apart[best]) <= TOGETHER_NS / 4]
    return float(agreed[best]), float(np.median(near))


def _fits(mine: Ints, yours: Ints) -> NDArray[np.bool_]:
    """Return whether two operations can be a pair: one sends what the other receives, or both do both."""
    sent = (mine + yours == SENDS + RECEIVES) & (mine != yours)
    found: NDArray[np.bool_] = sent | ((mine == EXCHANGES) & (yours == EXCHANGES))
    return found


def _pairs(rows: _Pairing, some: Ints, chain: Sequence[int], ends: Floats) -> list[tuple[int, int]]:
    """Return pairs of rows of one group and step, those whose ends are nearest first; ends are by one clock."""
    candidates: list[tuple[float, int, int]] = []
    for one, other in _neighbours(chain):
        mine, yours = some[rows.rank[some] == one], some[rows.rank[some] == other]
        apart = np.abs(ends[mine][:, None] - ends[yours][None, :])
        fit = (apart <= TOGETHER_NS) & _fits(rows.does[mine][:, None], rows.does[yours][None, :])
        for first, second in zip(*np.nonzero(fit), strict=True):
            candidates.append((float(apart[first, second]), int(mine[first]), int(yours[second])))
    taken: set[int] = set()
    pairs = []
    for _, row, beside in sorted(candidates):
        if row not in taken and beside not in taken:
            taken |= {row, beside}
            pairs.append((row, beside))
    if len(chain) == 2 and len(taken) < len(some):
        pairs += _in_order(np.array([row for row in some.tolist() if row not in taken], np.int64), chain, rows)
    return pairs


def _in_order(some: Ints, chain: Sequence[int], rows: _Pairing) -> list[tuple[int, int]]:
    """Return pairs of two ranks in the order of their operations, if they have equally many of each kind."""
    one, other = (some[rows.rank[some] == place] for place in chain)
    pairs: list[tuple[int, int]] = []
    for mine, yours in ((SENDS, RECEIVES), (RECEIVES, SENDS), (EXCHANGES, EXCHANGES)):
        first, second = one[rows.does[one] == mine], other[rows.does[other] == yours]
        if len(first) == len(second):
            pairs += zip(first.tolist(), second.tolist(), strict=True)
    return pairs


def _never_wait(of: Ints, does: Ints, peer: Ints, elapse: Floats, ends: Floats) -> NDArray[np.bool_]:
    """Return the sends that never wait for their receivers, all of a job or none.

    Where the receiver came late a send that waits ends with it, and one that does not had ended before: what most do counts.
    """
    found = np.zeros(len(of), np.bool_)
    sends, receives = (np.flatnonzero((does == kind) & (peer >= 0)) for kind in (SENDS, RECEIVES))
    if not len(sends):
        return found
    row = np.full(int(of.max()) + 1, -1, np.int64)
    row[of[receives]] = receives
    beside = row[of[sends]]
    sends, beside = sends[beside >= 0], beside[beside >= 0]
    came = ends[beside] - elapse[beside]
    late = came - (ends[sends] - elapse[sends]) > TOGETHER_NS
    before = late & (ends[sends] < came)
    if before.sum() > late.sum() / 2:
        found[sends] = True
    return found

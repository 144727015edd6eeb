"""Which operations of which ranks are one: collectives by group and name, sends and receives in pairs; and by how much clocks differ.

Pairs of a group of two ranks are matched in their order. In larger groups files do not tell to whom a rank sent: operations of
neighbours in the chain are a pair if they end together, those of one name first.
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
_SENDS, _RECEIVES, _EXCHANGES = 1, 2, 3
_DOES = {"send": _SENDS, "receive": _RECEIVES, "recv": _RECEIVES}
_ALIKE = 1.25
_APART = 2.0
_LEAST_PAIRS = 4
_FIRST_STEPS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Meetings:
    """What ranks take part in together, by row of operations.

    of is the number of the meeting, `number` how many there are. peer is the place of the other rank of a pair, -1 for none.
    ahead is by how many ns the clock of each rank is ahead. alone are operations between two ranks whose pair was not found;
    sends are those that never wait for their receiver (eager).
    """

    of: Ints
    number: int
    peer: Ints
    ahead: Floats
    alone: NDArray[np.bool_]
    sends: NDArray[np.bool_]


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
    table = np.array([*(_DOES.get(str(kind), _EXCHANGES) for kind in kinds.categories), _EXCHANGES])
    rows = _Pairing(
        group, step, rank, table[kinds.codes.to_numpy()], named, (start - start.min()) + elapse, between
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
    sends = _never_wait(chosen, of, rows.does, peer, elapse, ends)
    return Meetings(of, int(of.max()) + 1, peer, ahead, between & (peer < 0), sends)


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
    for code, chain in groups.items():
        for one, other in _neighbours(chain):
            if part[one] != part[other]:
                apart = _apart(pairs, code, one, other)
                if apart is not None:
                    here = part == part[other]
                    ahead[here] += apart - (ahead[other] - ahead[one])
                    part[here] = part[one]
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
    """Rows of operations between two ranks: their group, step, rank, what they do, name, and end by the clock of the rank."""

    group: Ints
    step: Ints
    rank: Ints
    does: Ints
    named: Ints
    ends: Floats
    between: NDArray[np.bool_]


def _apart(rows: _Pairing, code: int, one: int, other: int) -> float | None:
    """Return by how much ends of `other` are later than those of `one` in most operations of a group; None without any."""
    own = rows.between & (rows.group == code)
    steps = np.unique(rows.step[own & (rows.rank == one)])[:_FIRST_STEPS]
    found = [np.empty(0)]
    for step in steps.tolist():
        here = own & (rows.step == step)
        mine, yours = np.flatnonzero(here & (rows.rank == one)), np.flatnonzero(here & (rows.rank == other))
        fit = _fits(rows.does[mine][:, None], rows.does[yours][None, :])
        found.append((rows.ends[yours][None, :] - rows.ends[mine][:, None])[fit])
    apart = np.sort(np.concatenate(found))
    if not len(apart):
        return None
    count = np.searchsorted(apart, apart + TOGETHER_NS, "right") - np.arange(len(apart))
    first = int(np.argmax(count))
    return float(np.median(apart[first : first + count[first]]))


def _fits(mine: Ints, yours: Ints) -> NDArray[np.bool_]:
    """Return whether two operations can be a pair: one sends what the other receives, or both do both."""
    found: NDArray[np.bool_] = (mine + yours == _SENDS + _RECEIVES) & (mine != yours) | (mine == _EXCHANGES) & (yours == _EXCHANGES)
    return found


def _pairs(rows: _Pairing, some: Ints, chain: Sequence[int], ends: Floats) -> list[tuple[int, int]]:
    """Return pairs of rows of one group and step; ends are by one clock."""
    if len(chain) == 2:
        found = _in_order(some, chain, rows.rank, rows.does)
        if found is not None:
            return found
    candidates: list[tuple[bool, float, int, int]] = []
    for one, other in _neighbours(chain):
        mine, yours = some[rows.rank[some] == one], some[rows.rank[some] == other]
        apart = np.abs(ends[mine][:, None] - ends[yours][None, :])
        fit = (apart <= TOGETHER_NS) & _fits(rows.does[mine][:, None], rows.does[yours][None, :])
        for first, second in zip(*np.nonzero(fit), strict=True):
            row, beside = int(mine[first]), int(yours[second])
            candidates.append((rows.named[row] != rows.named[beside], float(apart[first, second]), row, beside))
    taken: set[int] = set()
    pairs = []
    for _, _, row, beside in sorted(candidates):
        if row not in taken and beside not in taken:
            taken |= {row, beside}
            pairs.append((row, beside))
    return pairs


def _in_order(some: Ints, chain: Sequence[int], rank: Ints, does: Ints) -> list[tuple[int, int]] | None:
    """Return pairs of two ranks in the order of their operations; None if they have not equally many of each kind."""
    one, other = (some[rank[some] == place] for place in chain)
    pairs: list[tuple[int, int]] = []
    for mine, yours in ((_SENDS, _RECEIVES), (_RECEIVES, _SENDS), (_EXCHANGES, _EXCHANGES)):
        first, second = one[does[one] == mine], other[does[other] == yours]
        if len(first) != len(second):
            return None
        pairs += zip(first.tolist(), second.tolist(), strict=True)
    return pairs


def _never_wait(
    chosen: pd.DataFrame, of: Ints, does: Ints, peer: Ints, elapse: Floats, ends: Floats
) -> NDArray[np.bool_]:
    """Return the sends that take the same time whatever their receivers do.

    They do if receives of many pairs end later, or if sends take equal times per byte while receives take very different ones.
    """
    sends = np.flatnonzero((does == _SENDS) & (peer >= 0))
    found = np.zeros(len(of), np.bool_)
    if len(sends) < _LEAST_PAIRS:
        return found
    receives = np.flatnonzero((does == _RECEIVES) & (peer >= 0))
    row = np.full(int(of.max()) + 1, -1, np.int64)
    row[of[receives]] = receives
    sends = sends[row[of[sends]] >= 0]
    beside = row[of[sends]]
    size = np.maximum(chosen["size_bytes"].to_numpy(np.float64), 1.0)
    low, high = np.quantile(elapse[sends] / size[sends], (0.1, 0.9))
    least, most = np.quantile(elapse[beside] / size[sends], (0.1, 0.9))
    later = float(np.mean(ends[beside] - ends[sends] > TOGETHER_NS))
    if (high <= _ALIKE * low and most >= _APART * least) or later > 1 - 1 / _ALIKE:
        found[sends] = True
    return found

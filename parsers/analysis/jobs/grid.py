"""Where each rank is drawn when all of them are on one screen: by parallel dimension, by host, or in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parsers.model import Ints

MOST_CELLS = 1 << 18
"""Most cells of a grid by parallel dimension or host. Ranks that need more, such as a few with high numbers, are in order."""
LEAST_WIDE = 8
"""Ranks side by side where nothing is known of their places: as many as hosts usually have, or more."""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Rows and columns of a picture of all ranks: `cells` holds the place of a rank in the list of ranks, -1 for none.

    form is parallel (rows: stage of the pipeline and tensor place; columns: data place), hosts (a row for each host) or order.
    rows say what each of them is: (pp, tp), the number of the host, or the first rank; -1 in a gap between stages. columns are
    the data place, else the number within the row.
    """

    form: str
    cells: Ints
    rows: tuple[tuple[int, ...], ...]
    columns: tuple[int, ...]


def grid_of(ranks: Ints, dp: Ints, pp: Ints, tp: Ints, hosts: Sequence[str]) -> Grid:
    """Return the grid of ranks. dp, pp and tp are their places, -1 for unknown; hosts theirs, "" for unknown.

    Ranks that are parallel in data alone would be one row, so they are placed by host or in order.
    """
    found = None
    if len(ranks) and bool((dp >= 0).all() and (pp >= 0).all() and (tp >= 0).all()) and bool(pp.any() or tp.any()):
        found = _parallel(dp, pp, tp)
    if found is None and all(hosts) and len(set(hosts)) > 1:
        found = _by_host(ranks, hosts)
    return found or _in_order(ranks)


def _parallel(dp: Ints, pp: Ints, tp: Ints) -> Grid | None:
    """Return the grid by parallel dimension; None for one of more than MOST_CELLS.

    Ranks of one place, such as those of one context-parallel group, are side by side.
    """
    order = np.lexsort((np.arange(len(dp)), dp, tp, pp))
    key = (pp * (int(tp.max()) + 1) + tp) * (int(dp.max()) + 1) + dp
    number = np.empty(len(dp), np.int64)
    begins = np.flatnonzero(np.r_[True, np.diff(key[order]) > 0])
    number[order] = np.arange(len(dp)) - np.repeat(begins, np.diff(np.r_[begins, len(dp)]))
    wide = int(number.max()) + 1
    tall, across = int(tp.max()) + 1, (int(dp.max()) + 1) * wide
    stages = int(pp.max()) + 1
    gap = 1 if stages > 1 and tall > 1 else 0
    if stages * (tall + gap) * across > MOST_CELLS:
        return None
    cells = np.full((stages * (tall + gap) - gap, across), -1, np.int64)
    cells[pp * (tall + gap) + tp, dp * wide + number] = np.arange(len(dp))
    places = (divmod(row, tall + gap) for row in range(len(cells)))
    rows = tuple((stage, place) if place < tall else (-1, -1) for stage, place in places)
    return Grid("parallel", cells, rows, tuple(column // wide for column in range(across)))


def _by_host(ranks: Ints, hosts: Sequence[str]) -> Grid | None:
    """Return the grid by host; None for one of more than MOST_CELLS.

    Ranks stand by number where each host has a block of as many, so missing ones leave a gap; else side by side.
    """
    named = list(dict.fromkeys(hosts))
    place = {host: number for number, host in enumerate(named)}
    own: list[list[int]] = [[] for _ in named]
    for host, rank in zip(hosts, ranks.tolist(), strict=True):
        own[place[host]].append(rank)
    wide = max(max(some) - min(some) + 1 for some in own)
    whole = all(min(some) // wide == max(some) // wide and len(some) == len(set(some)) for some in own)
    if whole and len({some[0] // wide for some in own}) == len(own) and len(named) * wide <= MOST_CELLS:
        columns = (ranks % wide).tolist()
    else:
        columns, wide = [], max(map(len, own))
        seen = [0] * len(named)
        for host in hosts:
            columns.append(seen[place[host]])
            seen[place[host]] += 1
    if len(named) * wide > MOST_CELLS:
        return None
    cells = np.full((len(named), wide), -1, np.int64)
    cells[[place[host] for host in hosts], columns] = np.arange(len(hosts))
    return Grid("hosts", cells, tuple((number,) for number in range(len(named))), tuple(range(wide)))


def _in_order(ranks: Ints) -> Grid:
    number = len(ranks)
    wide = max(min(LEAST_WIDE, number), 1 << int(np.ceil(np.log2(np.sqrt(max(number, 1))))))
    tall = -(-number // wide)
    cells = np.full(tall * wide, -1, np.int64)
    cells[:number] = np.arange(number)
    rows = tuple((int(ranks[row * wide]),) for row in range(tall))
    return Grid("order", cells.reshape(tall, wide), rows, tuple(range(wide)))

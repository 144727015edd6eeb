"""The memory pool at a moment, where addresses are known: its map, its fragmentation, and the largest request that fits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parsers.analysis.profiles.memory.blocks import AllocatedBlocks
from parsers.deferred import pandas as pd
from parsers.model import Ints

HOLE = -1


class Pool(NamedTuple):
    """map has a row for each part of the pool by address: address, size_bytes, row of its block in the frame (HOLE: free).

    The pool is what some block of the recording occupied at some time, so memory that no block ever had, and memory of others
    between two parts of the pool, is not in it. free is the sum of all holes, largest the largest of them: the largest request
    that would fit without new memory. fragmentation is 1 - largest / free; NaN without holes. overlapping counts blocks that
    begin inside another one; such damage is told, and their bytes are counted once.
    """

    map: pd.DataFrame
    used: int
    free: int
    largest: int
    fragmentation: float
    overlapping: int


class Extent(NamedTuple):
    """The addresses that blocks occupied at some time: ranges from low to before high, which do not touch."""

    low: Ints
    high: Ints


def extent(operator_memory: pd.DataFrame, blocks: AllocatedBlocks) -> Extent | None:
    """Return the extent of the pool, which is the same at all moments; None if no block has an address."""
    address = operator_memory["address"].to_numpy()[blocks.rows]
    known = (address >= 0) & (blocks.size > 0)
    return Extent(*_union(address[known], address[known] + blocks.size[known])) if known.any() else None


def pool_at(operator_memory: pd.DataFrame, blocks: AllocatedBlocks, time: int, known: Extent | None = None) -> Pool | None:
    """Return the pool at a moment; None if no block has an address. known: its extent, if it was computed before."""
    within = known if known is not None else extent(operator_memory, blocks)
    if within is None:
        return None
    low, high = within
    alive = blocks.alive_at(time)
    address = np.full(len(blocks), HOLE, np.int64)
    address[alive] = operator_memory["address"].to_numpy()[blocks.rows[alive]]
    alive = alive[(address[alive] >= 0) & (blocks.size[alive] > 0)]
    alive = alive[np.argsort(address[alive], kind="stable")]
    begin, stop = address[alive], address[alive] + blocks.size[alive]
    before = np.concatenate(([np.iinfo(np.int64).min], np.maximum.accumulate(stop)))[: len(stop)]
    overlapping = int(np.count_nonzero(begin < before))
    begin = np.maximum(begin, before)
    shown = stop > begin
    begin, stop, rows = begin[shown], stop[shown], blocks.rows[alive][shown]
    hole_low, hole_high = _holes(low, high, begin, stop)
    sizes = hole_high - hole_low
    parts = pd.DataFrame(
        {
            "address": np.concatenate((begin, hole_low)), "size_bytes": np.concatenate((stop - begin, sizes)),
            "row": np.concatenate((rows, np.full(len(sizes), HOLE, np.int64))),
        }
    ).sort_values("address", ignore_index=True)  # fmt: skip
    free, largest = int(sizes.sum()), int(sizes.max()) if len(sizes) else 0
    share = 1.0 - largest / free if free else float("nan")
    return Pool(parts, int((stop - begin).sum()), free, largest, share, overlapping)


def _union(start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Join ranges that touch or overlap."""
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    first = np.concatenate(([True], start[1:] > end[:-1]))
    last = np.append(first[1:], True)
    return start[first], end[last]


def _holes(low: Ints, high: Ints, begin: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """Return the parts of ranges low..high that no block begin..stop covers; blocks are sorted and do not overlap."""
    # A hole begins where a range begins or a block ends, and ends at the next border.
    lows, highs = np.sort(np.concatenate((low, stop))), np.sort(np.concatenate((begin, high)))
    there = highs > lows
    return lows[there], highs[there]

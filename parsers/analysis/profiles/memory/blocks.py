"""Blocks of device memory: from when to when each was in use, and how much that makes at any moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.deferred import pandas as pd
from parsers.model import Ints

FIRST, NEVER = np.iinfo(np.int64).min, np.iinfo(np.int64).max
"""Beginning of a block allocated before the recording; end of one that was not released while recording."""
CLOCKS = ("ns", "event")
MEASURES = ("allocated", "active")


@dataclass(frozen=True, slots=True)
class AllocatedBlocks:
    """Blocks in use from start (inclusive) to end (exclusive), in the unit of the clock; size in bytes.

    rows are their rows in the frame. Blocks without a size, or that end before they begin, are not among them.
    """

    rows: Ints
    start: Ints
    end: Ints
    size: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def alive_at(self, time: int) -> Ints:
        """Return the indices of the blocks in use at a moment."""
        return np.flatnonzero((self.start <= time) & (time < self.end))


def blocks_of(
    operator_memory: pd.DataFrame, *, clock: str = "ns", component: str | None = None, measure: str = "allocated"
) -> AllocatedBlocks:
    """Return the blocks of a component (None: of all) by a clock of CLOCKS: nanoseconds, or events of the memory tracker.

    By measure "allocated" a block is in use until the first of its two releases, by "active" until no stream uses it: in all
    files of torch_npu at hand, the totals of memory_record drop at these moments and at no other. The graph engine (GE) has
    one release.
    """
    chosen = np.ones(len(operator_memory), np.bool_)
    if component is not None:
        chosen &= (operator_memory["component"] == component).to_numpy()
    size = operator_memory["size_bytes"].to_numpy()
    if clock == "event":
        start, end = operator_memory["allocated_event"].to_numpy(), operator_memory["released_event"].to_numpy()
        chosen &= start >= 0
    else:
        start, end = operator_memory["allocated_ns"].to_numpy(), _released(operator_memory, measure)
        chosen &= (start >= 0) | (end >= 0)
    start, end = np.where(start < 0, FIRST, start), np.where(end < 0, NEVER, end)
    rows = np.flatnonzero(chosen & (size >= 0) & (start < end))
    return AllocatedBlocks(rows, start[rows], end[rows], size[rows])


def _released(frame: pd.DataFrame, measure: str) -> Ints:
    released: Ints = frame["released_ns"].to_numpy()
    active: Ints = frame["active_released_ns"].to_numpy()
    found: Ints = np.maximum(active, released)
    if measure == "active":
        np.copyto(found, active, where=active >= 0)
        np.copyto(found, released, where=active < 0)
    else:
        np.minimum(active, released, out=found, where=(active >= 0) & (released >= 0))
    return found


def levels(blocks: AllocatedBlocks) -> tuple[Ints, Ints]:
    """Return the moments at which the memory of all blocks changes, and the bytes in use from each of them on.

    Blocks allocated before the recording count from the first moment on.
    """
    starts = blocks.start[blocks.start != FIRST]
    ends = blocks.end[blocks.end != NEVER]
    times = np.concatenate((starts, ends))
    changes = np.concatenate((blocks.size[blocks.start != FIRST], -blocks.size[blocks.end != NEVER]))
    order = np.argsort(times, kind="stable")
    times, sums = times[order], np.cumsum(changes[order]) + int(blocks.size[blocks.start == FIRST].sum())
    last = np.append(times[1:] != times[:-1], True)[: len(times)]
    return times[last], sums[last]


def levels_at(blocks: AllocatedBlocks, times: Ints) -> Ints:
    """Return the bytes of all blocks in use at each moment."""
    moments, sums = levels(blocks)
    before = int(blocks.size[blocks.start == FIRST].sum())
    place = np.searchsorted(moments, times, side="right")
    found: Ints = np.concatenate(([before], sums))[place]
    return found

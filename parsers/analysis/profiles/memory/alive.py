"""What was alive at a moment, by operator, scope, source line, stack, component and size; and what changed in an interval."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.profiles.memory.blocks import FIRST, NEVER, AllocatedBlocks, blocks_of, levels_at
from parsers.analysis.profiles.memory.curves import BytesOverTime, curve, value_at
from parsers.deferred import pandas as pd
from parsers.model import Ints

Mask = NDArray[np.bool_]
GROUPINGS = ("name", "scope", "source", "stack", "component", "kind", "owner", "size")
BEFORE = "before recording"
"""The block of all memory that was allocated before the recording began."""
_GROUP, _BLOCKS, _SIZE = "group", "blocks", "size_bytes"
_FIELDS = ("rows", "start", "end", "size")
_JUDGED = 20_000
"""Records of a curve by which is judged when it counts a release."""


class Explained(NamedTuple):
    """What the memory of a component consists of at a moment (ns), in bytes.

    groups has a row for each group, the largest first: group, blocks, size_bytes. before is what was allocated before the
    recording; groups and before add up to total, the curve of the component at this moment. Without a curve total is the sum of
    the groups and before is 0.
    """

    time: int
    total: int
    before: int
    groups: pd.DataFrame


def alive(operator_memory: pd.DataFrame, blocks: AllocatedBlocks, time: int) -> pd.DataFrame:
    """Return the rows of the blocks in use at a moment, the largest first."""
    found = blocks.alive_at(time)
    found = found[np.argsort(-blocks.size[found], kind="stable")]
    return operator_memory.iloc[blocks.rows[found]]


def grouped(operator_memory: pd.DataFrame, blocks: AllocatedBlocks, chosen: Ints, by: str) -> pd.DataFrame:
    """Group blocks (indices) by a column of GROUPINGS: group, blocks, size_bytes; the largest first.

    By "size" the groups are powers of two: the group 1024 holds sizes from 1,024 to 2,047 bytes.
    """
    size = blocks.size[chosen]
    if by == "size":
        groups, codes = _powers(size)
    else:
        texts: Any = operator_memory[by].array
        codes, groups = texts.codes[blocks.rows[chosen]], texts.categories.to_numpy(object)
    number = len(groups)
    count = np.bincount(codes, minlength=number)
    total = np.bincount(codes, size, number).astype(np.int64)
    there = np.flatnonzero(count)
    there = there[np.lexsort((-count[there], -total[there]))]
    return pd.DataFrame({_GROUP: groups[there], _BLOCKS: count[there], _SIZE: total[there]})


def _powers(size: Ints) -> tuple[Any, Ints]:
    exponent = np.frexp(np.maximum(size, 1).astype(np.float64))[1] - 1
    known, codes = np.unique(np.where(size < 1, -1, exponent), return_inverse=True)
    return np.array([str(1 << one) if one >= 0 else "0" for one in known.tolist()], object), codes


def explain(
    operator_memory: pd.DataFrame, blocks: AllocatedBlocks, series: BytesOverTime, time: int, *, by: str = "name"
) -> Explained:
    """Return what memory was made of at a moment, from the blocks that `counted` gives and the curve of the same component."""
    groups = grouped(operator_memory, blocks, blocks.alive_at(time), by)
    found, total = int(groups[_SIZE].sum()), value_at(series, time)
    return Explained(time, total, total - found, groups) if total >= 0 else Explained(time, found, 0, groups)


def counted(memory: pd.DataFrame, operator_memory: pd.DataFrame, component: str, measure: str = "allocated") -> AllocatedBlocks:
    """Return the blocks of a component (of a sum, of all its components), in use as long as its curve counts them.

    A component of a sum that does not record the measure, as GE the active memory, is no part of the sum.
    """
    parts, listed = [], component.split("+")
    for one in listed:
        series = curve(memory, one, measure)
        if len(series.time) or len(listed) == 1 or not (memory["component"] == one).any():
            parts.append(_as_counted(blocks_of(operator_memory, component=one, measure=measure), series))
    if not parts:
        return blocks_of(operator_memory.iloc[:0])
    return AllocatedBlocks(*(np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS))


def _as_counted(blocks: AllocatedBlocks, series: BytesOverTime) -> AllocatedBlocks:
    """Return blocks that end when the curve drops: at their release or, in files that lag behind, at the next record after it.

    The totals that the graph engine (GE) records with a release still hold the released block; those of PTA do not. Which is
    the case is seen at the records of both: memory allocated before the recording does not come and go with blocks.
    """
    if not len(series.time) or not len(blocks):
        return blocks
    until = series.time[min(len(series.time), _JUDGED) - 1]
    near = np.flatnonzero(blocks.start <= until)
    some = AllocatedBlocks(*(getattr(blocks, name)[near] for name in _FIELDS))
    times = np.concatenate((some.start, some.end))
    times = np.unique(times[times <= until])
    times = times[np.isin(times, series.time[:_JUDGED])]
    if not len(times):
        return blocks
    totals = series.value[np.searchsorted(series.time, times, side="right") - 1]
    now, then = (np.abs(np.diff(totals - levels_at(one, times))).sum() for one in (some, _later(some, series)))
    return _later(blocks, series) if then < now else blocks


def _later(blocks: AllocatedBlocks, series: BytesOverTime) -> AllocatedBlocks:
    """Return blocks that end at the first record after their release."""
    following = np.append(series.time, NEVER)[np.searchsorted(series.time, blocks.end, side="right")]
    return AllocatedBlocks(blocks.rows, blocks.start, np.where(blocks.end == NEVER, NEVER, following), blocks.size)


def changed(blocks: AllocatedBlocks, first: int, last: int) -> tuple[Mask, Mask]:
    """Return which blocks were allocated, and which were released, from first to last."""
    came = (blocks.start >= first) & (blocks.start <= last) & (blocks.start != FIRST)
    went = (blocks.end >= first) & (blocks.end <= last) & (blocks.end != NEVER)
    return came, went


def changes(operator_memory: pd.DataFrame, blocks: AllocatedBlocks, first: int, last: int) -> pd.DataFrame:
    """Return the rows of blocks allocated or released from first to last, in the order of time.

    Columns allocated and released tell which of the two lies in the interval; a block may have both.
    """
    came, went = changed(blocks, first, last)
    found = np.flatnonzero(came | went)
    found = found[np.argsort(np.where(came[found], blocks.start[found], blocks.end[found]), kind="stable")]
    return operator_memory.iloc[blocks.rows[found]].assign(allocated=came[found], released=went[found])

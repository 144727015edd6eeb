"""Flame graphs: what ran in a range of a trace, by stack."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.profiler.trace import lanes
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.pyramid import Pyramid
from parsers.profiler.trace.running import Running
from parsers.schema import Column, Schema

FLAMES = Schema(
    "flames",
    "Stacks of a range of a trace, merged by name: a row for each stack, after the one it lies in, the longest one first.",
    (
        Column("parent", "int64", "", "row of the stack without its last call; -1 for none"),
        Column("level", "int64", "", "calls below it"),
        Column("name", "str", "", "name of its last call"),
        Column("count", "int64", "", "calls with this stack in the range"),
        Column("total_ns", "int64", "ns", "what of the range they take"),
        Column("self_ns", "int64", "ns", "what of it no call within them takes"),
    ),
)


def flame(
    trace: Trace, t0: int, t1: int, tracks: Sequence[int] | None = None, *, pyramid: Pyramid | None = None
) -> pd.DataFrame:
    """FLAMES of tracks (all if None) from `t0` to before `t1`, ns since the origin; calls are cut at the edges of the range."""
    running = Running(trace, None if pyramid is None else pyramid.latest_ends)
    slices = trace.slices
    parts: list[tuple[NDArray[np.int64], ...]] = [(np.zeros(0, np.int64),) * 4]
    size = 0
    for track in range(len(trace.tracks)) if tracks is None else tracks:
        before = running.at(track, t0)
        first, last = running.inside(track, t0, t1)
        if t1 <= t0:
            continue
        rows = np.concatenate([before[before < first], np.arange(first, last)])
        start = np.maximum(slices.start[rows], t0)
        length = np.minimum(slices.start[rows] + slices.duration[rows], t1) - start
        parents, own = lanes.parents(np.zeros(len(rows), np.int32), start, length)
        inside = parents.astype(np.int64)
        parts.append((np.where(inside < 0, -1, inside + size), slices.name[rows].astype(np.int64), length, own))
        size += len(rows)
    around, name, total, own = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return _merged(trace, around, name, total, own)


def joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """FLAMES of several frames together, such as those of several traces: equal stacks are one row."""
    frames = [frame for frame in frames if len(frame)]
    if len(frames) < 2:
        return frames[0] if frames else FLAMES.empty()
    nodes: dict[tuple[int, str], int] = {}
    found: list[list[int]] = []
    for frame in frames:
        own: list[int] = []
        columns = (frame[name].tolist() for name in ("parent", "level", "name", "count", "total_ns", "self_ns"))
        for parent, level, name, *values in zip(*columns, strict=True):
            above = own[parent] if parent >= 0 else -1
            node = nodes.setdefault((above, name), len(nodes))
            if node == len(found):
                found.append([above, level, 0, 0, 0])
            for column, value in enumerate(values, 2):
                found[node][column] += value
            own.append(node)
    parents, levels, *sums = np.array(found, np.int64).T
    order = _depth_first(parents, sums[1])
    place = np.empty(len(order) + 1, np.int64)
    place[order] = np.arange(len(order))
    place[-1] = -1
    names = [name for _, name in nodes]
    return FLAMES.check(pd.DataFrame({
        "parent": place[parents[order]], "level": levels[order],
        "name": pd.Series([names[node] for node in order.tolist()], dtype="str"),
        **{title: values[order] for title, values in zip(("count", "total_ns", "self_ns"), sums, strict=True)},
    }))  # fmt: skip


def _merged(
    trace: Trace, around: NDArray[np.int64], name: NDArray[np.int64], total: NDArray[np.int64], own: NDArray[np.int64]
) -> pd.DataFrame:
    """Calls of one stack as one row; `around` is the call that a call lies in."""
    node = np.full(len(around) + 1, -1, np.int64)  # the last one stands for "in no call"
    columns: list[tuple[NDArray[np.int64], ...]] = []
    made = 0
    level, rows = 0, np.flatnonzero(around < 0)
    children = np.argsort(around, kind="stable")
    sorted_ = around[children]
    while len(rows):
        key = (node[around[rows]] + 1) * len(trace.names) + name[rows]
        keys, place = np.unique(key, return_inverse=True)
        sums = np.zeros((3, len(keys)), np.int64)
        for which, values in enumerate((np.ones(len(rows), np.int64), total[rows], own[rows])):
            np.add.at(sums[which], place, values)
        node[rows] = made + place
        columns.append((keys // len(trace.names) - 1, np.full(len(keys), level), keys % len(trace.names), *sums))
        made += len(keys)
        low, high = np.searchsorted(sorted_, rows), np.searchsorted(sorted_, rows, "right")
        rows = np.sort(children[_numbers(low, high)])
        level += 1
    if not columns:
        return FLAMES.empty()
    parent, levels, names, count, totals, selves = (np.concatenate(column) for column in zip(*columns, strict=True))
    order = _depth_first(parent, totals)
    place = np.empty(len(order) + 1, np.int64)
    place[order] = np.arange(len(order))
    place[-1] = -1
    frame = pd.DataFrame(
        {
            "parent": place[parent[order]], "level": levels[order],
            "name": pd.Series([trace.names[index] for index in names[order].tolist()], dtype="str"),
            "count": count[order], "total_ns": totals[order], "self_ns": selves[order],
        }
    )  # fmt: skip
    return FLAMES.check(frame)


def _numbers(low: NDArray[np.intp], high: NDArray[np.intp]) -> NDArray[np.intp]:
    """All numbers of ranges."""
    sizes = high - low
    found: NDArray[np.intp] = np.arange(int(sizes.sum())) + np.repeat(low - (np.cumsum(sizes) - sizes), sizes)
    return found


def _depth_first(parent: NDArray[np.int64], total: NDArray[np.int64]) -> NDArray[np.int64]:
    """Nodes in the order in which they are drawn: each before those within it, of several the longest first."""
    children: dict[int, list[int]] = {}
    for node in np.argsort(total, kind="stable").tolist():
        children.setdefault(int(parent[node]), []).append(node)
    order, left = [], children.get(-1, [])[:]
    while left:
        node = left.pop()
        order.append(node)
        left += children.get(node, [])
    return np.array(order, np.int64)

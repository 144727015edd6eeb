"""What runs in a range of a trace, added up by name and by track."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.pyramid import Pyramid
from parsers.profiler.trace.running import Running, covered, holes
from parsers.schema import Column, Schema

RANGE_NAMES = Schema(
    "range_names",
    "Slices that run in a range of a trace, by name; the most own time first.",
    (
        Column("name", "str", "", "name of the slices"),
        Column("count", "int64", "", "slices that run in the range"),
        Column("total_ns", "int64", "ns", "their durations added up"),
        Column("self_ns", "int64", "ns", "what of it no slice within them takes"),
        Column("mean_ns", "float64", "ns", "total divided by count"),
        Column("max_ns", "int64", "ns", "the longest duration"),
        Column("share", "float64", "", "self_ns as a part of that of all names; NaN if that is 0"),
        Column("longest", "int64", "", "row of the longest slice, the first of several"),
    ),
)
RANGE_TRACKS = Schema(
    "range_tracks",
    "The tracks of a trace in a range, in their order.",
    (
        Column("track", "int64", "", "index into Trace.tracks"),
        Column("count", "int64", "", "slices that run in the range"),
        Column("busy_ns", "int64", "ns", "time in the range during which any slice runs"),
        Column("share", "float64", "", "busy_ns as a part of the range; NaN for a range of 0 ns"),
        Column("gaps", "int64", "", "stretches of the range during which none runs"),
        Column("longest_gap_ns", "int64", "ns", "the longest of them"),
    ),
)
RANGE_DIFFERENCES = Schema(
    "range_differences",
    "Slices of two ranges, by name; those whose own time differs the most first.",
    (
        Column("name", "str", "", "name of the slices"),
        Column("count", "int64", "", "slices in the first range"),
        Column("other_count", "int64", "", "slices in the other range"),
        Column("self_ns", "int64", "ns", "own time in the first range"),
        Column("other_self_ns", "int64", "ns", "own time in the other range"),
        Column("difference_ns", "int64", "ns", "other_self_ns - self_ns"),
        Column("total_ns", "int64", "ns", "durations in the first range added up"),
        Column("other_total_ns", "int64", "ns", "durations in the other range added up"),
        Column("total_difference_ns", "int64", "ns", "other_total_ns - total_ns"),
    ),
)
_PIECES = 4096
"""Ranges of rows that are added up one after the other; more are gathered first."""
_ROWS = 1 << 17
"""Rows that are added up at once: as many as caches hold."""


def statistics(
    trace: Trace, t0: int, t1: int, tracks: Sequence[int] | None = None, clip: bool = True, *, pyramid: Pyramid | None = None
) -> pd.DataFrame:
    """RANGE_NAMES for the slices of tracks (all if None) that run from `t0` to before `t1`, ns since the origin.

    Slices that begin before the range or end after it are counted with what lies in it if `clip`, else whole. A pyramid
    makes it faster.
    """
    running = Running(trace, None if pyramid is None else pyramid.latest_ends)
    edges, pieces = _parts(trace, running, t0, t1, range(len(trace.tracks)) if tracks is None else tracks)
    slices, size = trace.slices, len(trace.names)
    count, total, own = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    longest, row = np.full(size, -1, np.int64), np.full(size, np.iinfo(np.int64).max)
    for part in pieces:
        name = slices.name[part].astype(np.intp)
        _add(name, slices.duration[part], slices.self[part], count, total, own, longest)
    if edges:
        of = np.array([edge[0] for edge in edges])
        duration, self_ = slices.duration[of], slices.self[of]
        if clip:
            inside = [_clipped(trace, running, *edge, t0, t1) for edge in edges]
            duration, self_ = np.array(inside, np.int64).T
        name = slices.name[of].astype(np.intp)
        _add(name, duration, self_, count, total, own, longest)
        _first(name, duration, of, longest, row)
    for part in pieces:
        name = slices.name[part].astype(np.intp)
        _first(name, slices.duration[part], part, longest, row)
    there = np.flatnonzero(count)
    there = there[np.lexsort((there, -total[there], -own[there]))]
    all_ = int(own.sum())
    frame = pd.DataFrame(
        {
            "name": pd.Series([trace.names[index] for index in there.tolist()], dtype="str"),
            "count": count[there], "total_ns": total[there], "self_ns": own[there], "mean_ns": total[there] / count[there],
            "max_ns": longest[there], "share": own[there] / all_ if all_ else np.full(len(there), np.nan),
            "longest": row[there],
        }
    )  # fmt: skip
    return RANGE_NAMES.check(frame)


def joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """RANGE_NAMES of several frames together, such as those of several traces; `longest` must be numbered alike in all.

    A name may be there several times, also in one frame.
    """
    frames = [frame for frame in frames if len(frame)]
    if not frames or (len(frames) == 1 and frames[0]["name"].is_unique):
        return frames[0] if frames else RANGE_NAMES.empty()
    every = pd.concat(frames, ignore_index=True)
    falling = every.iloc[np.lexsort((every["longest"], -every["max_ns"]))]
    longest = falling.groupby("name", sort=False)[["max_ns", "longest"]].first()
    sums = every.groupby("name", sort=False)[["count", "total_ns", "self_ns"]].sum()
    frame = sums.join(longest).reset_index()
    frame["mean_ns"] = frame["total_ns"] / frame["count"]
    all_ = int(frame["self_ns"].sum())
    frame["share"] = frame["self_ns"] / all_ if all_ else np.nan
    order = np.lexsort((frame["name"], -frame["total_ns"], -frame["self_ns"]))
    return RANGE_NAMES.check(frame.iloc[order].reset_index(drop=True)[list(RANGE_NAMES.names)])


def difference(first: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """RANGE_DIFFERENCES of two frames of RANGE_NAMES, such as one step of two runs. A name that one lacks counts 0 there."""
    names = pd.Index(pd.concat([first["name"], other["name"]]).unique(), name="name")
    columns = ["count", "self_ns", "total_ns"]
    one, two = (frame.set_index("name")[columns].reindex(names, fill_value=0) for frame in (first, other))
    both = one.join(two.add_prefix("other_")).reset_index()
    both["difference_ns"] = both["other_self_ns"] - both["self_ns"]
    both["total_difference_ns"] = both["other_total_ns"] - both["total_ns"]
    order = np.lexsort((np.arange(len(both)), -both["difference_ns"].abs().to_numpy()))
    return RANGE_DIFFERENCES.check(both.iloc[order].reset_index(drop=True)[list(RANGE_DIFFERENCES.names)])


def by_track(
    trace: Trace, t0: int, t1: int, tracks: Sequence[int] | None = None, *, pyramid: Pyramid | None = None
) -> pd.DataFrame:
    """RANGE_TRACKS for tracks (all if None) from `t0` to before `t1`, ns since the origin."""
    running = Running(trace, None if pyramid is None else pyramid.latest_ends)
    rows = []
    for track in range(len(trace.tracks)) if tracks is None else tracks:
        start, end, count = intervals(trace, running, track, t0, t1)
        begins, ends = holes(start, end, t0, t1)
        busy = max(t1 - t0, 0) - int((ends - begins).sum())
        share = busy / (t1 - t0) if t1 > t0 else np.nan
        rows.append((track, count, busy, share, len(begins), int((ends - begins).max(initial=0))))
    columns = zip(*rows, strict=True) if rows else ([] for _ in RANGE_TRACKS.columns)
    named = zip(RANGE_TRACKS.columns, columns, strict=True)
    return RANGE_TRACKS.check(pd.DataFrame({column.name: np.array(values, column.dtype) for column, values in named}))


def intervals(trace: Trace, running: Running, track: int, t0: int, t1: int) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Start and end (ns) of the slices of a track that run in a range, in order of start, and their number."""
    before = running.at(track, t0)
    first, last = running.inside(track, t0, t1)
    before = before[before < first]
    slices = trace.slices
    start = np.concatenate([slices.start[before], slices.start[first:last]])
    return start, start + np.concatenate([slices.duration[before], slices.duration[first:last]]), len(start)


def _parts(
    trace: Trace, running: Running, t0: int, t1: int, tracks: Sequence[int]
) -> tuple[list[tuple[int, int]], list[slice | NDArray[np.int64]]]:
    """(row, track) of slices that run beyond the range, and all others in it, as few slices of rows or as one array of them."""
    edges: list[tuple[int, int]] = []
    ranges: list[tuple[int, int]] = []
    for track in tracks:
        of = trace.tracks[track]
        if of.first == of.last or t1 <= t0:
            continue
        first, last = running.inside(track, t0, t1)
        over: list[int] = []
        if first > of.first:
            over += [row for row in running.at(track, t0).tolist() if row < first]
        if last > of.first:
            late = running.at(track, t1 - 1)
            late = late[(late >= first) & (trace.slices.start[late] + trace.slices.duration[late] > t1)]
            over += late.tolist()
        edges += [(row, track) for row in over]
        cuts = [row for row in over if row >= first]
        for begin, end in zip([first, *(row + 1 for row in cuts)], [*cuts, last], strict=True):
            if begin == end:
                continue
            if ranges and ranges[-1][1] == begin:
                ranges[-1] = (ranges[-1][0], end)
            else:
                ranges.append((begin, end))
    if len(ranges) > _PIECES:
        return edges, [np.concatenate([np.arange(begin, end) for begin, end in ranges])]
    return edges, [slice(at, min(at + _ROWS, end)) for begin, end in ranges for at in range(begin, end, _ROWS)]


def _add(
    name: NDArray[np.intp], duration: NDArray[np.int64], self_: NDArray[np.int64], count: NDArray[np.int64],
    total: NDArray[np.int64], own: NDArray[np.int64], longest: NDArray[np.int64],
) -> None:  # fmt: skip
    count += np.bincount(name, minlength=len(count))
    np.add.at(total, name, duration)
    np.add.at(own, name, self_)
    np.maximum.at(longest, name, duration)


def _first(
    name: NDArray[np.intp], duration: NDArray[np.int64], rows: slice | NDArray[np.int64], longest: NDArray[np.int64],
    row: NDArray[np.int64],
) -> None:  # fmt: skip
    best = np.flatnonzero(duration == longest[name])
    np.minimum.at(row, name[best], best + rows.start if isinstance(rows, slice) else rows[best])


def _clipped(trace: Trace, running: Running, row: int, track: int, t0: int, t1: int) -> tuple[int, int]:
    """Duration and own time (ns) of a slice within a range.

    What runs within it at either end of the range covers all up to where it ends or starts: only the rest is added up.
    """
    slices = trace.slices
    end = int(slices.start[row] + slices.duration[row])
    begin, stop = max(t0, int(slices.start[row])), min(t1, end)
    low, high = begin, stop

    def children(time: int) -> NDArray[np.int64]:
        found = running.at(track, time)
        return found[(found > row) & (slices.start[found] + np.maximum(slices.duration[found], 1) <= max(end, 1))]

    while low < high:
        reach = children(low)
        further = int((slices.start[reach] + slices.duration[reach]).max(initial=low))
        if further == low:
            break
        low = min(further, high)
    while low < high:
        reach = children(high - 1)
        reach = reach[slices.start[reach] + slices.duration[reach] >= high]
        further = max(low, int(slices.start[reach].min(initial=high)))
        if further == high:
            break
        high = further
    first, last = running.inside(track, low, high)
    part = slice(max(first, row + 1), last)
    ends = slices.start[part] + slices.duration[part]
    within = ends <= end
    taken = covered(slices.start[part][within], np.minimum(ends[within], high))
    return stop - begin, high - low - taken

"""Memory of ranks over the time of their operators, as lines below their rows."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from parsers.analysis.jobs.rank_operators.tables import ShownOperators
from parsers.analysis.profiles.memory import Series, components, curve, extremes

from layouts.jobs.rank_operators import PATIENCE, MemoryCurve, RankCaches, rows_of
from layouts.sources import ProfileSources

LEVELS = 1_000
"""Parts of the highest value of all ranks in which values are sent."""
_FAR_NS = 60_000_000_000
_NONE = MemoryCurve("", Series(np.empty(0, np.int64), np.empty(0, np.int64)))


def memory(
    source: ProfileSources, shown: ShownOperators, kept: RankCaches, begin: int, end: int, columns: int
) -> dict[str, Any]:
    """Return allocated memory of the ranks shown in a window (ns on the axis), least and most in each column.

    state is "reading" while files are read: ask again; done of total ranks. most is the highest value of all ranks, in bytes.
    rows has, for each rank with records near its operators, its component and low and high: parts of LEVELS of most by column,
    -1 for unknown. without are the other ranks. Times are moved with those of the operators.
    """
    rows = rows_of(source, [shown.members[one.rank] for one in shown.laid.ranks if one.rank in shown.members])
    until = time.monotonic() + PATIENCE
    curves: dict[int, MemoryCurve] = {}
    wanted = [rank for rank, row in rows.items() if "memory" in row.frames]
    for rank in wanted:
        key = (shown.members[rank], rows[rank].mark)
        found = kept.curves.get(key)
        if found is None and (time.monotonic() < until or not curves):
            found = _read(source, shown, rank)
            if found is not None:
                kept.curves.put(key, found)
        if found is not None:
            curves[rank] = found
    if len(curves) < len(wanted):
        return {"state": "reading", "done": len(curves), "total": len(wanted)}
    near: dict[int, tuple[MemoryCurve, int]] = {}
    for place, one in enumerate(shown.laid.ranks):
        own = curves.get(one.rank)
        if own is None or not len(own.series.time) or not len(one):
            continue
        moved = int(one.start[0] - shown.ranks[place].operators.start[0])
        if own.series.time[0] + moved < one.end.max() + _FAR_NS and own.series.time[-1] + moved > one.start[0] - _FAR_NS:
            near[one.rank] = own, moved
    most = max((int(own.series.value.max()) for own, _ in near.values()), default=0)
    found_rows = []
    for rank, (own, moved) in near.items():
        first = shown.origin - moved
        found_in = extremes(own.series, first + begin, first + end, columns)
        low, high = (_levels(values, most) for values in (found_in.low, found_in.high))
        found_rows.append({"rank": rank, "component": own.component, "low": low, "high": high})
    without = [one.rank for one in shown.laid.ranks if one.rank not in near]
    return {"state": "ready", "most": most, "levels": LEVELS, "rows": found_rows, "without": without}


def _read(source: ProfileSources, shown: ShownOperators, rank: int) -> MemoryCurve | None:
    """Return the curve of the first component, a sum where there is one; None while it is being read."""
    found = source.profiles.frame(*shown.members[rank], "memory")
    if found.state in ("reading", "waiting"):
        return None
    if found.frame is None:
        return _NONE
    for component in components(found.frame):
        series = curve(found.frame, component)
        if len(series.time):
            return MemoryCurve(component, series)
    return _NONE


def _levels(values: Any, most: int) -> list[int]:
    """Return values as parts of LEVELS of the highest; unknown ones stay -1."""
    listed: list[int] = np.where(values < 0, -1, np.rint(values * (LEVELS / max(most, 1)))).astype(np.int64).tolist()
    return listed

"""Memory of ranks over the time of their operators: asks for it, and keeps its curves."""

from __future__ import annotations

import time
from typing import Any

from parsers.analysis.jobs.rank_operators.memory import NOTHING, MemoryCurve, first_curve, memory_rows
from parsers.analysis.jobs.rank_operators.tables import ShownOperators

from layouts.jobs.rank_operators import PATIENCE, RankCaches, rows_of
from layouts.sources import ProfileSources


def memory(
    source: ProfileSources, shown: ShownOperators, kept: RankCaches, begin: int, end: int, columns: int
) -> dict[str, Any]:
    """Return allocated memory of the ranks shown in a window (`memory_rows`).

    state is "reading" while files are read: ask again; done of total ranks.
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
    return {"state": "ready"} | memory_rows(shown, curves, begin, end, columns)


def _read(source: ProfileSources, shown: ShownOperators, rank: int) -> MemoryCurve | None:
    """Return the curve of the first component, a sum where there is one; None while it is being read."""
    found = source.profiles.frame(*shown.members[rank], "memory")
    if found.state in ("reading", "waiting"):
        return None
    return NOTHING if found.frame is None else first_curve(found.frame)

"""Memory of ranks over the time of their operators, as lines below their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from parsers.analysis.jobs.rank_operators.tables import ShownOperators
from parsers.analysis.profiles.memory import BytesOverTime, components, curve, extremes
from parsers.deferred import pandas as pd

LEVELS = 1_000
"""Parts of the highest value of all ranks in which values are sent."""
_FAR_NS = 60_000_000_000


class MemoryCurve(NamedTuple):
    """Allocated memory of a component of a rank over time."""

    component: str
    series: BytesOverTime


NOTHING = MemoryCurve("", BytesOverTime(np.empty(0, np.int64), np.empty(0, np.int64)))


def first_curve(memory: pd.DataFrame) -> MemoryCurve:
    """Return the curve of the first component, a sum where there is one (schema MEMORY); NOTHING without records."""
    series = ((component, curve(memory, component)) for component in components(memory))
    return next((MemoryCurve(name, one) for name, one in series if len(one.time)), NOTHING)


def memory_rows(shown: ShownOperators, curves: Mapping[int, MemoryCurve], begin: int, end: int, columns: int) -> dict[str, Any]:
    """Return allocated memory of the ranks shown in a window (ns on the axis), least and most in each column.

    most is the highest value of all ranks, in bytes. rows has, for each rank with records near its operators, its component and
    low and high: parts of LEVELS of most by column, -1 for unknown. without are the other ranks. Times are moved with those of
    the operators.
    """
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
    return {"most": most, "levels": LEVELS, "rows": found_rows, "without": without}


def _levels(values: Any, most: int) -> list[int]:
    """Return values as parts of LEVELS of the highest; unknown ones stay -1."""
    listed: list[int] = np.where(values < 0, -1, np.rint(values * (LEVELS / max(most, 1)))).astype(np.int64).tolist()
    return listed

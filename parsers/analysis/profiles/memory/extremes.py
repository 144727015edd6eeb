"""The exact minimum and maximum of a curve in every pixel of a window, however many points it has."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parsers.analysis.profiles.memory.curves import BytesOverTime
from parsers.model import Ints

UNKNOWN = -1


class Extremes(NamedTuple):
    """Per pixel column: its left edge (ns), the least and greatest value in it, and the value at its end.

    Values are -1 before the first point. A curve keeps its value until the next point, so a column without points has the value
    that holds there.
    """

    edge: Ints
    low: Ints
    high: Ints
    last: Ints


def extremes(series: BytesOverTime, first: int, last: int, columns: int) -> Extremes:
    """Return the extremes in `columns` columns of equal width of the window from first to last (ns).

    The last column includes `last`. No point is skipped: a spike of one record is in its column. Takes time for the points in
    the window only.
    """
    columns = max(int(columns), 1)
    if not len(series.time):
        unknown = np.full(columns, UNKNOWN, np.int64)
        return Extremes(np.linspace(first, last, columns, endpoint=False).astype(np.int64), unknown, unknown, unknown)
    span = max(last - first, 1)
    edges = first + np.array([span * column // columns for column in range(columns + 1)], np.int64)
    places = np.searchsorted(series.time, edges, side="left")
    places[-1] = np.searchsorted(series.time, last, side="right")
    begin, end = int(places[0]), int(places[-1])
    held = np.concatenate(([UNKNOWN], series.value[places[1:] - 1]))
    held[1:][places[1:] == 0] = UNKNOWN
    held[0] = series.value[begin - 1] if begin else UNKNOWN
    carried = held[:-1].copy()
    # The value before the first point of a column holds there only if the point is not at the left edge.
    starts = places[:-1]
    at_edge = np.zeros(columns, np.bool_)
    there = starts < np.minimum(places[1:], len(series.time))
    at_edge[there] = series.time[starts[there]] == edges[:-1][there]
    low, high = carried.copy(), carried.copy()
    if end > begin:
        part, inner = series.value[begin:end], starts[there] - begin
        least, most = np.minimum.reduceat(part, inner), np.maximum.reduceat(part, inner)
        before, alone = carried[there], at_edge[there] | (carried[there] < 0)
        low[there] = np.where(alone, least, np.minimum(least, before))
        high[there] = np.where(alone, most, np.maximum(most, before))
    return Extremes(edges[:-1], low, high, held[1:])

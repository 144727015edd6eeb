"""Reduces a million points to what a screen of a thousand columns can show, without a visible difference.

Of every pixel column the lowest, highest, first and last finite point survive, so the drawn line covers the very pixels the
whole line would. Non-finite points are returned as runs that contain every one of them. Nothing is random.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.curves.segments import merged
from parsers.model import Floats, Ints

# What a non-finite value is, by code.
KINDS = ("nan", "+inf", "-inf")

Window = tuple[float, float]
PER_COLUMN = 4
# One numpy call per column costs more than passes over all points below this size.
_LARGE = 200_000
# An x that wanders back and forth visits columns again and again; beyond this many visits per column the order of points
# cannot be seen any more and each column is reduced as a whole.
VISITS = 8
_NONE: Ints = np.empty(0, np.int64)
_FIRST: Ints = np.zeros(1, np.int64)


class Reduced(NamedTuple):
    """keep: ascending indices of the points to draw, all finite in x and y.

    whole: nothing was left out. ordered: consecutive points may be joined by a line (False where x wanders so much that each
    column was reduced as a whole). inside: how many finite points the window holds.
    """

    keep: Ints
    whole: bool
    ordered: bool
    inside: int


class NonFinite(NamedTuple):
    """Runs of non-finite points of one kind.

    first and last are indices, low and high the least and greatest x, kind a code of KINDS, points how many of that kind
    the run holds.
    """

    first: Ints
    last: Ints
    low: Floats
    high: Floats
    kind: NDArray[np.int8]
    points: Ints


_NO_RUNS = NonFinite(_NONE, _NONE, np.empty(0), np.empty(0), np.empty(0, np.int8), _NONE)


def reduce_points(
    x: Floats, y: Floats, *, columns: int, window: Window | None = None, axis: Window | None = None, breaks: Ints = _NONE
) -> Reduced:
    """Select the points of a curve that a plot `columns` pixels wide needs.

    window is the range of x on screen (None: all); the nearest point beyond each end is kept too, so that lines leave the plot
    where they should. axis is the range of x that the columns divide evenly (None: the window, or that of the points): with the
    range of the axis as drawn and the width of the plot, columns are those of the screen. breaks are indices at which the line
    is interrupted (restarts): no column reaches across one. At most 4 points per visit of a column; up to 4 x columns points
    are returned whole.
    """
    finite = np.isfinite(y) & np.isfinite(x)
    if not finite.all():
        index = np.flatnonzero(finite)
        inner = np.searchsorted(index, breaks)
        found = reduce_points(x[index], y[index], columns=columns, window=window, axis=axis, breaks=inner)
        return found._replace(keep=index[found.keep])
    rising = bool((x[1:] >= x[:-1]).all())
    if window is not None:
        part, inside = _part(x, window, rising)
        found = _reduce(x[part], y[part], columns, axis or window, _breaks_in(part, breaks), rising, inside)
        return found._replace(keep=part[found.keep] if isinstance(part, np.ndarray) else found.keep + part.start)
    if not x.size:
        return Reduced(_NONE, True, True, 0)
    ends = (float(x[0]), float(x[-1])) if rising else (float(x.min()), float(x.max()))
    return _reduce(x, y, columns, axis or ends, breaks, rising, x.size)


def _part(x: Floats, window: Window, rising: bool) -> tuple[slice | Ints, int]:
    """Return the points inside the window and their neighbours, and the number inside."""
    if rising:
        first, last = np.searchsorted(x, window[0], "left"), np.searchsorted(x, window[1], "right")
        return slice(max(int(first) - 1, 0), min(int(last) + 1, x.size)), int(last - first)
    inside = (x >= window[0]) & (x <= window[1])
    near = inside.copy()
    near[1:] |= inside[:-1]
    near[:-1] |= inside[1:]
    return np.flatnonzero(near), int(np.count_nonzero(inside))


def _breaks_in(part: slice | Ints, breaks: Ints) -> Ints:
    if isinstance(part, np.ndarray):
        # Points left out interrupt the line too.
        gaps = np.flatnonzero(np.diff(part) > 1) + 1
        return merged(np.searchsorted(part, breaks), gaps)
    moved: Ints = breaks - part.start
    return moved


def _reduce(
    x: Floats, y: Floats, columns: int, window: Window, breaks: Ints, rising: bool, inside: int
) -> Reduced:
    if inside <= PER_COLUMN * columns:
        return Reduced(np.arange(x.size), True, True, inside)
    # A restart beyond the window, or one that only non-finite points follow, interrupts nothing here.
    breaks = breaks[(breaks > 0) & (breaks < x.size)]
    if rising:
        starts = np.searchsorted(x, edges_of(window, columns), "left")
        starts = merged(starts[starts < x.size], breaks)
    else:
        column = columns_of(x, window, columns)
        starts = np.flatnonzero(column[1:] != column[:-1]) + 1
        if starts.size > VISITS * columns:
            return _reduce_unordered(y, column, inside)
        starts = merged(starts, breaks)
    starts = merged(starts, _FIRST)
    return Reduced(survivors(y, starts), False, True, inside)


def _reduce_unordered(y: Floats, column: NDArray[np.int32], inside: int) -> Reduced:
    order = _by_column(column)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(column[order])) + 1))
    return Reduced(np.sort(order[survivors(y[order], starts)]), False, False, inside)


def _by_column(column: NDArray[np.int32]) -> Ints:
    # numpy sorts 16-bit numbers by radix: ten times faster.
    narrow = column.astype(np.int16) if column.max(initial=0) < 2**15 else column
    return np.argsort(narrow, kind="stable")


def edges_of(window: Window, columns: int) -> Floats:
    """Return the edges of the pixel columns, one more than there are columns; the last one lies after the window."""
    # A convex combination cannot overflow where high - low would.
    share = np.arange(columns + 1) / columns
    edges = np.maximum.accumulate(window[0] * (1.0 - share) + window[1] * share)
    edges[-1] = np.nextafter(window[1], np.inf)
    return edges


def columns_of(x: Floats, window: Window, columns: int) -> NDArray[np.int32]:
    """Pixel column of each x: 0 to columns - 1 inside the window, -1 left and `columns` right of it."""
    low, high = window
    half = high / 2.0 - low / 2.0
    if half <= 0.0:
        inside = np.zeros(x.size)
    else:
        inside = np.minimum(np.floor((x / 2.0 - low / 2.0) / half * columns), columns - 1.0)
    inside[x < low] = -1.0
    inside[x > high] = columns
    return inside.astype(np.int32)


def survivors(y: Floats, starts: Ints) -> Ints:
    """Return the indices of the first, last, lowest and highest point of each group that begins at starts (the first is 0)."""
    stops = np.append(starts[1:], y.size)
    low, high = _extremes_by_call(y, starts, stops) if y.size > _LARGE else _extremes_by_pass(y, starts, stops)
    return merged(starts, stops - 1, low, high)


def _extremes_by_call(y: Floats, starts: Ints, stops: Ints) -> tuple[Ints, Ints]:
    spans = list(zip(starts.tolist(), stops.tolist(), strict=True))
    low = np.array([first + int(y[first:last].argmin()) for first, last in spans], np.int64)
    high = np.array([first + int(y[first:last].argmax()) for first, last in spans], np.int64)
    return low, high


def _extremes_by_pass(y: Floats, starts: Ints, stops: Ints) -> tuple[Ints, Ints]:
    def first_equal(extreme: Floats) -> Ints:
        hits = np.flatnonzero(y == np.repeat(extreme, stops - starts))
        return hits[np.searchsorted(hits, starts)]

    return first_equal(np.minimum.reduceat(y, starts)), first_equal(np.maximum.reduceat(y, starts))


def non_finite_runs(x: Floats, y: Floats, *, columns: int, window: Window | None = None) -> NonFinite:
    """Return every point of finite x and non-finite y inside the window as runs, ordered by kind and first index.

    Neighbours of one kind are one run; so are points of one kind in one pixel column, unless the window holds at most
    4 x columns points, where runs are exact.
    """
    at = np.flatnonzero(~np.isfinite(y) & np.isfinite(x))
    if window is None and at.size:
        placed = x[np.isfinite(x)]
        window = (float(placed.min()), float(placed.max()))
        inside = placed.size
    elif window is not None:
        inside = int(np.count_nonzero((x >= window[0]) & (x <= window[1])))
    if window is None:
        return _NO_RUNS
    return runs_at(at, x[at], y[at], columns=columns, window=window, exact=inside <= PER_COLUMN * columns)


def runs_at(at: Ints, x: Floats, y: Floats, *, columns: int, window: Window, exact: bool) -> NonFinite:
    """Return the runs of non-finite points inside the window, given their ascending indices, x and y; see `non_finite_runs`.

    exact: points of one pixel column are not joined.
    """
    seen = (x >= window[0]) & (x <= window[1])
    at, x, y = at[seen], x[seen], y[seen]
    parts = []
    for kind, mask in enumerate((np.isnan(y), y == np.inf, y == -np.inf)):
        if mask.any():
            parts.append(_runs_of_kind(x[mask], at[mask], kind, columns_of(x[mask], window, columns), exact, columns))
    if not parts:
        return _NO_RUNS
    return NonFinite(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _runs_of_kind(place: Floats, at: Ints, kind: int, column: NDArray[np.int32], exact: bool, columns: int) -> NonFinite:
    joined = (np.diff(at) == 1) & (place[1:] >= place[:-1])
    if not exact:
        joined |= column[1:] == column[:-1]
    starts = np.concatenate(([0], np.flatnonzero(~joined) + 1))
    if not exact and starts.size > VISITS * columns:
        order = _by_column(column)
        at, place = at[order], place[order]
        starts = np.concatenate(([0], np.flatnonzero(np.diff(column[order])) + 1))
    stops = np.append(starts[1:], at.size)
    return NonFinite(
        np.minimum.reduceat(at, starts), np.maximum.reduceat(at, starts),
        np.minimum.reduceat(place, starts), np.maximum.reduceat(place, starts),
        np.full(starts.size, kind, np.int8), stops - starts,
    )

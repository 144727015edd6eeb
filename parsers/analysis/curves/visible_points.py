"""The points of a series that a plot shows: all points are smoothed, then reduced to what its pixel columns can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.places import Places
from parsers.analysis.curves.reduction import Reduced, reduce_points
from parsers.analysis.curves.segments import merged, restarts
from parsers.analysis.curves.series_facts import SeriesFacts
from parsers.analysis.curves.smoothing import smooth
from parsers.analysis.curves.views import reduce_view
from parsers.model import Floats, Ints, Series

Range = tuple[float, float] | None


class VisiblePoints(NamedTuple):
    """The points kept: smoothed values (NaN where the axis cannot show one), recorded ones, and which points they are.

    gaps are the places among them before which the line is interrupted: by a break, or by points that cannot be drawn. hidden
    is the number of finite values that a logarithmic axis cannot show.
    """

    shown: Floats
    raw: Floats
    kept: Reduced
    gaps: Ints
    hidden: int


@dataclass(frozen=True, slots=True)
class _Plot:
    weight: float
    log: bool
    columns: int
    window: Range
    span: Range

    def reduced(self, x: Floats, y: Floats, starts: Ints) -> Reduced:
        return reduce_points(x, y, columns=self.columns, window=self.window, axis=self.span, breaks=starts)


def visible_points(
    series: Series, x: Floats | Places, facts: SeriesFacts | None = None, *, weight: float, log: bool, columns: int,
    window: Range = None, span: Range = None, outlines: Sequence[Floats] = (), breaks: Ints | None = None,
) -> VisiblePoints:  # fmt: skip
    """Return the points that a plot needs for its number of pixel columns.

    x are their places on the axis, of which window is visible; span is the range that the columns divide, None for the window,
    or for that of the series. facts are those of the series: with these, and Places as x, a view costs what it shows. Of
    outlines, arrays with a value for each point, the extremes in each column are kept too. breaks are the indices at which the
    line is interrupted, None for its restarts; those given that are narrower than a column are left out, so that no more are
    drawn than can be seen.
    """
    plot = _Plot(weight, log, columns, window, span)
    if breaks is not None:
        places = np.asarray(x)
        return _by_points(series, places, plot, outlines, _wide(places, breaks, plot))
    found = _by_blocks(x, facts, plot) if facts is not None and isinstance(x, Places) else None
    return found or _by_points(series, np.asarray(x), plot, outlines, restarts(series.step))


def _wide(x: Floats, breaks: Ints, plot: _Plot) -> Ints:
    """Return the breaks that are at least a pixel column wide."""
    if not breaks.size:
        return breaks
    low, high = plot.span or plot.window or (float(np.nanmin(x)), float(np.nanmax(x)))
    return breaks[np.abs(x[breaks] - x[breaks - 1]) * plot.columns >= high - low]


def _by_blocks(x: Places, facts: SeriesFacts, plot: _Plot) -> VisiblePoints | None:
    """Return the points by what is known of the blocks of a series; None if too little is known."""
    recorded, starts = facts.recorded(), facts.restarts
    if recorded is None or (plot.log and bool((recorded.blocks.low <= 0.0).any())):
        return None
    shown = facts.smoothed(plot.weight) if plot.weight > 0.0 else recorded
    if shown is None:
        return None
    heights = dict.fromkeys((shown, recorded))
    kept = reduce_view(x, *heights, columns=plot.columns, window=plot.window, axis=plot.span, breaks=starts)
    if kept is None:
        return None
    raw = recorded.at(kept.keep)
    gaps = _gaps(kept.keep, merged(starts, recorded.blocks.first))
    return VisiblePoints(shown.at(kept.keep) if plot.weight > 0.0 else raw, raw, kept, gaps, 0)


def _by_points(series: Series, x: Floats, plot: _Plot, outlines: Sequence[Floats], starts: Ints) -> VisiblePoints:
    value = series.value
    shown = smooth(value, plot.weight, starts) if plot.weight > 0.0 else value
    raw, hidden = value, 0
    if plot.log:
        hidden = int(np.count_nonzero(np.isfinite(value) & (value <= 0.0)))
        if hidden:
            raw = np.where(value > 0.0, value, np.nan)
        shown = np.where(shown > 0.0, shown, np.nan) if hidden else shown
    kept = plot.reduced(x, shown, starts)
    for more in (*((raw,) if plot.weight > 0.0 else ()), *outlines):
        kept = _joined(kept, plot.reduced(x, more, starts))
    drawable = np.isfinite(shown) & np.isfinite(x)
    gaps = _gaps(kept.keep, starts if drawable.all() else merged(starts, np.flatnonzero(~drawable)))
    return VisiblePoints(shown[kept.keep], raw[kept.keep], kept, gaps, hidden)


def _joined(one: Reduced, other: Reduced) -> Reduced:
    if one.keep.size == other.keep.size and np.array_equal(one.keep, other.keep):
        return one
    return Reduced(
        merged(one.keep, other.keep), one.whole and other.whole, one.ordered and other.ordered,
        max(one.inside, other.inside),
    )  # fmt: skip


def _gaps(keep: Ints, breaks: Ints) -> Ints:
    """Return the places in keep before which the line is interrupted."""
    if not breaks.size:
        return breaks
    places = merged(np.searchsorted(keep, breaks, "left"))
    return places[(places > 0) & (places < keep.size)]

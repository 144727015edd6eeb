"""Bands around the lines of groups, and the columns of their hover table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from layouts.curves.smoothed_lines import DrawnLine, Floats, GroupSpread, LineStyle, Trace, trace_on, with_gaps
from layouts.kit.figures.typed_arrays import drawn, numbers, whole_numbers

OPACITY = 0.22
Ends = tuple[Floats, Floats]


def ends_of(curve: DrawnLine) -> Ends | None:
    """Return the low and high end of the band at the drawn points of a curve; None for a curve without a band."""
    spread = curve.line.spread
    return None if spread is None or spread.ends is None else spread.ends(curve.kept.keep)


def bands(curves: Sequence[DrawnLine], ends: Sequence[Ends | None], look: LineStyle) -> list[Trace]:
    """Return an area for each band, interrupted where it is undefined. On a log axis it ends at the lowest value drawn."""
    floor = _floor(curves, ends) if look.log else -np.inf
    return [trace for curve, both in zip(curves, ends, strict=True) if both and (trace := _area(curve, *both, floor))]


def _floor(curves: Sequence[DrawnLine], ends: Sequence[Ends | None]) -> float:
    shown = [curve.shown for curve in curves] + [low for low, _ in filter(None, ends)]
    above = [values[values > 0.0] for values in shown]
    return min((float(values.min()) for values in above if values.size), default=1.0)


def _area(curve: DrawnLine, low: Floats, high: Floats, floor: float) -> Trace | None:
    x = curve.line.x[curve.kept.keep]
    low = np.maximum(low, floor)
    there = np.flatnonzero(np.isfinite(low) & np.isfinite(high) & (high >= low))
    if not there.size or not curve.kept.ordered:
        return None
    cut = np.flatnonzero(np.diff(there) > 1) + 1
    if curve.gaps.size:
        cut = np.union1d(cut, np.searchsorted(there, curve.gaps))
    parts = [part for part in np.split(there, cut) if part.size > 1]
    if not parts:
        return None
    # Draw the outline of each part forwards and back; a gap between two parts closes the outline.
    gap = np.array([np.nan])
    along = np.concatenate([np.concatenate((x[part], x[part[::-1]], gap)) for part in parts])[:-1]
    around = np.concatenate([np.concatenate((low[part], high[part[::-1]], gap)) for part in parts])[:-1]
    trace = trace_on(curve.line, "lines") | {"x": numbers(along), "y": drawn(around), "line": {"width": 0, "simplify": False}}
    return trace | {"fill": "toself", "fillcolor": curve.line.colour, "opacity": OPACITY, "meta": {"band": True}}


def columns_of_group(curve: DrawnLine, spread: GroupSpread, ends: Ends | None) -> dict[str, Any]:
    """Return for each drawn point its number of runs and the ends of its band."""
    keep, gaps = curve.kept.keep, curve.gaps
    n = with_gaps(spread.n[keep].astype(np.float64), gaps, None)
    columns: dict[str, Any] = {"members": spread.members, "n": whole_numbers(n)}
    if spread.lost.any():
        columns["lost"] = whole_numbers(with_gaps(spread.lost[keep].astype(np.float64), gaps, None))
    if ends is not None:
        columns |= {name: drawn(with_gaps(end, gaps, np.nan)) for name, end in zip(("low", "high"), ends, strict=True)}
    return columns

"""The range of a value axis: without outliers by a robust rule, in the middle for a constant curve, with distinct tick labels.

The rule: if the drawn values between the 2nd and the 98th percentile, extended by half their height to either side, fill less
than a third of the height of all drawn values, the axis shows only these. Values beyond are marked by arrows at the edge. Bands
of groups never set a range, since a band can be wide where a group has few runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from layouts.curves.smoothed_lines import ChartLine, DrawnLine, Floats, Ints, LineStyle, Trace
from layouts.kit.figures.typed_arrays import numbers

SHARE = 0.02
"""Share of the drawn values at either end that cannot set the range."""
_EXTENDED = 0.5
_GAIN = 3.0
_PADDED = 0.05
_TICKS = 6
_DIGITS = 4
_MOST_DIGITS = 17
# Smoothing and averaging a constant leave this much rounding noise, relative to its value.
_NOISE = 1e-13
_ARROW_COLUMNS = 8
_ARROWS = (("triangle-up", 1.0), ("triangle-down", 0.0))


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The range of one value axis, in its units (log10 of the value on a log axis).

    constant is the value of all points if they have only one, up to the rounding of smoothing. outliers: by the rule, there are
    values that a shorter axis would leave out; clipped: they are left out.
    """

    low: float
    high: float
    constant: float | None = None
    outliers: bool = False
    clipped: bool = False


def value_range(curves: Sequence[DrawnLine], look: LineStyle) -> ValueRange | None:
    """Return the range of an axis for all its curves; None if nothing is drawn, or for values at the limits of float64."""
    raw = _drawn(curves, look, smoothed=False)
    value = np.concatenate((raw, _drawn(curves, look, smoothed=True))) if look.weight > 0.0 else raw
    if not raw.size:
        return None
    low, high = float(value.min()), float(value.max())
    noise = _NOISE if look.weight > 0.0 or any(curve.line.spread is not None for curve in curves) else 0.0
    if raw.min() == raw.max() or high - low <= noise * max(abs(low), abs(high)):
        return _around(float(raw[0]), look)
    if not math.isfinite(high - low):  # beyond float64
        return None
    inner = _inner(value, low, high)
    if inner is None:
        return _padded(low, high)
    return _padded(low, high, outliers=True) if look.outliers else ValueRange(*inner, outliers=True, clipped=True)


def _drawn(curves: Sequence[DrawnLine], look: LineStyle, *, smoothed: bool) -> Floats:
    """Return the finite values that are drawn in view, on the scale of the axis."""
    parts = []
    for curve in curves:
        value = curve.shown if smoothed else curve.raw
        there = np.isfinite(value) & (value > 0.0) if look.log else np.isfinite(value)
        if look.view.x is not None:
            x = curve.line.x[curve.kept.keep]
            inside = there & (x >= look.view.x[0]) & (x <= look.view.x[1])
            there = inside if inside.any() else there
        parts.append(value[there])
    found = np.concatenate([np.empty(0), *parts])
    return np.log10(found) if look.log else found


def _inner(value: Floats, low: float, high: float) -> tuple[float, float] | None:
    """Return the range without outliers; None if there are none."""
    near, far = np.quantile(value, (SHARE, 1.0 - SHARE))
    extended = (far - near) * _EXTENDED
    ends = max(low, float(near - extended)), min(high, float(far + extended))
    return _rounded(*ends) if 0.0 < (ends[1] - ends[0]) * _GAIN < high - low else None


def _padded(low: float, high: float, *, outliers: bool = False) -> ValueRange:
    room = (high - low) * _PADDED
    if not math.isfinite(low - room) or not math.isfinite(high + room):
        room = 0.0
    return ValueRange(*_rounded(low - room, high + room), outliers=outliers)


def _rounded(low: float, high: float) -> tuple[float, float]:
    """Return the ends to a thousandth of the range, outwards: they are written with few digits."""
    digits = 3 - math.floor(math.log10(high - low))
    if abs(digits) > 300:
        return low, high
    unit = 10.0 ** abs(digits)
    if digits >= 0:  # the digits of k / 1000 are those of a decimal number, unlike those of k * 0.001
        return math.floor(low * unit) / unit, math.ceil(high * unit) / unit
    return math.floor(low / unit) * unit, math.ceil(high / unit) * unit


def _around(value: float, look: LineStyle) -> ValueRange:
    constant = 10.0**value if look.log else value
    half = 0.5 if look.log else abs(value) / 2 or 1.0
    low, high = value - half, value + half
    if not (math.isfinite(low) and math.isfinite(high)):
        low, high = value * 0.5, value
    return ValueRange(low, high, constant)


def axis_of(found: ValueRange | None, look: LineStyle) -> dict[str, Any]:
    """Return the properties of an axis of plotly with this range: range, ticks and their format."""
    if found is None:
        return {}
    axis: dict[str, Any] = {"range": [found.low, found.high]}
    if found.constant is not None:
        return axis | {"tickmode": "array", "tickvals": [found.constant], "tickformat": ".5~g"}
    return axis if look.log else axis | {"tickformat": tick_format(found.low, found.high)}


def tick_format(low: float, high: float) -> str:
    """Return a format of d3 in which neighbouring ticks of a linear axis differ."""
    step, largest = (high - low) / _TICKS, max(abs(low), abs(high))
    if not (step > 0.0 and math.isfinite(largest / step)):
        return f".{_DIGITS}~g"
    # plotly's steps are 1, 2 or 5 times a power of ten, so half a step has one digit more at most.
    digits = math.floor(math.log10(largest)) - math.floor(math.log10(step)) + 1
    return f".{min(max(_DIGITS, digits), _MOST_DIGITS)}~g"


def arrows(curves: Sequence[DrawnLine], found: ValueRange, look: LineStyle) -> list[Trace]:
    """Return arrows at the upper and lower edge where a curve leaves the range, at most one of each curve in 8 pixels."""
    low, high = look.span or (0.0, 1.0)
    width = (high - low) * _ARROW_COLUMNS / max(1, look.columns) or 1.0
    ends = (10.0**found.low, 10.0**found.high) if look.log else (found.low, found.high)
    traces: list[Trace] = []
    for (symbol, height), beyond in zip(_ARROWS, (_above(ends[1]), _below(ends[0])), strict=True):
        places, colours = [np.empty(0)], []
        for curve in curves:
            x = curve.line.x[curve.kept.keep]
            out = (beyond(curve.shown) | beyond(curve.raw)) & (x >= low) & (x <= high)
            _, first = np.unique(np.floor((x[out] - low) / width), return_index=True)
            places.append(x[out][first])
            colours += [curve.line.colour] * first.size
        place = np.concatenate(places)
        if place.size:
            marker = {"color": colours if len(set(colours)) > 1 else colours[0], "size": 8, "symbol": symbol}
            traces.append({
                "type": "scatter", "mode": "markers", "yaxis": "y3", "hoverinfo": "skip", "cliponaxis": False,
                "x": numbers(place), "y": numbers(np.full(place.size, height)), "marker": marker, "meta": {"beyond": True},
            })  # fmt: skip
    return traces


def _above(end: float) -> Any:
    return lambda value: np.isfinite(value) & (value > end)


def _below(end: float) -> Any:
    return lambda value: np.isfinite(value) & (value < end)


def beyond(lines: Sequence[ChartLine], curves: Sequence[DrawnLine], found: ValueRange, look: LineStyle) -> int:
    """Return the number of recorded finite values in view that the range leaves out.

    curves are those of the lines, or, for lines of runs behind the lines of groups, of these groups.
    """
    low, high = (10.0**found.low, 10.0**found.high) if look.log else (found.low, found.high)
    kept = {id(curve.line): curve.kept.keep for curve in curves}
    return sum(_beyond(line, kept.get(id(line)), look, low, high) for line in lines)


def _beyond(line: ChartLine, kept: Ints | None, look: LineStyle, low: float, high: float) -> int:
    value, window = line.series.value, look.view.x
    blocks = line.facts.blocks if line.facts is not None else None
    if blocks is None:
        at = np.flatnonzero(np.isfinite(value) & ((value < low) | (value > high)))
    elif kept is None or not kept.size:
        at = blocks.beyond(value, low, high)
    else:  # what is in view lies between the points that are drawn
        at = blocks.beyond(value, low, high, int(kept.min()), int(kept.max()) + 1)
    if look.log:
        at = at[value[at] > 0.0]
    x = line.x[at]
    return int(np.count_nonzero(np.isfinite(x) if window is None else (x >= window[0]) & (x <= window[1])))

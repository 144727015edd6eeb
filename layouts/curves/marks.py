"""Bands and marks at the edge of the plot for non-finite values: NaN and -Inf at the bottom, +Inf at the top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from parsers.analysis import NonFinite, Places, bad_runs, non_finite_runs

from layouts.curves.smoothed_lines import WRONG, ChartLine, LineStyle, Trace
from layouts.kit.figures.typed_arrays import numbers, whole_numbers

# A mark is this many pixels wide, so marks need no finer columns.
_MARK_COLUMNS = 8
# A jump to the first non-finite point shows this many points on either side.
_AROUND = 20
# Symbol and height on y3 of NaN, +Inf and -Inf.
_STYLES = (("x", 0.0), ("triangle-up", 1.0), ("triangle-down", 0.0))


class FirstBad(TypedDict):
    """The first value that is not finite, and the view that a jump to it shows."""

    x: float
    label: str
    step: int
    low: float
    high: float


class BadValues(TypedDict):
    """Numbers of NaN, +Inf and -Inf."""

    nan: int
    above: int
    below: int
    first: FirstBad | None


def marks(lines: Sequence[ChartLine], look: LineStyle) -> tuple[list[Trace], BadValues]:
    """Return the traces, the number of values of each kind, and the place of the first one."""
    columns = max(1, look.columns // _MARK_COLUMNS)
    found: list[tuple[ChartLine, NonFinite]] = []
    totals = np.zeros(3, np.int64)
    first: tuple[float, ChartLine, int] | None = None
    for line in lines:
        blocks = line.facts.blocks if line.facts is not None else None
        bad = np.flatnonzero(~np.isfinite(line.series.value)) if blocks is None else blocks.bad()
        if not bad.size:
            continue
        value = line.series.value[bad]
        totals += [np.count_nonzero(np.isnan(value)), np.count_nonzero(value == np.inf), np.count_nonzero(value == -np.inf)]
        at = int(bad[0])
        if np.isfinite(line.x[at]) and (first is None or line.x[at] < first[0]):
            first = (float(line.x[at]), line, at)
        if blocks is not None and isinstance(line.x, Places):
            found.append((line, bad_runs(line.x, line.series.value, blocks, columns=columns, window=look.view.x)))
        else:
            x = np.asarray(line.x)
            found.append((line, non_finite_runs(x, line.series.value, columns=columns, window=look.view.x)))
    facts: BadValues = {"nan": int(totals[0]), "above": int(totals[1]), "below": int(totals[2]), "first": _first(first)}
    traces = [trace for kind, style in enumerate(_STYLES) for trace in _marks_of_kind(found, kind, *style)]
    return traces, facts


def _marks_of_kind(found: Sequence[tuple[ChartLine, NonFinite]], kind: int, symbol: str, height: float) -> list[Trace]:
    runs = [(line, run, run.kind == kind) for line, run in found]
    low = np.concatenate([run.low[mine] for _, run, mine in runs] or [np.empty(0)])
    if not low.size:
        return []
    high = np.concatenate([run.high[mine] for _, run, mine in runs])
    count = np.concatenate([run.points[mine] for _, run, mine in runs])
    common: Trace = {"type": "scatter", "yaxis": "y3", "hoverinfo": "skip", "cliponaxis": False}
    traces: list[Trace] = []
    wide = high > low
    if wide.any():
        # Three entries per band: its ends, and a gap.
        x = np.stack((low[wide], high[wide], high[wide]), axis=1).ravel()
        y = np.tile([height, height, np.nan], int(np.count_nonzero(wide)))
        line = {"color": WRONG, "width": 4}
        traces.append(common | {"mode": "lines", "x": numbers(x), "y": numbers(y), "line": line, "opacity": 0.45})
    runs_of = [str(line.label) for line, _, mine in runs for _ in range(int(np.count_nonzero(mine)))]
    traces.append(
        common
        | {"mode": "markers", "x": numbers(low), "y": numbers(np.full(low.size, height)),
           "marker": {"color": WRONG, "size": 7, "symbol": symbol},
           "meta": {"mark": kind, "high": numbers(high), "count": whole_numbers(count), "runs": runs_of}}
    )  # fmt: skip
    return traces


def _first(first: tuple[float, ChartLine, int] | None) -> FirstBad | None:
    """Return the view that a jump to the first non-finite value shows: a few points on either side of it."""
    if first is None:
        return None
    place, line, at = first
    near = line.x[max(0, at - _AROUND) : at + _AROUND + 1]
    near = near[np.isfinite(near)]
    low, high = float(near.min()), float(near.max())
    return {"x": place, "label": line.label, "step": int(line.series.step[at]), "low": low, "high": high}

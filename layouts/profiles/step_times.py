"""Step times of a run, from the wall times of a scalar, together with the step times measured by a profiler."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers.analysis import Breakdown, StepTimes, reduce_points

from layouts.curves.smoothed_lines import Trace
from layouts.kit import units as fmt
from layouts.kit.figures.typed_arrays import drawn, numbers
from layouts.profiles.step_plots import StepStyle, bare_layout, unit_of

Floats = NDArray[np.float64]

RUN, PROFILED = "#236db4", "#c6871a"
_AROUND = 1.0
"""The axis extends beyond the profiled steps by this many times their span, and by at least _LEAST_AROUND steps."""
_LEAST_AROUND = 10.0
_HEADROOM = 1.3


def joined(breakdown: Breakdown, times: StepTimes, look: StepStyle) -> dict[str, Any]:
    """Return a figure with a line for the run and a mark per profiled step.

    Initially the axis shows the profiled steps and their surroundings; a double click shows the whole run. Steps without a
    number are left out.
    """
    numbered = np.flatnonzero((breakdown.step >= 0) & breakdown.sound)
    step = breakdown.step[numbered].astype(np.float64)
    whole = breakdown.whole_ns[numbered].astype(np.float64)
    low, high = _range(step, times)
    inside = (times.last >= low) & (times.first <= high)
    top = _top(whole, times.mean_ns[inside])
    scale, unit = unit_of(top)
    last = times.last.astype(np.float64)
    kept = reduce_points(last, times.mean_ns, columns=look.columns).keep
    new_session = np.flatnonzero(times.first[1:] < times.last[:-1]) + 1
    gaps = np.unique(np.searchsorted(kept, new_session))
    gaps = gaps[(gaps > 0) & (gaps < kept.size)]
    texts = [f"{_stretch(times, int(at), look)}<br>{look.words['run']} {fmt.duration(times.mean_ns[at] / 1e9)}" for at in kept]
    line: Trace = {
        "type": "scatter", "mode": "lines+markers" if kept.size < 80 else "lines", "marker": {"size": 4, "color": RUN},
        "x": numbers(np.insert(last[kept], gaps, np.nan)), "y": drawn(np.insert(times.mean_ns[kept] / scale, gaps, np.nan)),
        "hovertext": np.insert(np.array(texts, object), gaps, "").tolist() if texts else [], "hoverinfo": "text",
        "line": {"color": RUN, "width": 1.5, "shape": "vh"}, "meta": {"role": "run"},
    }  # fmt: skip
    few = reduce_points(step, whole, columns=look.columns).keep
    marks: Trace = {
        "type": "scatter", "mode": "markers", "x": numbers(step[few]), "y": drawn(whole[few] / scale),
        "marker": {"size": 8 if few.size < 200 else 5, "symbol": "diamond", "color": PROFILED},
        "hovertext": [
            f"{look.words['step']} {fmt.count(int(step[at]))}<br>{look.words['profiled']} {fmt.duration(whole[at] / 1e9)}"
            for at in few
        ],
        "hoverinfo": "text", "meta": {"role": "profiled"},
    }  # fmt: skip
    layout = bare_layout(look) | {
        "hovermode": "closest",
        "xaxis": {"range": [low, high], "tickformat": "d", "nticks": 8, "showgrid": False, "zeroline": False},
        "yaxis": {"range": [0, top * _HEADROOM / scale], "ticksuffix": f" {unit}", "nticks": 5, "zeroline": True},
        "meta": {"run": int(kept.size), "profiled": int(few.size), "unit": unit},
    }
    return {"data": [line, marks], "layout": layout}


def _range(step: Floats, times: StepTimes) -> tuple[float, float]:
    if not step.size:
        ends = (float(times.first.min(initial=0)), float(times.last.max(initial=1)))
        return ends[0] - 0.5, ends[1] + 0.5
    low, high = float(step.min()), float(step.max())
    around = max((high - low) * _AROUND, _LEAST_AROUND)
    if len(times):
        # With one record per hundred steps, extend the axis to the neighbouring records.
        around = max(around, 3.0 * float(np.median(times.last - times.first)))
    return max(low - around, -0.5), high + around


def _top(whole: Floats, mean: Floats) -> float:
    """Return the longest time of the profiled steps and of the run's usual steps; the end of an epoch may take minutes."""
    usual = float(np.percentile(mean, 90)) if mean.size else 0.0
    return max(float(whole.max(initial=0.0)), usual) or 1.0


def _stretch(times: StepTimes, at: int, look: StepStyle) -> str:
    first, last = int(times.first[at]) + 1, int(times.last[at])
    if first == last:
        return f"{look.words['step']} {fmt.count(last)}"
    return f"{look.words['steps'].format(first=fmt.count(first), last=fmt.count(last))} · {look.words['mean']}"

"""Figure of one step over time: its parts in the first row, and a row per stream with its marked operators.

`meta` of a trace has its "role", `layout.meta` how much is shown.
"""

from __future__ import annotations

import html
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers.analysis import Breakdown
from parsers.analysis.profiles.steps import merged_boxes
from parsers.deferred import pandas as pd

from layouts.curves.smoothed_lines import Trace
from layouts.kit import units as fmt
from layouts.kit.figures.typed_arrays import numbers
from layouts.kit.names import middle
from layouts.kit.theme import PALETTE
from layouts.profiles.step_plots import COLOURS, StepStyle, bare_layout, unit_of

Floats = NDArray[np.float64]

MOST_BOXES = 1_500
"""Maximum number of boxes in a figure."""


def streams(breakdown: Breakdown, place: int, reduces: pd.DataFrame, look: StepStyle) -> dict[str, Any]:
    """Return one step over time: its parts in the first row, and a row per stream with its marks (schema REDUCES).

    Times count from the start of the step, or from its first mark if the start is unknown. Neighbours on a stream that are less
    than a pixel apart are drawn as one box.
    """
    mine = reduces[reduces["step"].to_numpy() == int(breakdown.step[place])]
    start = mine["start_ns"].to_numpy(np.int64)
    begin = int(breakdown.start_ns[place])
    if begin < 0 and start.size:
        begin = int(start.min())
    # Subtract as int64: at the magnitude of these clocks, float64 cannot represent nanoseconds.
    offset = (start - begin).astype(np.float64)
    length = np.maximum(mine["duration_ns"].to_numpy(np.int64), 0).astype(np.float64)
    whole = float(breakdown.whole_ns[place])
    low = min(0.0, float(offset.min(initial=0.0)))
    high = max(whole, float((offset + length).max(initial=0.0)))
    scale, unit = unit_of(high - low)
    traces = [_parts_row(breakdown, place, look, scale)]
    numbers_of = mine["stream"].to_numpy(np.int64)
    lanes = np.unique(numbers_of).tolist()
    names = mine["name"].astype(str).to_numpy()
    boxes = 0
    pixel = (high - low) / max(look.columns, 1)
    for lane, stream in enumerate(lanes, start=1):
        on = np.flatnonzero(numbers_of == stream)
        most = max(20, MOST_BOXES // len(lanes))
        trace, count = _lane(offset[on], length[on], names[on], lane, pixel, most, scale, look)
        traces.append(trace | {"meta": {"role": "stream", "stream": int(stream)}})
        boxes += count
    labels = [look.words["whole"], *(f"{look.words['stream']} {stream}" for stream in lanes)]
    layout = bare_layout(look) | {
        "barmode": "overlay", "bargap": 0.25, "hovermode": "closest",
        "xaxis": {"range": [(low - 0.01 * (high - low)) / scale, (high + 0.01 * (high - low)) / scale or 1.0],
                  "ticksuffix": f" {unit}", "zeroline": True, "nticks": 8},
        "yaxis": {"tickmode": "array", "tickvals": list(range(len(labels))), "ticktext": labels, "fixedrange": True,
                  "range": [len(labels) - 0.5, -0.5], "showgrid": False, "zeroline": False},
        "meta": {"boxes": boxes, "marks": len(mine), "streams": len(lanes), "unit": unit},
    }  # fmt: skip
    layout["margin"] = layout["margin"] | {"l": 92}
    return {"data": traces, "layout": layout}


def _parts_row(breakdown: Breakdown, place: int, look: StepStyle, scale: float) -> Trace:
    times = breakdown.time_ns[place].astype(np.float64)
    base = np.concatenate(([0.0], np.cumsum(times)[:-1]))
    whole = float(times.sum())
    texts = [
        f"<b>{look.words[part]}</b><br>{fmt.duration(time / 1e9)}" + (f"  {fmt.percent(time / whole)}" if whole > 0.0 else "")
        for part, time in zip(breakdown.parts, times.tolist(), strict=True)
    ]
    return {
        "type": "bar", "orientation": "h", "base": numbers(base / scale), "x": numbers(times / scale),
        "y": numbers(np.zeros(times.size)), "width": 0.7, "hovertext": texts, "hoverinfo": "text",
        "marker": {"color": [COLOURS[part] for part in breakdown.parts], "line": {"width": 0}}, "meta": {"role": "parts"},
    }  # fmt: skip


def _lane(
    offset: Floats, length: Floats, names: NDArray[Any], lane: int, pixel: float, most: int, scale: float, look: StepStyle
) -> tuple[Trace, int]:
    order = np.argsort(offset, kind="stable")
    offset, length, names = offset[order], length[order], names[order]
    groups = merged_boxes(offset, offset + length, pixel, most)
    texts, colours, base, width = [], [], [], []
    for first, stop in groups:
        begin = float(offset[first])
        end = float((offset[first:stop] + length[first:stop]).max())
        head = html.escape(_cut(str(names[first])), quote=False)
        if stop - first > 1:
            head = f"{head} {look.words['more'].format(n=fmt.count(stop - first - 1))}"
        texts.append(f"<b>{head}</b><br>{fmt.duration((end - begin) / 1e9)}<br>@ {fmt.duration(begin / 1e9)}")
        colours.append(colour_of(str(names[first])))
        base.append(begin / scale)
        width.append((end - begin) / scale)
    return {
        "type": "bar", "orientation": "h", "base": numbers(np.array(base)), "x": numbers(np.array(width)),
        "y": numbers(np.full(len(base), float(lane))), "width": 0.7, "hovertext": texts, "hoverinfo": "text",
        "marker": {"color": colours, "opacity": 0.85, "line": {"width": 0}},
    }, len(groups)  # fmt: skip


def colour_of(name: str) -> str:
    """Return the colour of a marked operator, which depends on its type."""
    kind = name.rsplit("-op", 1)[0]
    fixed = {"AllReduce": 1, "AllGather": 3, "ReduceScatter": 4, "Receive": 6, "Send": 5, "parallel": 8, "Broadcast": 7}
    known = fixed.get(kind)
    return PALETTE[known if known is not None else sum(kind.encode("utf-8", "replace")) % len(PALETTE)][0]


def _cut(text: str) -> str:
    return middle(text, 80)


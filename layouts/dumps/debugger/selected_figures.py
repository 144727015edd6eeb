"""Figures of one tensor: a statistic over iterations, and the distribution of its values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers.analysis import Tensor, chunks, part
from parsers.dumps.statistics import NAMES
from parsers.dumps.store import StatisticsTable
from parsers.errors import FormatError
from parsers.model import Ints

from layouts.dumps.debugger.selected_facts import COUNTED, measured
from layouts.dumps.dump_choice import DumpChoice
from layouts.dumps.dump_tensors import LARGE_BYTES, Dumped, DumpTensorRequest, find, opened, readable
from layouts.dumps.open_dump import DumpReport, DumpView, DumpWork
from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import described, entry, marked
from layouts.kit.figures.typed_arrays import numbers, whole_numbers
from layouts.kit.i18n import both
from layouts.kit.page_parts import progress, worked
from layouts.sources import DumpSources
from layouts.values.tensor_facts import bars

STATISTICS = tuple(name for name in NAMES if name != "count")
"""Statistics whose trend can be shown."""
COLOUR = "#3880c9"
OTHER = "#c27a12"
WRONG = "#d1332e"
_SEE_THROUGH = {"paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)"}
_DECADES = 1e4
"""Values that are all positive and range over more than this are drawn on a logarithmic axis."""


# Trend ----------------------------------------------------------------------------------------------------------------


def trend(
    source: DumpSources, choice: DumpChoice, row: int, statistic: str, ask: Any, other: Dumped | None = None
) -> dict[str, Any]:
    """Return the figure of a statistic of a tensor over the iterations, and the progress of computing it.

    other is a tensor whose line is drawn beside it, unless it is the same one in another iteration.
    """
    dump = choice.dump(source)
    if dump is None:
        return {"state": "missing"}
    rows = trend_rows(dump, row)
    known, found = measured(source, choice, rows, ask, "trend")
    assert known is not None
    steps = dump.tensors["iteration"].to_numpy()[rows]
    figure = draw_trend(steps, known, rows, statistic, choice.step)
    if other is not None and found["state"] == "ready" and not (other.run == choice.run and other.row in dump.history(row)):
        beside, more = _beside(source, choice, other, statistic, ask)
        found = more
        figure["data"].insert(0, beside)
    return found | {"row": row, "iterations": len(rows), "figure": figure}


def _beside(
    source: DumpSources, choice: DumpChoice, other: Dumped, statistic: str, ask: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the line of another tensor, and the progress of computing it."""
    dump = opened(source, other)
    rows = trend_rows(dump, other.row)
    known, found = measured(source, replace(choice, run=other.run, mark=other.mark), rows, ask, "trend")
    assert known is not None
    line = draw_trend(dump.tensors["iteration"].to_numpy()[rows], known, rows, statistic, None)["data"][0]
    return {**line, "line": {"color": OTHER, "width": 1.5, "dash": "dot"}, "marker": {"size": 4, "color": OTHER}}, found


def trend_rows(dump: DumpView, row: int) -> Ints:
    """Return the rows of a tensor in all iterations; where it was written several times in one, that of the same occurrence."""
    occurrences = dump.tensors["occurrence"].to_numpy()
    iterations = dump.tensors["iteration"].to_numpy()
    wanted = int(occurrences[row])
    found: dict[int, int] = {}
    for one in dump.history(row):
        before = found.get(int(iterations[one]))
        if before is None or int(occurrences[one]) <= wanted:
            found[int(iterations[one])] = one
    return np.array([found[step] for step in sorted(found)], np.int64)


def draw_trend(steps: Ints, known: StatisticsTable, rows: Ints, statistic: str, now: int | None) -> dict[str, Any]:
    """Draw a statistic over iterations: red lines where there is NaN or Inf, a grey one at the chosen iteration."""
    values = known.column(statistic)[rows].astype(np.float64)
    if statistic in (*COUNTED, "count"):
        values = np.where(values < 0, np.nan, values)
    bad = known.non_finite[rows] == 1
    shown = np.where(np.isfinite(values), values, np.nan)
    finite = shown[~np.isnan(shown)]
    logarithmic = bool(len(finite) and finite.min() > 0 and finite.max() > _DECADES * finite.min())
    trace = {
        "type": "scatter", "mode": "lines+markers", "x": whole_numbers(steps), "y": numbers(shown),
        "line": {"color": COLOUR, "width": 1.5},
        "marker": {"size": 6, "color": [WRONG if one else COLOUR for one in bad]},
        "customdata": [[fmt.number(float(value)), "NaN/Inf" if one else ""] for value, one in zip(values, bad, strict=True)],
        "hovertemplate": "%{x}: <b>%{customdata[0]}</b> %{customdata[1]}<extra></extra>",
    }  # fmt: skip
    lines = [_line(float(step), WRONG, "dot") for step in steps[bad][:500]]
    if now is not None and now in steps:
        lines.insert(0, _line(float(now), "rgba(128, 128, 128, 0.55)", "solid", width=6))
    axis = {"automargin": True, "ticks": "", "title": {"text": ""}}
    layout = {
        **_SEE_THROUGH, "margin": {"l": 56, "r": 12, "t": 8, "b": 28}, "font": {"size": 11}, "showlegend": False,
        "shapes": lines, "hovermode": "closest",
        "xaxis": {**axis, "tickformat": ",d", "zeroline": False, **_whole_ticks(steps)},
        "yaxis": {**axis, "zeroline": not logarithmic, **({"type": "log"} if logarithmic else {})},
    }  # fmt: skip
    marks = marked([(both("debugger.trend.bad"), int(bad.sum()))])
    title = both("debugger.trend.said", statistic=statistic)
    return described({"data": [trace], "layout": layout}, title, entry(statistic, values[~np.isnan(values)]), marks)


def _whole_ticks(steps: Ints) -> dict[str, Any]:
    """Have ticks at whole iterations if there are few."""
    return {"dtick": 1} if len(steps) and int(steps.max()) - int(steps.min()) <= 10 else {}


def _line(x: float, colour: str, dash: str, width: float = 1) -> dict[str, Any]:
    return {
        "type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1, "layer": "below",
        "line": {"color": colour, "width": width, "dash": dash},
    }  # fmt: skip


# Distribution ---------------------------------------------------------------------------------------------------------


def histogram(source: DumpSources, choice: DumpChoice, shown: Dumped, minus: Dumped | None, ask: Any) -> dict[str, Any]:
    """Return the histogram of a tensor, or of its difference to another one; that of a large tensor is drawn in the background.

    problem is the reason if there is none.
    """
    try:
        tensor = readable(lambda: find(source, DumpTensorRequest(shown, minus, False, "")))
        if not tensor.size:
            return {"state": "ready", "problem": "", "figure": None}
        if tensor.size * tensor.dtype.itemsize <= LARGE_BYTES:
            return {"state": "ready", "problem": "", "figure": readable(lambda: drawn(tensor))}
    except FormatError as error:
        return {"state": "ready", "problem": str(error), "figure": None}

    def job(dump: DumpView, report: DumpReport) -> Any:  # noqa: ARG001 - the tensor may be a difference of two dumps
        return readable(lambda: drawn(ProgressTensor(tensor, report)))

    found = worked(source.dumps, choice.run, DumpWork("histogram", (shown, minus), job), ask)
    return progress(found) | {"problem": "", "figure": found.result if found.state == "ready" else None}


def drawn(tensor: Tensor) -> dict[str, Any] | None:
    """Return the histogram of a tensor as a figure; None if it has no finite values."""
    figure = bars(tensor, COLOUR)
    return figure if figure["data"][0]["customdata"] else None


class ProgressTensor:
    """A tensor that reports how many bytes of it have been read; a histogram reads it twice."""

    def __init__(self, tensor: Tensor, report: DumpReport) -> None:
        self._tensor, self._report, self._done = tensor, report, 0
        self.shape, self.size, self.dtype = tensor.shape, tensor.size, tensor.dtype
        self.ndim = len(tensor.shape)

    def __getitem__(self, index: tuple[int | slice, ...]) -> NDArray[Any]:
        """Return the values under an index."""
        return part(self._tensor, index)

    def reshape(self, shape: tuple[int, ...]) -> ProgressTensor:
        """Not needed: histograms have no shape."""
        raise NotImplementedError(shape)

    def pieces(self, begin: int, count: int) -> Iterator[NDArray[Any]]:
        """Yield all values, reporting how many bytes have been read."""
        del count
        for piece in chunks(self._tensor, begin):
            yield piece
            self._done += piece.nbytes
            self._report(self._done, 2 * self.size * self.dtype.itemsize)

"""Lines of a chart: what they are, how they are drawn, and their points that the plot's pixel columns can show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from parsers import Series
from parsers.analysis import Places, Reduced, SeriesFacts, Threshold
from parsers.analysis.curves.visible_points import visible_points

from layouts.kit.figures.typed_arrays import finite_ends

T = TypeVar("T", np.float64, np.int64)
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Trace = dict[str, Any]

# Readable on the cards of both themes, and used only for what is wrong.
WRONG = "#e5484d"
WIDTH = 1.5


@dataclass(frozen=True, slots=True)
class GroupSpread:
    """The spread around the line of a group: n is the number of runs at each point, lost that of runs whose last value there is
    not finite, members the number of runs in the group.

    outline are arrays whose extremes in each pixel column are kept. ends(indices) returns the low and high end of the band at
    these points; None for no band.
    """

    members: int
    n: Ints
    lost: Ints
    outline: tuple[Floats, ...] = ()
    ends: Callable[[Ints], tuple[Floats, Floats]] | None = None


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One series of a chart.

    x has one entry per point in the unit of the axis, NaN for points without a place on it. started is the wall time in seconds
    that relative times count from. axis is 1 (left) or 2 (right), stroke a plotly dash style. threshold overrides that of the
    chart. spread is set for a line that stands for a group of runs. facts are those of the series: with these, and Places as x,
    drawing a view costs what it shows. breaks are the indices at which the line is interrupted, None for its restarts.
    """

    run: str
    tag: str
    label: str
    colour: str
    series: Series
    x: Floats | Places
    started: float
    axis: int = 1
    stroke: str = "solid"
    threshold: Threshold | None = None
    spread: GroupSpread | None = None
    facts: SeriesFacts | None = None
    breaks: Ints | None = None

    @property
    def ends(self) -> tuple[float, float] | None:
        """Least and greatest finite x, None if there is none."""
        return self.x.ends if isinstance(self.x, Places) else finite_ends(self.x)

    @property
    def unplaced(self) -> int:
        """Number of points without a place on the axis."""
        return 0 if isinstance(self.x, Places) else int(np.count_nonzero(~np.isfinite(self.x)))


@dataclass(frozen=True, slots=True)
class VisibleRange:
    """The visible ranges: (low, high) of x and of y, None for all data."""

    x: tuple[float, float] | None = None
    y: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How a chart is drawn. axis: "step", "relative" (seconds), "absolute" (milliseconds of local time) or "tag".

    columns: width of the plot area in pixels of the screen. span: range of the x axis as drawn, which these pixels divide;
    None for that of the view, or of each line. outliers: the value axes show outliers too (`layouts.curves.value_ranges`).
    """

    axis: str = "step"
    weight: float = 0.0
    log: bool = False
    threshold: Threshold | None = None
    view: VisibleRange = VisibleRange()
    columns: int = 1000
    span: tuple[float, float] | None = None
    outliers: bool = False


class DrawnLine(NamedTuple):
    """A line prepared for drawing: the points kept, and counts.

    shown are the values of the kept points (smoothed, NaN where the axis cannot show a value), raw the same before smoothing.
    """

    line: ChartLine
    shown: Floats
    raw: Floats
    kept: Reduced
    gaps: Ints
    hidden: int
    unplaced: int


def prepared(line: ChartLine, look: LineStyle) -> DrawnLine:
    """Return the points of a line that its plot needs, and the numbers of points left out."""
    found = visible_points(
        line.series, line.x, None if line.spread else line.facts, weight=look.weight, log=look.log, columns=look.columns,
        window=look.view.x, span=look.span, outlines=line.spread.outline if line.spread else (),
        breaks=line.breaks,
    )  # fmt: skip
    return DrawnLine(line, *found, line.unplaced)


def single(curve: DrawnLine) -> Ints:
    """Return the places in keep with a gap on either side, which a line cannot show."""
    size = curve.kept.keep.size
    if not curve.kept.ordered:
        return np.empty(0, np.int64)
    cut = np.zeros(size + 1, bool)
    cut[[0, size]] = True
    cut[curve.gaps] = True
    return np.flatnonzero(cut[:-1] & cut[1:])


def trace_on(line: ChartLine, mode: str) -> Trace:
    """Return the common part of a trace on the axes of a line."""
    trace: Trace = {"type": "scatter", "mode": mode, "hoverinfo": "skip"}
    if line.axis == 2:
        trace["yaxis"] = "y2"
    return trace


def with_gaps(array: NDArray[T], gaps: Ints, fill: float | None) -> NDArray[T]:
    """Return the array with an entry inserted at each gap: fill, or the value that follows."""
    if not gaps.size:
        return array
    return np.insert(array, gaps, array[gaps] if fill is None else fill)

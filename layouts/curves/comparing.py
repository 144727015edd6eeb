"""Combine curves of runs into curves of groups, and subtract a baseline from curves.

Runs are smoothed individually before they are averaged. Over steps, only the last value a run wrote for a step counts, so a
run restarted from a checkpoint is one curve; over time, all values count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from parsers import Series
from parsers.analysis import Curve, Summary, aligned, curve, grid, minus, restarts, smooth, summarised
from parsers.analysis.curves.groups import diverged
from parsers.lineage.table import better

from layouts.curves.grouping import REST, CurveGrouping
from layouts.curves.smoothed_lines import ChartLine, GroupSpread, LineStyle

_PER_COLUMN = 4
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Style:
    """How groups are drawn: line, band and bridge as in `parsers.analysis.curves.groups`."""

    line: str
    band: str
    bridge: bool


def placed(line: ChartLine, look: LineStyle) -> Curve:
    """Return the smoothed curve of one run over the axis of a chart."""
    value = line.series.value
    if look.weight > 0.0:
        value = smooth(value, look.weight, restarts(line.series.step))
    return curve(np.asarray(line.x), value)


def differences(lines: Sequence[ChartLine], base: Mapping[str, ChartLine], look: LineStyle) -> tuple[list[ChartLine], int]:
    """Return the lines minus the line of the same tag in base, unsmoothed, and the number of points without a base value.

    Lines whose tag base does not have are left out.
    """
    found, lost = [], 0
    plain = replace(look, weight=0.0)
    under = {tag: placed(line, plain) for tag, line in base.items()}
    for line in lines:
        if line.tag not in under:
            lost += line.series.step.size
            continue
        x = np.asarray(line.x)
        order = np.argsort(x, kind="stable")
        level = np.empty(x.size)
        level[order] = aligned([under[line.tag]], x[order], bridge=look.axis != "step")[0]
        there = np.isfinite(level)
        lost += int(np.count_nonzero(~there & np.isfinite(line.series.value)))
        one = line.series
        difference = one.value[there] - level[there]
        series = Series(one.step[there], one.wall_time[there], difference, one.file[there], one.order[there])
        found.append(replace(line, x=x[there], series=series, facts=None))
    return found, lost


def grouped(
    lines: Sequence[ChartLine], groups: CurveGrouping, look: LineStyle, style: Style,
    base: str | Mapping[str, ChartLine] | None = None
) -> tuple[list[ChartLine], list[ChartLine]]:
    """Return (a line for each tag and group, the lines of runs they are made of).

    base: the label of a group, or the lines of a run by tag, that is subtracted; tags it does not have are left out.
    """
    by_tag: dict[str, dict[str, list[ChartLine]]] = {}
    for line in lines:
        by_tag.setdefault(line.tag, {}).setdefault(groups.label.get(line.run, REST), []).append(line)
    made, members = [], []
    for tag, mine in by_tag.items():
        curves = {label: [placed(line, look) for line in mine[label]] for label in groups.colour if label in mine}
        under = _under(curves, tag, look, base)
        if base is not None and under is None:
            continue
        for label, own in curves.items():
            itself = isinstance(base, str) and label == base
            made.append(_line(label, groups.colour[label], mine[label], own, look, style, under, itself=itself))
            members += mine[label]
    return made, members


@dataclass(frozen=True, slots=True)
class _Under:
    """The baseline of differences: one curve, or the curves of a group."""

    curves: Sequence[Curve]
    group: bool


def _under(
    curves: Mapping[str, Sequence[Curve]], tag: str, look: LineStyle, base: str | Mapping[str, ChartLine] | None
) -> _Under | None:
    if isinstance(base, str):
        return _Under(curves[base], True) if base in curves else None
    return _Under([placed(base[tag], look)], False) if base is not None and tag in base else None


def _line(
    label: str, colour: str, runs: Sequence[ChartLine], curves: Sequence[Curve], look: LineStyle, style: Style,
    under: _Under | None,
    *, itself: bool,
) -> ChartLine:  # fmt: skip
    places = grid(curves, most=_PER_COLUMN * look.columns, window=look.view.x)
    # The exact band is slow. Its extremes are close to those of the standard deviation, which select the points to draw.
    rough = "std" if style.band == "interval" else style.band
    wanted = better(runs[0].tag)
    whole = summarised(curves, places, line=style.line, band=rough, bridge=style.bridge, wanted=wanted)
    whole = _compared(whole, under, replace(style, band=rough), wanted, itself=itself)

    def ends(keep: NDArray[np.int64]) -> tuple[Floats, Floats]:
        if style.band != "interval":
            return whole.low[keep], whole.high[keep]
        exact = summarised(curves, places[keep], line=style.line, band="interval", bridge=style.bridge, wanted=wanted)
        exact = _compared(exact, under, style, wanted, itself=itself)
        return exact.low, exact.high

    size = places.size
    lost = diverged(curves, places).sum(axis=0)
    # Where runs leave a mean it is that of other runs: the line is broken, as at the restart of a run.
    breaks = np.diff(lost, prepend=lost[:1]) > 0 if style.line != "worst" else np.zeros(size, bool)
    step, order = np.arange(size) - size * np.cumsum(breaks), np.arange(size)
    series = Series(step, np.zeros(size), whole.line, np.zeros(size, np.int32), order)
    drawn = style.band != "none"
    outline = (whole.low, whole.high) if drawn else ()
    spread = GroupSpread(len(curves), whole.n, lost, outline, ends if drawn else None)
    return replace(
        runs[0], run=label, label=label, colour=colour, series=series, x=places, started=0.0, spread=spread, facts=None
    )


def _compared(one: Summary, under: _Under | None, style: Style, wanted: str, *, itself: bool) -> Summary:
    if under is None:
        return one
    if itself:
        return minus(one, one.line)
    interval = style.band == "interval" and under.group
    other = summarised(
        under.curves, one.x, line=style.line, band="interval" if interval else "none", bridge=style.bridge, wanted=wanted
    )
    return minus(one, other.line, other.low, other.high) if interval else minus(one, other.line)

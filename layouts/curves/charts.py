"""The figure of a requested card: lines of runs or of groups, or differences from a baseline."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Annotated, Any, TypedDict

import numpy as np
from parsers.recorded import mark_of

from layouts.curves.chosen_lines import (
    Found,
    band_of,
    base_of,
    lines_of,
    look_of,
    row_of,
    runs_of,
    strokes_of,
    style_of,
    superseded_lines,
    visible_runs,
)  # fmt: skip
from layouts.curves.comparing import differences, grouped
from layouts.curves.expressions import ToldOfCurve, told
from layouts.curves.grouping import CurveGrouping, made
from layouts.curves.lines import ChartFacts, figure, on_canvas
from layouts.curves.scalar_asks import ChartRequest
from layouts.kit.theme import PALETTE
from layouts.runs.chosen_runs import label_of
from layouts.sources import RunSources, Sources

MOST_LINES = 200
"""Maximum number of lines in a chart unless the request asks for all."""


class LegendEntry(TypedDict):
    """A tag of a chart with several."""

    tag: str
    axis: int
    stroke: str
    colour: str


class ChartMeta(ChartFacts):
    """`layout.meta` of a card of curves."""

    tags: list[str]
    lines: int
    series: int
    refused: str
    beyond: int
    """Number of points without a baseline."""
    base: str | None
    grouped: bool
    band: str
    legend: list[LegendEntry]
    derived: list[ToldOfCurve]
    alternative: Annotated[list[str], "Texts"]


def chart(source: Sources, ask: ChartRequest, found: Found) -> dict[str, Any]:
    """Draw the figure of one card."""
    groups, refused = made(source, ask.by, runs_of(source, ask))
    band = band_of(source, ask, groups) if groups else ""
    # A file may hold any number; values that overflow are not drawn and need no warning.
    with np.errstate(over="ignore", invalid="ignore"):
        if groups or ask.base:
            drawn, shown, series, beyond = _compared(source, replace(ask, band=band), found, groups)
        else:
            shown, series, beyond = found if ask.every else found[:MOST_LINES], len(found), 0
            drawn = figure(list(lines_of(source, shown, ask)), look_of(ask), superseded=superseded_lines(source, shown, ask))
    drawn["layout"]["dragmode"] = "pan" if ask.pan else "zoom"
    drawn["layout"]["meta"] |= {
        "tags": [*ask.left, *ask.right], "lines": len(shown), "series": series, "refused": refused, "beyond": beyond,
        "base": base_label(source, ask, groups), "grouped": groups is not None, "band": band,
        "legend": _legend(shown, ask) if len(ask.left) + len(ask.right) > 1 else [],
        "derived": told(source, visible_runs(source, ask), (*ask.left, *ask.right)),
    }  # fmt: skip
    return on_canvas(drawn)


def base_label(source: RunSources, ask: ChartRequest, groups: CurveGrouping | None) -> str | None:
    """Return the label of the baseline, None if there is none."""
    kind, _, name = ask.base.partition(":")
    if kind == "run":
        return label_of(name, row_of(source, name))
    return name if kind == "group" and groups else None


def _compared(
    source: RunSources, ask: ChartRequest, found: Found, groups: CurveGrouping | None
) -> tuple[dict[str, Any], Found, int, int]:
    """(figure of groups or differences, the lines shown in it, number of all lines, number of points without a baseline)."""
    look, base = look_of(ask), base_of(source, ask, groups)
    if base is not None:
        # A threshold is about values, not about differences.
        look = replace(look, threshold=None)
        ask = replace(ask, thresholds={})
    if groups is None:
        shown = found if ask.every else found[:MOST_LINES]
        lines, beyond = list(lines_of(source, shown, ask)), 0
        if isinstance(base, dict):
            lines, beyond = differences(lines, base, look)
        return figure(lines, look), shown, len(found), beyond
    lines, members = grouped(list(lines_of(source, found, ask)), groups, look, style_of(ask, ask.band), base)
    lines = [line for line in lines if line.run not in ask.hide]
    drawn = lines if ask.every else lines[:MOST_LINES]
    strokes = strokes_of([(line.run, line.tag, line.series) for line in drawn], ask)
    tags = [*ask.left, *ask.right]
    by_tag = len({line.run for line in drawn}) == 1 and len(tags) > 1
    hue = {tag: PALETTE[number % len(PALETTE)][0] for number, tag in enumerate(tags)}
    drawn = [
        replace(line, stroke=strokes[line.tag], colour=hue[line.tag] if by_tag else line.colour) for line in drawn
    ]
    shown = [(line.run, line.tag, line.series) for line in drawn]
    # Runs were smoothed before they were averaged.
    return figure(drawn, replace(look, weight=0.0), members), shown, len(lines), 0


def stamp(source: Sources, ask: ChartRequest, found: Found) -> str:
    """Return a text that changes whenever the points of a card or the colours of its lines do."""
    parts = []
    drawn = source.runs.colours(ask.state.get("run", ()))
    for run, tag, series in found:
        parts.append(f"{run}\0{tag}\0{mark_of(series)}\0{drawn.get(run)}")
        over = source.curves.series(run, ask.axis_tag) if ask.axis == "tag" else None
        if over is not None:
            parts.append(str(over.step.size))
    if ask.by:
        groups, refused = made(source, ask.by, runs_of(source, ask))
        parts += [refused, *(f"{(label := groups.label[run])}\0{groups.colour[label]}" for run, _, _ in found if groups)]
    parts.append(str(told(source, visible_runs(source, ask), (*ask.left, *ask.right))))
    if ask.base.startswith("run:"):
        under = [source.curves.series(ask.base.removeprefix("run:"), tag) for tag in (*ask.left, *ask.right)]
        parts += [str(one.step.size) if one else "" for one in under]
    return f"{zlib.crc32(chr(1).join(parts).encode('utf-8', 'surrogatepass')):08x}-{len(parts)}"


def _legend(found: Found, ask: ChartRequest) -> list[LegendEntry]:
    strokes = strokes_of(found, ask)
    single = len({run for run, _, _ in found}) == 1
    tags = list(dict.fromkeys([*ask.left, *ask.right]))
    return [
        {"tag": tag, "axis": 2 if tag in ask.right else 1, "stroke": strokes[tag],
         "colour": PALETTE[number % len(PALETTE)][0] if single else ""}
        for number, tag in enumerate(tags)
    ]  # fmt: skip

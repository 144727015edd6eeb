"""From an ask to a figure: which series are in it, what they are drawn over, and in which colours."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers import Series
from parsers.analysis import join_by_step, relative_time

from layouts.figures.curves import Line, Look, View
from layouts.figures.lines import figure
from layouts.pages.scalars.asks import Ask
from layouts.pages.scalars.comparing import Style, differences, grouped
from layouts.pages.scalars.grouping import Grouping, made
from layouts.sources import FrameSource, RunRow
from layouts.state import colours, label_of, selected_runs
from layouts.theme import PALETTE

MOST_LINES = 200
"""A chart draws so many lines unless it is told to draw them all."""
_STROKES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")

Found = Sequence[tuple[str, str, Series]]
"""(run, tag, series) of every line, the left axis before the right one."""


def series_of(source: FrameSource, ask: Ask) -> Found:
    """Every series with points that an ask names."""
    runs = selected_runs(ask.state, source, ("scalar",))
    pairs = ((run, tag) for tag in dict.fromkeys((*ask.left, *ask.right)) for run in runs)
    return [(run, tag, series) for run, tag in pairs if (series := source.series(run, tag)) is not None and series.step.size]


def chart(source: FrameSource, ask: Ask, found: Found) -> dict[str, Any]:
    """The figure of one card."""
    groups, refused = made(source, ask.by)
    # A file may hold any number; what overflows has no place on the screen, which is no reason for a warning.
    with np.errstate(over="ignore", invalid="ignore"):
        if groups or ask.base:
            drawn, shown, series, beyond = _compared(source, ask, found, groups)
        else:
            shown, series, beyond = found if ask.every else found[:MOST_LINES], len(found), 0
            drawn = figure(list(_lines(source, shown, ask)), _look(ask))
    drawn["layout"]["dragmode"] = "pan" if ask.pan else "zoom"
    drawn["layout"]["meta"] |= {
        "tags": [*ask.left, *ask.right], "lines": len(shown), "series": series, "refused": refused, "beyond": beyond,
        "base": base_label(source, ask, groups), "grouped": groups is not None, "band": ask.band if groups else "",
        "legend": _legend(shown, ask) if len(ask.left) + len(ask.right) > 1 else [],
    }  # fmt: skip
    return drawn


def base_label(source: FrameSource, ask: Ask, groups: Grouping | None) -> str | None:
    """What the baseline is called, None where there is none."""
    kind, _, name = ask.base.partition(":")
    if kind == "run":
        return label_of(name, _row_of(source, name))
    return name if kind == "group" and groups else None


def _compared(
    source: FrameSource, ask: Ask, found: Found, groups: Grouping | None
) -> tuple[dict[str, Any], Found, int, int]:
    """(the figure of groups or of differences, what is shown in it, of how many lines, points without a baseline)."""
    look, base = _look(ask), _base(source, ask, groups)
    if base is not None:
        # A threshold is about values, not about differences.
        look = replace(look, threshold=None)
        ask = replace(ask, thresholds={})
    if groups is None:
        shown = found if ask.every else found[:MOST_LINES]
        lines, beyond = list(_lines(source, shown, ask)), 0
        if isinstance(base, dict):
            lines, beyond = differences(lines, base, look)
        return figure(lines, look), shown, len(found), beyond
    lines, members = grouped(list(_lines(source, found, ask)), groups, look, _style(ask), base)
    kept = lines if ask.every else lines[:MOST_LINES]
    strokes = _strokes([(line.run, line.tag, line.series) for line in kept], ask)
    tags = [*ask.left, *ask.right]
    by_tag = len({line.run for line in kept}) == 1 and len(tags) > 1
    hue = {tag: PALETTE[number % len(PALETTE)][0] for number, tag in enumerate(tags)}
    kept = [
        replace(line, stroke=strokes[line.tag], colour=hue[line.tag] if by_tag else line.colour) for line in kept
    ]
    shown = [(line.run, line.tag, line.series) for line in kept]
    # Runs were smoothed before they were averaged.
    return figure(kept, replace(look, weight=0.0), members), shown, len(lines), 0


def group_lines(source: FrameSource, ask: Ask, groups: Grouping, tag: str) -> list[Line]:
    """The lines of the groups of one tag of an ask, each with every point it has."""
    found = [one for one in series_of(source, ask) if one[1] == tag]
    with np.errstate(over="ignore", invalid="ignore"):
        return grouped(list(_lines(source, found, ask)), groups, _look(ask), _style(ask), _base(source, ask, groups))[0]


def _style(ask: Ask) -> Style:
    return Style(ask.line, ask.band, bridge=ask.axis != "step")


def _base(source: FrameSource, ask: Ask, groups: Grouping | None) -> str | dict[str, Line] | None:
    """The label of the group, or the lines of the run by tag, that an ask's curves are differences to."""
    kind, _, name = ask.base.partition(":")
    if kind == "run":
        tags = dict.fromkeys((*ask.left, *ask.right))
        mine = [(name, tag, one) for tag in tags if (one := source.series(name, tag)) is not None and one.step.size]
        return {line.tag: line for line in _lines(source, mine, ask)}
    return name if kind == "group" and groups else None


def stamp(source: FrameSource, ask: Ask, found: Found) -> str:
    """A text that changes whenever the points of a card do."""
    parts = []
    for run, tag, series in found:
        parts.append(f"{run}\0{tag}\0{series.step.size}\0{int(series.order[-1])}\0{int(series.file[-1])}")
        over = source.series(run, ask.axis_tag) if ask.axis == "tag" else None
        if over is not None:
            parts.append(str(over.step.size))
    if ask.by:
        groups, refused = made(source, ask.by)
        parts += [refused, *(groups.label[run] for run, _, _ in found if groups)]
    if ask.base.startswith("run:"):
        under = [source.series(ask.base.removeprefix("run:"), tag) for tag in (*ask.left, *ask.right)]
        parts += [str(one.step.size) if one else "" for one in under]
    return f"{zlib.crc32(chr(1).join(parts).encode('utf-8', 'surrogatepass')):08x}-{len(parts)}"


def _lines(source: FrameSource, found: Found, ask: Ask) -> Iterator[Line]:
    rows = {member: row for row in source.runs() for member in row.members}
    colour = _colours(source, found, ask)
    strokes = _strokes(found, ask)
    for run, tag, series in found:
        row = rows.get(run)
        seconds, started = relative_time(series.wall_time, row.started if row else None)
        yield Line(
            run=run, tag=tag, label=label_of(run, row), colour=colour[run, tag], series=series,
            x=_x(source, run, series, seconds, ask), started=started,
            axis=2 if tag in ask.right else 1, stroke=strokes[tag], threshold=ask.thresholds.get(tag),
        )  # fmt: skip


def _row_of(source: FrameSource, run: str) -> RunRow | None:
    return next((row for row in source.runs() if run in row.members), None)


def _x(source: FrameSource, run: str, series: Series, seconds: NDArray[np.float64], ask: Ask) -> NDArray[np.float64]:
    if ask.axis == "relative":
        return seconds
    if ask.axis == "absolute":
        return (series.wall_time + ask.zone) * 1000.0
    if ask.axis == "tag":
        over = source.series(run, ask.axis_tag)
        if over is None:
            return np.full(series.step.size, np.nan)
        return join_by_step(series.step, over.step, over.value)
    return series.step.astype(np.float64)


def _colours(source: FrameSource, found: Found, ask: Ask) -> dict[tuple[str, str], str]:
    """A run has its colour; where one run shows several tags, the tags need colours of their own."""
    runs = {run for run, _, _ in found}
    tags = [*ask.left, *ask.right]
    if len(runs) == 1 and len(tags) > 1:
        return {(run, tag): PALETTE[tags.index(tag) % len(PALETTE)][0] for run, tag, _ in found}
    of_run = colours(source)
    return {(run, tag): of_run.get(run, PALETTE[0][0]) for run, tag, _ in found}


def _strokes(found: Found, ask: Ask) -> dict[str, str]:
    """Several tags of several runs: colour says the run, the stroke the tag."""
    tags = list(dict.fromkeys([*ask.left, *ask.right]))
    several = len({run for run, _, _ in found}) > 1 and len(tags) > 1
    return {tag: _STROKES[number % len(_STROKES)] if several else "solid" for number, tag in enumerate(tags)}


def _legend(found: Found, ask: Ask) -> list[dict[str, Any]]:
    strokes = _strokes(found, ask)
    single = len({run for run, _, _ in found}) == 1
    tags = list(dict.fromkeys([*ask.left, *ask.right]))
    return [
        {"tag": tag, "axis": 2 if tag in ask.right else 1, "stroke": strokes[tag],
         "colour": PALETTE[number % len(PALETTE)][0] if single else ""}
        for number, tag in enumerate(tags)
    ]  # fmt: skip


def _look(ask: Ask) -> Look:
    view = ask.view
    if ask.axis == "absolute" and view.x:
        view = View(((view.x[0] + ask.zone) * 1000.0, (view.x[1] + ask.zone) * 1000.0), view.y)
    return Look(ask.axis, ask.smooth, ask.log, ask.threshold, view, ask.columns)

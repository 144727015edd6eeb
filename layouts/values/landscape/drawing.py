"""The figure of the requested landscapes, the curve that shows which part of training they cover, and facts about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from dash import html
from parsers import FormatError, LandscapeValue, PayloadError, Setting
from parsers.analysis import relative_time, thinned
from parsers.analysis.curves.final_values import last_value
from parsers.analysis.lineage import results
from parsers.analysis.values.drawn_landscapes import LITTLE_SHOWN, MOST_PASSED, is_line
from parsers.analysis.values.landscapes import sharpness

from layouts.curves.lines import figure as line_figure
from layouts.curves.smoothed_lines import ChartLine
from layouts.curves.smoothed_lines import LineStyle as CurveLook
from layouts.kit import units as fmt
from layouts.kit.elements import coloured
from layouts.kit.i18n import both, t
from layouts.kit.tables import TableColumn, named_values, table
from layouts.kit.theme import PALETTE
from layouts.runs.chosen_runs import label_of
from layouts.runs.rows import RunRow
from layouts.sources import LineageSources, RunSources, ValueSources
from layouts.values.landscape.asks import LandscapeRequest
from layouts.values.landscape.catalogue import growing, newest
from layouts.values.landscape.computed import ComputedFacts, computed_facts, facts_of_growing
from layouts.values.landscape_alternatives import with_landscapes
from layouts.values.landscape_curves import curves
from layouts.values.landscapes import ACCENT, LandscapeSheet, LandscapeStyle, figure

_WORDS = ("loss", "step", "epoch", "start", "end", "convergence", "missing", "alpha")
# Colours of text and muted text, as in assets/kit/kit.css.
_TEXT = {"light": ("#1b2027", "#5b6572"), "dark": ("#e3e6ea", "#9da6b1")}
_BAND, _BAND_CHOSEN = "rgba(127,127,127,0.14)", 0.22
_CURVE_COLUMNS = 600
_PRECISION = float(np.finfo(np.float32).eps)
"""Of recorded losses."""
_SETTINGS = {
    "network": "network", "optimizer": "optimizer", "learning_rate": "learning_rate", "loss_function": "loss_function",
    "batch_size": "batch_size", "epochs": "epoch",
}  # fmt: skip
"""Fact -> column of LINEAGE."""


@dataclass(frozen=True, slots=True)
class Requested:
    """A requested landscape: its value, or the reason why it cannot be shown."""

    run: str
    tag: str
    label: str
    row: RunRow | None
    value: LandscapeValue | None
    problem: str
    computed: ComputedFacts = field(default_factory=ComputedFacts)


def load(source: ValueSources, sheets: Sequence[tuple[str, str]]) -> list[Requested]:
    """Load every requested landscape."""
    rows = {member: row for row in source.runs.rows() for member in row.members}
    loaded = []
    for run, tag in sheets:
        loaded.append(_load(source, run, tag, rows.get(run)))
    return loaded


def _load(source: ValueSources, run: str, tag: str, row: RunRow | None) -> Requested:
    now = growing(source, run).get(tag)
    if now is not None:
        value = now.value if now.total or not now.problem else None
        return Requested(run, tag, label_of(run, row), row, value, now.problem, facts_of_growing(now))
    try:
        value = newest(source, run, tag)
    except PayloadError as error:
        return Requested(run, tag, label_of(run, row), row, None, str(error))
    try:
        known = computed_facts(source, run, value)
    except FormatError as error:
        return Requested(run, tag, label_of(run, row), row, value, f"{value.problem} {error}".strip())
    return Requested(run, tag, label_of(run, row), row, value, value.problem, known)


def chart(source: RunSources, ask: LandscapeRequest, requested: Sequence[Requested]) -> dict[str, Any]:
    """Draw the landscapes that can be shown; layout.meta names the run and tag of each."""
    of_run = source.runs.colours(ask.runs)
    shown = [one for one in requested if one.value is not None]
    sheets = [
        LandscapeSheet(one.label, of_run.get(one.run, PALETTE[0][0]), one.value, one.computed.reasons)
        for one in shown if one.value is not None
    ]  # fmt: skip
    text, muted = _TEXT["dark" if ask.dark else "light"]
    look = LandscapeStyle(
        words={word: both(f"landscape.{word}")[ask.language == "zh"] for word in _WORDS},
        view=ask.view, scale=ask.scale, contours=ask.contours, opacity=ask.opacity,
        overlaid=ask.overlaid and len(sheets) > 1, own_scale=not ask.one_scale, dark=ask.dark, text=text, muted=muted,
    )  # fmt: skip
    lines = bool(sheets) and all(is_line(sheet.value) for sheet in sheets)
    drawn = with_landscapes(curves(sheets, look) if lines else figure(sheets, look), sheets)
    drawn["layout"]["meta"] |= {
        "sheets": [
            {"run": one.run, "tag": one.tag, "label": one.label, "unit": one.value.unit, "convergence": one.value.convergence,
             "path": _path(one.value), "line": is_line(one.value), "partly": one.computed.shown < LITTLE_SHOWN,
             "done": one.computed.done, "of": one.computed.total, "updated": one.computed.updated}
            for one in shown if one.value is not None
        ],
        "problems": [f"{one.label}: {one.problem}" for one in requested if one.problem],
        "asked": [[one.run, one.tag] for one in requested],
    }  # fmt: skip
    return drawn


def _path(value: LandscapeValue) -> list[list[Any]]:
    """[step or epoch, x, y, loss] of the points of a path, evenly thinned to MOST_PASSED points."""
    columns = (value.intervals, value.path_x, value.path_y, value.path_z)
    rows = zip(*(column[thinned(len(column), MOST_PASSED)] for column in columns), strict=True)
    return [[int(at), *map(_plain, point)] for at, *point in rows]


def _plain(value: Any) -> float | str:
    """A finite number as it is; NaN and infinities, which JSON lacks, as text."""
    return float(value) if np.isfinite(value) else fmt.number(float(value))


# Curve ----------------------------------------------------------------------------------------------------------------


def curve(source: ValueSources, requested: Sequence[Requested], runs: Sequence[str] = ()) -> dict[str, Any]:
    """Draw the main scalar of each run over its steps. runs are those that the state of the page names.

    For a single landscape, bands mark the steps it covers and the steps that the run's other landscapes cover.
    """
    of_run = source.runs.colours(runs)
    lines = [line for one in requested if (line := _line(source, one, of_run.get(one.run, PALETTE[0][0]))) is not None]
    drawn = line_figure(lines, CurveLook(columns=_CURVE_COLUMNS))
    for trace in drawn["data"]:
        named = trace.get("meta")
        if named is not None:
            trace |= {"hoverinfo": "all", "hovertemplate": "%{x:,}<br>%{y:.6~g}<extra></extra>"}
    drawn["layout"] |= {"hovermode": "closest", "hoverdistance": 60}
    drawn["layout"]["meta"]["bands"] = bands = _bands(source, requested) if len(requested) == 1 else []
    drawn["layout"]["shapes"] = [_band(band) for band in bands]
    drawn["layout"]["xaxis"]["range"] = _covering(drawn["layout"]["xaxis"]["range"], bands, drawn=bool(lines))
    return drawn


def _line(source: RunSources, one: Requested, colour: str) -> ChartLine | None:
    tag = main_tag(source, one)
    series = source.curves.series(one.run, tag) if tag else None
    if series is None or not series.step.size:
        return None
    started = relative_time(series.wall_time, one.row.started if one.row else None)[1]
    x = series.step.astype(np.float64)
    return ChartLine(run=one.run, tag=tag, label=one.label, colour=colour, series=series, x=x, started=started)


def main_tag(source: RunSources, one: Requested) -> str:
    """Return the tag of the run's loss, which the landscape is of; else of its main scalar, "" if it has none."""
    tags = source.runs.tags(one.run)
    return results.main_tag([tag for tag in tags if results.kind_of(tag) == results.LOSS] or tags)


def _bands(source: ValueSources, requested: Sequence[Requested]) -> list[dict[str, Any]]:
    """First and last step of each landscape with a path; epochs are converted to steps."""
    bands = []
    for one in requested:
        for tag in source.runs.tags(one.run, "landscape"):
            try:
                value = newest(source, one.run, tag)
            except PayloadError:
                continue
            if len(value.intervals) and (tag == one.tag or not is_line(value)):
                scale = max(1, value.step_per_epoch) if value.unit == "epoch" else 1
                ends = [float(at) * scale for at in (value.intervals.min(), value.intervals.max())]
                bands.append({"tag": tag, "from": ends[0], "to": ends[1], "chosen": tag == one.tag})
    return bands


def _band(band: dict[str, Any]) -> dict[str, Any]:
    fill = {"fillcolor": ACCENT, "opacity": _BAND_CHOSEN} if band["chosen"] else {"fillcolor": _BAND}
    place = {"xref": "x", "yref": "paper", "y0": 0, "y1": 1, "x0": band["from"], "x1": band["to"]}
    return {"type": "rect", "layer": "below", "line": {"width": 0}} | place | fill


def _covering(view: list[float], bands: Sequence[dict[str, Any]], *, drawn: bool) -> list[float]:
    """The range of the axis, widened to include every band; without a line, the range of the bands."""
    if not bands:
        return view
    ends = [end for band in bands for end in (band["from"], band["to"])]
    low, high = min(ends), max(ends)
    pad = (high - low) * 0.04 or 0.5
    return [min(low - pad, view[0]), max(high + pad, view[1])] if drawn else [low - pad, high + pad]


# Facts ----------------------------------------------------------------------------------------------------------------


def facts(source: LineageSources, requested: Sequence[Requested], runs: Sequence[str] = ()) -> Any:
    """Return the basic training information as a table with a column per run; runs are as in `curve`."""
    columns = [_facts(source, one) for one in requested]
    if len(requested) == 1:
        columns = [{"run": one.label} | column for one, column in zip(requested, columns, strict=True)]
    rows = [
        (t(f"landscape.{name}"), *(column.get(name, "") for column in columns))
        for name in dict.fromkeys(name for column in columns for name in column)
    ]
    if len(requested) == 1:
        return named_values(rows, class_name="ms-landscape-facts")
    of_run = source.runs.colours(runs)
    heads = [TableColumn(""), *(TableColumn(coloured(one.label, of_run.get(one.run, ""))) for one in requested)]
    return table(heads, rows, class_name="ms-landscape-facts", scroll="")


def _facts(source: LineageSources, one: Requested) -> dict[str, Any]:
    known = _settings(source, one.run)
    if one.row is not None:
        known["steps"] = fmt.count(one.row.steps)
    tag = main_tag(source, one)
    series = source.curves.series(one.run, tag) if tag else None
    if series is not None and series.value.size:
        first, last = float(series.value[0]), last_value(series).value
        exact = f"{fmt.exact(first)} → {fmt.exact(last)}"
        ends = html.Div(f"{fmt.number(first)} → {fmt.number(last)}", title=exact)
        known["scalar"] = [html.Div(tag, className="ms-muted"), ends]
    return known | (_landscape_facts(one.value, one.computed) if one.value is not None else {})


def _settings(source: LineageSources, run: str) -> dict[str, Any]:
    """The recorded training settings of a run."""
    recorded = source.lineage.settings(run)
    return {fact: _setting(recorded[column]) for fact, column in _SETTINGS.items() if column in recorded}


def _setting(value: Setting) -> str:
    """A setting as text in full precision: it was chosen, not measured, so all of its digits count."""
    if isinstance(value, int) and not isinstance(value, bool):
        return fmt.count(value)
    return fmt.exact(value) if isinstance(value, float) else str(value)


def _landscape_facts(value: LandscapeValue, computed: ComputedFacts) -> dict[str, Any]:
    finite = value.z[np.isfinite(value.z)]
    known: dict[str, Any] = {"reduction": value.decomposition, "grid": f"{len(value.x)} × {len(value.y)}"}
    if is_line(value):
        known = {"places": fmt.count(len(value.x))}
    if finite.size:
        low, high = float(finite.min()), float(finite.max())
        text = f"{fmt.number(low)} – {fmt.number(high)}"
        known["range"] = html.Span(text, title=f"{fmt.exact(low)} – {fmt.exact(high)}")
    if len(value.intervals):
        unit = t("landscape.epoch" if value.unit == "epoch" else "landscape.step")
        ends = f"{fmt.count(int(value.intervals[0]))} – {fmt.count(int(value.intervals[-1]))}"
        known["interval"] = [unit, f" {ends}"]
        if not is_line(value):
            known["points"] = fmt.count(len(value.intervals))
    if value.step_per_epoch:
        known["step_per_epoch"] = fmt.count(value.step_per_epoch)
    if math.isfinite(computed.shown):
        partly = [" ", t("landscape.partly")] if computed.shown < LITTLE_SHOWN else []
        known["shown"] = [fmt.percent(computed.shown), *partly]
    curved = math.nan if value.convergence is None else sharpness(value.x, value.y, value.z, value.convergence, _PRECISION)
    if math.isfinite(curved):
        known["sharpness"] = html.Span(fmt.number(curved), title=fmt.exact(curved))
    if value.convergence is not None:
        known["convergence_loss"] = html.Span(fmt.number(value.convergence[2]), title=fmt.exact(value.convergence[2]))
    return known

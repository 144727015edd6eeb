"""The contents of the page for one profile: figures, components, and the data of the controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from dash import html
from parsers.analysis import Breakdown, one_step, outliers
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.i18n import both, t
from layouts.kit.tables import Cell, named_values
from layouts.profiles.composition import (
    bar,
    chosen_trace,
    notes,
    outlier_list,
    sentence,
    table,
    trace_name,
    usual_of,
    within,
    without_steps,
)
from layouts.profiles.step_alternatives import with_steps, with_streams
from layouts.profiles.step_plots import bars, trends
from layouts.profiles.step_streams import streams
from layouts.profiles.steps.asks import StepRequest

Drawn = dict[str, Any]


def drawn(ask: StepRequest, steps: pd.DataFrame | None, reduces: pd.DataFrame | None, points: Mapping[str, Any]) -> Drawn:
    """Return head and detail (components), bars, trends and streams (figures or None) and facts. points: fp_start, bp_end."""
    chosen, found = chosen_trace(steps, ask.trace)
    if chosen is None:
        empty = html.P(t(without_steps(steps)), className="ms-muted")
        return {"head": empty, "detail": [], "bars": None, "trends": None, "streams": None, "facts": {"traces": []}}
    place = None if ask.look.step is None else chosen.place(ask.look.step)
    # A step that the file does not have means the average.
    look = ask.look if place is not None else replace(ask.look, step=None)
    # A trend needs at least two points.
    figures = {
        "bars": with_steps(bars(chosen, look), both("steps.bars"), chosen) if len(chosen) else None,
        "trends": with_steps(trends(chosen, look), both("steps.trends"), chosen) if len(chosen) > 1 else None,
    }  # fmt: skip
    return {
        "head": _head(chosen), "detail": _detail(chosen, place, points), "facts": _facts(chosen, found, place, reduces),
        "streams": _streams(ask, chosen, place, reduces), **figures,
    }  # fmt: skip


def _head(chosen: Breakdown) -> list[Any]:
    usual = usual_of(chosen)
    if usual is None:
        return [html.P(t("composition.no_steps"), className="ms-breakdown-sentence"), *_unsound(chosen)]
    return [sentence(usual), bar(usual), html.Div(notes(chosen, usual), className="ms-breakdown-notes")]


def _unsound(chosen: Breakdown) -> list[Any]:
    number = int(np.count_nonzero(~chosen.sound))
    return [html.P(t("composition.unsound", n=fmt.count(number)), className="ms-wrong-text")] if number else []


def _detail(chosen: Breakdown, place: int | None, points: Mapping[str, Any]) -> list[Any]:
    shown = one_step(chosen, place) if place is not None else usual_of(chosen)
    if shown is None:
        return []
    title = t("steps.average_step") if place is None else t("steps.step_n", n=fmt.count(int(chosen.step[place])))
    parts: list[Any] = [html.H4(title, className="ms-breakdown-which")]
    if place is not None and not chosen.sound[place]:
        parts.append(html.P(t("composition.word.unknown"), className="ms-wrong-text"))
    parts += [table(chosen, shown), *(within(chosen, place) if place is not None else [])]
    named = [
        (t(f"steps.{name}"), Cell(str(points[name]), class_name="ms-mono"))
        for name in ("fp_start", "bp_end")
        if chosen.form == "legacy" and points.get(name)
    ]
    if named:
        parts.append(named_values(named, class_name="ms-breakdown-points"))
    return parts


def _streams(ask: StepRequest, chosen: Breakdown, place: int | None, reduces: pd.DataFrame | None) -> dict[str, Any] | None:
    if reduces is None or reduces.empty or chosen.form != "legacy" or not len(chosen):
        return None
    # An average has no streams, so without a picked step the most typical one is drawn.
    drawn_streams = streams(chosen, typical(chosen) if place is None else place, reduces, ask.look)
    return with_streams(drawn_streams, both("steps.streams"))


def typical(chosen: Breakdown) -> int:
    """Return the row whose whole time is nearest to the median of the judged rows; the first one in a tie."""
    rows = np.flatnonzero(chosen.judged)
    if not rows.size:
        return 0
    whole = chosen.whole_ns[rows].astype(np.float64)
    return int(rows[np.argmin(np.abs(whole - np.median(whole)))])


def _facts(
    chosen: Breakdown, found: tuple[Breakdown, ...], place: int | None, reduces: pd.DataFrame | None
) -> dict[str, Any]:
    """The data of the controls. Steps are identified by their numbers; in a trace without numbers none can be picked."""
    out = outliers(chosen)
    number = chosen.step.tolist()
    known = [step for step in number if step >= 0]
    at = place if place is not None else -1
    streamed = reduces is not None and not reduces.empty and chosen.form == "legacy" and bool(number)
    return {
        "traces": [[trace_name(one), one.form, one.device] for one in found], "trace": trace_name(chosen),
        "total": len(chosen), "step": number[place] if place is not None else None,
        "first": min(known, default=None), "last": max(known, default=None),
        "previous": _neighbour(number, at, -1), "next": _neighbour(number, at, 1),
        "outliers": outlier_list(chosen, out), "outliers_total": int(out.row.size),
        "streams": streamed, "streams_of": number[typical(chosen) if place is None else place] if streamed else None,
    }  # fmt: skip


def _neighbour(number: list[int], place: int, by: int) -> int | None:
    """The number of the step before or after a row; for the average (-1), that of the first or the last step."""
    at = place + by if place >= 0 else (0 if by > 0 else len(number) - 1)
    return number[at] if 0 <= at < len(number) and number[at] >= 0 else None



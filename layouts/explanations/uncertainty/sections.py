"""Sentence and tables of the page as elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import numpy as np
from dash import html
from parsers.analysis.explanations.uncertainty import DeviationSpread
from parsers.explanations.snapshot import OUTCOMES, Explanations
from parsers.model import Floats, Ints

from layouts.kit import tables
from layouts.kit import units as fmt
from layouts.kit.i18n import attributes, t
from layouts.kit.tables import NUMBER, Cell, TableColumn

_SEPARATED = " "
_COLUMNS = (
    TableColumn("uncertainty.sample"), TableColumn("uncertainty.label"), TableColumn("uncertainty.probability", NUMBER),
    TableColumn("uncertainty.deviation", NUMBER), TableColumn("uncertainty.interval"), TableColumn("uncertainty.width", NUMBER),
)  # fmt: skip


def sentence(found: DeviationSpread, rows: int, chosen: tuple[int, int] | None) -> list[Any]:
    """Return what the deviations of these rows are; chosen is (labels, samples) of a selection."""
    if not found.known:
        return [t("uncertainty.sentence_none")]
    values = {"median": fmt.number(found.median), "low": fmt.number(found.low), "high": fmt.number(found.high)}
    said: list[Any] = [t("uncertainty.sentence", known=fmt.count(found.known), rows=fmt.count(rows), **values)]
    if found.zeros:
        said += [_SEPARATED, t("uncertainty.zeros", n=fmt.count(found.zeros))]
    if chosen is not None:
        said += [_SEPARATED, html.B(t("uncertainty.chosen", n=fmt.count(chosen[0]), samples=fmt.count(chosen[1])))]
    return said


def table(
    found: Explanations, rows: Ints, width: Floats, groups: Ints, names: Mapping[int, str], *, run: str, routes: str,
    intervals: bool,
) -> list[Any]:  # fmt: skip
    """Return a table of these rows of `predictions`, in their order."""
    lines = [
        _line(found, row, float(width[row]), OUTCOMES[groups[row]], names, run=run, routes=routes, intervals=intervals)
        for row in rows.tolist()
    ]
    shown = _COLUMNS if intervals else _COLUMNS[:4]
    return [tables.table(shown, lines, class_name="ms-uncertainty-table", scroll="", heads=0)]


def _line(
    found: Explanations, row: int, width: float, outcome: str, names: Mapping[int, str], *, run: str, routes: str,
    intervals: bool,
) -> list[Any]:  # fmt: skip
    predicted, frame = found.predicted, found.predictions
    place, label = int(predicted.place[row]), int(predicted.label[row])
    sample = int(found.samples["sample"].to_numpy()[place])
    p, sd = float(predicted.probability[row]), float(predicted.sd[row])
    low, high = (float(frame[name].to_numpy()[row]) for name in ("low", "high"))
    cells: list[Any] = [
        _sample(sample, bool(found.samples["image"].array[place]), run, routes),
        Cell(
            [html.Span(names.get(label, str(label)), className="ms-cut ms-name ms-uncertainty-label"), *_outcome(outcome)],
            props=attributes(title="uncertainty.true") if predicted.truth[row] else {},
        ),
        _known(p), _known(sd),
    ]  # fmt: skip
    return [*cells, _bar(low, high, p), _known(width)] if intervals else cells


def _outcome(outcome: str) -> list[Any]:
    tip = attributes(title=f"explanations.{outcome.lower()}.tip") if outcome else {}
    return [html.Span(outcome, className=f"ms-outcome ms-outcome-{outcome}", **tip)] if outcome else []


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _sample(sample: int, has_picture: bool, run: str, routes: str) -> html.A:
    address = urlencode({"run": run, "sample": sample})
    picture = (
        html.Img(src=f"{routes}explanation/image?{address}", alt="", className="ms-uncertainty-thumb")
        if has_picture else html.Span("–", className="ms-uncertainty-thumb ms-muted")
    )  # fmt: skip
    query = urlencode({"of": run, "sample": sample})
    return html.A(
        [picture, html.Span(str(sample))], href=f"saliency?{urlencode({'run': run})}&{query}",
        className="ms-uncertainty-sample", **{"data-page": "saliency", "data-query": query},
        **attributes({"n": sample}, title="uncertainty.open_sample"),
    )  # fmt: skip


def _bar(low: float, high: float, p: float) -> list[Any]:
    """Return an interval as a bar on the axis from 0 to 1, with the probability as a line, and its ends as text."""
    if not (np.isfinite(low) and np.isfinite(high)):
        return ["–"]
    a, b = min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)
    marks = [html.Span(className="ms-uncertainty-range", style={"left": f"{100 * a:.2f}%", "width": f"{100 * (b - a):.2f}%"})]
    if np.isfinite(p):
        marks.append(html.Span(className="ms-uncertainty-at", style={"left": f"{100 * min(max(p, 0.0), 1.0):.2f}%"}))
    said = f"{fmt.exact(low)} – {fmt.exact(high)}"
    return [html.Span(marks, className="ms-uncertainty-bar", role="img", title=said, **{"aria-label": said})]

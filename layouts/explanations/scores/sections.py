"""The sections of the page as components: the table with weights and totals, and what the metrics mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.explanations.explainer_scores import WHOLE, ScoreTable, totals
from parsers.deferred import pandas as pd
from parsers.model import Ints

from layouts.explanations.score_asks import ScoreRequest
from layouts.kit import units as fmt
from layouts.kit.i18n import CATALOGUE, attributes, t

TOTAL, NAME, METRIC = "total", "explainer", "metric:"


def help_key(metric: str) -> str:
    """Return the text key about a metric; that of unknown ones for others than those of mindspore-xai."""
    key = f"scores.metric.{metric.lower()}"
    return key if key in CATALOGUE else "scores.metric.unknown"


def table(ask: ScoreRequest, scores: ScoreTable, weights: Sequence[int]) -> list[Any]:
    """Explainers by metrics, with a row of weights above and the totals at the right."""
    rows = totals(scores, weights)
    order = sorted_rows(ask.by, scores, rows)
    titles = [_title(ask, NAME, t("scores.explainer"), number=False, tip="scores.explainer.tip")]
    titles += [_title(ask, f"{METRIC}{one}", one, tip=help_key(one)) for one in scores.metrics]
    titles.append(_title(ask, TOTAL, t("scores.total"), tip="scores.total.tip"))
    fits = sum(weights) == WHOLE
    summed = html.Td(fmt.exact(sum(weights) / WHOLE), className="ms-number" if fits else "ms-number ms-scores-wrong")
    weighing = [
        html.Td(html.Span(**{"data-weight": metric, "data-value": str(weight)}), className="ms-number")
        for metric, weight in zip(scores.metrics, weights, strict=True)
    ]
    lines = [html.Tr([html.Th(t("scores.weight"), scope="row"), *weighing, summed], className="ms-scores-weights")]
    best = np.fmax.reduce(scores.values, axis=0) if len(scores.values) else None
    for row in order.tolist():
        cells = [
            _score(float(value), recorded=bool(scores.recorded[row, at]), best=best is not None and bool(value == best[at]))
            for at, value in enumerate(scores.values[row].tolist())
        ]
        total = float(rows["total"].iloc[row])
        shown = html.Td("–" if math.isnan(total) else f"{total:.2f}", className="ms-number ms-scores-total")
        name = scores.explainers[row]
        lines.append(html.Tr([html.Th(html.Span(name, className="ms-cut", title=name), scope="row"), *cells, shown]))
    made = html.Table(
        [html.Thead(html.Tr(titles)), html.Tbody(lines)], className="ms-scores-table", **attributes(aria_label="scores.table")
    )
    return [_sentence(rows, sum(weights)), html.Div(made, className="ms-scores-scroll", tabIndex=0), *_notes(rows)]


def _sentence(rows: pd.DataFrame, summed: int) -> html.P:
    """Which explainer has the highest total, or why there are no totals."""
    if summed != WHOLE:
        return html.P(t("scores.weights_wrong", sum=fmt.exact(summed / WHOLE)), className="ms-scores-wrong", role="alert")
    highest = rows[rows["total"] == rows["total"].max()]
    names, total = highest["explainer"].tolist(), f"{float(highest['total'].iloc[0]):.2f}"
    if len(names) == 1:
        return html.P(t("scores.best", explainer=names[0], total=total), className="ms-scores-said")
    return html.P(t("scores.best_several", explainers=", ".join(names), total=total), className="ms-scores-said")


def _notes(rows: pd.DataFrame) -> list[Any]:
    counted = int(rows["counted_as_0"].sum())
    return [html.P(t("scores.as_zero", n=fmt.count(counted)), className="ms-muted")] if counted else []


def sorted_rows(by: tuple[str, bool], scores: ScoreTable, rows: pd.DataFrame) -> Ints:
    """Return the rows of explainers by a column; those without a value come last, equal values in the order of the file."""
    column, falling = by
    if column == NAME:
        order = sorted(range(len(scores.explainers)), key=lambda row: scores.explainers[row].casefold(), reverse=falling)
        return np.array(order, np.int64)
    metric = column.removeprefix(METRIC)
    if column == TOTAL:
        values = rows["total"].to_numpy()
    elif column.startswith(METRIC) and metric in scores.metrics:
        values = scores.values[:, scores.metrics.index(metric)]
    else:
        return np.arange(len(scores.explainers))
    found: Ints = np.argsort(-values if falling else values, kind="stable")
    return found


def _title(ask: ScoreRequest, column: str, name: Any, *, tip: str, number: bool = True) -> html.Th:
    current = ask.by[0] == column
    falling = not ask.by[1] if current else number  # numbers begin with the largest
    arrow = (" ↓" if ask.by[1] else " ↑") if current else ""
    button = html.Button(
        [html.Span(name), arrow], type="button", className="ms-scores-sort", **{"data-by": f"-{column}" if falling else column},
        **attributes(title=tip),
    )  # fmt: skip
    sort = {"aria-sort": "descending" if ask.by[1] else "ascending"} if current else {}
    return html.Th(button, scope="col", className="ms-number" if number else "", **sort)


def _score(value: float, *, recorded: bool, best: bool) -> html.Td:
    if math.isnan(value):
        key = "scores.nan" if recorded else "scores.missing"
        mark = html.Span(["NaN" if recorded else "–", html.Sub("0")], className="ms-scores-zero", **attributes(title=key))
        return html.Td(mark, className="ms-number")
    share = 100 * min(max(value, 0.0), 1.0)
    bar = html.Span(
        fmt.number(value), className="ms-scores-bar ms-scores-best" if best else "ms-scores-bar",
        style={"--share": f"{share:.1f}%"}, title=fmt.exact(value),
    )  # fmt: skip
    return html.Td(bar, className="ms-number")


def about(metrics: Sequence[str]) -> html.Details:
    """What each metric measures: formula, range and source."""
    entries: list[Any] = []
    for metric in metrics:
        entries += [html.Dt(metric), html.Dd(t(help_key(metric)))]
    return html.Details([html.Summary(t("scores.about")), html.Dl(entries)], className="ms-scores-about")

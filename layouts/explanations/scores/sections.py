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
from layouts.kit import tables
from layouts.kit import units as fmt
from layouts.kit.i18n import CATALOGUE, attributes, t
from layouts.kit.tables import NUMBER, Cell, Sort, TableColumn, TableRow

TOTAL, NAME, METRIC = "total", "explainer", "metric:"


def help_key(metric: str) -> str:
    """Return the text key about a metric; that of unknown ones for others than those of mindspore-xai."""
    key = f"scores.metric.{metric.lower()}"
    return key if key in CATALOGUE else "scores.metric.unknown"


def table(ask: ScoreRequest, scores: ScoreTable, weights: Sequence[int]) -> list[Any]:
    """Explainers by metrics, with a row of weights above and the totals at the right."""
    rows = totals(scores, weights)
    order = sorted_rows(ask.by, scores, rows)
    columns = [
        TableColumn("scores.explainer", tip="scores.explainer.tip", sort=NAME),
        *(TableColumn([one], NUMBER, tip=help_key(one), sort=f"{METRIC}{one}") for one in scores.metrics),
        TableColumn("scores.total", number=True, tip="scores.total.tip", sort=TOTAL),
    ]
    summed = Cell(fmt.exact(sum(weights) / WHOLE), class_name="" if sum(weights) == WHOLE else "ms-scores-wrong")
    weighing = [
        html.Span(**{"data-weight": metric, "data-value": str(weight)})
        for metric, weight in zip(scores.metrics, weights, strict=True)
    ]
    lines: list[Any] = [TableRow((t("scores.weight"), *weighing, summed), "ms-scores-weights")]
    best = np.fmax.reduce(scores.values, axis=0) if len(scores.values) else None
    for row in order.tolist():
        cells = [
            _score(float(value), recorded=bool(scores.recorded[row, at]), best=best is not None and bool(value == best[at]))
            for at, value in enumerate(scores.values[row].tolist())
        ]
        total = float(rows["total"].iloc[row])
        name = scores.explainers[row]
        shown = Cell("–" if math.isnan(total) else f"{total:.2f}", class_name="ms-scores-total")
        lines.append((html.Span(name, className="ms-cut ms-name", title=name), *cells, shown))
    drawn = tables.table(
        columns, lines, class_name="ms-scores-table", scroll="ms-scores-scroll", label="scores.table",
        sort=Sort(*ask.by),
    )  # fmt: skip
    return [_sentence(rows, sum(weights)), drawn, *_notes(rows)]


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


def _score(value: float, *, recorded: bool, best: bool) -> html.Span:
    if math.isnan(value):
        key = "scores.nan" if recorded else "scores.missing"
        return html.Span(["NaN" if recorded else "–", html.Sub("0")], className="ms-scores-zero", **attributes(title=key))
    share = 100 * min(max(value, 0.0), 1.0)
    return html.Span(
        fmt.number(value), className="ms-scores-bar ms-scores-best" if best else "ms-scores-bar",
        style={"--share": f"{share:.1f}%"}, title=fmt.exact(value),
    )  # fmt: skip


def about(metrics: Sequence[str]) -> html.Details:
    """What each metric measures: formula, range and source."""
    entries: list[Any] = []
    for metric in metrics:
        entries += [html.Dt(metric), html.Dd(t(help_key(metric)))]
    return html.Details([html.Summary(t("scores.about")), html.Dl(entries)], className="ms-scores-about")

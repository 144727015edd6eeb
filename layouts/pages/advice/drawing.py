"""Advice as cards: a sentence, what it costs, the threshold, the rows that speak for it, and the page that shows more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pandas as pd
from dash import html
from parsers.analysis.advice import THRESHOLDS, Advice

from layouts import format as fmt
from layouts.i18n import attributes, t
from layouts.profiling.choice import Choice

UNITS = {"interval": ("ms", 1e6), **dict.fromkeys(("idle", "empty", "cpu", "queue_use", "ai_cpu"), ("%", 0.01))}
"""Rule -> unit in which its threshold is shown and typed, and how many of those of THRESHOLDS that is."""
_HINTS = ("batch", "map", "generator")
_NONE = -1
_PARTS = frozenset(("queue_use", "queue_empty", "user", "system", "io", "idle"))


def drawn(found: Sequence[Advice], thresholds: Mapping[str, float], choice: Choice | None) -> list[Any]:
    """A card for each advice, and below them the rules that found nothing with their thresholds."""
    cards = [_card(one, thresholds[one.rule], choice) for one in found]
    quiet = [rule for rule in THRESHOLDS if rule not in {one.rule for one in found}]
    first = [html.P(t("advice.none"), className="ms-advice-none")] if not cards else []
    return [*first, *cards, _quiet(quiet, thresholds)]


def _card(one: Advice, threshold: float, choice: Choice | None) -> html.Section:
    head = html.Header(
        [html.H3(t(f"advice.{one.rule}.title"), className="ms-card-title"), html.Span(_cost(one), className="ms-card-badges")],
        className="ms-card-head",
    )
    said = html.P(t(f"advice.{_sentence(one)}", value=_shown(one.rule, one.value), subject=", ".join(one.subject)))
    hints = [html.Li(t(f"advice.do.{hint}")) for hint in _hints(one)]
    table = html.Details([html.Summary(t("advice.evidence", n=fmt.count(len(one.evidence)))), _table(one.evidence)])
    foot = html.Div([_threshold(one.rule, threshold), _link(one.page, choice)], className="ms-advice-foot")
    body = html.Div([said, html.Ul(hints), table, foot], className="ms-card-body")
    return html.Section([head, body], className="ms-card ms-advice-card", tabIndex=-1, **{"data-rule": one.rule})


def _sentence(one: Advice) -> str:
    if one.rule == "empty":
        return f"empty.{one.subject[0]}"
    return f"{one.rule}.said_many" if one.rule == "queue_use" and len(one.evidence) > 1 else f"{one.rule}.said"


def _hints(one: Advice) -> list[str]:
    """What can be done: of a slow operation by its type, as MindInsight puts it."""
    if one.rule == "empty":
        return [f"empty_{one.subject[0]}"]
    if one.rule != "queue_use":
        return [one.rule]
    kinds = [next((hint for hint in _HINTS if hint in name.lower()), "reader") for name in one.subject]
    return list(dict.fromkeys(kinds))


def _cost(one: Advice) -> Any:
    if math.isnan(one.cost_ns):
        return html.Span(t("advice.cost_unknown"), className="ms-badge")
    return html.Span(t("advice.cost", time=fmt.duration(one.cost_ns * 1e-9)), className="ms-badge ms-advice-cost")


def _quiet(rules: Sequence[str], thresholds: Mapping[str, float]) -> Any:
    if not rules:
        return None
    lines = [html.Li([html.Span(t(f"advice.{rule}.title")), _threshold(rule, thresholds[rule])]) for rule in rules]
    return html.Section(
        [
            html.Header(html.H3(t("advice.quiet"), className="ms-card-title"), className="ms-card-head"),
            html.Ul(lines, className="ms-card-body ms-advice-quiet"),
        ],
        className="ms-card", tabIndex=-1,
    )  # fmt: skip


def _threshold(rule: str, value: float) -> html.Label:
    """The threshold of a rule, which assets/advice.js puts into the state when it is changed."""
    unit, scale = UNITS[rule]
    shown = f"{value / scale:.10g}"
    usual = f"{THRESHOLDS[rule] / scale:.10g}"
    field = html.Span(
        className="ms-advice-field", **{"data-rule": rule, "data-value": shown, "data-usual": usual},
        **attributes(aria_label=f"advice.{rule}.title"),
    )  # fmt: skip
    return html.Label([html.Span(t(f"advice.{rule}.rule"), className="ms-muted"), field, html.Span(unit, className="ms-muted")],
                      className="ms-advice-threshold")  # fmt: skip


def _link(page: str, choice: Choice | None) -> Any:
    if choice is None:
        return None
    query = urlencode({"run": choice.run, "of": choice.run, "session": choice.session, "rank": choice.rank})
    return html.A(t(f"advice.open.{page}"), href=f"{page}?{query}", **{"data-page": page, "data-query": query})


def _table(rows: pd.DataFrame) -> html.Div:
    """Evidence as it is in the frame; times with a unit, parts in percent."""
    shown = [name for name in rows.columns if not (rows[name].isna() | (rows[name] == _NONE)).all()]
    body = [html.Tr([html.Td(_cell(name, row[name])) for name in shown]) for row in rows[shown].to_dict("records")]
    head = html.Tr([html.Th(t(f"advice.column.{name}"), scope="col") for name in shown])
    return html.Div(html.Table([html.Thead(head), html.Tbody(body)]), className="ms-advice-rows")


def _cell(name: Any, value: Any) -> str:
    if isinstance(value, str):
        return value
    if not np.isfinite(value):
        return "–"
    if str(name).endswith("_ns"):
        return fmt.duration(float(value) * 1e-9)
    if name in _PARTS:
        return f"{value:.1%}"
    return fmt.count(int(value)) if float(value).is_integer() else fmt.number(float(value))


def _shown(rule: str, value: float) -> str:
    return fmt.duration(value * 1e-9) if rule == "interval" else f"{value:.0%}"

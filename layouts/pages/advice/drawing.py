"""Advice as cards: a sentence, the time at stake, the threshold, the evidence rows, and a link to the page with details."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pandas as pd
from dash import html
from parsers.analysis.advice import THRESHOLDS, Advice, Review

from layouts import format as fmt
from layouts.i18n import attributes, both, t
from layouts.profiling.advising import sentence
from layouts.profiling.choice import Choice

UNITS = {rule: ("ms", 1e6) if rule == "interval" else ("%", 0.01) for rule in THRESHOLDS}
"""Rule -> unit in which its threshold is shown and typed, and the size of that unit in the unit of THRESHOLDS."""
_HINTS = ("batch", "map", "generator")
_NONE = -1
_PARTS = frozenset(("queue_use", "queue_empty", "user", "system", "io", "idle"))


def drawn(review: Review, thresholds: Mapping[str, float], choice: Choice | None) -> list[Any]:
    """Return a card for each piece of advice, one of the rules that found nothing, and one of those that lack data."""
    cards = [_card(one, thresholds[one.rule], choice) for one in review.found]
    numbers = {"n": fmt.count(len(review.fine)), "total": fmt.count(len(THRESHOLDS))}
    none = "advice.none" if review.fine else "advice.none_checked"
    first = [html.P(t(none, **(numbers if review.fine else {})), className="ms-advice-none")] if not cards else []
    return [*first, *cards, _fine(review.fine, thresholds), _unchecked(review.unchecked)]


def _card(one: Advice, threshold: float, choice: Choice | None) -> html.Section:
    head = html.Header(
        [html.H3(t(f"advice.{one.rule}.title"), className="ms-card-title"), html.Span(_cost(one), className="ms-card-badges")],
        className="ms-card-head",
    )
    hints = [html.Li(t(f"advice.do.{hint}")) for hint in _hints(one)]
    table = html.Details([html.Summary(t("advice.evidence", n=fmt.count(len(one.evidence)))), _table(one.evidence)])
    foot = html.Div([_threshold(one.rule, threshold), _link(one.page, choice)], className="ms-advice-foot")
    body = html.Div([sentence(one), html.Ul(hints), table, foot], className="ms-card-body")
    return html.Section([head, body], className="ms-card ms-advice-card", tabIndex=-1, **{"data-rule": one.rule})


def _hints(one: Advice) -> list[str]:
    """Names of the hints to show. For slow operations they depend on the operation's type, as in MindInsight."""
    if one.rule == "empty":
        return [f"empty_{one.subject[0]}"]
    if one.rule == "communication" and one.parts_ns:
        return [f"communication_{max(('transit', 'wait', 'idle'), key=lambda part: one.parts_ns[part])}"]
    if one.rule != "queue_use":
        return [one.rule]
    kinds = [next((hint for hint in _HINTS if hint in name.lower()), "reader") for name in one.subject]
    return list(dict.fromkeys(kinds))


def _cost(one: Advice) -> Any:
    if math.isnan(one.cost_ns):
        return html.Span(t("advice.cost_unknown"), className="ms-badge")
    return html.Span(t("advice.cost", time=fmt.duration(one.cost_ns * 1e-9)), className="ms-badge ms-advice-cost")


def _fine(rules: Sequence[str], thresholds: Mapping[str, float]) -> Any:
    lines = [html.Li([html.Span(t(f"advice.{rule}.title")), _threshold(rule, thresholds[rule])]) for rule in rules]
    return _rules("fine", lines)


def _unchecked(rules: Mapping[str, Sequence[str]]) -> Any:
    joints = both("advice.or")
    lines = []
    for rule, files in rules.items():
        english, chinese = (pattern.format(files=joint.join(files)) for pattern, joint in
                            zip(both("advice.missing"), joints, strict=True))  # fmt: skip
        texts = [html.Span(english, className="en", lang="en"), html.Span(chinese, className="zh", lang="zh-CN")]
        lines.append(html.Li([html.Span(t(f"advice.{rule}.title")), html.Span(texts, className="t ms-muted")]))
    return _rules("unchecked", lines)


def _rules(state: str, lines: Sequence[html.Li]) -> Any:
    """A card of rules in one state; None without any."""
    if not lines:
        return None
    return html.Section(
        [
            html.Header(html.H3(t(f"advice.{state}"), className="ms-card-title"), className="ms-card-head"),
            html.Ul(list(lines), className="ms-card-body ms-advice-quiet"),
        ],
        className="ms-card", tabIndex=-1, **{"data-state": state},
    )  # fmt: skip


def _threshold(rule: str, value: float) -> html.Label:
    """The input for a rule's threshold; assets/pages/advice/page.js writes changes to the state."""
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
    # The shell keeps the selected runs; a new tab needs at least this one.
    query = urlencode({"of": choice.run, "session": choice.session, "rank": choice.rank})
    address = f"{page}?{urlencode({'run': choice.run})}&{query}"
    return html.A(t(f"advice.open.{page}"), href=address, **{"data-page": page, "data-query": query})


def _table(rows: pd.DataFrame) -> html.Div:
    """The evidence rows of the frame as a table: times with a unit, fractions in percent, columns without values left out."""
    shown = [name for name in rows.columns if not (rows[name].isna() | (rows[name] == _NONE)).all()]
    body = [html.Tr([html.Td(_cell(name, row[name])) for name in shown]) for row in rows[shown].to_dict("records")]
    head = html.Tr([html.Th(t(f"advice.column.{name}"), scope="col") for name in shown])
    return html.Div(html.Table([html.Thead(head), html.Tbody(body)]), className="ms-advice-rows")


def _cell(name: Any, value: Any) -> Any:
    if name == "stack":
        return _stack(str(value))
    if isinstance(value, str):
        return value
    if not np.isfinite(value):
        return "–"
    if str(name).endswith("_ns"):
        return fmt.duration(float(value) * 1e-9)
    if name in _PARTS:
        return f"{value:.1%}"
    return fmt.count(int(value)) if float(value).is_integer() else fmt.number(float(value))


def _stack(text: str) -> Any:
    """A call stack below its first line in a file of the program itself, as libraries call the operator."""
    lines = [line.strip().rstrip(";") for line in text.splitlines() if line.strip()]
    if not lines:
        return "–"
    own = next((line for line in lines if not any(part in line for part in _LIBRARIES)), lines[0])
    return html.Details([html.Summary(own), html.Pre("\n".join(lines))], className="ms-advice-stack")


_LIBRARIES = ("site-packages", "dist-packages", "/lib/python", "<frozen")

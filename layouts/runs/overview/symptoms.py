"""The severest symptoms found in one run, each with its evidence and a link to its steps in the guides."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, State, dcc, html, no_update

from layouts.kit.i18n import attributes, t
from layouts.kit.page import Ids
from layouts.kit.state import BadInput
from layouts.runs.symptoms.answering import Sign, SymptomAnswers, worst
from layouts.runs.symptoms.meanings import meaning_link
from layouts.runs.symptoms.probed import QuestionSubject, SourceRun
from layouts.runs.symptoms.sentences import sentence_of
from layouts.sources import Sources

MOST = 3
"""Symptoms that are shown; the guides have all."""


def layout(ids: Ids) -> html.Section:
    """Return the empty card and the stores of its requests."""
    head = html.Header(html.H3(t("overview.symptoms"), className="ms-card-title"), className="ms-card-head")
    return html.Section(
        [
            dcc.Store(id=ids("symptoms-again")),
            dcc.Store(id=ids("symptoms-left")),
            head,
            html.Ul(id=ids("symptoms"), className="ms-symptoms-list"),
        ],
        className="ms-card ms-symptoms", tabIndex=-1, hidden=True, **attributes(aria_label="overview.symptoms"),
    )  # fmt: skip


def register(app: Any, source: Sources, ids: Ids) -> None:
    """Add the callbacks to a Dash application."""
    answers = SymptomAnswers(source)

    def look(shown: Any, _again: Any) -> tuple[Any, Any]:
        return entries(source, answers, shown)

    app.callback(
        Output(ids("symptoms"), "children"), Output(ids("symptoms-left"), "data"),
        Input(ids("shown"), "data"), Input(ids("symptoms-again"), "data"), prevent_initial_call=True,
    )(look)  # fmt: skip
    app.clientside_callback(
        ClientsideFunction("mindscope_overview", "symptoms"), Input(ids("symptoms-left"), "data"), State(ids("root"), "id"),
        prevent_initial_call=True,
    )


def entries(source: Sources, answers: SymptomAnswers, shown: Any) -> tuple[Any, Any]:
    """Return (entries for the run shown, {"found": their number, "left": whether something is still being read})."""
    if shown is None:
        return no_update, no_update
    if not isinstance(shown, dict) or not isinstance(shown.get("run"), str):
        raise BadInput(f"shown: expected an object with a run, found {str(shown)[:80]!r}")
    run = SourceRun(source, QuestionSubject(shown["run"]))
    if run.row is None:
        return [], {"found": 0, "left": False}
    signs = answers.signs(run)
    found = worst(signs, MOST)
    return [_entry(one, run.row.key) for one in found], {"found": len(found), "left": any(one.is_reading for one in signs)}


def _entry(one: Sign, run: str) -> html.Li:
    if one.finding is None:
        raise ValueError("expected a symptom that was found")
    english, chinese = sentence_of(one.finding)
    said = html.Span(
        [html.Span(english, className="en", lang="en"), html.Span(chinese, className="zh", lang="zh-CN")], className="t"
    )
    severity = 2 if one.finding.severity >= 2 else 1
    return html.Li(
        html.A(
            [
                html.Span(className=f"ms-insight-mark ms-insight-mark-{severity}"),
                html.Span(t(f"symptoms.{one.symptom.name}.title"), className="ms-symptoms-title"),
                html.Span(said, className="ms-insight-words ms-muted"),
            ],
            className="ms-insight", **meaning_link(one.symptom.name, run),
        )
    )  # fmt: skip

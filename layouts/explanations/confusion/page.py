"""The confusion page: where is the network wrong, how far can its probabilities be trusted, and what did a new run change?

Predicted against true labels at a threshold, the samples behind each number, each label against the rest, a reliability
diagram, and for several runs the samples whose outcome changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.explanations import calibration, confusion
from parsers.analysis.explanations.changes import changes

from layouts.explanations.body import body, register_body
from layouts.explanations.confusion import sections
from layouts.explanations.confusion.changed import changed
from layouts.explanations.confusion.figure import reliability
from layouts.explanations.confusion.texts import TEXTS
from layouts.explanations.confusion_asks import ConfusionRequest
from layouts.explanations.explanation_counts import cells_of, samples_of
from layouts.kit import units as fmt
from layouts.kit.body import damage
from layouts.kit.elements import button
from layouts.kit.i18n import attributes, t
from layouts.kit.page import Ids
from layouts.kit.plain_html import markup
from layouts.kit.plot_cards import plot_card
from layouts.runs.chosen_runs import label_of
from layouts.sources import Sources

PARTS = ("counts", "cell", "reliability", "outcomes")
CARDS = ("matrix", "cell", "labels", "changes")
_TITLES = {"cell": "confusion.cell_title"}


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    head = html.Div(html.Div(className="ms-skeleton"), className="ms-confusion-head", **{"data-section": "head"})
    note = html.P(className="ms-confusion-calibration ms-muted", **{"data-section": "reliability"})
    matrix, cell, labels, changes_card = (_card(name) for name in CARDS)
    plot = plot_card(ids("plot"), "reliability", t("confusion.reliability"), "ms-confusion-reliability", note)
    children = [
        damage(), html.Section(head, className="ms-card", tabIndex=-1, **{"data-card": "head"}),
        html.Div([matrix, plot], className="ms-confusion-pair"), cell, labels, changes_card,
    ]  # fmt: skip
    return body(
        ids, routes, children, parts=PARTS, controls=("threshold", "search"), texts=TEXTS, class_name="ms-confusion",
    )  # fmt: skip


def _card(name: str) -> html.Section:
    save = button("confusion.csv", icon_name="download", class_name="ms-button-quiet", **{"data-act": "csv"})
    tools = html.Span(className="ms-confusion-tools", role="toolbar", **attributes(aria_label="confusion.tools"))
    title = html.H3(t(_TITLES.get(name, f"confusion.{name}")), className="ms-card-title")
    head = html.Header([title, tools, save], className="ms-card-head")
    content = html.Div(html.Div(className="ms-skeleton"), className="ms-confusion-body", **{"data-section": name})
    hidden = name in ("cell", "changes")
    return html.Section([head, content], className="ms-card", tabIndex=-1, hidden=hidden, **{"data-card": name})


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    register_body(app, source, ids, {
        "counts": partial(answer_counts, source), "cell": partial(answer_cell, source, routes),
        "reliability": partial(answer_reliability, source), "outcomes": partial(answer_changes, source),
    })  # fmt: skip


def answer_counts(source: Sources, asked: Any) -> Mapping[str, Any]:
    """Return sentence, matrix and labels."""
    ask = ConfusionRequest.read_any(asked)
    opened = source.explanations.open(ask.choice.run) if ask is not None else None
    if ask is None or opened is None or opened.explanations is None:
        return {"state": opened.state if opened else "missing"}
    found = samples_of(opened.explanations, ask.choice)
    cells = cells_of(found, ask.choice.threshold)
    table = confusion.by_label(found, ask.choice.threshold)
    averages = confusion.averages(table)
    made = {
        "head": sections.head(ask, found, cells, averages), "matrix": sections.matrix(ask, found, cells),
        "labels": sections.labels(ask, found, table, averages),
    }  # fmt: skip
    return {
        "state": "ready", "sections": {name: markup(children) for name, children in made.items()},
        "single": found.single or not len(found.sample), "labels": len(np.unique(cells["truth"])),
        "counted": len(found.sample), "all": len(opened.explanations.samples),
    }  # fmt: skip


def answer_cell(source: Sources, routes: str, asked: Any) -> Mapping[str, Any]:
    """Return the samples of the chosen cell."""
    ask = ConfusionRequest.read_any(asked)
    opened = source.explanations.open(ask.choice.run) if ask is not None else None
    if ask is None or ask.cell is None or opened is None or opened.explanations is None:
        return {"state": opened.state if opened else "missing"}
    found = samples_of(opened.explanations, ask.choice)
    return {"state": "ready", "sections": {"cell": markup(sections.cell(ask, opened.explanations, found, routes))}}


def answer_reliability(source: Sources, asked: Any) -> Mapping[str, Any]:
    """Return the reliability diagram and what it counts."""
    ask = ConfusionRequest.read_any(asked)
    opened = source.explanations.open(ask.choice.run) if ask is not None else None
    if ask is None or opened is None or opened.explanations is None:
        return {"state": opened.state if opened else "missing"}
    counted = samples_of(opened.explanations, ask.choice)
    question = question_of(ask, single=counted.single)
    found = (calibration.top_label if question == "top" else calibration.each_label)(counted, ask.bins)
    said: list[Any] = []
    if found.counted:
        values = {"error": fmt.percent(found.error), "greatest": fmt.percent(found.greatest)}
        said = [t("confusion.error", n=fmt.count(found.counted), **values), " "]
    said.append(t(f"confusion.{question}_about"))
    if not found.everything:
        said += [" ", t("confusion.above_half")]
    if found.left_out:
        said += [" ", t("confusion.left_out", n=fmt.count(found.left_out))]
    figure = reliability(found, language=ask.language, dark=ask.dark)
    return {"state": "ready", "figure": figure, "question": question, "sections": {"reliability": markup(said)}}


def question_of(ask: ConfusionRequest, *, single: bool) -> str:
    """Return whether the strongest label of each sample is counted, or each label."""
    return ask.question or ("top" if single else "each")


def answer_changes(source: Sources, asked: Any) -> Mapping[str, Any]:
    """Return which samples changed their outcome from the shown run to others."""
    ask = ConfusionRequest.read_any(asked)
    if ask is None or not ask.others:
        return {"state": "missing"}
    runs = []
    for run in (ask.choice.run, *ask.others):
        opened = source.explanations.open(run)
        if opened.explanations is None:
            return {"state": opened.state, "text": opened.text}
        runs.append(samples_of(opened.explanations, ask.choice))
    rows = {member: row for row in source.runs.rows() for member in row.members}
    names = [label_of(run, rows.get(run)) for run in (ask.choice.run, *ask.others)]
    made = changed(ask, names, changes(runs, ask.choice.threshold))
    return {"state": "ready", "sections": {"changes": markup(made)}}

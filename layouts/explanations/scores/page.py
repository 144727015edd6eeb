"""The scores page: which explainer deserves trust? Scores by metric with weights of one's own, and by label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.explanations.explainer_scores import ScoreTable, label_scores, score_table
from parsers.explanations.snapshot import Explanations

from layouts.explanations.body import body, register_body
from layouts.explanations.explanation_counts import weights_of
from layouts.explanations.score_asks import ScoreRequest
from layouts.explanations.scores import figures, sections
from layouts.explanations.scores.texts import TEXTS
from layouts.kit import units as fmt
from layouts.kit.body import damage
from layouts.kit.elements import button
from layouts.kit.i18n import attributes, t
from layouts.kit.page import Ids
from layouts.kit.plain_html import markup
from layouts.kit.plot_cards import plot_card
from layouts.kit.recording import missing_data
from layouts.sources import Sources

MOST_NAMED = 12
"""Labels that are named in a sentence."""


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    save = button("scores.csv", icon_name="download", class_name="ms-button-quiet", **{"data-act": "csv"})
    tools = html.Span(className="ms-scores-tools", role="toolbar", **attributes(aria_label="scores.table"))
    head = html.Header([html.H3(t("scores.table"), className="ms-card-title"), tools, save], className="ms-card-head")
    content = html.Div(html.Div(className="ms-skeleton"), className="ms-scores-body", **{"data-section": "table"})
    radar_note, labels_note = _note("radar"), _note("labels")
    cards = [
        html.Div([
            html.Section([head, content], className="ms-card", tabIndex=-1, **{"data-card": "table"}),
            plot_card(ids("radar-plot"), "radar", t("scores.radar"), "ms-scores-radar", radar_note),
        ], className="ms-scores-pair"),
        plot_card(ids("labels-plot"), "labels", t("scores.labels"), "ms-scores-labels", labels_note),
    ]  # fmt: skip
    none = html.Div(missing_data("scores.none", "scores", page="scores"), className="ms-scores-none", hidden=True)
    return body(
        ids, routes, [damage(), none, html.Div(cards, className="ms-scores-cards")], parts=("scores", "labels"),
        controls=("explainer",), texts=TEXTS, class_name="ms-scores",
    )  # fmt: skip


def _note(name: str) -> html.P:
    return html.P(className="ms-scores-note ms-muted", **{"data-section": name})


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, {
        "scores": partial(answer_scores, source), "labels": partial(answer_labels, source),
    })  # fmt: skip


def shown_scores(ask: ScoreRequest, found: Explanations) -> ScoreTable:
    """Return the scores of the chosen explainers: all if none of the chosen is known."""
    chosen = [name for name in found.explainers if name in ask.choice.explainers] or found.explainers
    return score_table(found.scores, chosen, found.metrics)


def answer_scores(source: Sources, asked: Any) -> Mapping[str, Any]:
    """Return table and radar."""
    ask = ScoreRequest.read_any(asked)
    opened = source.explanations.open(ask.choice.run) if ask is not None else None
    if ask is None or opened is None or opened.explanations is None:
        return {"state": opened.state if opened else "missing"}
    found = opened.explanations
    if found.scores.empty:
        return {"state": "ready", "any": False}
    scores = shown_scores(ask, found)
    weights = weights_of(found.metrics, ask.weights)
    low, high = figures.scale(scores.values)
    made = {
        "table": [*sections.table(ask, scores, weights), sections.about(found.metrics)],
        "radar": [t("scores.radar_about", low=f"{low:g}", high=f"{high:g}")],
    }
    return {
        "state": "ready", "any": True, "sections": {name: markup(children) for name, children in made.items()},
        "figure": figures.radar(scores, found.explainers, language=ask.language, dark=ask.dark), "metrics": list(found.metrics),
        "explainers": list(scores.explainers),
    }  # fmt: skip


def answer_labels(source: Sources, asked: Any) -> Mapping[str, Any]:
    """Return the bars by label."""
    ask = ScoreRequest.read_any(asked)
    opened = source.explanations.open(ask.choice.run) if ask is not None else None
    if ask is None or opened is None or opened.explanations is None:
        return {"state": opened.state if opened else "missing"}
    found = opened.explanations
    explainers = shown_scores(ask, found).explainers
    table = found.labels
    if ask.shown:
        table = table[np.isin(table["label"].to_numpy(), ask.shown)]
    values = label_scores(found.scores, explainers, found.metrics, table["label"].tolist())
    chosen, every = figures.series_of(ask.side, ask.one, explainers, found.metrics, values, found.explainers)
    places = figures.chosen_labels(every.values, ask.order)
    names = table["name"].to_numpy(object)[places].tolist()
    shown = replace(every, labels=tuple(map(str, names)), values=every.values[:, places])
    figure = figures.bars(shown, language=ask.language, dark=ask.dark)
    said: list[Any] = [] if figure is not None else [t("scores.no_labels")]
    if len(places) < len(table):
        said.append(t("scores.first_labels", n=fmt.count(len(places)), total=fmt.count(len(table))))
    empty = [name for name, count in zip(names, table["predicted"].to_numpy()[places].tolist(), strict=True) if not count]
    if empty and figure is not None:
        more = ["…"] if len(empty) > MOST_NAMED else []
        said += [" ", t("scores.no_samples", labels=", ".join([*empty[:MOST_NAMED], *more]))]
    scored = [name for at, name in enumerate(found.metrics) if not np.isnan(values[:, at]).all()]
    return {
        "state": "ready", "figure": figure, "chosen": chosen, "sections": {"labels": markup(said)},
        "metrics": [[name, name in scored] for name in found.metrics], "explainers": list(explainers),
    }  # fmt: skip

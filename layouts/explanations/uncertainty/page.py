"""The uncertainty page: how sure is the network of its probabilities, and where is it sure and wrong?

The distribution of the standard deviations, these against the probabilities by outcome, and the samples with the widest and the
narrowest intervals. A selection in either plot filters the samples, here and on the other pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.explanations.uncertainty import extremes, spread_of, widest_of_each, widths
from parsers.explanations.snapshot import Bools, Explanations
from parsers.model import Ints

from layouts.explanations.body import body, register_body
from layouts.explanations.explanation_choice import ExplanationChoice, read_choice
from layouts.explanations.filtering import CODES, chosen_rows, matching
from layouts.explanations.uncertainty import sections
from layouts.explanations.uncertainty.figures import against_figure, groups_of, points_of, spread_figure
from layouts.explanations.uncertainty.texts import TEXTS
from layouts.kit.body import damage
from layouts.kit.i18n import LANGUAGES, attributes, t
from layouts.kit.page import Ids
from layouts.kit.plain_html import markup
from layouts.kit.plot_cards import plot_card
from layouts.kit.recording import missing_data
from layouts.kit.state import text
from layouts.sources import Sources

PARTS = ("plots", "tables")
CONTROLS = ("label", "outcome", "truth", "threshold", "search")
MOST_SAMPLES = 10
"""Samples of each table."""
def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    head = html.Div(html.Div(className="ms-skeleton"), className="ms-uncertainty-head", **{"data-section": "head"})
    fields = html.Div(className="ms-toolbar ms-uncertainty-fields", role="group", **attributes(aria_label="uncertainty.choose"))
    cards = html.Div(
        [
            html.Section([head, fields], className="ms-card ms-uncertainty-said", tabIndex=-1),
            plot_card(ids("spread"), "spread", t("uncertainty.spread"), "ms-uncertainty-spread"),
            plot_card(ids("against"), "against", t("uncertainty.against"), "ms-uncertainty-against"),
            _table("widest"),
            _table("narrowest"),
        ],
        className="ms-uncertainty-body",
    )  # fmt: skip
    none = html.Div(
        missing_data("uncertainty.none", "uncertainty", page="uncertainty"), className="ms-uncertainty-none", hidden=True
    )
    children = [damage(), none, cards]
    return body(ids, routes, children, parts=PARTS, controls=CONTROLS, texts=TEXTS, class_name="ms-uncertainty")


def _table(name: str) -> html.Section:
    title = html.H3(t(f"uncertainty.{name}"), className="ms-card-title")
    rows = html.Div(html.Div(className="ms-skeleton"), className="ms-uncertainty-rows", **{"data-section": name})
    return html.Section(
        [html.Header([title, html.Span(className="ms-card-badges")], className="ms-card-head"), rows],
        className="ms-card ms-uncertainty-samples", tabIndex=-1, **{"data-list": name},
    )  # fmt: skip


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    register_body(
        app, source, ids, {"plots": partial(answer_plots, source), "tables": partial(answer_tables, source, routes)}
    )  # fmt: skip


def answer_plots(source: Sources, ask: Any) -> Mapping[str, Any]:
    """Return the sentence and both figures: of all labels that the filters keep, those outside of the selection faint."""
    choice = read_choice(ask)
    opened = source.explanations.open(choice.run) if choice is not None else None
    if choice is None or opened is None or opened.explanations is None:
        return {"state": opened.state if opened else "missing"}
    found, predicted = opened.explanations, opened.explanations.predicted
    language, dark = text(ask, "lang", LANGUAGES[0], choices=LANGUAGES), text(ask, "theme") == "dark"
    groups = groups_of(found, choice.threshold)
    samples, rows = kept_rows(found, replace(choice, probability=None, sd=None, sort="id"))
    spread = spread_of(predicted.sd[rows])
    chosen = None if choice.probability is None and choice.sd is None else _selected(found, choice)
    points = points_of(found, rows, groups[rows], spread)
    inside = np.ones(len(points.shown), np.bool_) if chosen is None else chosen[points.shown]
    figure = against_figure(
        found, points, groups[points.shown], inside, spread, _names(found), language=language, dark=dark
    )  # fmt: skip
    counted = None
    if chosen is not None:
        of = rows[chosen[rows]]
        counted = len(of), len(np.unique(predicted.place[of]))
    return {
        "state": "ready", "mark": opened.mark, "spread": spread_figure(spread, choice.sd, language=language, dark=dark),
        "against": figure, "drawn": len(points.shown), "points": len(points.rows), "all": len(found.samples),
        "total": samples if counted is None else counted[1],
        "sections": {"head": markup(sections.sentence(spread, len(rows), counted))},
    }  # fmt: skip


def answer_tables(source: Sources, routes: str, ask: Any) -> Mapping[str, Any]:
    """Return the samples with the widest and the narrowest intervals, each by its widest label that the filters keep."""
    choice = read_choice(ask)
    opened = source.explanations.open(choice.run) if choice is not None else None
    if choice is None or opened is None or opened.explanations is None:
        return {"state": opened.state if opened else "missing"}
    found = opened.explanations
    table = found.predictions
    width, intervals = widths(*(table[name].to_numpy() for name in ("low", "high", "sd")))
    _, rows = kept_rows(found, replace(choice, sort="id"))
    of_rows = np.full(len(width), np.nan)
    of_rows[rows] = width[rows]
    each = widest_of_each(found.predicted.start, of_rows)
    groups, names = groups_of(found, choice.threshold), _names(found)
    made = {}
    for name, some in zip(("widest", "narrowest"), extremes(each[each >= 0], of_rows, MOST_SAMPLES), strict=True):
        nothing = "uncertainty.none_match" if not (each >= 0).any() else "uncertainty.too_few"
        made[name] = markup(
            sections.table(found, some, width, groups, names, run=choice.run, routes=routes, intervals=intervals)
            if len(some) else [html.P(t(nothing), className="ms-muted")]
        )  # fmt: skip
    return {"state": "ready", "mark": opened.mark, "intervals": intervals, "sections": made}


def kept_rows(found: Explanations, choice: ExplanationChoice) -> tuple[int, Ints]:
    """Return how many samples a choice keeps, and the rows of `predictions` that are counted of them.

    These are rows of kept samples with a chosen label, outcome, probability and deviation; all of these if none is chosen.
    """
    kept = matching(found, choice).rows
    of_kept = np.zeros(len(found.samples), np.bool_)
    of_kept[kept] = True
    counted: Bools = of_kept[found.predicted.place]
    chosen = chosen_rows(found, choice)
    if chosen is not None:
        counted &= chosen
    if choice.outcomes:
        counted &= np.isin(groups_of(found, choice.threshold), [CODES[one] for one in choice.outcomes])
    return len(kept), np.flatnonzero(counted)


def _selected(found: Explanations, choice: ExplanationChoice) -> Bools:
    """Return which rows of `predictions` lie in the selected intervals."""
    chosen = chosen_rows(found, replace(choice, labels=()))
    return np.ones(len(found.predictions), np.bool_) if chosen is None else chosen


def _names(found: Explanations) -> dict[int, str]:
    return dict(zip(found.labels["label"].tolist(), found.labels["name"].tolist(), strict=True))

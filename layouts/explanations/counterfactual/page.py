"""The counterfactual page: how little of a picture does the network need to recognise it?

A list of samples; of the chosen one the picture beside the outcome picture of a layer of hierarchical occlusion, the layers as
a strip, and the probability of the label per layer.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from dash import html
from parsers.errors import PayloadError

from layouts.explanations.body import body, register_body
from layouts.explanations.counterfactual.figure import curve
from layouts.explanations.counterfactual.samples import lines, listed, one_sample
from layouts.explanations.counterfactual.texts import TEXTS
from layouts.explanations.explanation_choice import read_choice
from layouts.explanations.filtering import matching
from layouts.kit.body import damage
from layouts.kit.elements import icon_button
from layouts.kit.i18n import LANGUAGES, attributes, t
from layouts.kit.page import Ids
from layouts.kit.plot_cards import plot_card
from layouts.kit.recording import missing_data
from layouts.kit.state import flag, number, text, whole
from layouts.sources import Sources

PARTS = ("rows", "sample")
CONTROLS = ("label", "outcome", "truth", "threshold", "search", "sort")
MOST_ROWS = 200
"""Samples in one answer, at most."""
def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    rows = html.Div(
        className="ms-counterfactual-list", tabIndex=0, role="region", **attributes(aria_label="counterfactual.samples")
    )
    nothing = html.P(className="ms-counterfactual-nothing ms-muted", hidden=True, role="status")
    steps = html.Span(
        [
            icon_button("left", "counterfactual.previous", **{"data-step": "previous"}),
            icon_button("left", "counterfactual.next", class_name="ms-counterfactual-next", **{"data-step": "next"}),
        ],
        className="ms-counterfactual-steps",
    )
    head = html.Header(
        [
            html.H3(className="ms-card-title ms-counterfactual-name"),
            html.Span(
                className="ms-segments ms-counterfactual-labels", role="group", **attributes(aria_label="counterfactual.label")
            ),
            html.Span(className="ms-grow"), html.Span(className="ms-counterfactual-links"), steps,
        ],
        className="ms-card-head ms-counterfactual-head",
    )  # fmt: skip
    shown = html.Div(
        [
            html.P(className="ms-counterfactual-sentence", role="status"),
            html.Div(className="ms-counterfactual-pictures"),
            html.Div(className="ms-counterfactual-strip", role="group", **attributes(aria_label="counterfactual.layers")),
        ],
        className="ms-counterfactual-shown",
    )
    detail = html.Div(
        [
            html.Section([head, shown], className="ms-card ms-counterfactual-card", tabIndex=-1),
            plot_card(ids("plot"), "curve", t("counterfactual.curve"), "ms-counterfactual-curve"),
        ],
        className="ms-counterfactual-detail",
    )
    parts = html.Div(
        [html.Section([rows, nothing], className="ms-card ms-counterfactual-side"), detail], className="ms-counterfactual-body"
    )
    none = html.Div(
        missing_data("counterfactual.none", "counterfactual", page="counterfactual"),
        className="ms-counterfactual-none", hidden=True,
    )  # fmt: skip
    children = [damage(), none, parts]
    return body(ids, routes, children, parts=PARTS, controls=CONTROLS, texts=TEXTS, class_name="ms-counterfactual")


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, {"rows": partial(answer_rows, source), "sample": partial(answer_sample, source)})


def answer_rows(source: Sources, ask: Any) -> Mapping[str, Any]:
    """Return the samples from `first` on, how many there are, and whether the run has any counterfactual.

    empty=1 lists samples without counterfactuals, too; hidden is how many of these the filters keep otherwise.
    """
    choice = read_choice(ask)
    opened = source.explanations.open(choice.run) if choice is not None else None
    if choice is None or opened is None or opened.explanations is None:
        return {"state": opened.state if opened else "missing"}
    found = opened.explanations
    first, count = int(number(ask, "first", 0, 0, 2**53)), int(number(ask, "count", MOST_ROWS, 0, MOST_ROWS))
    kept = matching(found, choice)
    shown = listed(found, kept.rows, empty=flag(ask, "empty"))
    return {
        "state": "ready", "mark": opened.mark, "first": first, "total": len(shown.rows), "all": kept.total,
        "hidden": shown.hidden, "any": bool(len(found.counterfactuals)),
        "rows": lines(found, shown.rows[first : first + count], choice),
    }  # fmt: skip


def answer_sample(source: Sources, ask: Any) -> Mapping[str, Any]:
    """Return one sample with its layers, the figure of the shown label, and its neighbours in the list.

    sample is by default the first of the list. shown is a label, by default the first one with layers; layer by default the
    last. at is the place in the list, -1 if the sample is not in it; previous and next are ids or null.
    """
    choice = read_choice(ask)
    opened = source.explanations.open(choice.run) if choice is not None else None
    if choice is None or opened is None or opened.explanations is None:
        return {"state": opened.state if opened else "missing"}
    found = opened.explanations
    rows = listed(found, matching(found, choice).rows, empty=flag(ask, "empty")).rows
    place = found.place_of(choice.sample) if choice.sample is not None else (int(rows[0]) if len(rows) else None)
    at = np.flatnonzero(rows == place)
    where = int(at[0]) if len(at) else -1
    ids = found.samples["sample"].to_numpy()
    answer: dict[str, Any] = {
        "state": "ready", "mark": opened.mark, "sample": None, "at": where, "label": None, "layer": None, "figure": None,
        "previous": int(ids[rows[where - 1]]) if where > 0 else None,
        "next": int(ids[rows[where + 1]]) if where + 1 < len(rows) else None,
    }  # fmt: skip
    if place is None:
        return answer
    sample = one_sample(found, place, choice, partial(_look, source, choice.run))
    answer["sample"] = sample
    if not sample["labels"]:
        return answer
    wanted, layer = whole(ask, "shown"), whole(ask, "layer")
    shown = next((one for one in sample["labels"] if one["label"] == wanted), sample["labels"][0])
    numbers = [one[0] for one in shown["layers"]]
    chosen = layer if layer is not None and layer in numbers else numbers[-1]
    figure = curve(
        shown["recorded"], [(one[0], one[1]) for one in shown["layers"]], chosen,
        language=text(ask, "lang", LANGUAGES[0], choices=LANGUAGES), dark=text(ask, "theme") == "dark",
    )  # fmt: skip
    return answer | {"label": shown["label"], "layer": chosen, "figure": figure}


def _look(source: Sources, run: str, path: str) -> tuple[int, int, str]:
    """Return width, height and problem of a picture; no size if it cannot be shown."""
    try:
        picture = source.explanations.picture(run, path)
    except PayloadError as error:
        return 0, 0, str(error)
    return picture.width, picture.height, picture.problem

"""The saliency page: what does the network look at, and do the explainers agree?

One row of cards per sample: the picture, its labels with probabilities and outcomes, and a heat map per explainer over the
picture. A sample can be enlarged, with all its maps side by side and the values under the pointer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.explanations.agreement import Disagreements, Grey, disagreement, disagreements
from parsers.analysis.explanations.attention import Attention, attention
from parsers.errors import PayloadError
from parsers.explanations.snapshot import Explanations
from parsers.model import Floats, Ints

from layouts.explanations.body import body, register_body
from layouts.explanations.colours import tables
from layouts.explanations.explanation_choice import ExplanationChoice, read_choice
from layouts.explanations.filtering import matching
from layouts.explanations.open_explanations import ExplanationWork
from layouts.explanations.saliency.looked_at import sentence
from layouts.explanations.saliency.texts import TEXTS
from layouts.explanations.tables import sample_cards
from layouts.kit.body import damage, status_line
from layouts.kit.elements import button, icon_button, toolbar
from layouts.kit.i18n import attributes, t
from layouts.kit.page import Ids
from layouts.kit.page_parts import progress, worked
from layouts.kit.plain_html import markup
from layouts.kit.state import number, whole
from layouts.kit.work import WorkResult
from layouts.sources import Sources

PARTS = ("rows", "sample", "looks")
MOST_ROWS = 200
"""Samples in one answer, at most."""
BLOCK = 100
"""Samples that the browser asks for at a time."""
MOST_COMPARED = 12
"""Explainers of which a sample's maps are compared in pairs, at most."""


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    status = status_line("explanations", "ms-saliency-status")
    rows = html.Div(
        [html.Div(className="ms-saliency-head"), html.P(t("saliency.none"), className="ms-saliency-empty", hidden=True)],
        className="ms-saliency-rows", tabIndex=0, role="region", **attributes(aria_label="saliency.rows"),
    )  # fmt: skip
    look = toolbar([], label="saliency.look", class_name="ms-saliency-look ms-adds-page")
    looks = html.Div(
        [html.Div(className="ms-saliency-looks-said", role="status"), status_line("explanations", "ms-saliency-looks-status")],
        className="ms-saliency-looks",
    )
    children = [looks, html.Div([look, damage()], className="ms-saliency-controls"), status, rows, _large()]
    page = body(ids, routes, children, parts=PARTS, texts=TEXTS, class_name="ms-saliency")
    setattr(page, "data-colours", json.dumps(tables()))
    return page


def _large() -> html.Dialog:
    """Return the dialog with one sample; assets/explanations/saliency/large.js fills it."""
    tools = [
        icon_button("left", "saliency.previous", **{"data-act": "previous"}),
        icon_button("right", "saliency.next", **{"data-act": "next"}),
        button("saliency.png", icon_name="download", class_name="ms-button-quiet", **{"data-act": "png"}),
        icon_button("close", "dialog.close", **{"data-act": "close"}),
    ]
    head = html.Header([html.H2(className="ms-dialog-title", tabIndex=-1), *tools], className="ms-dialog-head")
    content = html.Div(
        [
            html.P(className="ms-saliency-why", role="status", hidden=True),
            html.Div(className="ms-saliency-facts"),
            html.Div(className="ms-saliency-large-maps"),
            html.P(className="ms-saliency-values ms-mono", role="status"),
            html.Div(className="ms-saliency-pairs"),
        ],
        className="ms-dialog-body",
    )
    named = attributes(aria_label="saliency.enlarged")
    return html.Dialog([head, content], className="ms ms-dialog ms-saliency-large", **named)


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, {
        "rows": partial(answer_rows, source), "sample": partial(answer_sample, source), "looks": partial(answer_looks, source),
    })  # fmt: skip


# Parts ---------------------------------------------------------------------------------------------------------------


def answer_rows(source: Sources, ask: Any) -> Mapping[str, Any]:
    """Return the samples from `first` on that the filters keep, how many these are, and the place of `sample` among them.

    Until the disagreement of explainers is known, samples sorted by it are in the order of their ids.
    """
    choice = read_choice(ask)
    opened = source.explanations.open(choice.run) if choice is not None else None
    if choice is None or opened is None or opened.explanations is None:
        return {"state": opened.state if opened else "missing", "text": opened.text if opened else ""}
    found = opened.explanations
    first, count = int(number(ask, "first", 0, 0, 2**53)), int(number(ask, "count", MOST_ROWS, 0, MOST_ROWS))
    work, values = _disagreement(source, choice, found, ask)
    rows = matching(found, choice, values).rows
    place = _place(found, choice.sample, rows)
    if place >= 0 and not count:  # only the sample is wanted, wherever it is
        first, count = place // BLOCK * BLOCK, BLOCK
    elif not count:
        count = BLOCK
    cards = sample_cards(found, rows[first : first + count], choice)
    if values is not None:
        for card, row in zip(cards, rows[first : first + count].tolist(), strict=True):
            card["disagreement"] = None if np.isnan(values[row]) else float(values[row])
    told = progress(work) if work is not None else {"state": "ready"}
    return told | {
        "mark": opened.mark, "first": first, "total": len(rows), "all": len(found.samples), "place": place, "rows": cards,
        "unreadable": work.result.unreadable if work is not None and values is not None else 0,
    }  # fmt: skip


def answer_sample(source: Sources, ask: Any) -> Mapping[str, Any]:
    """Return one sample, whether or not the filters keep it, its neighbours among those they keep, and how its maps compare.

    pairs are [explainer, explainer, 1 - Spearman's correlation] of the maps for the label `shown`.
    """
    choice = read_choice(ask)
    opened = source.explanations.open(choice.run) if choice is not None else None
    if choice is None or choice.sample is None or opened is None or opened.explanations is None:
        return {"state": opened.state if opened else "missing", "card": None}
    found = opened.explanations
    row = found.place_of(choice.sample)
    if row is None:
        return {"state": "ready", "card": None}
    _, values = _disagreement(source, choice, found, ask)
    rows = matching(found, choice, values).rows
    place = _place(found, choice.sample, rows)
    ids = found.samples["sample"].to_numpy()[rows].tolist()
    previous = ids[place - 1] if place > 0 else None
    following = ids[place + 1] if place + 1 < len(ids) else None  # of a sample that is filtered out, the first one
    shown = whole(ask, "shown")
    return {
        "state": "ready", "card": sample_cards(found, np.array([row]), choice)[0], "place": place, "total": len(rows),
        "previous": previous, "next": following, "shown": shown,
        "pairs": [] if shown is None else _pairs(found, row, shown, choice.explainers),
    }  # fmt: skip


def answer_looks(source: Sources, ask: Any) -> Mapping[str, Any]:
    """Return the sentence that says what the network looks at, of all samples of the run, whatever the filters keep."""
    choice = read_choice(ask)
    if choice is None:
        return {"state": "missing"}
    work = worked(source.explanations, choice.run, ExplanationWork("attention", (), attention), ask)
    said = markup(sentence(work.result, choice.explainers)) if isinstance(work.result, Attention) else None
    return progress(work) | {"said": said}


def _place(found: Explanations, sample: int | None, rows: Ints) -> int:
    """Return the place of a sample among rows; -1 if it is not there."""
    row = found.place_of(sample) if sample is not None else None
    at = np.flatnonzero(rows == (-1 if row is None else row))
    return int(at[0]) if len(at) else -1


def _disagreement(
    source: Sources, choice: ExplanationChoice, found: Explanations, ask: Any
) -> tuple[WorkResult | None, Floats | None]:
    """Return the work that samples are sorted by, and its value for each sample; None if they are not, or it is not ready."""
    if not choice.sort.startswith("disagreement"):
        return None, None
    work = worked(source.explanations, choice.run, ExplanationWork("disagreement", (), disagreements), ask)
    known = isinstance(work.result, Disagreements) and work.state == "ready"
    return work, work.result.by_sample(len(found.samples), choice.labels) if known else None


def _pairs(found: Explanations, row: int, label: int, explainers: tuple[str, ...]) -> list[list[Any]]:
    first, last = found.map_starts[row : row + 2].tolist()
    table = found.saliency.iloc[first:last]
    names: list[str] = []
    maps: list[Grey] = []
    for name, path in zip(table["explainer"][table["label"] == label], table["path"][table["label"] == label], strict=True):
        if (explainers and name not in explainers) or len(maps) == MOST_COMPARED:
            continue
        try:
            maps.append(found.pictures.heat_map(str(path)).values)
        except PayloadError:
            continue  # the map itself says what is wrong with it
        names.append(str(name))
    table_of = disagreement(maps)
    return [
        [names[one], names[other], None if np.isnan(table_of[one, other]) else float(table_of[one, other])]
        for one in range(len(names)) for other in range(one + 1, len(names))
    ]  # fmt: skip

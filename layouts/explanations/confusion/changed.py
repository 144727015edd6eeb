"""The section about several runs: which samples changed their outcome from the shown run to others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.explanations.changes import KNOWN, Changes
from parsers.model import Ints

from layouts.explanations.confusion.sections import MOST_ROWS
from layouts.explanations.confusion_asks import ConfusionRequest
from layouts.explanations.links import address
from layouts.kit import units as fmt
from layouts.kit.i18n import attributes, t

RIGHT = ("TP", "TN")
MOVES = (("FN", "TP"), ("FP", "TN"), ("TP", "FN"), ("TN", "FP"))
"""Changes that are counted one by one: what became right, then what became wrong."""


def changed(ask: ConfusionRequest, names: Sequence[str], found: Changes) -> list[Any]:
    """What each other run gets right or wrong that the shown one does not, and the samples. names are those of the runs."""
    if not found.samples:
        return [html.P(t("confusion.nothing_shared"), className="ms-muted")]
    notes = [html.Li(t("confusion.compared", n=fmt.count(found.samples), labels=fmt.count(found.labels)))]
    if found.other_truth:
        notes.append(html.Li(t("confusion.other_truth", n=fmt.count(found.other_truth))))
    return [
        html.Ul(notes, className="ms-confusion-notes"), _transitions(names, found), *_rows(ask, names, found),
    ]  # fmt: skip


def _transitions(names: Sequence[str], found: Changes) -> html.Div:
    titles = [html.Th(t("confusion.run"), scope="col")]
    titles += [html.Th(t("confusion.better_n"), scope="col", className="ms-number")]
    titles += [html.Th(t("confusion.worse_n"), scope="col", className="ms-number")]
    titles += [html.Th([_chip(a), " → ", _chip(b)], scope="col", className="ms-number") for a, b in MOVES]
    lines = []
    for run, (name, table) in enumerate(zip(names[1:], found.transitions, strict=True), start=1):
        moves = [int(table[KNOWN.index(a), KNOWN.index(b)]) for a, b in MOVES]
        lines.append(html.Tr([
            html.Th(html.Span(name, className="ms-cut", title=name), scope="row"),
            _number(fmt.count(found.improved(run))), _number(fmt.count(found.worse(run))),
            *(_number(fmt.count(one)) for one in moves),
        ]))  # fmt: skip
    table = html.Table(
        [html.Caption(t("confusion.against", run=names[0])), html.Thead(html.Tr(titles)), html.Tbody(lines)],
        className="ms-confusion-labels", **attributes(aria_label="confusion.changes"),
    )  # fmt: skip
    return html.Div(table, className="ms-confusion-scroll")


def chosen_rows(found: Changes, kind: str) -> Ints:
    """Return the positions of the rows of a kind, what became wrong first.

    worse: right in the first run and wrong in another one; better: wrong in the first run and right in another one.
    """
    frame = found.frame
    right = np.stack([frame[f"outcome_{run}"].isin(RIGHT).to_numpy() for run in range(len(found.transitions) + 1)])
    worse, better = right[0] & ~right[1:].all(axis=0), ~right[0] & right[1:].any(axis=0)
    kept = {"worse": worse, "better": better}.get(kind, np.ones(len(frame), np.bool_))
    rows: Ints = np.flatnonzero(kept)[np.argsort(~worse[kept], kind="stable")]
    return rows


def _rows(ask: ConfusionRequest, names: Sequence[str], found: Changes) -> list[Any]:
    rows = chosen_rows(found, ask.kind)
    if not len(rows):
        return [html.P(t("confusion.no_changes"), className="ms-muted")]
    titles = [html.Th(t("confusion.sample"), scope="col"), html.Th(t("confusion.label"), scope="col")]
    titles += [html.Th(html.Span(name, className="ms-cut", title=name), scope="col") for name in names]
    lines = []
    runs = (ask.choice.run, *ask.others)
    for row in found.frame.iloc[rows[:MOST_ROWS]].to_dict("records"):
        sample, label = int(row["sample"]), int(row["label"])
        cells = []
        for place, run in enumerate(runs):
            # Numbers of labels may differ from run to run: only those of the shown run are known here.
            state: dict[str, Any] = {"label": label} if place == 0 else {}
            link = address("saliency", run, threshold=ask.choice.threshold, sample=sample, **state)
            value = float(row[f"probability_{place}"])
            text = "" if math.isnan(value) else f" {fmt.number(value, 3)}"
            cells.append(html.Td(html.A([_chip(str(row[f"outcome_{place}"])), text], **link, **{"data-clear": "1"})))
        name = html.Td(html.Span(row["name"], className="ms-cut", title=row["name"]))
        lines.append(html.Tr([html.Td(str(sample)), name, *cells]))
    table = html.Table(
        [html.Thead(html.Tr(titles)), html.Tbody(lines)], className="ms-confusion-labels",
        **attributes(aria_label="confusion.changed_samples"),
    )  # fmt: skip
    note = t("confusion.first_rows", n=fmt.count(MOST_ROWS), total=fmt.count(len(rows))) if len(rows) > MOST_ROWS else None
    return [
        html.Div(table, className="ms-confusion-scroll", tabIndex=0),
        *([html.P(note, className="ms-muted")] if note is not None else []),
    ]


def _chip(outcome: str) -> html.Span:
    return html.Span(outcome, className=f"ms-outcome ms-outcome-{outcome}")


def _number(text: str) -> html.Td:
    return html.Td(text, className="ms-number")

"""The section about several runs: which samples changed their outcome from the shown run to others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.explanations.changes import KNOWN, OutcomeChanges
from parsers.model import Ints

from layouts.explanations.confusion.sections import MOST_ROWS
from layouts.explanations.confusion_asks import ConfusionRequest
from layouts.explanations.links import address
from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.kit.tables import COUNT, Cell, TableColumn, first_of, table

RIGHT = ("TP", "TN")
MOVES = (("FN", "TP"), ("FP", "TN"), ("TP", "FN"), ("TN", "FP"))
"""Changes that are counted one by one: what became right, then what became wrong."""


def changed(ask: ConfusionRequest, names: Sequence[str], found: OutcomeChanges) -> list[Any]:
    """What each other run gets right or wrong that the shown one does not, and the samples. names are those of the runs."""
    if not found.samples:
        return [html.P(t("confusion.nothing_shared"), className="ms-muted")]
    notes = [html.Li(t("confusion.compared", n=fmt.count(found.samples), labels=fmt.count(found.labels)))]
    if found.other_truth:
        notes.append(html.Li(t("confusion.other_truth", n=fmt.count(found.other_truth))))
    return [
        html.Ul(notes, className="ms-confusion-notes"), _transitions(names, found), *_rows(ask, names, found),
    ]  # fmt: skip


def _transitions(names: Sequence[str], found: OutcomeChanges) -> Any:
    counts = [TableColumn("confusion.better_n", COUNT), TableColumn("confusion.worse_n", COUNT)]
    counts += [TableColumn([_chip(a), " → ", _chip(b)], COUNT) for a, b in MOVES]
    lines = [
        (_cut(name), found.improved(run), found.worse(run), *(int(moves[KNOWN.index(a), KNOWN.index(b)]) for a, b in MOVES))
        for run, (name, moves) in enumerate(zip(names[1:], found.transitions, strict=True), start=1)
    ]
    return table(
        [TableColumn("confusion.run"), *counts], lines, caption=t("confusion.against", run=names[0]), label="confusion.changes",
        class_name="ms-confusion-labels", scroll="ms-confusion-scroll",
    )  # fmt: skip


def chosen_rows(found: OutcomeChanges, kind: str) -> Ints:
    """Return the positions of the rows of a kind, what became wrong first.

    worse: right in the first run and wrong in another one; better: wrong in the first run and right in another one.
    """
    frame = found.frame
    right = np.stack([frame[f"outcome_{run}"].isin(RIGHT).to_numpy() for run in range(len(found.transitions) + 1)])
    worse, better = right[0] & ~right[1:].all(axis=0), ~right[0] & right[1:].any(axis=0)
    kept = {"worse": worse, "better": better}.get(kind, np.ones(len(frame), np.bool_))
    rows: Ints = np.flatnonzero(kept)[np.argsort(~worse[kept], kind="stable")]
    return rows


def _rows(ask: ConfusionRequest, names: Sequence[str], found: OutcomeChanges) -> list[Any]:
    rows = chosen_rows(found, ask.kind)
    if not len(rows):
        return [html.P(t("confusion.no_changes"), className="ms-muted")]
    columns = [TableColumn("confusion.sample"), TableColumn("confusion.label"), *(TableColumn(_cut(name)) for name in names)]
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
            cells.append(Cell([_chip(str(row[f"outcome_{place}"])), text], link={**link, "data-clear": "1"}))
        lines.append((str(sample), _cut(row["name"]), *cells))
    drawn = table(
        columns, lines, label="confusion.changed_samples", class_name="ms-confusion-labels", scroll="ms-confusion-scroll",
        heads=0,
    )  # fmt: skip
    return [drawn, *first_of("confusion.first_rows", len(lines), len(rows))]


def _chip(outcome: str) -> html.Span:
    return html.Span(outcome, className=f"ms-outcome ms-outcome-{outcome}")


def _cut(name: str) -> html.Span:
    return html.Span(name, className="ms-cut ms-name", title=name)

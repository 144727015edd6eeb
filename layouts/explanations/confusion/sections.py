"""The sections of the page as components: what is right and what was counted, the matrix, one cell, and the labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import numpy as np
from dash import html
from parsers.analysis.explanations import confusion
from parsers.analysis.explanations.counted import Counted
from parsers.deferred import pandas as pd
from parsers.explanations.snapshot import Explanations
from parsers.model import Floats, Ints

from layouts.explanations.confusion_asks import ConfusionRequest, labels_of
from layouts.explanations.explanation_choice import ExplanationChoice
from layouts.explanations.filtering import matching
from layouts.explanations.links import address
from layouts.kit import units as fmt
from layouts.kit.i18n import LANGUAGES, attributes, both, t
from layouts.kit.tables import COUNT, SHARE, Cell, Sort, TableColumn, TableRow, first_of, table

MOST_LABELS = 24
"""Labels of the matrix on the page; its file has all."""
MOST_ROWS = 100
"""Rows of a table on the page; its file has all."""
MOST_PICTURES = 48
"""Samples of a cell that are shown; the saliency page has all."""
_COUNTS = ("support", "predicted", "tp", "fp", "fn", "tn")
_SCORES = ("precision", "recall", "f1")


# The sentence ---------------------------------------------------------------------------------------------------------


def head(ask: ConfusionRequest, found: Counted, cells: pd.DataFrame, averages: pd.DataFrame) -> list[Any]:
    """How many samples are right, the averages, and what was counted."""
    threshold, size = ask.choice.threshold, len(found.sample)
    if not size:
        return [html.P(t("confusion.nothing"), className="ms-confusion-said"), _notes(ask, found)]
    if found.single:
        right = int(cells.loc[~cells["none"] & (cells["truth"] == cells["predicted"]), "count"].sum())
        key, exact = "confusion.right", not confusion.undecided(found, threshold)
    else:
        right = confusion.exact_matches(found, threshold)
        key, exact = "confusion.right_all", found.exact(threshold)
    said = t(key if exact else f"{key}_at_most", n=fmt.count(right), total=fmt.count(size), share=fmt.percent(right / size))
    rows = {str(row["average"]): row for row in averages.to_dict("records")}
    tiles = [
        html.Div(
            [
                html.Span(t(f"confusion.{name}"), className="ms-muted", **attributes(title=f"confusion.{name}.tip")),
                html.B(fmt.percent(rows["micro"][name])),
                html.Span(t("confusion.macro_n", value=fmt.percent(rows["macro"][name])), className="ms-muted"),
            ],
            className="ms-confusion-tile",
        )
        for name in _SCORES
    ]
    return [html.P(said, className="ms-confusion-said"), html.Div(tiles, className="ms-confusion-tiles"), _notes(ask, found)]


def _notes(ask: ConfusionRequest, found: Counted) -> html.Ul:
    """What was counted and what was not, and where counts are bounds."""
    threshold, size = ask.choice.threshold, len(found.sample)
    notes = [t("confusion.counted", n=fmt.count(size), labels=fmt.count(len(found.label)), t=f"{threshold:g}")]
    if ask.choice.text:
        notes.append(t("confusion.only", text=ask.choice.text))
    if found.without_truth:
        notes.append(t("confusion.without_truth", n=fmt.count(found.without_truth)))
    if found.without_predictions:
        notes.append(t("confusion.without_predictions", n=fmt.count(found.without_predictions)))
    unknown = int(np.isnan(found.probability).sum())
    if unknown:
        notes.append(t("confusion.unknown", n=fmt.count(unknown)))
    if not found.exact(threshold):
        notes.append(t("confusion.at_most"))
        undecided = confusion.undecided(found, threshold) if found.single else 0
        if undecided:
            notes.append(t("confusion.undecided", n=fmt.count(undecided)))
    return html.Ul([html.Li(note) for note in notes], className="ms-confusion-notes")


# The matrix -----------------------------------------------------------------------------------------------------------


def matrix(ask: ConfusionRequest, found: Counted, cells: pd.DataFrame) -> list[Any]:
    """Predicted against true labels: a table whose cells are buttons."""
    if not len(found.sample):
        return [html.P(t("confusion.nothing"), className="ms-muted")]
    labels = confusion.confused(found, cells, ask.choice.threshold, most=MOST_LABELS, among=labels_of(ask.shown))
    names = dict(zip(found.label.tolist(), found.name, strict=True))
    grid = confusion.grid(cells, labels)
    rows, columns = totals(found, cells, labels, ask.choice.threshold)
    shares = _shares(ask.cells, grid, rows, columns)
    other = rows - grid.sum(axis=1) if found.single else None
    shown_other = other is not None and bool(other.any())
    columns_shown = [
        TableColumn("confusion.true_by_predicted"),
        *(TableColumn(_titled(_name(names, label))) for label in labels.tolist()),
        *([TableColumn(html.Span(t("confusion.others")), class_name="ms-number ms-muted")] if shown_other else []),
        TableColumn(html.Span(t("confusion.none")), tip="confusion.none.tip"),
        TableColumn(html.Span(t("confusion.support")), class_name="ms-number ms-confusion-sum"),
    ]
    lines = []
    for place, label in enumerate(labels.tolist()):
        values = [
            _cell(ask, names, label, other_label, int(grid[place, at]), float(shares[place, at]))
            for at, other_label in enumerate([*labels.tolist(), None])
        ]
        none = values.pop()
        if shown_other and other is not None:
            values.append(Cell(fmt.count(int(other[place]))))
        lines.append((_titled(_name(names, label)), *values, none, fmt.count(int(rows[place]))))
    drawn = table(
        columns_shown, lines, class_name="ms-confusion-matrix", scroll="ms-confusion-scroll",
        label="confusion.matrix" if found.single else "confusion.pairs",
    )  # fmt: skip
    every = len(ask.shown) or len(np.unique(np.concatenate([cells["truth"], cells.loc[~cells["none"], "predicted"]])))
    about = t("confusion.matrix_about" if found.single else "confusion.pairs_about")
    wrong = confusion.errors(found, cells, ask.choice.threshold)
    cut = "confusion.cut" if wrong[np.isin(found.label, labels)].all() else "confusion.cut_free"
    return [html.P(about, className="ms-muted"), drawn, *first_of(cut, len(labels), every)]


def totals(found: Counted, cells: pd.DataFrame, labels: Ints, threshold: float) -> tuple[Ints, Ints]:
    """Return for each shown label the samples of which it is true, and of which it is predicted; last, those without.

    In a confusion matrix these are the sums of rows and columns; in a table of pairs a sample counts once, though it is in
    several cells.
    """
    size, place = len(found.label), np.searchsorted(found.label, labels)
    true = np.bincount(found.column[found.truth], minlength=size)[place]
    if found.single:
        none = cells["none"].to_numpy()
        at, count = np.searchsorted(found.label, cells["predicted"].to_numpy()[~none]), cells["count"].to_numpy()
        predicted = np.bincount(at, weights=count[~none], minlength=size)
        without = int(count[none].sum())
    else:
        reached = found.reached(threshold)
        predicted = np.bincount(found.column[reached], minlength=size)
        without = len(found.sample) - len(np.unique(found.row[reached]))
    return true.astype(np.int64), np.append(predicted[place], without).astype(np.int64)


def _shares(mode: str, grid: Ints, rows: Ints, columns: Ints) -> Floats:
    """Return what cells are shaded and labelled by: shares of the row, of the column, or of the samples in the largest cell."""
    if mode == "true":
        whole = np.repeat(rows[:, None], grid.shape[1], axis=1)
    elif mode == "predicted":
        whole = np.repeat(columns[None, :], len(grid), axis=0)
    else:
        whole = np.full(grid.shape, max(int(grid.max()) if grid.size else 0, 1))
    return np.divide(grid, whole, out=np.zeros(grid.shape), where=whole > 0)


def _cell(ask: ConfusionRequest, names: Mapping[int, str], truth: int, other: int | None, count: int, share: float) -> Cell:
    if not count:
        return Cell("0" if ask.cells == "count" else "0 %", class_name="ms-number ms-confusion-zero")
    kind = "none" if other is None else "right" if truth == other else "wrong"
    text = fmt.count(count) if ask.cells == "count" else fmt.percent(share)
    named = {"truth": _name(names, truth), "other": "" if other is None else _name(names, other)}
    values = {"n": fmt.count(count), "shown": text, **named}
    key = "confusion.cell_none" if other is None else "confusion.cell"
    pressed = ask.cell == (truth, other)
    button = html.Button(
        text, type="button", className="ms-confusion-cell", style={"--share": f"{100 * share:.0f}%"},
        **{"data-cell": f"{truth},{'none' if other is None else other}", "aria-pressed": str(pressed).lower()},
        **attributes(values, title=key, aria_label=f"{key}_named"),
    )  # fmt: skip
    return Cell(button, class_name=f"ms-number ms-confusion-{kind}")


# One cell -------------------------------------------------------------------------------------------------------------


def cell(ask: ConfusionRequest, explained: Explanations, found: Counted, routes: str) -> list[Any]:
    """The samples of the chosen cell with their pictures, and the way to the saliency page."""
    assert ask.cell is not None
    truth, other = ask.cell
    choice = ask.choice
    names = dict(zip(found.label.tolist(), found.name, strict=True))
    ids = confusion.members(found, choice.threshold, truth, other)
    values = {"n": fmt.count(len(ids)), "truth": _name(names, truth), "other": "" if other is None else _name(names, other)}
    said = t("confusion.cell_none" if other is None else "confusion.cell", **values)
    state = filters_of(truth, other)
    there = matching(explained, _choice(choice, state)).rows
    more = len(there) - len(ids)
    link = address("saliency", choice.run, threshold=choice.threshold, text=choice.text, **state)
    lines: list[Any] = [html.P([said, " ", html.A(t("confusion.saliency"), **link, **{"data-clear": "1"})])]
    if more:
        lines.append(html.P(t("confusion.more", n=fmt.count(len(there))), className="ms-muted"))
    rows = np.searchsorted(explained.samples["sample"].to_numpy(), ids[:MOST_PICTURES])
    lines.append(html.Div(
        [_picture(ask, explained, names, int(row), routes, state) for row in rows], className="ms-confusion-pictures"
    ))  # fmt: skip
    if len(ids) > MOST_PICTURES:
        lines.append(html.P(t("confusion.first", n=MOST_PICTURES, total=fmt.count(len(ids))), className="ms-muted"))
    return lines


def filters_of(truth: int, other: int | None) -> Mapping[str, Sequence[str | int]]:
    """Return the filters of the saliency page that come nearest to a cell."""
    if other is None:
        return {"truth": [truth], "label": [truth], "outcome": ["fn"]}
    return {"truth": [truth], "label": [other], "outcome": ["tp"] if truth == other else ["fp", "tp"]}


def _choice(choice: ExplanationChoice, state: Mapping[str, Sequence[Any]]) -> ExplanationChoice:
    return ExplanationChoice(
        choice.run, labels=tuple(state["label"]), outcomes=tuple(state["outcome"]), truth=tuple(state["truth"]),
        text=choice.text, threshold=choice.threshold,
    )  # fmt: skip


def _picture(
    ask: ConfusionRequest, explained: Explanations, names: Mapping[int, str], row: int, routes: str,
    state: Mapping[str, Sequence[Any]],
) -> html.A:
    """A sample: its picture, its id, and its strongest labels."""
    choice = ask.choice
    sample = int(explained.samples["sample"].to_numpy()[row])
    predicted = explained.predicted
    first, last = int(predicted.start[row]), int(predicted.start[row + 1])
    order = first + np.argsort(-np.nan_to_num(predicted.probability[first:last], nan=-1.0), kind="stable")[:2]
    labels = [f"{_name(names, int(predicted.label[at]))} {fmt.number(float(predicted.probability[at]), 3)}" for at in order]
    link = address("saliency", choice.run, threshold=choice.threshold, text=choice.text, sample=sample, **state)
    query = urlencode({"run": choice.run, "sample": sample})
    picture: Any = html.Span("–", className="ms-muted")
    if explained.samples["image"].array[row]:
        # The browser sets src, so that it loads only what comes into view.
        said = both("confusion.picture", sample=sample, labels=", ".join(labels))[LANGUAGES.index(ask.language)]
        picture = html.Img(alt=said, **{"data-src": f"{routes}explanation/image?{query}"})
    lines = [html.Span(one, title=one) for one in labels]
    return html.A(
        [html.Span(picture, className="ms-confusion-thumb"), html.B(str(sample)), *lines],
        className="ms-confusion-picture", **link, **{"data-clear": "1"},
    )  # fmt: skip


# Labels ---------------------------------------------------------------------------------------------------------------


def labels(ask: ConfusionRequest, found: Counted, frame: pd.DataFrame, averages: pd.DataFrame) -> list[Any]:
    """Each label against the rest, with the averages above."""
    if not len(frame):
        return [html.P(t("confusion.no_labels"), className="ms-muted")]
    column, falling = ask.by
    bound = not found.exact(ask.choice.threshold)
    rows = frame.iloc[sorted_rows(frame, column, falling=falling)[:MOST_ROWS]]
    columns = [TableColumn("confusion.name", tip="confusion.name.tip", sort="label")]
    columns += [TableColumn(f"confusion.{name}", COUNT, tip=f"confusion.{name}.tip", sort=name) for name in _COUNTS]
    columns += [TableColumn(f"confusion.{name}", SHARE, tip=f"confusion.{name}.tip", sort=name) for name in _SCORES]
    average_rows = [
        TableRow((
            Cell(t(f"confusion.{row['average']}"), props=attributes(title=f"confusion.{row['average']}.tip")),
            *[""] * len(_COUNTS), *(row[name] for name in _SCORES),
        ), "ms-confusion-average")
        for row in averages.to_dict("records")
    ]  # fmt: skip
    lines = [
        (_cut(str(row["name"])), *(_outcome(ask, row, name, bound=bound) for name in _COUNTS),
         *(_bar(float(row[name])) for name in _SCORES))
        for row in rows.to_dict("records")
    ]  # fmt: skip
    drawn = table(
        columns, [*average_rows, *lines], class_name="ms-confusion-labels", scroll="ms-confusion-scroll",
        label="confusion.labels", sort=Sort(column, falling),
    )  # fmt: skip
    note = first_of("confusion.first_labels", min(len(frame), MOST_ROWS), len(frame))
    return [html.P(t("confusion.labels_about"), className="ms-muted"), drawn, *note]


def sorted_rows(table: pd.DataFrame, column: str, *, falling: bool) -> Ints:
    """Return the positions of the rows by a column; what has no value comes last, equal values by number."""
    values = table[column].to_numpy().astype(np.float64)
    order: Ints = np.argsort(-values if falling else values, kind="stable")
    return order


def _outcome(ask: ConfusionRequest, row: Mapping[Any, Any], name: str, *, bound: bool) -> Any:
    """A count, which leads to its samples; bounds are marked."""
    count = int(row[name])
    mark = {"fp": "≥ ", "predicted": "≥ ", "tn": "≤ "}.get(name, "") if bound else ""
    outcomes = {"support": ["tp", "fn"], "predicted": ["tp", "fp"]}.get(name, [name])
    text = mark + fmt.count(count)
    if not count:
        return text
    choice, label = ask.choice, int(row["label"])
    link = address("saliency", choice.run, threshold=choice.threshold, text=choice.text, label=label, outcome=outcomes)
    return Cell(text, link={"className": "ms-confusion-count", **link, "data-clear": "1"})


def _bar(value: float) -> Cell:
    if math.isnan(value):
        return Cell(fmt.UNKNOWN, class_name="ms-muted")
    bar = html.Span(fmt.percent(value), className="ms-confusion-bar", style={"--share": f"{100 * value:.1f}%"})
    return Cell(bar, props={"title": SHARE.exact(value)})


def _titled(name: str) -> html.Span:
    return html.Span(name, title=name)


def _cut(name: str) -> html.Span:
    return html.Span(name, className="ms-cut ms-name", title=name)


def _name(names: Mapping[int, str], label: int) -> str:
    return names.get(label, both("confusion.label_n", n=label)[0])



"""The cards about operations of the pipeline: drawn, one with its queue, as a table. A card with nothing to show is None."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dash import html

from layouts import format as fmt
from layouts.i18n import t
from layouts.pages.preparation import pieces
from layouts.pages.preparation.figures import COLOURS, EMPTY, Curve, figure
from layouts.pages.preparation.given import Given
from layouts.pages.preparation.pieces import Cell, csv, number, percent, plot, time

MOST_OPERATIONS = 300
"""Of a pipeline so many operations are drawn and listed; the CSV file has all."""
DEEPEST = 20
"""Branches within branches; deeper ones are drawn as lines of their own."""


def pipeline(of: Given) -> Any:
    """Operations from left to right with the use of the queue behind each."""
    rows = of.operations
    if rows is None:
        return None
    shown = rows.head(MOST_OPERATIONS).to_dict("records")
    left = len(rows) - len(shown)
    more = [html.P(t("preparation.left", n=fmt.count(left)), className="ms-muted")] if left else []
    lines = [html.Div(line.parts, className="ms-preparation-node") for line in _lines(of, shown)]
    return [html.Div(lines, className="ms-preparation-pipeline"), *more]


@dataclass(frozen=True, slots=True)
class _Line:
    """Operations one after the other; the first part may hold branches. depth: how many branches are within each other."""

    parts: list[Any]
    depth: int = 0


def _lines(of: Given, rows: Sequence[Mapping[Any, Any]]) -> list[_Line]:
    """The pipeline as lines: one, unless operations name parents that are not there, or branches are too deep."""
    slow, known = {one.op_id for one in of.slow}, {int(row["op_id"]) for row in rows}
    ends: list[_Line] = []
    feeding: dict[int, list[_Line]] = {}
    # Children come after their parents in the file: from the last on, each operation finds what feeds it.
    for row in reversed(rows):
        op_id, parent = int(row["op_id"]), int(row["parent"])
        before = feeding.pop(op_id, [])
        if len(before) > 1 and max(line.depth for line in before) >= DEEPEST:
            ends, before = before + ends, []
        box = _operation(row, slow=op_id in slow, chosen=op_id == of.chosen)
        if len(before) > 1:
            inside = [html.Div(line.parts, className="ms-preparation-node") for line in before]
            line = _Line([html.Div(inside, className="ms-preparation-branches"), box], 1 + max(one.depth for one in before))
        else:
            line = _Line([*before[0].parts, box], before[0].depth) if before else _Line([box])
        (feeding.setdefault(parent, []) if parent in known and parent != op_id else ends).insert(0, line)
    return ends + [line for left in feeding.values() for line in left]


def _operation(row: Mapping[Any, Any], *, slow: bool, chosen: bool) -> html.Div:
    use = row["queue_use"]
    workers = [html.Span(t("preparation.workers", n=row["workers"]), className="ms-muted")] if row["workers"] >= 0 else []
    box = html.Button(
        [html.Strong(str(row["type"])), *workers], type="button",
        className="ms-preparation-operation" + " ms-preparation-slow" * slow,
        **{"data-op": str(row["op_id"]), "aria-pressed": "true" if chosen else "false"},
    )  # fmt: skip
    if not math.isfinite(use):
        return html.Div(box, className="ms-preparation-step")
    bar = html.Span(html.Span(style={"width": f"{min(1.0, max(0.0, use)):.1%}"}), className="ms-preparation-use")
    queue = html.Div([bar, html.Span(f"{use:.0%}")], className="ms-preparation-behind")
    return html.Div([box, queue], className="ms-preparation-step")


def queue(of: Given) -> Any:
    """Entries in the queue behind the chosen operation, sample by sample, and what is known of the operation."""
    rows, chosen = of.operations, of.chosen
    if rows is None or chosen is None:
        return None
    row = next(row for row in rows.to_dict("records") if row["op_id"] == chosen)
    facts: list[tuple[str, Any]] = [("id", row["op_id"])]
    facts += [("workers", row["workers"])] if row["workers"] >= 0 else []
    written = [("mean", "queue_mean", number), ("length", "queue_length", number), ("use", "queue_use", percent),
               ("empty", "queue_empty", percent), ("cpu", "cpu", percent), ("interval", "interval_ns", time)]  # fmt: skip
    facts += [(name, told(row[key])) for name, key, told in written if np.isfinite(row[key])]
    facts += [("info", str(row["info"]))] if row["info"] else []
    listed = html.Dl([html.Div([html.Dt(t(f"preparation.fact.{name}")), html.Dd(str(value))]) for name, value in facts])
    title = html.H4(str(row["type"]), className="ms-preparation-title")
    queues = of.frames["queues"]
    samples = queues[(queues["queue"] == "operator") & (queues["op_id"] == chosen)] if queues is not None else None
    if samples is None or not len(samples):
        return [title, listed, html.P(t("preparation.no_samples"), className="ms-muted")]
    size = samples["size"].to_numpy()
    curve = Curve(samples["step"].to_numpy(np.float64), size, COLOURS[0], np.flatnonzero(size == 0), stepped=True)
    drawn = [curve]
    names = [(COLOURS[0], t("preparation.entries")), (EMPTY, t("preparation.is_empty"))]
    capacity = row["queue_length"]
    if np.isfinite(capacity) and len(size) > 1:
        ends = curve.x[[0, -1]]
        drawn.append(Curve(ends, np.full(2, capacity), "#7d8794", dash="dot"))
        names.append(("#7d8794", t("preparation.col.capacity")))
    return [title, listed, *plot(figure(drawn), names, "preparation.by_sample")]


def table(of: Given) -> Any:
    """All operations, and the stages that dataset.csv times."""
    whole = of.frames["pipeline"]
    if whole is None or not len(whole):
        return None
    rows = whole.head(MOST_OPERATIONS).to_dict("records")
    shown: list[tuple[str, Callable[[Any], str]]] = [
        ("op_id", lambda value: str(value) if value >= 0 else "–"), ("type", str), ("stage", str),
        ("workers", lambda value: str(value) if value >= 0 else "–"), ("queue_mean", number), ("queue_length", number),
        ("queue_use", percent), ("queue_empty", percent), ("cpu", percent), ("count", number), ("mean_ns", time),
    ]  # fmt: skip
    blank = {"", "–"}
    kept = [(name, told) for name, told in shown if any(told(row[name]) not in blank for row in rows)]
    body = [tuple(Cell(told(row[name]), row[name]) for name, told in kept) for row in rows]
    head = [f"preparation.of.{name}" for name, _ in kept]
    return pieces.table(head, body, [csv(of, "pipeline")], left=len(whole) - len(rows))

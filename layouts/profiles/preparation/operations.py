"""The cards about pipeline operations: a drawing, the queue of one, a table. Each function returns None if it has no data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dash import html

from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.profiles.preparation import elements
from layouts.profiles.preparation.card_data import CardData
from layouts.profiles.preparation.elements import SortedCell, csv, number, plot, time
from layouts.profiles.preparation.figures import COLOURS, EMPTY, QueueCurve, figure

MOST_OPERATIONS = 300
"""Maximum number of operations drawn and listed; the CSV file has all."""
DEEPEST = 20
"""Maximum depth of branches within branches; deeper ones are drawn as separate lines."""


def pipeline(data: CardData) -> Any:
    """Return the operations from left to right, each with the use of its output queue."""
    rows = data.operations
    if rows is None:
        return None
    shown = rows.head(MOST_OPERATIONS).to_dict("records")
    left = len(rows) - len(shown)
    more = [html.P(t("preparation.left", n=fmt.count(left)), className="ms-muted")] if left else []
    lines = [html.Div(line.parts, className="ms-preparation-node") for line in _lines(data, shown)]
    return [html.Div(lines, className="ms-preparation-pipeline"), *more]


@dataclass(frozen=True, slots=True)
class _Line:
    """Operations in sequence; the first part may hold branches. depth: how deeply branches are nested."""

    parts: list[Any]
    depth: int = 0


def _lines(data: CardData, rows: Sequence[Mapping[Any, Any]]) -> list[_Line]:
    """The pipeline as lines: a single one, unless operations name missing parents or branches are nested too deeply."""
    slow, known = {one.op_id for one in data.slow}, {int(row["op_id"]) for row in rows}
    ends: list[_Line] = []
    feeding: dict[int, list[_Line]] = {}
    # Children come after their parents in the file, so in reverse order each operation's inputs are known already.
    for row in reversed(rows):
        op_id, parent = int(row["op_id"]), int(row["parent"])
        before = feeding.pop(op_id, [])
        if len(before) > 1 and max(line.depth for line in before) >= DEEPEST:
            ends, before = before + ends, []
        box = _operation(row, slow=op_id in slow, chosen=op_id == data.chosen)
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
    queue = html.Div([bar, html.Span(fmt.percent(use))], className="ms-preparation-behind")
    return html.Div([box, queue], className="ms-preparation-step")


def queue(data: CardData) -> Any:
    """Return the size of the chosen operation's output queue, sample by sample, and facts about the operation."""
    rows, chosen = data.operations, data.chosen
    if rows is None or chosen is None:
        return None
    row = next(row for row in rows.to_dict("records") if row["op_id"] == chosen)
    facts: list[tuple[str, Any]] = [("id", row["op_id"])]
    facts += [("workers", row["workers"])] if row["workers"] >= 0 else []
    written: list[tuple[str, str, Callable[[float], str]]] = [
        ("mean", "queue_mean", number), ("length", "queue_length", number), ("use", "queue_use", fmt.percent),
        ("empty", "queue_empty", fmt.percent), ("cpu", "cpu", fmt.percent), ("interval", "interval_ns", time),
    ]  # fmt: skip
    facts += [(name, write(row[key])) for name, key, write in written if np.isfinite(row[key])]
    facts += [("info", str(row["info"]))] if row["info"] else []
    listed = html.Dl([
        html.Div([html.Dt(t(f"preparation.fact.{name}")), html.Dd(str(value), className=f"ms-preparation-fact-{name}")])
        for name, value in facts
    ])
    title = html.H4(str(row["type"]), className="ms-preparation-title")
    queues = data.frames["queues"]
    samples = queues[(queues["queue"] == "operator") & (queues["op_id"] == chosen)] if queues is not None else None
    if samples is None or not len(samples):
        return [title, listed, html.P(t("preparation.no_samples"), className="ms-muted")]
    size = samples["size"].to_numpy()
    curve = QueueCurve(samples["step"].to_numpy(np.float64), size, COLOURS[0], np.flatnonzero(size == 0), stepped=True)
    drawn = [curve]
    names = [(COLOURS[0], t("preparation.entries")), (EMPTY, t("preparation.is_empty"))]
    capacity = row["queue_length"]
    if np.isfinite(capacity) and len(size) > 1:
        ends = curve.x[[0, -1]]
        drawn.append(QueueCurve(ends, np.full(2, capacity), "#7d8794", dash="dot"))
        names.append(("#7d8794", t("preparation.col.capacity")))
    return [title, listed, *plot(figure(drawn), names, "preparation.by_sample")]


def table(data: CardData) -> Any:
    """Return the table of all operations, and of the stages timed in dataset.csv."""
    whole = data.frames["pipeline"]
    if whole is None or not len(whole):
        return None
    rows = whole.head(MOST_OPERATIONS).to_dict("records")
    shown: list[tuple[str, Callable[[Any], str]]] = [
        ("op_id", lambda value: str(value) if value >= 0 else "–"), ("type", str), ("stage", str),
        ("workers", lambda value: str(value) if value >= 0 else "–"), ("queue_mean", number), ("queue_length", number),
        ("queue_use", fmt.percent), ("queue_empty", fmt.percent), ("cpu", fmt.percent), ("count", number), ("mean_ns", time),
    ]  # fmt: skip
    blank = {"", "–"}
    columns = [(name, write) for name, write in shown if any(write(row[name]) not in blank for row in rows)]
    body = [tuple(SortedCell(write(row[name]), row[name]) for name, write in columns) for row in rows]
    head = [f"preparation.of.{name}" for name, _ in columns]
    return elements.table(head, body, [csv(data, "pipeline")], left=len(whole) - len(rows))

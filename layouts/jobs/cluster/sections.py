"""Communication by parallel dimension, and the load of experts, as components."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.jobs.dimensions import Dimension
from parsers.analysis.jobs.experts import Load

from layouts.kit import units as fmt
from layouts.kit.i18n import CATALOGUE, t
from layouts.kit.tables import COUNT, NUMBER, TIME_NS, TRAFFIC, TableColumn, table

MOST_RANKS = 12
"""Ranks listed with their load; the rest are counted."""
_COLUMNS = (
    TableColumn("cluster.dim.kind"), TableColumn("cluster.dim.groups", COUNT), TableColumn("cluster.dim.operations", NUMBER),
    TableColumn("cluster.dim.elapse", TIME_NS), TableColumn(html.Span(className="ms-cluster-track-head"), number=True),
    TableColumn("cluster.dim.highest", number=True), TableColumn("cluster.dim.wait", TIME_NS),
    TableColumn("cluster.dim.size", TRAFFIC),
)  # fmt: skip


def dimension_table(found: Sequence[Dimension], wanted: Sequence[str]) -> Any:
    """Return a table with a row and a bar for each dimension, or a sentence if no operation is known."""
    if not found:
        files = " / ".join(wanted[:3])
        return html.P(t("cluster.dim.none", files=files) if files else t("cluster.dim.nothing"), className="ms-muted")
    longest = max(one.highest_ns for one in found) or 1.0
    rows = [_row(one, longest) for one in found]
    drawn = table(_COLUMNS, rows, class_name="ms-breakdown-table ms-cluster-table", scroll="ms-cluster-scroll")
    return html.Div([drawn, html.P(t("cluster.dim.note"), className="ms-muted ms-cluster-note")])


def _row(one: Dimension, longest: float) -> Sequence[Any]:
    key = f"cluster.dim.{one.kind}" if one.kind else "cluster.dim.unknown"
    name: list[Any] = [t(key) if key in CATALOGUE else one.kind]
    name += [" ", html.Span(one.kind, className="ms-muted")] if one.kind and key in CATALOGUE else []
    spread = [html.Span(className="ms-cluster-track-most", style={"width": f"{100.0 * one.highest_ns / longest:.2f}%"}),
              html.Span(className="ms-cluster-track-mean", style={"width": f"{100.0 * one.elapse_ns / longest:.2f}%"})]
    time = html.Span(TIME_NS.write(one.highest_ns), title=TIME_NS.exact(one.highest_ns))
    highest = [time, " ", html.Span(f"rank {fmt.count(one.highest_rank)}", className="ms-muted")]
    return (
        html.Span(name), one.groups, one.operations, one.elapse_ns, html.Div(spread, className="ms-cluster-track"),
        html.Span(highest), one.wait_ns, one.size_bytes,
    )  # fmt: skip


def expert_list(load: Load | None) -> Any:
    """Return the most loaded rank in a sentence, and the ranks by their load as bars; or what was not checked."""
    if load is None:
        return html.P(t("cluster.experts.none"), className="ms-muted")
    order = np.argsort(-np.nan_to_num(load.share, nan=-1.0), kind="stable").tolist()
    first = order[0]
    value, share = float(load.values[first]), float(load.share[first])
    text = _amount if load.source == "tokens" else partial(fmt.prefixed, unit="B")
    mean = value / share if share > 0.0 else 0.0
    told = {"rank": fmt.count(int(load.ranks[first])), "share": f"{share:.2f}", "value": text(value), "mean": text(mean)}
    listed = order if len(order) <= MOST_RANKS else [*order[: MOST_RANKS // 2], *order[-MOST_RANKS // 2 :]]
    largest = float(np.nanmax(load.share, initial=1.0))
    rows: list[Any] = []
    for number, place in enumerate(listed):
        if len(order) > MOST_RANKS and number == MOST_RANKS // 2:
            rows.append(html.Li("…", className="ms-muted", **{"aria-hidden": "true"}))
        width = 100.0 * float(np.nan_to_num(load.share[place])) / largest
        rows.append(
            html.Li(
                [
                    html.Span(f"rank {fmt.count(int(load.ranks[place]))}", className="ms-cluster-load-name"),
                    html.Span(html.Span(className="ms-cluster-track-mean", style={"width": f"{width:.2f}%"}),
                              className="ms-cluster-track"),
                    html.Span(f"{text(float(load.values[place]))} · {load.share[place]:.2f}×", className="ms-number"),
                ]
            )
        )  # fmt: skip
    return html.Div(
        [
            html.P(t(f"cluster.experts.{load.source}", **told)), html.Ul(rows, className="ms-cluster-loads"),
            html.P(t(f"cluster.experts.of_{load.source}"), className="ms-muted ms-cluster-note"),
        ]
    )  # fmt: skip


def _amount(value: float) -> str:
    return fmt.count(round(value))

"""Statistics of a graph as components and CSV: operator types, parameters by scope, operators with a precision flag."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dash import html
from parsers import PayloadError
from parsers.analysis.graphs import GraphView
from parsers.analysis.graphs.counts import operator_types, parameters, precision, scope_parameters
from parsers.analysis.graphs.opened import OpenGraph
from parsers.deferred import pandas as pd

from layouts.graphs.asks import read_of
from layouts.graphs.graph_views import Of, Views
from layouts.kit import tables
from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.kit.state import text
from layouts.kit.tables import BYTES, COUNT, SHARE, TableColumn

MOST = 300
"""Maximum number of rows of a table; the CSV file has all."""
MOST_SCOPES = 20
LONGEST = 500
"""Maximum characters of a search text."""
TABLES = ("types", "scopes", "parameters", "precision")


def statistics(views: Views, of: Of) -> list[Any]:
    """Return the tables of types, scopes and parameters, one per card; empty ones if the graph cannot be read."""
    try:
        _, view = views.of(of)
    except PayloadError:
        return [[], [], []]
    return [_types(view), _scopes(view), _parameters(view)]


def flagged(views: Views, data: Any) -> list[Any]:
    """Return the table of operators with a precision flag, those that reduce precision first.

    data["flag"] filters them by a text in full name, type or flag; data["flagged"] == "all" adds operators without a flag.
    """
    query, every = text(data, "flag", limit=LONGEST).lower().strip(), text(data, "flagged") == "all"
    try:
        opened, view = views.of(read_of(data))
    except PayloadError:
        return []
    flags = opened.flags
    frame = precision(view.network, flags, every=every)
    if not flags and not every:
        return [html.P(t("graph.no_flags"), className="ms-muted ms-graph-note")]
    if query:
        named = (frame[name].str.lower().str.contains(query, regex=False) for name in ("full_name", "type", "flag"))
        frame = frame[pd.concat(list(named), axis=1).any(axis=1)]
    reduced = int((frame["reduced"] == "yes").sum())
    raised = int((frame["reduced"] == "no").sum())
    said = t("graph.flagged", n=fmt.count(len(frame)), reduced=fmt.count(reduced), raised=fmt.count(raised))
    rows = [
        [
            _jump(f"n{row['node']}", row["name"], row["full_name"]),
            row["full_name"].rpartition("/")[0], row["type"], row["flag"],
            t(f"graph.reduced.{row['reduced']}") if row["reduced"] else "", row["output_type"], row["shape"],
        ]
        for row in frame.head(MOST).to_dict("records")
    ]  # fmt: skip
    names = ("name", "scope", "type", "flag", "reduced", "output_type", "shape")
    return [html.P(said, className="ms-muted ms-graph-note", role="status"), _table(names, rows, len(frame))]


def table(opened: OpenGraph, view: GraphView, name: str) -> pd.DataFrame:
    """Return all rows of one of TABLES."""
    if name == "types":
        return operator_types(view.network)
    if name == "scopes":
        return scope_parameters(view.scopes)
    return parameters(view.scopes) if name == "parameters" else precision(view.network, opened.flags)


_QUANTITIES = {
    **dict.fromkeys(("count", "parameters", "in_scopes", "values"), COUNT), "share": SHARE, "bytes": BYTES,
}  # fmt: skip


def csv(frame: pd.DataFrame) -> str:
    """Write a frame as CSV. Texts that look like formulas are escaped."""
    return tables.csv([TableColumn([name], name=name) for name in frame.columns], frame.itertuples(index=False))


def _types(view: GraphView) -> html.Div:
    frame = operator_types(view.network)
    most = int(frame["count"].max()) if len(frame) else 1
    rows = []
    for row in frame.head(MOST).to_dict("records"):
        bar = html.Span(className="ms-graph-bar", style={"width": f"{100 * row['count'] / most:.1f}%"})
        find = html.Button(row["type"], type="button", className="ms-graph-jump", **{"data-find": f"type:{row['type']}"})
        rows.append([find, row["count"], row["share"], row["scopes"], html.Div(bar, className="ms-graph-bars")])
    return _table(("type", "count", "share", "in_scopes", ""), rows, len(frame))


def _parameters(view: GraphView) -> html.Div:
    frame = parameters(view.scopes)
    frame = frame[frame["stored"]]
    rows = [
        [_jump(f"n{row['node']}", row["name"]), row["shape"], row["type"], row["values"], row["bytes"]]
        for row in frame.head(MOST).to_dict("records")
    ]
    return _table(("name", "shape", "output_type", "values", "bytes"), rows, len(frame))


def _scopes(view: GraphView) -> html.Div:
    """The scopes with the most parameter bytes, with their share of all bytes as a bar."""
    frame = scope_parameters(view.scopes)
    frame = frame[frame["scope"] != ""].sort_values("bytes", ascending=False, kind="stable")
    whole = max(1, int(view.scopes.parameter_bytes[0]))
    rows = []
    for row in frame.head(MOST_SCOPES).to_dict("records"):
        bar = html.Span(className="ms-graph-bar", style={"width": f"{100 * row['bytes'] / whole:.1f}%"})
        name = _jump(f"s:{row['scope']}", row["scope"])
        rows.append([name, row["parameters"], row["values"], row["bytes"], html.Div(bar, className="ms-graph-bars")])
    return _table(("scope", "parameters", "values", "bytes", ""), rows, len(frame), MOST_SCOPES)


def _table(names: Sequence[str], rows: Iterable[Sequence[Any]], total: int, most: int = MOST) -> html.Div:
    columns = [TableColumn(f"graph.fact.{name}" if name else "", _QUANTITIES.get(name)) for name in names]
    parts: list[Any] = [tables.table(columns, rows, class_name="ms-graph-table", scroll="", heads=0)]
    if total > most:
        said = t("graph.table.more", n=fmt.count(most), total=fmt.count(total))
        parts.append(html.P(said, className="ms-muted ms-graph-note"))
    return html.Div(parts)


def _jump(name: str, text: str, title: str = "") -> html.Button:
    more = {"title": title[-400:]} if title else {}
    return html.Button(text, type="button", className="ms-graph-jump", **{"data-go": name, **more})

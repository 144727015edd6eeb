"""Statistics of a graph: types of operators, parameters by scope, operators with a precision flag; as components and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from dash import html
from parsers import PayloadError
from parsers.analysis.graphs import View
from parsers.analysis.graphs.counts import operator_types, parameters, precision, scope_parameters
from parsers.export.cells import csv_names

from layouts import format as fmt
from layouts.i18n import t
from layouts.training.graph.asks import Of
from layouts.training.graph.views import Opened, Views

MOST = 300
"""So many lines of a table are shown; the CSV file has all."""
MOST_SCOPES = 20
TABLES = ("types", "parameters", "precision")


def statistics(views: Views, of: Of) -> list[Any]:
    """The three tables of a graph; nothing where it cannot be had, as the canvas says why."""
    try:
        opened, view = views.of(of)
    except PayloadError:
        return []
    return [_types(view), _parameters(view), _precision(opened, view)]


def table(opened: Opened, view: View, name: str) -> pd.DataFrame:
    """One of TABLES in full."""
    if name == "types":
        return operator_types(view.network)
    return parameters(view.scopes) if name == "parameters" else precision(view.network, opened.attributes)


def csv(frame: pd.DataFrame) -> str:
    """A frame as CSV; a text that a spreadsheet would take for a formula is defused."""
    lines = (csv_names(*map(str, row)) for row in frame.itertuples(index=False))
    return "\r\n".join([csv_names(*frame.columns), *lines, ""])


def _types(view: View) -> html.Section:
    frame = operator_types(view.network)
    most = int(frame["count"].max()) if len(frame) else 1
    rows = []
    for row in frame.head(MOST).to_dict("records"):
        bar = html.Span(className="ms-graph-bar", style={"width": f"{100 * row['count'] / most:.1f}%"})
        find = html.Button(row["type"], type="button", className="ms-graph-jump", **{"data-find": f"type:{row['type']}"})
        share = f"{100 * row['share']:.1f} %"
        rows.append([find, fmt.count(row["count"]), share, fmt.count(row["scopes"]), html.Div(bar, className="ms-graph-bars")])
    return _section("types", len(frame), _table(("type", "count", "share", "in_scopes", ""), rows, len(frame)))


def _parameters(view: View) -> html.Section:
    frame = parameters(view.scopes)
    rows = [
        [_jump(f"n{row['node']}", row["name"]), row["shape"], row["type"], fmt.count(row["values"]), fmt.size(row["bytes"])]
        for row in frame.head(MOST).to_dict("records")
    ]
    body = _table(("name", "shape", "output_type", "values", "bytes"), rows, len(frame))
    return _section("parameters", len(frame), _scopes(view), body)


def _scopes(view: View) -> html.Div:
    """The scopes that hold most, with their part of all bytes as a bar."""
    frame = scope_parameters(view.scopes)
    frame = frame[frame["scope"] != ""].sort_values("bytes", ascending=False, kind="stable")
    whole = max(1, int(view.scopes.parameter_bytes[0]))
    rows = []
    for row in frame.head(MOST_SCOPES).to_dict("records"):
        bar = html.Span(className="ms-graph-bar", style={"width": f"{100 * row['bytes'] / whole:.1f}%"})
        name = _jump(f"s:{row['scope']}", row["scope"])
        held = fmt.count(row["parameters"]), fmt.count(row["values"]), fmt.size(row["bytes"])
        rows.append([name, *held, html.Div(bar, className="ms-graph-bars")])
    return _table(("scope", "parameters", "values", "bytes", ""), rows, min(len(frame), MOST_SCOPES))


def _precision(opened: Opened, view: View) -> html.Section:
    frame = precision(view.network, opened.attributes)
    flagged = frame[frame["flag"] != ""]
    if not len(flagged):
        return _section("precision", 0, html.P(t("graph.no_flags"), className="ms-muted ms-graph-note"))
    rows = [
        [_jump(f"n{row['node']}", row["full_name"]), row["type"], row["flag"], row["output_type"], row["shape"]]
        for row in flagged.head(MOST).to_dict("records")
    ]
    body = _table(("full_name", "type", "flag", "output_type", "shape"), rows, len(flagged))
    return _section("precision", len(flagged), body)


def _section(name: str, many: int, *body: Any) -> html.Section:
    save = html.Button("CSV", type="button", className="ms-button", **{"data-save": f"{name}.csv"})
    head = html.Header(
        [
            html.H3(t(f"graph.table.{name}"), className="ms-card-title"),
            html.Span(html.Span(fmt.count(many), className="ms-badge"), className="ms-card-badges"),
            save,
        ],
        className="ms-card-head",
    )
    body_of = html.Div(list(body), className="ms-card-body")
    return html.Section([head, body_of], className=f"ms-card ms-graph-{name}", tabIndex=-1)


def _table(names: Sequence[str], rows: Iterable[Sequence[Any]], total: int) -> html.Div:
    numbers = {"count", "parameters", "share", "in_scopes", "values", "bytes"}
    kinds = ["ms-number" if name in numbers else "" for name in names]
    titles = [t(f"graph.fact.{name}") if name else "" for name in names]
    head = [html.Th(title, scope="col", className=kind) for title, kind in zip(titles, kinds, strict=True)]
    lines = [html.Tr([html.Td(cell, className=kind) for cell, kind in zip(row, kinds, strict=True)]) for row in rows]
    parts: list[Any] = [html.Table([html.Thead(html.Tr(head)), html.Tbody(lines)], className="ms-graph-table")]
    if total > MOST:
        said = t("graph.table.more", n=fmt.count(MOST), total=fmt.count(total))
        parts.append(html.P(said, className="ms-muted ms-graph-note"))
    return html.Div(parts)


def _jump(name: str, text: str) -> html.Button:
    return html.Button(text, type="button", className="ms-graph-jump", **{"data-go": name})

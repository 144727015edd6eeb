"""Elements of the cards on the data preparation page: plots with a bilingual legend, tables, numbers as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from dash import dcc, html

from layouts.kit import tables
from layouts.kit import units as fmt
from layouts.kit.figures import GRAPH_CONFIG
from layouts.kit.figures.alternatives import Name, described_by
from layouts.kit.i18n import both, t
from layouts.kit.tables import Cell, TableColumn
from layouts.profiles.preparation.card_data import CardData


def plot(drawn: dict[str, Any], names: Sequence[tuple[str, Any]], caption: str) -> list[Any]:
    """Return a caption that names the axes, a legend of (colour, name), and the plot."""
    legend = [html.Li([html.Span(className="ms-dot", style={"background": colour}), html.Span(name)]) for colour, name in names]
    said = [html.Span(t(caption), className="ms-muted"), html.Ul(legend, className="ms-preparation-legend")]
    texts = {colour: _text(name) for colour, name in names}
    drawn = described_by(drawn, both(caption), texts, {f"at {colour}": text for colour, text in texts.items()})
    graph = dcc.Graph(figure=drawn, config=GRAPH_CONFIG, responsive=True, className="ms-plot")
    return [html.Div(said, className="ms-preparation-caption"), html.Div(graph, className="ms-preparation-plot")]


def _text(name: Any) -> Name:
    """Return the text of a name, which is that of a file or a component of `layouts.kit.i18n.t`."""
    if isinstance(name, str) or isinstance(name.children, str):
        return str(getattr(name, "children", name))
    english, chinese = name.children
    return english.children, chinese.children


class SortedCell(NamedTuple):
    """A table cell: its text and its sort key."""

    text: str
    value: Any


def table(head: Sequence[str], body: Sequence[tuple[Any, ...]], files: Sequence[Any], *, left: int = 0) -> html.Div:
    """Return a table with links to its files. head: text keys of the titles; left: number of rows not shown.

    A click on a title sorts by the value of each `SortedCell`, else by its text (assets/profiles/preparation/page.js).
    """
    columns = [TableColumn(html.Button(t(key), type="button", className="ms-sort-head")) for key in head]
    listed = tables.table(columns, map(_cells, body), class_name="ms-preparation-table", scroll="ms-preparation-scroll")
    more = [html.P(t("preparation.left", n=fmt.count(left)), className="ms-muted")] if left else []
    return html.Div([
        listed, *more, html.P(list(files), className="ms-preparation-files"),
    ])  # fmt: skip


def _cells(row: Sequence[Any]) -> Sequence[Any]:
    return [Cell(one.text, props={"data-value": str(one.value)}) if isinstance(one, SortedCell) else one for one in row]


def csv(data: CardData, frame: str) -> html.A:
    """Return a link that downloads all rows of a frame."""
    choice = data.ask.choice
    query = urlencode({"run": choice.run, "session": choice.session, "rank": choice.rank, "frame": frame})
    return html.A("CSV", href=f"{data.routes}profile.csv?{query}", download="", className="ms-button ms-button-small")


def time(ns: float) -> str:
    """Write a time in ns with a fitting unit, or a dash for an unknown one."""
    return fmt.duration(ns * 1e-9) if math.isfinite(ns) else "–"


def number(value: float) -> str:
    """Write a number, or a dash for an unknown one."""
    return fmt.number(value) if math.isfinite(value) else "–"


def share(part: float, whole: float) -> str:
    """Write a count and its share of the whole."""
    return f"{fmt.count(int(part))} ({fmt.percent(part / whole)})"

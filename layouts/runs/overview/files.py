"""The files of the run: what they are, how large, when they last changed, and in which of them problems were found."""

from __future__ import annotations

from typing import Any

from dash import Input, Output, html

from layouts.kit.elements import card
from layouts.kit.i18n import t
from layouts.kit.page import Ids
from layouts.kit.tables import BYTES, COUNT, Cell, TableColumn, table
from layouts.kit.units import count, moment
from layouts.sources import RunSources

MOST = 200
"""Files listed; those with problems come first."""
COLUMNS = (
    TableColumn("overview.file"), TableColumn("overview.kind"), TableColumn("overview.size", BYTES),
    TableColumn("overview.changed"),
    TableColumn("overview.problems", COUNT),
)  # fmt: skip


def layout(ids: Ids) -> html.Div:
    """Return the place of the table."""
    return html.Div(id=ids("files"))


def register(app: Any, source: RunSources, ids: Ids) -> None:
    """Add the callback to a Dash application."""

    def draw(shown: Any) -> Any:
        run = shown.get("run") if isinstance(shown, dict) else None
        return content(source, run if isinstance(run, str) else "")

    app.callback(Output(ids("files"), "children"), Input(ids("shown"), "data"), prevent_initial_call=True)(draw)


def content(source: RunSources, run: str) -> Any:
    """Draw the files of a member run as a table in a card; nothing for a run without files."""
    found = sorted(source.runs.files(run), key=lambda one: -one.problems)
    if not found:
        return []
    rows = [(one.path, one.kind, one.size, _time(one.changed), one.problems) for one in found[:MOST]]
    drawn = [table(COLUMNS, rows, label="overview.files")]
    if len(found) > MOST:
        listed = t("overview.files_listed", n=count(MOST), total=count(len(found)))
        drawn.append(html.P(listed, className="ms-muted ms-card-notes"))
    return card(t("overview.files"), drawn, class_name="ms-overview-files")


def _time(seconds: float | None) -> Cell:
    return Cell(moment(seconds)[:19].replace("T", " ") or None, value=seconds)

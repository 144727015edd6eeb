"""The sizes page: how much disk do the chosen runs take?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dash import Input, Output, html

from layouts.kit import parameters as asked
from layouts.kit.elements import card, empty_state
from layouts.kit.i18n import define_texts, t
from layouts.kit.page import Ids
from layouts.kit.parameters import Request
from layouts.kit.tables import BYTES, Sort, TableColumn, ordered, table
from layouts.runs.chosen_runs import selected_runs
from layouts.sources import Sources

TEXTS = define_texts({
    "sizes.run": "common.run",
    "sizes.size": "common.size",
    "sizes.none": "common.no_run_is_chosen",
    "sizes.none_hint": "common.choose_runs_in_bar",
})


COLUMNS = (TableColumn("sizes.run", sort="run"), TableColumn("sizes.size", BYTES, sort="size"))


@dataclass(frozen=True, slots=True)
class SizesRequest(Request):
    """by is the column that the runs are sorted by, and whether they fall."""

    by: tuple[str, bool] = asked.order([column.sort for column in COLUMNS], "-size")


def layout(ids: Ids, routes: str) -> html.Div:  # noqa: ARG001 - has no routes of its own
    """The page without data."""
    return html.Div(id=ids("root"))


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:  # noqa: ARG001
    """Add the page's callbacks to a Dash application."""

    def draw(state: Any, _version: Any) -> Any:
        return content(rows(source, state), SizesRequest.read(state))

    app.callback(Output(ids("root"), "children"), Input(ids("state"), "data"), Input(ids("version"), "data"))(draw)


def rows(source: Sources, state: Any) -> list[tuple[str, int]]:
    """Return (name, bytes) of the chosen runs. BadInput for a state that is none."""
    chosen = set(selected_runs(state, source))
    return [(row.name, row.size) for row in source.runs.rows() if chosen & set(row.members)]


def content(found: list[tuple[str, int]], ask: SizesRequest) -> Any:
    """Draw the rows as a card with a table; without any, say what is missing."""
    if not found:
        return empty_state("sizes.none", hint="sizes.none_hint")
    sort = Sort(*ask.by)
    return card(t("sizes.title"), table(COLUMNS, ordered(COLUMNS, found, sort), sort=sort))

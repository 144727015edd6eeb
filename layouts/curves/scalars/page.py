"""The scalars page: how did the curves of these runs develop, and where did they go wrong?

One card per tag with all chosen runs in it, or several tags in one chart. In the browser assets/curves/scalars/ turns the state
into a request per card; here each request becomes a figure.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

from dash import ClientsideFunction, Input, Output, State, no_update
from parsers.analysis import ThresholdError, parse_threshold

from layouts.curves import charts
from layouts.curves.chosen_lines import series_of
from layouts.curves.expression_texts import TEXTS as EXPRESSIONS
from layouts.curves.insight_texts import TEXTS as INSIGHTS
from layouts.curves.scalar_asks import ChartRequest
from layouts.curves.scalars import insights, judging, ranking
from layouts.curves.scalars.sheet import sheet
from layouts.curves.scalars.texts import TEXTS
from layouts.kit.cards import cards
from layouts.kit.cards.cards import Cards
from layouts.kit.cards.run_list_texts import TEXTS as RUN_LIST
from layouts.kit.page import Ids
from layouts.kit.state import BadInput
from layouts.sources import Sources


def draw(source: Sources, ask: Any) -> dict[str, Any]:
    """Draw the figure of one card."""
    parsed = ChartRequest.read(ask)
    return charts.chart(source, parsed, series_of(source, parsed))


def stamp(source: Sources, ask: Any) -> str:
    """Return a text that changes whenever the points of a card do."""
    parsed = ChartRequest.read(ask)
    return charts.stamp(source, parsed, series_of(source, parsed))


CARDS = Cards(
    kind="scalar", draw=draw, stamp=stamp, texts={**TEXTS, **INSIGHTS, **EXPRESSIONS, **RUN_LIST},
    controls="scalars.controls", missing="scalars.no_scalars",
    stores=("proposal", "verdict", "marked", "marks", "sheet-ask", "sheet", "sheet-stamp",
            "ranking-ask", "ranking", "judging-ask", "judging"),
)  # fmt: skip
"""Stores: proposal and verdict are a threshold to check and the answer; marked and marks are cards and their insights;
sheet-ask, sheet and sheet-stamp belong to groups and the table of final values; ranking-ask and ranking to the order of
cards by insights, judging-ask and judging to what rules say of a card."""


def layout(ids: Ids, routes: str) -> Any:
    """Return the page without data."""
    return cards.layout(CARDS, ids, routes)


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:  # noqa: ARG001 - the layout holds the routes
    """Add the page's callbacks to a Dash application."""
    cards.register(CARDS, app, source, ids)
    app.callback(Output(ids("verdict"), "data"), Input(ids("proposal"), "data"), prevent_initial_call=True)(verdict)

    def fill(ask: Any, _version: Any, known: Any) -> tuple[Any, Any]:
        return filled(source, ask, known)

    app.callback(
        Output(ids("sheet"), "data"), Output(ids("sheet-stamp"), "data"), Input(ids("sheet-ask"), "data"),
        Input(ids("version"), "data"), State(ids("sheet-stamp"), "data"), prevent_initial_call=True,
    )(fill)  # fmt: skip
    app.clientside_callback(
        ClientsideFunction("mindscope_scalars", "filled"),
        Input(ids("sheet"), "data"),
        State(ids("root"), "id"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        ClientsideFunction("mindscope_scalars", "judged"),
        Input(ids("verdict"), "data"),
        State(ids("root"), "id"),
        prevent_initial_call=True,
    )
    insights.register(app, source, ids)
    ranking.register(app, source, ids)
    judging.register(app, source, ids)


def filled(source: Sources, ask: Any, known: Any) -> tuple[Any, Any]:
    """Return (sheet of groups and table, its stamp); no update if `known` is that stamp or if there is no request."""
    if ask is None:
        return no_update, no_update
    found = sheet(source, ask)
    mark = f"{zlib.crc32(json.dumps([ask, found]).encode()):08x}"
    return (no_update, no_update) if mark == known else ({**found, "ask": ask}, mark)


def verdict(proposal: Any) -> dict[str, Any]:
    """Validate a threshold: {"text": as typed, "number": as sent, "reason": "" or the error, "threshold": normal form}."""
    if not isinstance(proposal, dict) or not isinstance(proposal.get("text"), str):
        raise BadInput(f"proposal: expected an object with a text, found {str(proposal)[:80]!r}")
    answer = {"text": proposal["text"], "number": proposal.get("number"), "reason": "", "threshold": ""}
    try:
        answer["threshold"] = parse_threshold(proposal["text"]).text
    except ThresholdError as error:
        answer["reason"] = error.reason
    return answer

"""The callbacks of the scalars page. The functions that do the work take plain values and are tested as such."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dash import ALL, MATCH, ClientsideFunction, Input, Output, State, no_update
from parsers.analysis import ThresholdError, parse_threshold

from layouts.page import FrameSource, Ids
from layouts.state import BadInput
from layouts.training.scalars.asks import read_ask
from layouts.training.scalars.catalogue import catalogue
from layouts.training.scalars.charts import chart, series_of, stamp


def register(app: Any, source: FrameSource, ids: Ids, routes: str) -> None:  # noqa: ARG001 - routes stand in the layout
    """Add the page's callbacks to a Dash application."""
    _register_browser(app, ids)

    def list_tags(chosen: Any, _version: Any, known: Any) -> tuple[Any, Any]:
        return tags_of(source, chosen, known)

    def draw_card(ask: Any, _again: Any) -> tuple[Any, Any]:
        return card(source, ask)

    def compare(_version: Any, asks: Any, drawn: Any) -> list[Any]:
        return changed_cards(source, asks, drawn)

    app.callback(
        Output(ids("catalogue"), "data"),
        Output(ids("digest"), "data"),
        Input(ids("chosen"), "data"),
        Input(ids("version"), "data"),
        State(ids("digest"), "data"),
    )(list_tags)
    app.callback(
        Output(ids("graph", MATCH), "figure"),
        Output(ids("drawn", MATCH), "data"),
        Input(ids("ask", MATCH), "data"),
        Input(ids("again", MATCH), "data"),
        prevent_initial_call=True,
    )(draw_card)
    app.callback(
        Output(ids("again", ALL), "data"),
        Input(ids("version"), "data"),
        State(ids("ask", ALL), "data"),
        State(ids("drawn", ALL), "data"),
        prevent_initial_call=True,
    )(compare)
    app.callback(Output(ids("verdict"), "data"), Input(ids("proposal"), "data"), prevent_initial_call=True)(verdict)


def tags_of(source: FrameSource, chosen: Any, known: Any) -> tuple[Any, Any]:
    """(catalogue, its digest) of the runs that chosen, a JSON list of keys, names; nothing new where known is the digest."""
    found = catalogue(source, _chosen_state(chosen), known)
    return (no_update, no_update) if found is None else (found, found["digest"])


def _chosen_state(chosen: Any) -> dict[str, list[str]]:
    if chosen is None:
        return {}
    try:
        runs = json.loads(chosen)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput("chosen: wanted a JSON list of run keys") from error
    if not isinstance(runs, list) or not all(isinstance(run, str) for run in runs):
        raise BadInput("chosen: wanted a JSON list of run keys")
    return {"run": runs} if runs else {}


def card(source: FrameSource, ask: Any) -> tuple[Any, Any]:
    """(figure, stamp of the points in it) of one card; nothing for a slot that shows no card."""
    if ask is None:
        return no_update, no_update
    wanted = read_ask(ask)
    found = series_of(source, wanted)
    return chart(source, wanted, found), stamp(source, wanted, found)


def changed_cards(source: FrameSource, asks: Any, drawn: Any) -> list[Any]:
    """For each card the stamp of its points where they are not those it has drawn, else no update."""
    if not _same_lists(asks, drawn):
        raise BadInput("cards: wanted one ask and one stamp per card")
    return [_newer(source, ask, mark) for ask, mark in zip(asks, drawn, strict=True)]


def _same_lists(asks: Any, drawn: Any) -> bool:
    return isinstance(asks, Sequence) and isinstance(drawn, Sequence) and len(asks) == len(drawn)


def _newer(source: FrameSource, ask: Any, mark: Any) -> Any:
    if ask is None or mark is None:
        return no_update
    wanted = read_ask(ask)
    now = stamp(source, wanted, series_of(source, wanted))
    return no_update if now == mark else now


def verdict(proposal: Any) -> dict[str, Any]:
    """Whether a threshold is one: {"text": what was asked, "reason": "" or why not, "threshold": its normal form}."""
    if not isinstance(proposal, dict) or not isinstance(proposal.get("text"), str):
        raise BadInput("proposal: wanted an object with a text")
    answer = {"text": proposal["text"], "number": proposal.get("number"), "reason": "", "threshold": ""}
    try:
        answer["threshold"] = parse_threshold(proposal["text"]).text
    except ThresholdError as error:
        answer["reason"] = error.reason
    return answer


def _register_browser(app: Any, ids: Ids) -> None:
    """What happens in the browser alone: assets/scalars.js."""

    def call(name: str, *arguments: Any, **options: Any) -> None:
        app.clientside_callback(ClientsideFunction("mindscope_scalars", name), *arguments, **options)

    call("chosen", Output(ids("chosen"), "data"), Input(ids("state"), "data"), State(ids("chosen"), "data"))
    call(
        "plan",
        Output(ids("ask", ALL), "data"),
        Input(ids("state"), "data"),
        Input(ids("catalogue"), "data"),
        Input(ids("screen"), "data"),
        State(ids("ask", ALL), "data"),
        State(ids("root"), "id"),
    )
    call(
        "painted",
        Input(ids("graph", MATCH), "figure"),
        State(ids("graph", MATCH), "id"),
        State(ids("root"), "id"),
        prevent_initial_call=True,
    )
    call(
        "moved",
        Input(ids("graph", MATCH), "relayoutData"),
        State(ids("graph", MATCH), "id"),
        State(ids("root"), "id"),
        prevent_initial_call=True,
    )
    call("judged", Input(ids("verdict"), "data"), State(ids("root"), "id"), prevent_initial_call=True)

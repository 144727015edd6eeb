"""Callbacks that several pages register alike: functions in the browser, and the catalogue of the selected runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dash import ClientsideFunction, Input, Output, State, no_update

from layouts.kit.page import Ids

Catalogue = Callable[[Any, Any], Mapping[str, Any] | None]
"""(part of the state about runs, known digest) -> what these runs have, with its `digest`; None if that is the known one."""


def in_browser(app: Any, namespace: str) -> Callable[..., None]:
    """Return a function that adds a clientside callback: call(name, *outputs, inputs and states, **options).

    The script that defines `name` registers it with `functionsOf(namespace)`.
    """

    def call(name: str, *arguments: Any, **options: Any) -> None:
        app.clientside_callback(ClientsideFunction(namespace, name), *arguments, **options)

    return call


def register_catalogue(app: Any, ids: Ids, catalogue: Catalogue) -> None:
    """Keep ids("catalogue") and ids("digest") in step with the runs that the state names, and with their data.

    The browser copies the part of the state about runs to ids("chosen"), so other changes of the state request nothing.
    """

    def look(chosen: Any, _version: Any, known: Any) -> tuple[Any, Any]:
        return listed(catalogue(chosen, known))

    app.callback(
        Output(ids("catalogue"), "data"),
        Output(ids("digest"), "data"),
        Input(ids("chosen"), "data"),
        Input(ids("version"), "data"),
        State(ids("digest"), "data"),
    )(look)
    in_browser(app, "mindscope")(
        "runs_chosen", Output(ids("chosen"), "data"), Input(ids("state"), "data"), State(ids("chosen"), "data")
    )


def listed(found: Mapping[str, Any] | None) -> tuple[Any, Any]:
    """Return (catalogue, its digest), or no update for None."""
    return (no_update, no_update) if found is None else (found, found["digest"])

"""Draws a page again when the trace of its profile has been read, for pages that show why the device was idle.

A page puts `clock` into its layout, draws at every change of ids("read") too, and sets ids("again").disabled to `settled` of
the idle time that it drew; `register_again` asks meanwhile.
"""

from __future__ import annotations

from typing import Any

from dash import Input, Output, State, dcc, no_update

from layouts.kit.page import Ids
from layouts.profiles.frames import IdleTime
from layouts.profiles.idling import idle_time
from layouts.profiles.profile_choice import read_choice
from layouts.sources import ProfileSources

ASK_MS = 2_000


def clock(ids: Ids) -> list[Any]:
    """The components that ask again."""
    return [dcc.Store(id=ids("read")), dcc.Interval(id=ids("again"), interval=ASK_MS, disabled=True)]


def settled(found: IdleTime) -> bool:
    """Return whether idle time stays as it is unless somebody asks for the trace."""
    return found.state != "reading"


def register_again(app: Any, source: ProfileSources, ids: Ids) -> None:
    """Add the callback that asks whether the trace has been read."""

    def look(ticks: int, ask: Any) -> Any:
        choice = read_choice(ask)
        return no_update if choice is None or not settled(idle_time(source, choice)) else ticks

    app.callback(
        Output(ids("read"), "data"), Input(ids("again"), "n_intervals"), State(ids("ask"), "data"), prevent_initial_call=True
    )(look)

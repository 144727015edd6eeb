"""Draws a page again when the trace of its profile has been read, for pages that show why the device was idle.

A page puts `clock` into its layout, draws at every change of ids("read") too, and sets ids("again").disabled to `settled` of
the idle time that it drew; `register_again` asks meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dash import Input, Output, State, dcc, no_update

from layouts.kit.page import Ids
from layouts.profiles.frames import IdleTime
from layouts.profiles.idling import idle_time
from layouts.profiles.profile_choice import ProfileChoice, read_choice
from layouts.sources import ProfileSources

ASK_MS = 2_000
Waits = Callable[[ProfileSources, ProfileChoice], bool]
"""Whether something that a page shows of a profile is still being read."""


def clock(ids: Ids) -> list[Any]:
    """The components that ask again."""
    return [dcc.Store(id=ids("read")), dcc.Interval(id=ids("again"), interval=ASK_MS, disabled=True)]


def settled(found: IdleTime) -> bool:
    """Return whether idle time stays as it is unless somebody asks for the trace."""
    return found.state != "reading"


def register_again(app: Any, source: ProfileSources, ids: Ids, *, waits: Waits | None = None) -> None:
    """Add the callback that asks whether the trace has been read, and whatever else the page `waits` for."""

    def look(ticks: int, ask: Any) -> Any:
        choice = read_choice(ask)
        if choice is None or not settled(idle_time(source, choice)) or (waits is not None and waits(source, choice)):
            return no_update
        return ticks

    app.callback(
        Output(ids("read"), "data"), Input(ids("again"), "n_intervals"), State(ids("ask"), "data"), prevent_initial_call=True
    )(look)

"""The callbacks of the data preparation page. The functions that do the work take plain values and are tested as such."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, State, no_update
from layouts.page import Ids
from layouts.pages.preparation import feeding, machine, operations
from layouts.pages.preparation.asks import read_ask
from layouts.pages.preparation.given import Given
from layouts.pages.preparation.layout import CARDS, FRAMES
from layouts.profiling.body import register_body
from layouts.sources import FrameSource

_DRAW = (
    feeding.flow, feeding.sizes, feeding.times, operations.pipeline, operations.queue, operations.table, machine.cpu,
    machine.memory,
)  # fmt: skip
"""What draws each of CARDS."""


def register(app: Any, source: FrameSource, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    register_body(app, source, ids, FRAMES)

    def draw(asked: Any) -> tuple[Any, ...]:
        return drawn(source, asked, routes)

    app.callback(
        *(Output(ids(f"card-{name}"), "children") for name in CARDS), Input(ids("ask"), "data"), prevent_initial_call=True
    )(draw)
    app.clientside_callback(
        ClientsideFunction("mindscope_preparation", "shown"),
        *(Input(ids(f"card-{name}"), "children") for name in CARDS), State(ids("root"), "id"),
    )  # fmt: skip


def drawn(source: FrameSource, asked: Any, routes: str) -> tuple[Any, ...]:
    """The contents of the cards, None for a card that has nothing to show; nothing where no profile is asked for."""
    ask = read_ask(asked)
    if ask is None:
        return (no_update,) * len(CARDS)
    frames = {name: ask.choice.frame(source, name) for name in FRAMES}
    key = ask.choice.session, ask.choice.rank
    stepped = any((row.session, row.rank) == key and "steps" in row.frames for row in source.profiles(ask.choice.run))
    of = Given(ask, frames, routes, stepped)
    return tuple(draw(of) for draw in _DRAW)

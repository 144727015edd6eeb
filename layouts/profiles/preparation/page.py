"""The data preparation page: does the network wait for data, and which pipeline operation is slow?

Shows the data flow as boxes, queues and times by step, the pipeline with the use of its queues, and CPU and memory use.
assets/profiles/preparation/page.js chooses operations and steps.
"""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, State, html, no_update

from layouts.kit.body import damage
from layouts.kit.elements import icon_button
from layouts.kit.i18n import attributes, t
from layouts.kit.page import Ids
from layouts.kit.plain_html import still
from layouts.profiles.body import body, register_body
from layouts.profiles.preparation import feeding, machine, operations
from layouts.profiles.preparation.asks import PreparationRequest
from layouts.profiles.preparation.card_data import CardData
from layouts.profiles.preparation.texts import TEXTS
from layouts.sources import ProfileSources

FRAMES = ("queues", "pipeline", "cpu", "host_memory")
CARDS = ("flow", "sizes", "times", "pipeline", "queue", "table", "cpu", "memory")
PLOTS = frozenset(("sizes", "times", "queue", "cpu", "memory"))
"""Cards that can contain plots."""


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    cards: list[Any] = [_card(ids, name) for name in CARDS]
    return body(
        ids, routes, [html.Div(cards, className="ms-preparation-cards"), damage()], title="preparation.title",
        frames=FRAMES, keys=PreparationRequest.keys(), texts=tuple(TEXTS), class_name="ms-preparation",
    )  # fmt: skip


def _card(ids: Ids, name: str) -> html.Section:
    tools: list[Any] = [_steps()] if name == "cpu" else []
    if name in PLOTS:
        tools.append(icon_button("download", "preparation.png", **{"data-act": "png"}))
    tools.append(icon_button("full", "preparation.full", **{"data-act": "full"}))
    head = html.Header(
        [
            html.H3(t(f"preparation.{name}"), className="ms-card-title"),
            html.Span(className="ms-card-badges"),
            html.Span(tools, className="ms-card-tools"),
        ],
        className="ms-card-head",
    )
    return html.Section(
        [head, html.Div(html.Div(className="ms-skeleton"), id=ids(f"card-{name}"), className="ms-card-body")],
        className=f"ms-card ms-preparation-card ms-preparation-card-{name}", tabIndex=-1, **{"data-card": name},
    )  # fmt: skip


def _steps() -> html.Span:
    """The choice of steps for CPU use. assets/profiles/preparation/page.js creates the inputs and keeps them in the state."""
    return html.Span(className="ms-preparation-steps", role="group", **attributes(aria_label="preparation.steps"))


_DRAW = (
    feeding.flow, feeding.sizes, feeding.times, operations.pipeline, operations.queue, operations.table, machine.cpu,
    machine.memory,
)  # fmt: skip
"""The function that draws each of CARDS."""


def register(app: Any, source: ProfileSources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    register_body(app, source, ids, FRAMES)

    def draw(asked: Any) -> tuple[Any, ...]:
        return tuple(map(still, drawn(source, asked, routes)))

    app.callback(
        *(Output(ids(f"card-{name}"), "children") for name in CARDS), Input(ids("ask"), "data"), prevent_initial_call=True
    )(draw)
    app.clientside_callback(
        ClientsideFunction("mindscope_preparation", "shown"),
        *(Input(ids(f"card-{name}"), "children") for name in CARDS), State(ids("root"), "id"),
    )  # fmt: skip


def drawn(source: ProfileSources, asked: Any, routes: str) -> tuple[Any, ...]:
    """Return the contents of the cards, None for a card with nothing to show; no update if no profile is requested."""
    ask = PreparationRequest.read_any(asked)
    if ask is None:
        return (no_update,) * len(CARDS)
    frames = {name: ask.choice.frame(source, name) for name in FRAMES}
    key = ask.choice.session, ask.choice.rank
    stepped = any((row.session, row.rank) == key and "steps" in row.frames for row in source.profiles.rows(ask.choice.run))
    data = CardData(ask, frames, routes, stepped)
    return tuple(draw(data) for draw in _DRAW)

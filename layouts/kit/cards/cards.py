"""Pages with one card per tag of one kind of data: tags on the left, twelve cards on the right, or as many as the user chose.

Such a page describes itself as `Cards`, builds its layout with `layout` and its callbacks with `register`. The browser's part
is assets/kit/cards/cards.js; the page's own script calls `define` of assets/kit/cards/pages.js. What runs where:

    state -> chosen -> catalogue (here: tags of the chosen runs) -> plan (browser): one ask per slot
    asks of the cards in the window -> `Cards.draw` (here): one request; then those of the other cards: another one
    interval -> `Cards.stamp` of every drawn card -> `Cards.draw` of those on screen with new data: one request

An ask has the form of a state: {"tag": [tag], "columns": [pixels], "run": [...], ...} and whatever the page's own script adds.
Every value in it is untrusted. A drawing is a figure whose layout.meta, or an object whose meta, has at least
{"tags": the tags asked for}: the browser drops a drawing if its slot now shows another tag, and passes meta to the page's
script. A figure may have `canvas` beside `data`: traces that the browser draws without plotly (`on_canvas` of
`layouts.curves.lines`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from dash import MATCH, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from layouts.kit.callbacks import in_browser, register_catalogue
from layouts.kit.cards import texts
from layouts.kit.cards.catalogue import catalogue
from layouts.kit.cards.known_drawings import KnownDrawings
from layouts.kit.elements import button, damaged_state, empty_state, toolbar
from layouts.kit.figures import GRAPH_CONFIG
from layouts.kit.i18n import attributes, for_browser
from layouts.kit.page import Ids
from layouts.kit.recording import missing_data, other_runs
from layouts.kit.state import BadInput
from layouts.sources import Sources

WAVES = ("near", "far")
"""Cards are asked for in two requests: those in the window, then those that come into it when the user scrolls."""
_STORES = (
    "chosen", "catalogue", "digest", "screen", "shown", "asks", "drawn", "grown", "looked",
    *WAVES, *(f"{wave}-answer" for wave in WAVES),
)  # fmt: skip
SLOTS = 12
"""Cards on one page of cards, unless the user chose more. Which tag a slot shows changes as the user turns pages."""
ROOM = 5
"""Maximum number of slots, in multiples of `Cards.slots`: four times as many cards on a page, and as many pinned ones."""
_SLOT = "%slot%"


def plot(ids: Ids, slot: str) -> list[Any]:
    """Return the body of a card with a plotly figure: an element for the graph, which is added with the first figure."""
    # A graph without a figure draws empty axes: twelve of them take longer than the rest of the page and the first chart.
    graph = dcc.Graph(id=ids("graph", slot), config=GRAPH_CONFIG, responsive=True, className="ms-plot")
    return [html.Div(id=ids("plot", slot), **{"data-graph": json.dumps(graph.to_plotly_json())})]


@dataclass(frozen=True, slots=True)
class Cards:
    """The description of such a page.

    kind: kind of data. draw(source, ask) returns the drawing of a card or raises BadInput. stamp(source, ask) returns a text
    that changes whenever the data of the card does. texts: texts of its script. controls: text key of its toolbar's name.
    missing: text key for runs without such data. body(ids, slot) returns the body of a card; plotted: whether drawings are
    figures for the graph of `plot` in it. stores: additional stores. slots: usual number of cards on one page of cards.
    """

    kind: str
    draw: Callable[[Sources, Any], Any]
    stamp: Callable[[Sources, Any], str]
    texts: Mapping[str, tuple[str, str]]
    controls: str
    missing: str
    body: Callable[[Ids, str], list[Any]] = plot
    plotted: bool = True
    stores: tuple[str, ...] = ()
    slots: int = SLOTS

    @property
    def most(self) -> int:
        """Maximum number of slots."""
        return ROOM * self.slots


def layout(cards: Cards, ids: Ids, routes: str) -> html.Div:
    """Return the page without data. routes is the URL prefix of plain routes."""
    return html.Div(
        [
            *_stores(cards, ids),
            button("cards.skip", class_name="ms-skip", **{"data-to": ".ms-slot:not([hidden])"}),
            html.Aside(className="ms-tags", **attributes(aria_label="cards.tags")),
            html.Div(
                [
                    toolbar([], label=cards.controls, class_name="ms-cards-controls"),
                    html.Div(_states(cards, ids.page), className="ms-cards-states"),
                    html.Div(
                        [_slot(cards, ids, str(slot)) for slot in range(cards.slots)],
                        className="ms-cards ms-cards-even ms-slots",
                    ),
                    _more_slots(cards, ids),
                ],
                className="ms-cards-main",
            ),
            html.Div(className="ms-hover-table", hidden=True, **{"aria-hidden": "true"}),
            html.Div(className="ms-dialogs"),
        ],
        id=ids("root"),
        className="ms-tagged",
        **{
            "data-instance": ids.instance,
            "data-page": ids.page,
            "data-routes": routes,
            "data-slots": str(cards.slots),
            "data-most": str(cards.most),
            "data-texts": json.dumps({**for_browser(texts.TEXTS), **cards.texts}),
        },
    )


def _stores(cards: Cards, ids: Ids) -> list[Any]:
    """chosen: the part of the state about runs. catalogue: tags of those runs; digest: that of the catalogue.
    screen: width of the cards in pixels. shown: slots on screen. asks and drawn: the ask that each slot answers or waits for,
    and the stamp of its drawing. near and far: cards to draw, {"cards": [[slot, ask], ...]}; near-answer, far-answer: see
    `drawings`. grown: new drawings of slots with new data; looked: the version of the source they were drawn from."""
    return [dcc.Store(id=ids(part)) for part in (*_STORES, *cards.stores)]


def _states(cards: Cards, page: str) -> list[Any]:
    """Loading and empty states; the browser shows at most one. The first is shown until the tags are known."""
    return [
        html.Div(
            [html.Div(className="ms-skeleton") for _ in range(3)],
            className="ms-cards ms-cards-even", **{"data-state": "opening"},
        ),
        html.Div(empty_state("cards.no_runs", hint="cards.no_runs_hint"), hidden=True, **{"data-state": "no-runs"}),
        html.Div(
            missing_data(cards.missing, cards.kind, page=page, above=[other_runs(page)]), hidden=True,
            **{"data-state": "no-tags"},
        ),
        html.Div(damaged_state(cards.missing), hidden=True, **{"data-state": "damaged"}),
        html.Div(empty_state("cards.no_match", hint="cards.no_match_hint"), hidden=True, **{"data-state": "no-match"}),
        html.Div(hidden=True, className="ms-cards-reading", **{"data-state": "reading"}),
    ]  # fmt: skip


def _slot(cards: Cards, ids: Ids, slot: str) -> html.Section:
    """One card. assets/kit/cards/slots.js makes its head: every component on a page costs time at each answer of the server."""
    return html.Section(
        html.Div(cards.body(ids, slot), className="ms-card-body"),
        className="ms-card ms-slot",
        hidden=True,
        tabIndex=-1,
        **{"data-slot": slot},
    )


def _more_slots(cards: Cards, ids: Ids) -> html.Div:
    """Return the place of slots beyond the usual number, which assets/kit/cards/more_slots.js makes when they are needed."""
    made = json.dumps(_slot(cards, ids, _SLOT), default=Component.to_plotly_json)
    return html.Div(id=ids("more"), className="ms-more-slots", hidden=True, **{"data-slot-made": made})


def register(cards: Cards, app: Any, source: Sources, ids: Ids) -> None:
    """Add the callbacks of such a page to a Dash application."""
    _register_browser(cards, app, ids)
    register_catalogue(app, ids, partial(catalogue, source, cards.kind))

    known_drawings = KnownDrawings(cards.draw)

    def draw_wave(wanted: Any) -> list[list[Any]]:
        return drawings(cards, source, wanted, known_drawings)

    def look(_ticks: Any, shown: Any, asks: Any, drawn: Any, known: Any) -> tuple[Any, Any]:
        # Read the version first, so that a change made while cards are drawn is found next time.
        version = source.runs.status().version
        if version == known:
            return no_update, no_update
        return grown_cards(cards, source, shown, asks, drawn, known_drawings), version

    for wave in WAVES:
        app.callback(Output(ids(f"{wave}-answer"), "data"), Input(ids(wave), "data"), prevent_initial_call=True)(draw_wave)
    app.callback(
        Output(ids("grown"), "data"),
        Output(ids("looked"), "data"),
        Input(ids("interval"), "n_intervals"),
        State(ids("shown"), "data"),
        State(ids("asks"), "data"),
        State(ids("drawn"), "data"),
        State(ids("looked"), "data"),
        prevent_initial_call=True,
    )(look)


def _register_browser(cards: Cards, app: Any, ids: Ids) -> None:
    """Add the clientside callbacks, see assets/kit/cards/cards.js."""
    call = in_browser(app, "mindscope_cards")
    root = State(ids("root"), "id")
    call(
        "plan",
        Output(ids("shown"), "data"),
        Input(ids("state"), "data"),
        Input(ids("catalogue"), "data"),
        Input(ids("screen"), "data"),
        root,
    )
    for wave in WAVES:
        call("answered", Input(ids(f"{wave}-answer"), "data"), State(ids(wave), "data"), root, prevent_initial_call=True)
    call("grown", Input(ids("grown"), "data"), root, prevent_initial_call=True)
    if cards.plotted:
        graph = ids("graph", MATCH)
        call("moved", Input(graph, "relayoutData"), State(graph, "id"), root, prevent_initial_call=True)


def drawings(cards: Cards, source: Sources, wanted: Any, known: KnownDrawings | None = None) -> list[list[Any]]:
    """Return [slot, drawing, stamp of its data] of each wanted card, in order; wanted is {"cards": [[slot, ask], ...]}.

    known are drawings made for other readers; without it, all are made.

    A card whose ask is refused is [slot, None, reason]; if all are, BadInput is raised.
    """
    asked = wanted.get("cards") if isinstance(wanted, dict) else None
    if not isinstance(asked, list) or not 0 < len(asked) <= cards.most:
        raise BadInput(f"cards: expected 1 to {cards.most} pairs of a slot and its ask; found {str(wanted)[:80]}")
    found: list[list[Any]] = []
    refused: list[BadInput] = []
    for pair in asked:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], int) or not 0 <= pair[0] < cards.most:
            raise BadInput(f"cards: expected a slot from 0 to {cards.most - 1} and its ask; found {str(pair)[:80]}")
        try:
            found.append([pair[0], *card(cards, source, pair[1], known)])
        except BadInput as error:
            refused.append(error)
            found.append([pair[0], None, str(error)])
    if len(refused) == len(found):
        raise refused[0]
    return found


def card(cards: Cards, source: Sources, ask: Any, known: KnownDrawings | None = None) -> tuple[Any, Any]:
    """Return (drawing, stamp of its data) of one card; raises BadInput."""
    # Read the stamp first: if data arrives in between, the card is drawn once too often, not once too few.
    mark = cards.stamp(source, ask)
    return _drawing(cards, source, ask, mark, known), mark


def _drawing(cards: Cards, source: Sources, ask: Any, mark: str, known: KnownDrawings | None) -> Any:
    return cards.draw(source, ask) if known is None else known.drawing(source, ask, mark)


def grown_cards(
    cards: Cards, source: Sources, shown: Any, asks: Any, drawn: Any, known: KnownDrawings | None = None
) -> list[list[Any]]:
    """Return [slot, drawing, stamp] of every card whose data has changed since it was drawn; off screen the drawing is None.

    shown are the slots on screen, asks the ask of each slot, drawn the stamp of each slot's current drawing; each is None
    before the browser has placed, asked for or drawn any.
    """
    if shown is None or asks is None or drawn is None:
        return []
    if not (isinstance(shown, list) and isinstance(asks, list) and isinstance(drawn, list) and len(asks) == len(drawn)):
        raise BadInput("cards: expected the slots on screen, and an ask and a stamp for each slot")
    if not all(isinstance(slot, int) and 0 <= slot < len(asks) for slot in shown):
        raise BadInput(f"cards: expected slots from 0 to {len(asks) - 1}; found {str(shown)[:80]}")
    on_screen = set(shown)
    changed: list[list[Any]] = []
    for slot, ask in enumerate(asks):
        if ask is None or drawn[slot] is None:
            continue
        mark = cards.stamp(source, ask)
        if mark != drawn[slot]:
            # A card that left the screen keeps its drawing; one that is outdated is asked for when it is back.
            changed.append([slot, _drawing(cards, source, ask, mark, known) if slot in on_screen else None, mark])
    return changed

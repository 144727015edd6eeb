"""The dynamic shapes page: which operators ran with several input shapes, and what did each shape cost, step by step?

It shows the time of operator types by step, and the executions of one operator marked by their shapes. Ascend has shapes in
kernel_details.csv, op_summary.csv, databases and dynamic_shape_info_*.json, GPU in the latter, where kernels are marked by how
they were launched.
"""

from __future__ import annotations

from typing import Any

from dash import Input, Output, State, dcc, html, no_update
from parsers.analysis.profiles.shape_tables import FRAMES

from layouts.kit.body import damage
from layouts.kit.callbacks import in_browser
from layouts.kit.elements import toolbar
from layouts.kit.i18n import t
from layouts.kit.page import Ids
from layouts.kit.plain_html import still
from layouts.kit.plot_cards import plot_card
from layouts.kit.plot_texts import TEXTS as PLOT_TEXTS
from layouts.profiles.body import body, register_body
from layouts.profiles.shape_request import MOST_TYPES, ProfileShapeTables, ShapeRequest
from layouts.profiles.shapes import figures, tables
from layouts.profiles.shapes.texts import TEXTS
from layouts.sources import ProfileSources

_TABLES = ("types", "operators", "shapes")


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    stores = ("draw", "facts", "figure-steps", "figure-operator")
    cards = [
        plot_card(ids("steps-plot"), "steps", t("shapes.steps"), "ms-shapes-steps"),
        _table_card(ids, "types"),
        plot_card(ids("operator-plot"), "operator", t("shapes.operator"), "ms-shapes-operator"),
        _table_card(ids, "shapes"),
        _table_card(ids, "operators"),
    ]
    children: list[Any] = [
        *(dcc.Store(id=ids(part)) for part in stores),
        html.Section(html.Div(id=ids("head"), className="ms-shapes-head"), className="ms-card", tabIndex=-1),
        toolbar([], label="shapes.controls", class_name="ms-shapes-bar"),
        html.Div(cards, className="ms-shapes-cards"),
        damage(),
    ]
    return body(
        ids, routes, children, title="shapes.title", frames=FRAMES, keys=ShapeRequest.keys(), texts=(*TEXTS, *PLOT_TEXTS),
        class_name="ms-shapes",
    )  # fmt: skip


def _table_card(ids: Ids, name: str) -> html.Section:
    head = html.Header(
        [
            html.H3(t(f"shapes.{name}"), className="ms-card-title"),
            html.Span(className="ms-card-badges"),
            html.Span(className="ms-shapes-tools"),
        ],
        className="ms-card-head",
    )
    content = html.Div(id=ids(name), className="ms-card-body ms-shapes-body")
    return html.Section([head, content], className=f"ms-card ms-shapes-{name}", tabIndex=-1, **{"data-card": name})


def register(app: Any, source: ProfileSources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, FRAMES)

    def draw(data: Any) -> tuple[Any, ...]:
        ask = ShapeRequest.read_any(data)
        return (no_update,) * 7 if ask is None else drawn(ProfileShapeTables(source, ask))

    app.callback(
        *(Output(ids(name), "children") for name in ("head", *_TABLES)),
        *(Output(ids(name), "data") for name in ("figure-steps", "figure-operator", "facts")),
        Input(ids("draw"), "data"), prevent_initial_call=True,
    )(draw)  # fmt: skip
    call = in_browser(app, "mindscope_shapes")
    root = State(ids("root"), "id")
    call("plan", Output(ids("draw"), "data"), Input(ids("ask"), "data"), Input(ids("prefs"), "data"),
         State(ids("draw"), "data"), root, prevent_initial_call=True)  # fmt: skip
    call(
        "painted", Input(ids("figure-steps"), "data"), Input(ids("figure-operator"), "data"), Input(ids("facts"), "data"),
        root, prevent_initial_call=True,
    )  # fmt: skip
    call("picked", Input(ids("operator-plot"), "clickData"), root, prevent_initial_call=True)


def drawn(times: ProfileShapeTables) -> tuple[Any, ...]:
    """Return head, tables of types, operators and shapes (components), the two figures (None for none), and facts."""
    shown = (tables.head(times), tables.types(times), tables.operators(times), tables.shapes(times))
    facts = {
        "units": list(times.units), "unit": times.unit, "drawn": list(times.drawn), "most": MOST_TYPES,
        "operator": times.operator, "found": len(times.rows) > 0,
    }  # fmt: skip
    return *(still(one) for one in shown), figures.by_step(times), figures.of_operator(times), facts

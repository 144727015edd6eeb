"""The parallel strategy page: how was the model cut over the devices, and what was inserted for that?

Stages, and the ranks as a grid by parallel dimension, coloured by any value of ranks; below, the graph that a rank of a stage
runs, with the strategy of each operator, and the operators that redistribute tensors and aggregate gradients marked and
counted. The grid is drawn by assets/profiles/heat.js, the graph by assets/graphs/canvas.js.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from dash import html

from layouts.graphs.canvas import cytoscape
from layouts.graphs.texts import TEXTS as CANVAS_TEXTS
from layouts.jobs.strategy.asks import read_graph, read_grid
from layouts.jobs.strategy.drawing import ChosenStrategy, Strategies, chosen_file, drawing
from layouts.jobs.strategy.panel import panel
from layouts.jobs.strategy.summary import FRAMES, summary
from layouts.jobs.strategy.texts import TEXTS
from layouts.kit.body import damage
from layouts.kit.elements import icon, icon_button, toolbar
from layouts.kit.i18n import attributes, t
from layouts.kit.page import Ids
from layouts.kit.page_parts import register_parts_in, stores
from layouts.kit.plain_html import markup
from layouts.profiles.body import body, register_body
from layouts.sources import ProfileSources, Sources

PARTS = ("summary", "drawing", "node")
_LEGEND = (
    "strategy", "redistribution", "gradient", "scope", "stack", "fold", "operator", "parameter", "constant", "data", "control",
)  # fmt: skip


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    children: list[Any] = [
        *stores(ids, PARTS),
        html.Div(
            [
                _card(
                    "stages", html.Div(html.Div(className="ms-skeleton"), **{"data-section": "head"}),
                    html.Div(**{"data-section": "stages"}),
                ),
                _card(
                    "grid", toolbar([], label="strategy.controls", class_name="ms-strategy-bar"),
                    html.Div(
                        [html.Div(className="ms-strategy-map"), html.Div(**{"data-section": "picked"})],
                        className="ms-strategy-where",
                    ),
                    html.Div(**{"data-section": "grid-note"}), tools=[
                        icon_button("download", "strategy.png", **{"data-act": "grid-png"}),
                        icon_button("full", "strategy.full", **{"data-act": "full", "data-of": "grid"}),
                    ],
                ),
            ],
            className="ms-strategy-row",
        ),
        _graph(ids),
        damage(),
    ]  # fmt: skip
    return body(
        ids, routes, children, title="strategy.title", frames=FRAMES, keys=("metric", "picked"), choices=("step",),
        texts=(*TEXTS, *CANVAS_TEXTS), class_name="ms-strategy",
    )  # fmt: skip


def _card(name: str, *content: Any, tools: list[Any] | None = None) -> html.Section:
    head = html.Header(
        [html.H3(t(f"strategy.{name}"), className="ms-card-title"), html.Span(tools or [], className="ms-card-tools")],
        className="ms-card-head",
    )
    return html.Section(
        [head, html.Div(list(content), className="ms-card-body")], className=f"ms-card ms-strategy-{name}", tabIndex=-1,
        **{"data-card": name},
    )  # fmt: skip


def _graph(ids: Ids) -> html.Section:
    tools = [
        html.A("CSV", className="ms-button ms-button-small ms-strategy-csv", download="", **attributes(title="strategy.csv")),
        icon_button("download", "strategy.png", **{"data-act": "png"}),
        icon_button("zoom", "strategy.fit", **{"data-act": "fit"}),
        icon_button("full", "strategy.full", **{"data-act": "full", "data-of": "graph"}),
    ]
    head = html.Header(
        [
            html.H3(t("strategy.graph"), className="ms-card-title"), html.Span(className="ms-card-badges"),
            html.Span(tools, className="ms-card-tools"),
        ],
        className="ms-card-head",
    )  # fmt: skip
    legend = html.Details(
        [
            html.Summary([icon("down"), t("strategy.legend")]),
            html.Div([
                html.Div([html.Span(className=f"ms-graph-key ms-graph-key-{name}"), t(f"strategy.legend.{name}")])
                for name in _LEGEND
            ]),
        ],
        className="ms-graph-legend",
    )  # fmt: skip
    canvas = html.Div(
        [
            cytoscape(ids), html.Div(className="ms-graph-tip", hidden=True), legend,
            html.Div(className="ms-graph-minimap", hidden=True, **{"aria-hidden": "true"}),
        ],
        className="ms-graph-canvas", tabIndex=0, role="application", **attributes(aria_label="strategy.canvas"),
    )  # fmt: skip
    side = html.Div(
        className="ms-strategy-panel", tabIndex=0, role="region", **{"data-section": "node"},
        **attributes(aria_label="strategy.panel"),
    )  # fmt: skip
    return html.Section(
        [
            head,
            toolbar([], label="strategy.graph_controls", class_name="ms-strategy-graph-bar"),
            html.Div(className="ms-graph-message ms-wrong-text", hidden=True, role="alert"),
            html.P(className="ms-strategy-status ms-muted", hidden=True, role="status"),
            html.Div([canvas, side], className="ms-strategy-canvas"),
        ],
        className="ms-card ms-graphs ms-graph-main ms-strategy-graph", tabIndex=-1, **{"data-card": "graph"},
    )  # fmt: skip


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, FRAMES[:1], needed=False)
    kept = Strategies()
    answers = {
        "summary": partial(_summary, source), "drawing": partial(_drawing, source, kept), "node": partial(_node, source, kept),
    }  # fmt: skip
    register_parts_in(app, ids, answers, "mindscope_strategy")


def _summary(source: ProfileSources, ask: Any) -> Mapping[str, Any]:
    return summary(source, read_grid(ask))


def _drawing(source: ProfileSources, kept: Strategies, ask: Any) -> Mapping[str, Any]:
    return drawing(source, kept, read_graph(ask))


def _node(source: ProfileSources, kept: Strategies, ask: Any) -> Mapping[str, Any]:
    """Return the panel of the chosen box."""
    parsed = read_graph(ask)
    chosen = chosen_file(source, parsed)
    choice = chosen.choice if isinstance(chosen, ChosenStrategy) else None
    found = source.profiles.frame(choice.run, choice.session, choice.rank, "strategies") if choice is not None else None
    if choice is None or found is None or found.frame is None:
        return {"state": found.state if found is not None else "missing", "sections": {}}
    strategy = kept.of(choice, found)
    return {"state": "ready", "sections": {"node": markup(panel(strategy, strategy.view(parsed.without)[1], parsed.node))}}

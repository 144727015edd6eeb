"""The conversion page: what of an ONNX model became MindSpore code, what did not, and is the result the same model?

It shows the report that `mindscope convert` wrote, and the script beside it as text; the server never converts, and runs
nothing of either. The graph is drawn by assets/graphs/canvas.js, all else by assets/graphs/conversion/page.js.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from dash import html
from parsers import PayloadError
from parsers.graphs.conversion import ConversionReport

from layouts.graphs.canvas import cytoscape
from layouts.graphs.conversion import figures, sections
from layouts.graphs.conversion.asks import ConversionRequest, read_graph
from layouts.graphs.conversion.drawing import ConvertedGraphs, drawing
from layouts.graphs.conversion.listing import KIND, catalogue, listing
from layouts.graphs.conversion.texts import TEXTS
from layouts.graphs.texts import TEXTS as CANVAS_TEXTS
from layouts.kit.body import BodySubject, damage, frame, register_frame, unlisted_states
from layouts.kit.elements import icon, icon_button, toolbar
from layouts.kit.i18n import attributes, t
from layouts.kit.page import Ids
from layouts.kit.page_parts import Answer, register_parts_in, stores
from layouts.kit.plain_html import markup
from layouts.kit.plot_cards import plot_card
from layouts.sources import Sources, ValueSources

CONVERSION = BodySubject("conversion", "ms-conversion", KIND, TEXTS, asks=False)
PARTS = ("summary", "values", "drawing", "code")


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    note = html.P(className="ms-conversion-note ms-muted", **{"data-section": "chart"})
    children = [
        damage(),
        html.Div(
            [
                _card("summary", _section("summary", waits=True)),
                _card("check", _section("check"), _section("marked")),
                _card("operators", _section("operators"), csv="nodes"),
            ],
            className="ms-conversion-heads",
        ),
        _graph(ids),
        plot_card(ids("differences-plot"), "differences", t("conversion.differences"), "ms-conversion-differences", note),
        _card("values", _section("values"), csv="values"),
        _card("weights", _section("weights"), csv="weights"),
    ]  # fmt: skip
    return frame(
        CONVERSION, ids, routes, children, above=stores(ids, PARTS), states=unlisted_states(CONVERSION),
        texts=(*TEXTS, *CANVAS_TEXTS), class_name="", data={},
    )  # fmt: skip


def _section(name: str, *, waits: bool = False) -> html.Div:
    return html.Div([html.Div(className="ms-skeleton")] if waits else [], **{"data-section": name})


def _card(name: str, *content: Any, csv: str = "") -> html.Section:
    save = attributes(title="conversion.csv") | {"data-csv": csv}
    saved = [html.A("CSV", className="ms-button ms-button-small", download="", **save)]
    head = html.Header(
        [html.H3(t(f"conversion.{name}"), className="ms-card-title"), html.Span(className="ms-grow"), *(saved if csv else [])],
        className="ms-card-head",
    )
    return html.Section(
        [head, html.Div(list(content), className="ms-card-body")], className=f"ms-card ms-conversion-{name}", tabIndex=-1,
        **{"data-card": name},
    )  # fmt: skip


def _graph(ids: Ids) -> html.Section:
    tools = [
        icon_button("download", "conversion.png", **{"data-act": "png"}),
        icon_button("zoom", "conversion.fit", **{"data-act": "fit"}),
        icon_button("full", "conversion.full", **{"data-act": "full"}),
    ]
    head = html.Header(
        [
            html.H3(t("conversion.graph"), className="ms-card-title"), html.Span(className="ms-card-badges"),
            html.Span(tools, className="ms-card-tools"),
        ],
        className="ms-card-head",
    )  # fmt: skip
    legend = html.Details(
        [html.Summary([icon("down"), t("conversion.legend")]), html.Div(className="ms-conversion-legend")],
        className="ms-graph-legend", open=True,
    )
    canvas = html.Div(
        [
            cytoscape(ids), html.Div(className="ms-graph-tip", hidden=True), legend,
            html.Div(className="ms-graph-minimap", hidden=True, **{"aria-hidden": "true"}),
        ],
        className="ms-graph-canvas", tabIndex=0, role="application", **attributes(aria_label="conversion.canvas"),
    )  # fmt: skip
    code = html.Div(
        className="ms-conversion-panel", tabIndex=0, role="region", **{"data-section": "code"},
        **attributes(aria_label="conversion.code_region"),
    )
    return html.Section(
        [
            head,
            toolbar([], label="conversion.colour", class_name="ms-conversion-bar"),
            html.Div(className="ms-graph-message ms-wrong-text", hidden=True, role="alert"),
            html.Div([canvas, code], className="ms-conversion-canvas"),
        ],
        className="ms-card ms-graphs ms-graph-main ms-conversion-graph", tabIndex=-1, **{"data-card": "graph"},
    )  # fmt: skip


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    kept = ConvertedGraphs()
    register_frame(app, CONVERSION, ids, partial(catalogue, source), partial(listing, source))
    answers: dict[str, Answer] = {
        "summary": partial(_answered, source, answer_summary), "values": partial(_answered, source, answer_values),
        "drawing": partial(answer_drawing, source, kept), "code": partial(answer_code, source, kept),
    }  # fmt: skip
    register_parts_in(app, ids, answers, CONVERSION.namespace)


def _report(source: ValueSources, ask: ConversionRequest) -> ConversionReport | Mapping[str, Any]:
    """Return the report that is asked for, or the answer without one."""
    try:
        found = source.graphs.conversion(ask.run, ask.model)
    except PayloadError as error:
        return {"state": "failed", "text": str(error)}
    return {"state": "missing"} if found is None else found


def _answered(
    source: ValueSources, answer: Callable[[ConversionReport, ConversionRequest], Mapping[str, Any]], asked: Any
) -> Mapping[str, Any]:
    ask = ConversionRequest.read(asked)
    found = _report(source, ask)
    return answer(found, ask) if isinstance(found, ConversionReport) else found


def answer_summary(report: ConversionReport, ask: ConversionRequest) -> Mapping[str, Any]:
    """Return share, states, check, marked nodes, operators and weights."""
    del ask
    return _sections({
        "summary": sections.summary(report), "check": sections.check(report), "marked": sections.marked_nodes(report),
        "operators": sections.operators(report), "weights": sections.weights(report),
    })  # fmt: skip


def answer_values(report: ConversionReport, ask: ConversionRequest) -> Mapping[str, Any]:
    """Return the chart and the table of differences."""
    notes = [part for key, number in figures.notes(report) for part in (t(key, n=number), " ")]
    figure = figures.differences(report, language=ask.language, dark=ask.dark)
    return {**_sections({"chart": notes, "values": sections.values(report)}), "figure": figure}


def answer_drawing(source: ValueSources, kept: ConvertedGraphs, asked: Any) -> Mapping[str, Any]:
    """Return the drawing of the graph."""
    ask = read_graph(asked)
    found = _report(source, ask.about)
    if not isinstance(found, ConversionReport):
        return found
    return {"state": "ready", **drawing(kept.of(ask.about.run, ask.about.model, found), ask)}


def answer_code(source: ValueSources, kept: ConvertedGraphs, asked: Any) -> Mapping[str, Any]:
    """Return the chosen node with its lines of the script."""
    ask = read_graph(asked)
    found = _report(source, ask.about)
    if not isinstance(found, ConversionReport):
        return found
    return _sections({"code": sections.code(kept.of(ask.about.run, ask.about.model, found), ask.node)})


def _sections(made: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    return {"state": "ready", "sections": {name: markup(list(children)) for name, children in made.items()}}

"""A card with one plot, which shows a skeleton until the page's script sets a figure, and what such figures have in common."""

from __future__ import annotations

from typing import Any

from dash import dcc, html

from layouts.kit.elements import icon, icon_button
from layouts.kit.figures import BLANK, GRAPH_CONFIG
from layouts.kit.i18n import attributes, t

FONT = (
    'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", '
    "sans-serif"
)
"""The font of assets/kit/kit.css. plotly measures the texts of legends where css does not reach, and cuts wider ones."""
LAYOUT: dict[str, Any] = {
    "margin": {"l": 64, "r": 18, "t": 12, "b": 38, "pad": 0}, "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)", "showlegend": False, "hovermode": "closest", "font": {"size": 11, "family": FONT},
    "dragmode": "zoom", "uirevision": None,
}  # fmt: skip
"""What all these figures have in common."""


def hover_label(*, dark: bool) -> dict[str, Any]:
    """Return the colours of hover labels, which CSS cannot style."""
    return {
        "align": "left", "bgcolor": "#22262b" if dark else "#ffffff", "bordercolor": "#464e58" if dark else "#c3c9d1",
        "font": {"size": 12}, "namelength": 0,
    }  # fmt: skip


def plain(text: str) -> str:
    """Return text from files as text for plotly, which reads some tags."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def plot_card(graph: Any, name: str, title: Any, class_name: str = "", *above: Any) -> html.Section:
    """A card with a title, the components `above`, and a plot. name identifies the plot in scripts."""
    plot = dcc.Graph(id=graph, figure=BLANK, config=GRAPH_CONFIG, responsive=True, className="ms-plot")
    return _card(plot, icon_button("download", "plots.png", **{"data-act": "png"}), name, title, class_name, *above)


def drawn_card(plot: Any, name: str, title: Any, class_name: str = "", *above: Any) -> html.Section:
    """Like `plot_card`, with a component of class ms-plot as its plot, into which the page's script draws; also as SVG."""
    items = [
        html.Button(t(f"plots.save.{form}"), type="button", className="ms-menu-item", **{"data-act": form})
        for form in ("png", "svg")
    ]
    summary = html.Summary(
        icon("download"), className="ms-button ms-button-icon", **attributes(title="plots.save", aria_label="plots.save")
    )
    files = html.Details([summary, html.Div(items, className="ms-menu-items")], className="ms-details ms-menu-down")
    return _card(plot, files, name, title, class_name, *above)


def _card(plot: Any, files: Any, name: str, title: Any, class_name: str, *above: Any) -> html.Section:
    tools = html.Span(
        [files, icon_button("full", "plots.full", **{"data-act": "full"})],
        className="ms-card-tools", role="toolbar", **attributes(aria_label="plots.tools"),
    )  # fmt: skip
    head = html.Header(
        [html.H3(title, className="ms-card-title"), html.Span(className="ms-card-badges"), tools], className="ms-card-head"
    )
    return html.Section(
        [head, *above, html.Div([html.Div(className="ms-skeleton"), plot], className="ms-card-body")],
        className=f"ms-card ms-plot-card {class_name}".rstrip(), tabIndex=-1, **{"data-plot": name},
    )  # fmt: skip

"""The cluster page: which rank do the others wait for, since when and why, and how do all ranks of a job compare?

One sentence says who is late; then bars of all ranks with the parts of their steps, the ranks where they are (by parallel
dimension or host), the ranks over the steps, communication by dimension, and the load of experts. A press picks a rank, whose
numbers lead to it on other pages. Everything is computed and reduced to the pixels of the screen here.
"""

from __future__ import annotations

from typing import Any

from dash import Input, Output, State, dcc, html, no_update

from layouts.jobs.cluster.asks import FRAMES, ClusterRequest
from layouts.jobs.cluster.drawing import drawn
from layouts.jobs.cluster.job_cache import JobCache
from layouts.jobs.cluster.texts import TEXTS
from layouts.kit.body import damage
from layouts.kit.callbacks import in_browser
from layouts.kit.elements import scrolled, toolbar
from layouts.kit.i18n import t
from layouts.kit.page import Ids
from layouts.kit.plain_html import still
from layouts.profiles.body import body, register_body
from layouts.profiles.composition_texts import TEXTS as COMPOSITION
from layouts.profiles.plots import plot_card
from layouts.sources import ProfileSources

FIGURES = ("bars", "grid", "heat")
PARTS = ("head", "panel", "dimensions", "experts")
_STORES = ("draw", "screen", "again", "facts", *(f"figure-{name}" for name in FIGURES))


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    children: list[Any] = [
        *(dcc.Store(id=ids(part)) for part in _STORES),
        html.Section(html.Div(id=ids("head"), className="ms-breakdown-head"), className="ms-card", tabIndex=-1),
        toolbar([], label="cluster.controls", class_name="ms-cluster-bar"),
        html.P(className="ms-cluster-status ms-muted", hidden=True, role="status"),
        html.Details(
            [html.Summary(className="ms-button ms-button-quiet"), html.Div(className="ms-popover")],
            className="ms-details ms-cluster-damage", hidden=True,
        ),
        plot_card(ids("bars"), "bars", t("cluster.bars"), "ms-cluster-bars", html.Ul(className="ms-cluster-legend")),
        html.Section(id=ids("panel"), className="ms-card ms-cluster-panel", tabIndex=-1),
        html.Div(
            [
                plot_card(ids("grid"), "grid", t("cluster.grid"), "ms-cluster-grid", _measure()),
                plot_card(ids("heat"), "heat", t("cluster.heat"), "ms-cluster-heat", _measure()),
            ],
            className="ms-cluster-row",
        ),
        html.Div(
            [_section(ids("dimensions"), "cluster.dimensions"), _section(ids("experts"), "cluster.experts")],
            className="ms-cluster-row ms-cluster-texts",
        ),
        damage(),
    ]
    return body(
        ids, routes, children, title="cluster.title", frames=FRAMES, keys=ClusterRequest.keys(),
        choices=("group", "step"), compared=True,
        texts=(*TEXTS, *COMPOSITION), class_name="ms-breakdown ms-cluster",
    )  # fmt: skip


def _measure() -> html.Span:
    """Return the place of the name of what the colours mean."""
    return html.Span(className="ms-cluster-measure ms-muted")


def _section(name: Any, title: str) -> html.Section:
    head = html.Header(html.H3(t(title), className="ms-card-title"), className="ms-card-head")
    return html.Section([head, scrolled([], "ms-cluster-body", id=name)], className="ms-card", tabIndex=-1)


def register(app: Any, source: ProfileSources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, FRAMES)
    kept = JobCache()

    def draw(ask: Any) -> tuple[Any, ...]:
        return tuple(map(still, shown(source, kept, ask)))

    app.callback(
        *(Output(ids(part), "children") for part in PARTS),
        Output(ids("facts"), "data"),
        *(Output(ids(f"figure-{name}"), "data") for name in FIGURES),
        Input(ids("draw"), "data"),
        prevent_initial_call=True,
    )(draw)
    _register_browser(app, ids)


def shown(source: ProfileSources, kept: JobCache, ask: Any) -> tuple[Any, ...]:
    """Return (head, panel, dimensions, experts, facts, figures of bars, grid, heat); no update if no profile is requested."""
    parsed = ClusterRequest.read_any(ask)
    if parsed is None:
        return (no_update,) * (len(PARTS) + 1 + len(FIGURES))
    answer = drawn(source, kept, parsed)
    return *(answer[part] for part in PARTS), answer["facts"], *(answer[name] for name in FIGURES)


def _register_browser(app: Any, ids: Ids) -> None:
    """Add the callbacks that run in the browser (assets/jobs/cluster/page.js, assets/profiles/plots.js)."""
    call = in_browser(app, "mindscope_cluster")
    root = State(ids("root"), "id")
    call(
        "plan", Output(ids("draw"), "data"), Input(ids("ask"), "data"), Input(ids("screen"), "data"),
        Input(ids("prefs"), "data"), Input(ids("again"), "data"), State(ids("draw"), "data"), root, prevent_initial_call=True,
    )  # fmt: skip
    call(
        "painted", *(Output(ids(name), "figure") for name in FIGURES),
        *(Input(ids(f"figure-{name}"), "data") for name in FIGURES), Input(ids("facts"), "data"), root,
        prevent_initial_call=True,
    )  # fmt: skip
    call("barPressed", Input(ids("bars"), "clickData"), root, prevent_initial_call=True)
    for name in ("grid", "heat"):
        call("cellPressed", Input(ids(name), "clickData"), root, prevent_initial_call=True)
    call("moved", Input(ids("bars"), "relayoutData"), root, prevent_initial_call=True)

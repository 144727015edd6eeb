"""The steps page: what does every step of a profile consist of, which steps stand out, and what ran on the streams of one?

Shows bars of all steps, of which one can be picked; the parts of the picked step beside the median, and the marks on its
streams; each part over the steps. Trace, unit, window and picked step are in the state. Figures are drawn here, at the
resolution of the screen.
"""

from __future__ import annotations

from typing import Any

from dash import Input, Output, State, dcc, html, no_update

from layouts.kit.body import damage
from layouts.kit.callbacks import in_browser
from layouts.kit.elements import scrolled, toolbar
from layouts.kit.i18n import t
from layouts.kit.page import Ids
from layouts.kit.plain_html import still
from layouts.profiles.body import body, register_body
from layouts.profiles.composition_texts import TEXTS as COMPOSITION
from layouts.profiles.plots import plot_card
from layouts.profiles.steps.asks import FRAMES, StepRequest
from layouts.profiles.steps.drawing import drawn
from layouts.profiles.steps.texts import TEXTS
from layouts.sources import ProfileSources


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    stores = ("draw", "screen", "facts", "figure-bars", "figure-trends", "figure-streams")
    children: list[Any] = [
        *(dcc.Store(id=ids(part)) for part in stores),
        html.Section(html.Div(id=ids("head"), className="ms-breakdown-head"), className="ms-card", tabIndex=-1),
        toolbar([], label="steps.controls", class_name="ms-breakdown-bar-tools"),
        plot_card(ids("bars"), "bars", t("steps.bars"), "ms-breakdown-bars"),
        html.Div(
            [
                html.Section(scrolled([], "ms-breakdown-detail", id=ids("detail")), className="ms-card", tabIndex=-1),
                plot_card(ids("streams"), "streams", t("steps.streams"), "ms-breakdown-streams"),
            ],
            className="ms-breakdown-row",
        ),
        plot_card(ids("trends"), "trends", t("steps.trends"), "ms-breakdown-trends"),
        damage(),
    ]
    return body(
        ids, routes, children, title="steps.title", frames=FRAMES, keys=StepRequest.keys(), texts=(*TEXTS, *COMPOSITION),
        class_name="ms-breakdown"
    )


FIGURES = ("bars", "trends", "streams")


def register(app: Any, source: ProfileSources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, FRAMES)

    def draw(ask: Any) -> tuple[Any, ...]:
        head, detail, *rest = shown(source, ask)
        return still(head), still(detail), *rest

    app.callback(
        Output(ids("head"), "children"),
        Output(ids("detail"), "children"),
        Output(ids("facts"), "data"),
        *(Output(ids(f"figure-{name}"), "data") for name in FIGURES),
        Input(ids("draw"), "data"),
        prevent_initial_call=True,
    )(draw)
    _register_browser(app, ids)


def shown(source: ProfileSources, ask: Any) -> tuple[Any, ...]:
    """Return (head, detail, facts, figures of bars, trends and streams); no update if no profile is requested."""
    parsed = StepRequest.read_any(ask)
    if parsed is None:
        return (no_update,) * (3 + len(FIGURES))
    choice = parsed.choice
    points = source.profiles.notes(choice.run, choice.session, choice.rank)
    answer = drawn(parsed, choice.frame(source, "steps"), choice.frame(source, "reduces"), points)
    return answer["head"], answer["detail"], answer["facts"], *(answer[name] for name in FIGURES)


def _register_browser(app: Any, ids: Ids) -> None:
    """Add the callbacks that run in the browser (assets/profiles/steps/page.js, assets/profiles/plots.js)."""

    call = in_browser(app, "mindscope_steps")

    root = State(ids("root"), "id")
    call(
        "plan", Output(ids("draw"), "data"), Input(ids("ask"), "data"), Input(ids("screen"), "data"),
        Input(ids("prefs"), "data"), State(ids("draw"), "data"), root, prevent_initial_call=True,
    )  # fmt: skip
    call(
        "painted", *(Output(ids(name), "figure") for name in FIGURES),
        *(Input(ids(f"figure-{name}"), "data") for name in FIGURES), Input(ids("facts"), "data"), root,
        prevent_initial_call=True,
    )  # fmt: skip
    call("picked", Input(ids("bars"), "clickData"), root, prevent_initial_call=True)
    call("moved", Input(ids("bars"), "relayoutData"), root, prevent_initial_call=True)
    call("moved", Input(ids("trends"), "relayoutData"), root, prevent_initial_call=True)

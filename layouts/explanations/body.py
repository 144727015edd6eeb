"""The body of every page about explanations: choice of run, the bar of filters, empty and damaged states.

A page passes its own components to `body` and calls `register_body` with its parts (`layouts.kit.page_parts`). In the browser
assets/explanations/explanations.js chooses the run, has it listed (`listing`), and calls the page's own script, which asks for
parts about `askOf(page)`: of, mark, and those keys of the state that filter
(`layouts.explanations.explanation_choice.FILTERS`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from dash import Input, Output, State, dcc, html, no_update

from layouts.explanations.bar import CONTROLS, bar
from layouts.explanations.explanation_choice import ExplanationChoice, read_choice
from layouts.explanations.listing import catalogue, listing
from layouts.explanations.open_explanations import ExplanationWork
from layouts.explanations.texts import TEXTS
from layouts.kit.callbacks import in_browser, register_catalogue
from layouts.kit.elements import damaged_state, empty_state
from layouts.kit.i18n import for_browser, t
from layouts.kit.page import Ids
from layouts.kit.page_parts import Answer, register_parts_in, stores
from layouts.kit.state import flag
from layouts.kit.work import WorkResult
from layouts.sources import ExplanationSources, Sources

RECORD = """from parsers.explanations.recording import ExplanationWriter

with ExplanationWriter("output/explain", labels=["cat", "dog"], explainers=["GradCAM"]) as writer:
    writer.sample(0, picture, truth=[0], probabilities={0: 0.93, 1: 0.07})
    writer.heat_map(0, "GradCAM", 0, saliency)"""
"""How to record explanations."""
_STORES = ("chosen", "catalogue", "digest", "wanted", "reading")


def body(
    ids: Ids, routes: str, children: Sequence[Any], *, parts: Sequence[str], controls: Sequence[str] = CONTROLS,
    texts: Iterable[str] = (), class_name: str = "",
) -> html.Div:
    """Return the page, which shows nothing until the explanations of a run are read.

    parts are the names of its parts, controls those of the bar that it has, texts further text keys for its scripts.
    """
    return html.Div(
        [
            *(dcc.Store(id=ids(part)) for part in _STORES),
            *stores(ids, parts),
            *bar(),
            html.Div(_states(), className="ms-explanations-states"),
            html.Div(list(children), className="ms-explanations-content", hidden=True),
        ],
        id=ids("root"),
        className=f"ms-explanations {class_name}".rstrip(),
        **{
            "data-instance": ids.instance, "data-page": ids.page, "data-routes": routes, "data-controls": " ".join(controls),
            "data-texts": json.dumps(for_browser([*TEXTS, *texts])),
        },
    )  # fmt: skip


def damage() -> html.Details:
    """The list of damage in the records, for a toolbar; assets/explanations/explanations.js fills it."""
    return html.Details(
        [html.Summary(className="ms-button ms-button-quiet"), html.Div(className="ms-popover")],
        className="ms-details ms-explanations-damage", hidden=True,
    )  # fmt: skip


def _states() -> list[Any]:
    """Loading and empty states; the browser shows at most one."""
    failed = html.Div(
        [
            html.P(t("explanations.failed"), className="ms-empty-sentence"),
            html.P(className="ms-empty-hint ms-explanations-why"),
        ],
        className="ms-empty",
    )
    elsewhere = html.Div(className="ms-explanations-elsewhere")
    return [
        html.Div(html.Div(className="ms-skeleton ms-explanations-skeleton"), **{"data-state": "opening"}),
        html.Div(
            empty_state("explanations.no_runs", hint="explanations.no_runs_hint"), hidden=True, **{"data-state": "no-runs"}
        ),
        html.Div(
            [empty_state("explanations.none", hint="explanations.none_hint", code=RECORD), elsewhere],
            hidden=True, **{"data-state": "none"},
        ),
        html.Div(damaged_state("explanations.none"), hidden=True, **{"data-state": "damaged"}),
        html.Div(empty_state("explanations.loading"), hidden=True, **{"data-state": "loading"}),
        html.Div(
            [empty_state("explanations.nothing", hint="explanations.nothing_hint"), html.Ul(className="ms-explanations-found")],
            hidden=True, **{"data-state": "nothing"},
        ),
        html.Div(failed, hidden=True, **{"data-state": "failed"}),
    ]  # fmt: skip


def register_body(app: Any, source: Sources, ids: Ids, parts: Mapping[str, Answer]) -> None:
    """Add the callbacks of `body`, and those of the parts of the page."""
    register_catalogue(app, ids, partial(catalogue, source))

    def look(wanted: Any) -> Any:
        choice = read_choice(wanted)
        return no_update if choice is None else listing(source, choice)

    app.callback(Output(ids("reading"), "data"), Input(ids("wanted"), "data"), prevent_initial_call=True)(look)
    register_parts_in(app, ids, parts, "mindscope_explanations")
    in_browser(app, "mindscope_explanations")(
        "plan",
        Input(ids("state"), "data"),
        Input(ids("catalogue"), "data"),
        Input(ids("reading"), "data"),
        Input(ids("prefs"), "data"),
        State(ids("root"), "id"),
    )


def worked(source: ExplanationSources, choice: ExplanationChoice, work: ExplanationWork, ask: Any) -> WorkResult:
    """Return the result of work that a part asks for; with cancel=1 it is stopped, with again=1 resumed."""
    if flag(ask, "cancel"):
        source.explanations.cancel(choice.run, work)
    return source.explanations.work(choice.run, work, again=flag(ask, "again"))


def progress(found: WorkResult) -> dict[str, Any]:
    """Return what the browser needs to show how far work is; without its result."""
    return {"state": found.state, "done": found.done, "total": found.total, "text": found.text, "mark": found.mark}

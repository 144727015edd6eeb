"""The body of every page about a dump: choice of run, rank and iteration, progress, empty and damaged states.

A page passes its own components to `body` and calls `register_body`; then
ids("ask")     is a dict of lists: of, rank, step, mark of the dump that is shown (`read_choice(ask)`), with, with_rank,
               with_step and with_mark if there is something to compare with (`read_against(ask)`), node and io as in the
               state, `theme` if it is dark, and the keys of the state that were passed to `body`. None until a dump is listed.
The page's own components are hidden until then. The browser's part is assets/dumps/dumps.js; the page's own script
calls its function `define`. What a page computes are parts (`layouts.dumps.dump_parts`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from dash import Input, Output, State, dcc, html, no_update

from layouts.dumps.catalogue import catalogue
from layouts.dumps.dump_choice import LONGEST, read_choice
from layouts.dumps.dump_parts import Answer, register_parts, stores
from layouts.dumps.listing import listing
from layouts.dumps.live import LIVE_TEXTS, place
from layouts.dumps.texts import TEXTS
from layouts.kit.callbacks import in_browser, register_catalogue
from layouts.kit.elements import button, damaged_state, empty_state, toolbar
from layouts.kit.i18n import attributes, for_browser, t
from layouts.kit.page import Ids
from layouts.kit.state import text
from layouts.sources import Sources

RECORD = """# dump.json
{"common_dump_settings": {"path": "/data/dump", "net_name": "Net", "iteration": "all", "saved_data": "tensor",
                          "input_output": 0, "dump_mode": 0, "op_debug_mode": 0, "support_device": [0]},
 "e2e_dump_settings": {"enable": true}}

export MINDSPORE_DUMP_CONFIG=$PWD/dump.json
python train.py"""
"""How to record a dump with MindSpore."""
CHOICES = ("rank", "step")
_STORES = ("chosen", "catalogue", "digest", "wanted", "reading", "ask")


def body(
    ids: Ids, routes: str, children: Sequence[Any], *, parts: Sequence[str] = (), keys: Sequence[str] = (),
    choices: Sequence[str] = CHOICES, compared: bool = False, texts: Iterable[str] = (), class_name: str = "",
) -> html.Div:
    """Return the page, which shows nothing until the dump is listed.

    parts are the names of its parts. keys are further keys of the state that belong to the page's ask. choices are what can be
    chosen beside the run: some of CHOICES. compared: a second dump can be chosen, with its rank and iteration if these are
    among choices. texts are further text keys for its scripts.
    """
    return html.Div(
        [
            *(dcc.Store(id=ids(part)) for part in _STORES),
            *stores(ids, parts),
            toolbar([], label="debugging.controls", class_name="ms-debugging-bar"),
            place(),
            html.Div(progress_line(), className="ms-debugging-status", hidden=True, role="status"),
            html.Div(_states(), className="ms-debugging-states"),
            html.Div(list(children), className="ms-debugging-content", hidden=True),
        ],
        id=ids("root"),
        className=f"ms-debugging {class_name}".rstrip(),
        **{
            "data-instance": ids.instance, "data-page": ids.page, "data-routes": routes, "data-keys": " ".join(keys),
            "data-choices": " ".join(choices), "data-compared": "1" if compared else "0",
            "data-texts": json.dumps(for_browser([*TEXTS, *LIVE_TEXTS, *texts])),
        },
    )  # fmt: skip


def progress_line() -> list[Any]:
    """A text, a bar, and buttons that stop and resume; assets/dumps/progress.js fills it."""
    return [
        html.Span(className="ms-debugging-text"),
        html.Progress(className="ms-debugging-progress", max="1", value="0", **attributes(aria_label="debugging.progress")),
        button("debugging.cancel", icon_name="stop", **{"data-act": "cancel"}),
        button("debugging.again", icon_name="refresh", hidden=True, **{"data-act": "again"}),
    ]


def damage() -> html.Details:
    """The list of damage in the dump, for a toolbar; assets/dumps/dumps.js fills it."""
    return html.Details(
        [html.Summary(t("debugging.damaged"), className="ms-button ms-button-quiet"), html.Div(className="ms-popover")],
        className="ms-details ms-debugging-damage", hidden=True,
    )  # fmt: skip


def _states() -> list[Any]:
    """Loading and empty states; the browser shows at most one."""
    elsewhere = html.Div(className="ms-debugging-elsewhere")
    failed = html.Div(
        [html.P(t("debugging.failed"), className="ms-empty-sentence"), html.P(className="ms-empty-hint ms-debugging-why")],
        className="ms-empty",
    )
    return [
        html.Div(html.Div(className="ms-skeleton ms-debugging-skeleton"), **{"data-state": "opening"}),
        html.Div(empty_state("debugging.no_runs", hint="debugging.no_runs_hint"), hidden=True, **{"data-state": "no-runs"}),
        html.Div(
            [empty_state("debugging.none", hint="debugging.none_hint", code=RECORD), elsewhere],
            hidden=True, **{"data-state": "none"},
        ),
        html.Div(damaged_state("debugging.none"), hidden=True, **{"data-state": "damaged"}),
        html.Div(empty_state("debugging.loading"), hidden=True, **{"data-state": "loading"}),
        html.Div(
            [empty_state("debugging.nothing", hint="debugging.nothing_hint"), html.Ul(className="ms-debugging-found")],
            hidden=True, **{"data-state": "nothing"},
        ),
        html.Div(failed, hidden=True, **{"data-state": "failed"}),
    ]  # fmt: skip


def register_body(app: Any, source: Sources, ids: Ids, parts: Mapping[str, Answer] | None = None) -> None:
    """Add the callbacks of `body`, and those of the parts of the page."""
    register_catalogue(app, ids, partial(catalogue, source))

    def look(wanted: Any) -> Any:
        choice = read_choice(wanted)
        return no_update if choice is None else listing(source, choice, text(wanted, "with", limit=LONGEST))

    # The browser sets `wanted` itself, because what it asks for next depends on the answer.
    app.callback(Output(ids("reading"), "data"), Input(ids("wanted"), "data"), prevent_initial_call=True)(look)
    register_parts(app, ids, parts or {})
    in_browser(app, "mindscope_debugging")(
        "plan",
        Output(ids("ask"), "data"),
        Input(ids("state"), "data"),
        Input(ids("catalogue"), "data"),
        Input(ids("reading"), "data"),
        Input(ids("prefs"), "data"),
        State(ids("root"), "id"),
    )

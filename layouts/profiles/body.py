"""The body of every page about a profile or a job: choice of run, job, rank, group and step, progress of reading, empty states.

A page passes its own components to `body` and calls `register_body`; then
ids("ask")     is a dict of lists: run, session, rank, mark, with_run ... of the profiles that are ready, the `frames` found,
               `theme` if it is dark, and the keys of the state that were passed to `body`. `read_choice(ask)`
               and `read_against(ask)` return the profiles, `ProfileChoice.frame` a frame, also of the job that the profile
               belongs to; `read_group(ask)` and `read_step(ask)` what was chosen of the job. None until there is
               something to show.
The page's own components are hidden until then. The browser's part is assets/profiles/profiles.js; the page's own script
calls its function `define`, and `offer` with the groups and steps that it can show (`parsers.analysis.jobs.job_choices`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from dash import Input, Output, State, dcc, html, no_update
from parsers.caches import Cache
from parsers.cluster_frames import JOB_FRAMES

from layouts.kit.callbacks import in_browser, register_catalogue
from layouts.kit.elements import button, damaged_state, empty_state, toolbar
from layouts.kit.i18n import attributes, for_browser, t
from layouts.kit.page import Ids
from layouts.kit.state import flag
from layouts.profiles.catalogue import MOST_KEPT, catalogue
from layouts.profiles.profile_choice import read_against, read_choice
from layouts.profiles.reading_progress import reading
from layouts.profiles.texts import TEXTS
from layouts.sources import ProfileSources

RECORD = """profiler = mindspore.profiler.Profiler(output_path="summary/run_1/profiler")
model.train(epochs, dataset)
profiler.analyse()"""
CHOICES = ("rank", "group", "step")
_STORES = ("chosen", "catalogue", "digest", "wanted", "cancel", "cancelled", "reading", "ask")


def body(
    ids: Ids, routes: str, children: Sequence[Any], *, title: str, frames: Sequence[str], keys: Sequence[str] = (),
    choices: Sequence[str] = ("rank",), compared: bool = False, texts: Sequence[str] = (), class_name: str = "",
) -> html.Div:
    """Return the page. It needs at least one of the frames, and shows nothing until all those found have been read.

    title is a text key, used in "... needs {files}". keys are the keys of the state that are part of the page's ask. choices
    are what can be chosen beside the job: some of CHOICES; group and step are part of the ask, too. compared is whether a
    second profile can be chosen, or a second job on a page without a choice of ranks. texts are further text keys for its
    scripts. Among the frames may be some of the job: then the page is asked for anew when files of any of its ranks change.
    """
    return html.Div(
        [
            *(dcc.Store(id=ids(part)) for part in _STORES),
            toolbar([], label="profiling.controls", class_name="ms-profiling-bar"),
            html.Div(_status(), className="ms-profiling-status", hidden=True, role="status"),
            html.Div(_states(), className="ms-profiling-states"),
            html.Div(list(children), className="ms-profiling-content", hidden=True),
        ],
        id=ids("root"),
        className=f"ms-profiling {class_name}".rstrip(),
        **{
            "data-instance": ids.instance, "data-page": ids.page, "data-routes": routes, "data-frames": " ".join(frames),
            "data-keys": " ".join(dict.fromkeys((*keys, *(key for key in choices if key != "rank")))),
            "data-choices": " ".join(choices), "data-whole": "1" if set(frames) & set(JOB_FRAMES) else "0",
            "data-compared": "1" if compared else "0", "data-title": title,
            "data-texts": json.dumps(for_browser([*TEXTS, title, *texts])),
        },
    )  # fmt: skip


def _status() -> list[Any]:
    return [
        html.Span(className="ms-profiling-text"),
        html.Progress(className="ms-profiling-progress", max="1", value="0", **attributes(aria_label="profiling.progress")),
        button("profiling.cancel", icon_name="stop", **{"data-act": "cancel"}),
        button("profiling.again", icon_name="refresh", hidden=True, **{"data-act": "again"}),
    ]


def _states() -> list[Any]:
    """Loading and empty states; the browser shows at most one."""
    missing = html.Div(
        [
            html.P(className="ms-empty-sentence ms-profiling-wanted"),
            html.P(className="ms-empty-hint ms-profiling-found"),
            html.Div(className="ms-profiling-elsewhere"),
        ],
        className="ms-empty",
    )
    return [
        html.Div(html.Div(className="ms-skeleton ms-profiling-skeleton"), **{"data-state": "opening"}),
        html.Div(empty_state("profiling.no_runs", hint="profiling.no_runs_hint"), hidden=True, **{"data-state": "no-runs"}),
        html.Div(
            [
                empty_state("profiling.none", hint="profiling.none_hint", code=RECORD),
                html.Div(className="ms-profiling-elsewhere"),
            ],
            hidden=True, **{"data-state": "none"},
        ),
        html.Div(damaged_state("profiling.none"), hidden=True, **{"data-state": "damaged"}),
        html.Div(empty_state("profiling.loading"), hidden=True, **{"data-state": "loading"}),
        html.Div(missing, hidden=True, **{"data-state": "missing"}),
    ]  # fmt: skip


def damage() -> html.Details:
    """The list of damage in the files shown, for a toolbar or the foot of a page; assets/profiles/profiles.js fills it."""
    return html.Details(
        [html.Summary(t("profiling.damaged"), className="ms-button ms-button-quiet"), html.Div(className="ms-popover")],
        className="ms-details ms-profiling-damage", hidden=True,
    )  # fmt: skip


def register_body(app: Any, source: ProfileSources, ids: Ids, frames: Sequence[str], *, needed: bool = True) -> None:
    """Add the callbacks of `body`, with the same frames. needed is whether the page shows nothing without any of them."""
    register_catalogue(app, ids, partial(catalogue, source, kept=Cache(MOST_KEPT)))

    def look(wanted: Any) -> Any:
        choice = read_choice(wanted)
        if choice is None:
            return no_update
        return reading(source, choice, read_against(wanted), frames, again=flag(wanted, "again"), needed=needed)

    def cancel(asked: Any) -> Any:
        for choice in filter(None, (read_choice(asked), read_against(asked))):
            for name in frames:
                source.profiles.cancel(choice.run, choice.session, choice.rank, name)
        return asked

    # The browser sets `wanted` itself, because what it asks for next depends on the answer.
    app.callback(Output(ids("reading"), "data"), Input(ids("wanted"), "data"), prevent_initial_call=True)(look)
    app.callback(Output(ids("cancelled"), "data"), Input(ids("cancel"), "data"), prevent_initial_call=True)(cancel)

    call = in_browser(app, "mindscope_profiling")

    root = State(ids("root"), "id")
    call(
        "plan",
        Output(ids("ask"), "data"),
        Input(ids("state"), "data"),
        Input(ids("catalogue"), "data"),
        Input(ids("reading"), "data"),
        Input(ids("prefs"), "data"),
        root,
    )

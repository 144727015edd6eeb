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

from collections.abc import Sequence
from functools import partial
from typing import Any

from dash import Input, Output, html
from parsers.caches import Cache
from parsers.cluster_frames import JOB_FRAMES

from layouts.kit.body import BodySubject, frame, record_of, register_frame, state, status_line
from layouts.kit.i18n import t
from layouts.kit.page import Ids
from layouts.kit.recording import missing_data
from layouts.kit.state import flag
from layouts.profiles.catalogue import MOST_KEPT, catalogue
from layouts.profiles.profile_choice import read_against, read_choice
from layouts.profiles.reading_progress import reading
from layouts.profiles.texts import TEXTS
from layouts.sources import ProfileSources

PROFILES = BodySubject("profiling", "ms-profiling", "profile", TEXTS, stores=("cancel", "cancelled"))
CHOICES = ("rank", "group", "step")


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
    lacking = html.Details(
        [html.Summary(t("profiling.files")), html.P(className="ms-profiling-wanted"), html.P(className="ms-profiling-found")],
        className="ms-profiling-files",
    )
    line = [t("profiling.traced"), " ", html.A(t("profiling.to_timeline"))]
    traced = html.P(line, className="ms-profiling-traced", hidden=True)
    missing = missing_data(
        html.P(className="ms-empty-sentence ms-profiling-lacks"), record_of(PROFILES, ids.page), page=ids.page,
        above=[traced, lacking, html.Div(className="ms-body-elsewhere")],
    )
    return frame(
        PROFILES, ids, routes, children, above=[status_line("profiling")], states=[state("missing", missing)],
        texts=[title, *texts], class_name=class_name,
        data={
            "frames": " ".join(frames), "keys": " ".join(dict.fromkeys((*keys, *(key for key in choices if key != "rank")))),
            "choices": " ".join(choices), "whole": "1" if set(frames) & set(JOB_FRAMES) else "0",
            "compared": "1" if compared else "0", "title": title,
        },
    )  # fmt: skip


def register_body(app: Any, source: ProfileSources, ids: Ids, frames: Sequence[str], *, needed: bool = True) -> None:
    """Add the callbacks of `body`, with the same frames. needed is whether the page shows nothing without any of them."""

    def look(wanted: Any) -> Any:
        choice = read_choice(wanted)
        if choice is None:
            return None
        return reading(source, choice, read_against(wanted), frames, again=flag(wanted, "again"), needed=needed)

    def cancel(asked: Any) -> Any:
        for choice in filter(None, (read_choice(asked), read_against(asked))):
            for name in frames:
                source.profiles.cancel(choice.run, choice.session, choice.rank, name)
        return asked

    register_frame(app, PROFILES, ids, partial(catalogue, source, kept=Cache(MOST_KEPT)), look)
    app.callback(Output(ids("cancelled"), "data"), Input(ids("cancel"), "data"), prevent_initial_call=True)(cancel)

"""The job overview: which ranks ran together, what is missing, and what limits the job?

One sentence and a table of what takes time beside computing; what a step would take if one thing were different; a cell for
each rank, of which one can be chosen; groups, steps, hosts, clocks, files that ranks lack, and problems. Ranks and files are
shown at once, the rest when the frames of the job are read. Thousands of ranks are drawn by the browser.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from dash import Input, Output, State, dcc, html, no_update
from parsers.analysis.jobs.limiting import limiting
from parsers.cluster_frames import JOB_FRAMES
from parsers.profiler.groups import text_of

from layouts.jobs.job.cards import clocks_card, files_card, groups_card, hosts_card, problems_card, steps_card
from layouts.jobs.job.members import members, told_ranks
from layouts.jobs.job.sentence import head
from layouts.jobs.job.texts import TEXTS
from layouts.jobs.job.what_if import stop, what_if
from layouts.jobs.late_cause import HOST, cause_is_read
from layouts.jobs.what_if_request import WhatIfRequest
from layouts.kit.body import damage, status_line
from layouts.kit.callbacks import in_browser
from layouts.kit.i18n import CATALOGUE, attributes, t
from layouts.kit.page import Ids
from layouts.kit.plain_html import still
from layouts.kit.state import flag
from layouts.profiles.body import body, register_body
from layouts.profiles.profile_choice import ProfileChoice, read_choice
from layouts.sources import ProfileSources

FRAMES = tuple(name for name in JOB_FRAMES if name != "device_times")
OPENED = ("profile_overview", "timeline", "operators", "steps", "memory", "communication", "advice")
"""Pages that show a rank; those that the application has are offered."""


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    children: list[Any] = [html.Section(html.Div(id=ids("head"), className="ms-job-head"), className="ms-card", tabIndex=-1)]
    opened = [page for page in OPENED if f"{page}.title" in CATALOGUE]
    texts = (*TEXTS, *(f"{page}.title" for page in opened))
    page = body(
        ids, routes, children, title="job.title", frames=FRAMES, keys=WhatIfRequest.keys(), texts=texts, class_name="ms-job"
    )
    grid = html.Div(
        [
            html.Canvas(className="ms-job-canvas", tabIndex=0, role="img", **attributes(aria_label="job.grid")),
            html.Div(className="ms-job-cursor", hidden=True),
            html.Div(className="ms-job-tip", hidden=True),
        ],
        className="ms-job-grid",
    )
    ranks = html.Section(
        [
            html.Header(
                [html.H3(t("job.ranks"), className="ms-card-title"), html.Span(className="ms-card-badges"),
                 html.Span(className="ms-card-tools", role="toolbar")],
                className="ms-card-head",
            ),
            html.Div([html.Div(className="ms-job-legend"), grid, html.P(className="ms-job-without", hidden=True),
                      html.Div(className="ms-job-chosen", role="status")], className="ms-job-ranks-body"),
        ],
        className="ms-card ms-job-ranks", tabIndex=-1, hidden=True, **{"data-opened": " ".join(opened)},
    )  # fmt: skip
    page.children += [
        *(dcc.Store(id=ids(part)) for part in ("job", "sum", "what", "members", "facts", "again")),
        _what_if(ids),
        ranks,
        html.Div([html.Div(id=ids("read")), html.Div(id=ids("listed"))], className="ms-job-cards"),
        damage(),
    ]
    return page


def _what_if(ids: Ids) -> html.Section:
    """Return the card of what could be different, without its lines; assets/jobs/job/page.js makes its fields."""
    head = html.Header(
        [
            html.H3(t("job.what"), className="ms-card-title"), html.Span(className="ms-job-what-fields"),
            html.Span(
                html.A("CSV", className="ms-button ms-button-small ms-job-what-csv", download=""), className="ms-card-tools"
            ),
        ],
        className="ms-card-head",
    )  # fmt: skip
    return html.Section(
        [head, status_line("job.what", "ms-job-what-status"),
         html.Div(id=ids("what-lines"), className="ms-card-body ms-job-what-body")],
        className="ms-card ms-job-what", tabIndex=-1,
    )  # fmt: skip


def register(app: Any, source: ProfileSources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, FRAMES, needed=False)

    def list_members(job: Any) -> tuple[Any, Any]:
        return listed(source, job)

    def sum_up(ask: Any) -> tuple[Any, Any, Any]:
        return summarised(source, ask)

    def ask_what_if(data: Any) -> tuple[Any, Any]:
        ask = WhatIfRequest.read_any(data)
        if ask is None:
            return no_update, no_update
        if flag(data, "cancel"):
            stop(source, ask)
        lines, progress = what_if(source, ask, again=flag(data, "again"))
        return still(lines), progress

    app.callback(
        Output(ids("what-lines"), "children"), Output(ids("again"), "data"), Input(ids("what"), "data"),
        prevent_initial_call=True,
    )(ask_what_if)  # fmt: skip
    app.callback(
        Output(ids("members"), "data"), Output(ids("listed"), "children"), Input(ids("job"), "data"), prevent_initial_call=True
    )(list_members)
    app.callback(
        Output(ids("head"), "children"), Output(ids("read"), "children"), Output(ids("facts"), "data"),
        Input(ids("sum"), "data"), prevent_initial_call=True,
    )(sum_up)  # fmt: skip
    call = partial(in_browser(app, "mindscope_job"), prevent_initial_call=True)
    call("listed", Input(ids("members"), "data"), Input(ids("facts"), "data"), State(ids("root"), "id"))
    call("again", Input(ids("again"), "data"), State(ids("root"), "id"))


def listed(source: ProfileSources, job: Any) -> tuple[Any, Any]:
    """Return (what the browser draws of the ranks, cards of files that they lack and of problems), from names of files alone.

    No update if no profile is requested, or if it is gone.
    """
    choice = read_choice(job)
    found = source.profiles.job(choice.run, choice.session, choice.rank) if choice is not None else None
    if choice is None or found is None:
        return no_update, no_update
    told = {"of": _name(source, choice), **members(found)}
    files = files_card(told["lacking"]) if len(found.members) > 1 else []
    return told, still([*files, *problems_card(found.problems)])


def summarised(source: ProfileSources, ask: Any) -> tuple[Any, Any, Any]:
    """Return (sentence and table of what limits the job, cards, facts); no update if no profile is requested.

    The browser asks for it once for each job, whichever of its ranks is chosen, when all frames are read.
    """
    choice = read_choice(ask)
    if choice is None:
        return no_update, no_update, no_update
    found = source.profiles.job(choice.run, choice.session, choice.rank)
    if found is None:
        return no_update, no_update, no_update
    frames = {name: choice.frame(source, name) for name in FRAMES}
    limits = limiting(frames)
    cards = [
        *groups_card(frames["groups"]), *steps_card(frames["cluster_steps"], found.ranks),
        *hosts_card(found, frames["ranks"]), *clocks_card(frames["collectives"]),
    ]  # fmt: skip
    most = limits.first.rank if limits.first is not None else -1
    drawn = still(head(source, choice, limits, frames))
    slow = limits.first.straggler if limits.first is not None else None
    reading = slow is not None and slow.cause == HOST and cause_is_read(source, choice, slow.rank)
    facts = {"of": _name(source, choice), "most": most, "told": text_of(told_ranks(frames)), "causes": reading}
    return drawn, still(cards), facts


def _name(source: ProfileSources, choice: ProfileChoice) -> str:
    """Return a text that names the job of a profile, the same for all of its ranks."""
    of = choice.run, choice.session, choice.rank
    return "|".join(map(str, next(iter(source.profiles.members(*of)), of)))

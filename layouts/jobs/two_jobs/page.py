"""The page about two jobs: what differs between them by rank, operation, link and group, and who is late in either?

One sentence says which job takes longer per step and what part that is; then come the jobs themselves, medians of all values,
the difference of each rank as bars from the largest to the least, and tables, each with a file of all its rows. The second job
is the one to compare with; differences are those of the first from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from dash import Input, Output, State, dcc, html, no_update
from parsers.analysis.jobs.job_choices import offers
from parsers.export.frames import csv_rows

from layouts.jobs.two_jobs import figure, sections, tables
from layouts.jobs.two_jobs.asks import FRAMES, TwoJobsRequest
from layouts.jobs.two_jobs.job_pair import ComparedJobs, both
from layouts.jobs.two_jobs.texts import TEXTS
from layouts.kit.body import damage
from layouts.kit.callbacks import in_browser
from layouts.kit.elements import button, empty_state
from layouts.kit.i18n import t
from layouts.kit.page import Ids
from layouts.kit.plain_html import markup
from layouts.profiles.body import body, register_body
from layouts.profiles.plots import plot_card
from layouts.profiles.step_plots import StepStyle
from layouts.sources import ProfileSources

_STORES = ("draw", "screen", "facts", "figure")


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    status = html.P(className="ms-two-jobs-status ms-muted")
    plot = plot_card(ids("plot"), "ranks", t("two_jobs.bars"), "ms-two-jobs-bars", status)
    head = html.Div(html.Div(className="ms-skeleton"), className="ms-two-jobs-head", **{"data-section": "head"})
    children: list[Any] = [
        *(dcc.Store(id=ids(part)) for part in _STORES),
        *(dcc.Download(id=ids(f"file-{name}")) for name in tables.SECTIONS),
        html.Div(empty_state("two_jobs.one_job", hint="two_jobs.one_job_hint"), className="ms-two-jobs-none", hidden=True),
        html.Div(
            [
                html.Section(head, className="ms-card", tabIndex=-1),
                plot,
                *(_section(ids, name) for name in tables.SECTIONS),
            ],
            className="ms-two-jobs-cards",
        ),
        damage(),
    ]  # fmt: skip
    return body(
        ids, routes, children, title="two_jobs.title", frames=FRAMES, keys=TwoJobsRequest.keys(),
        choices=("step",), compared=True,
        texts=[*TEXTS, "composition.png", "composition.full"], class_name="ms-breakdown ms-two-jobs",
    )  # fmt: skip


def _section(ids: Ids, name: str) -> html.Section:
    head = html.Header(
        [
            html.H3(t(f"two_jobs.{name}"), className="ms-card-title"),
            html.Span(className="ms-two-jobs-tools"),
            button("two_jobs.csv", icon_name="download", id=ids(f"save-{name}"), n_clicks=0, class_name="ms-button-quiet"),
        ],
        className="ms-card-head",
    )
    return html.Section(
        [head, html.Div(html.Div(className="ms-skeleton"), className="ms-two-jobs-body", **{"data-section": name})],
        className="ms-card", tabIndex=-1, **{"data-card": name},
    )  # fmt: skip


def register(app: Any, source: ProfileSources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, FRAMES)
    kept = ComparedJobs()

    def draw(ask: Any) -> tuple[Any, Any]:
        return shown(source, kept, ask)

    app.callback(
        Output(ids("facts"), "data"), Output(ids("figure"), "data"), Input(ids("draw"), "data"), prevent_initial_call=True
    )(draw)
    for name in tables.SECTIONS:
        app.callback(
            Output(ids(f"file-{name}"), "data"), Input(ids(f"save-{name}"), "n_clicks"), State(ids("ask"), "data"),
            prevent_initial_call=True,
        )(_saver(source, kept, name))  # fmt: skip
    call = in_browser(app, "mindscope_two_jobs")
    root = State(ids("root"), "id")
    in_browser(app, "mindscope_steps")(
        "plan", Output(ids("draw"), "data"), Input(ids("ask"), "data"), Input(ids("screen"), "data"),
        Input(ids("prefs"), "data"), State(ids("draw"), "data"), root, prevent_initial_call=True,
    )  # fmt: skip
    call(
        "painted", Output(ids("plot"), "figure"), Input(ids("figure"), "data"), Input(ids("facts"), "data"), root,
        prevent_initial_call=True,
    )  # fmt: skip
    call("picked", Input(ids("plot"), "clickData"), root, prevent_initial_call=True)


def shown(source: ProfileSources, kept: ComparedJobs, asked: Any) -> tuple[Any, Any]:
    """Return (sections as plain lists and what can be chosen, figure); no update if no job is requested.

    The sections are empty without a second job.
    """
    ask = TwoJobsRequest.read_any(asked)
    if ask is None:
        return no_update, no_update
    two = both(source, kept, ask)
    if two is None:
        return {"sections": {}, "metrics": [], "metric": "", "by": ask.by, "offers": None}, None
    metric = ask.metric or tables.usual_metric(two)
    medians = tables.parts(two)
    ranks = tables.ranks(two, metric)
    made = {
        "head": sections.head(two, medians), "parts": sections.parts(medians), "ranks": sections.side(ranks, two),
        "operations": sections.side(tables.operations(two, ask), two), "links": sections.side(tables.links(two), two),
        "groups": sections.side(tables.groups(two), two),
    }  # fmt: skip
    hosts = dict(two[0].hosts), dict(two[1].hosts)
    look = StepStyle({}, columns=ask.columns, dark=ask.dark)
    drawn = figure.described_bars(figure.bars(ranks.frame, hosts, metric, language=ask.language, look=look), metric)
    facts = {
        "sections": {name: markup(children) for name, children in made.items()}, "metrics": tables.metrics(two),
        "metric": metric, "by": ask.by, "offers": offers(None, two[0].frames["cluster_steps"]),
    }  # fmt: skip
    return facts, drawn


def _saver(source: ProfileSources, kept: ComparedJobs, section: str) -> Callable[[Any, Any], Any]:
    def save(clicks: Any, asked: Any) -> Any:
        ask = TwoJobsRequest.read_any(asked) if clicks else None
        two = both(source, kept, ask) if ask is not None else None
        if ask is None or two is None:
            return no_update
        names = (re.sub(r"[^\w.-]+", "_", job.title).strip("._")[:40] or "job" for job in two)
        content = b"".join(csv_rows(tables.file_of(two, ask, section))).decode()
        return {"filename": f"{'_'.join(names)}_{section}.csv", "content": content}

    return save

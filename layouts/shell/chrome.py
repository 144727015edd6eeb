"""The frame around every page, in the shell and in another application's layout: stores, clock, run picker, data health.

Stores of a frame that a page may use as callback inputs:
ids("state")    the page's state, a URL query as a dict of lists (see `layouts.kit.page`)
ids("version")  `SourceStatus.version`; None until the first answer of the clock, afterwards it changes only with the data.
                A page draws at once with the data it has and draws again when this changes.
ids("prefs")    {"theme": "light" or "dark", "lang": "en" or "zh", "refresh": bool, "interval": seconds}, saved in the browser
ids("runs")     the list of runs (`RunList`). The browser puts it together from the ids("changes") that follow ids("mark"), so
                an answer has only what the browser does not know (`layouts.shell.run_list.listing`).
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import Any

from dash import Input, Output, State, ctx, dcc, html, no_update
from parsers.caches import Cache
from parsers.model import KINDS

from layouts.kit import elements as parts
from layouts.kit.callbacks import in_browser
from layouts.kit.i18n import attributes, for_browser, t
from layouts.kit.page import Ids, Page
from layouts.kit.recording import missing_data
from layouts.kit.state import text
from layouts.shell import board_texts as boards
from layouts.shell import mirror_texts as mirrors
from layouts.shell import note_texts as notes
from layouts.shell import page_file_texts as page_files
from layouts.shell.run_list import ProblemListing, RunListing, listing, problems, shown_status
from layouts.sources import RunSources, Sources

PROBLEMS_SENT = 5000
MOST_LISTINGS = 8
"""Changes of the list of runs that are kept for further readers: pages ask within one interval of each other."""
_KEYS = (
    ("/", "keys.filter"), ("j  k", "keys.cards"), ("↑  ↓", "keys.menu"), ("←  →", "keys.arrows"), ("Home  End", "keys.ends"),
    ("Space", "keys.play"),
    ("x", "keys.swap"), ("[  ]", "keys.iterations"), ("n  N", "keys.hits"), ("f", "keys.full"), ("Enter", "keys.enlarge"),
    ("Esc", "keys.escape"), ("p", "keys.picker"), ("r", "keys.refresh"), ("t", "keys.theme"), ("?", "keys.keys"),
)  # fmt: skip
_BROWSER_TEXTS = (
    "picker.of", "picker.of_best", "picker.of_newest", "picker.best", "picker.counted", "picker.counted_best",
    "picker.of_groups", "picker.counted_groups", "picker.groups",
    "picker.none", "picker.search", "picker.regex", "picker.all", "picker.nothing",
    "picker.invert", "picker.newest", "picker.remove", "picker.no_match", "picker.bad_regex", "picker.expand", "picker.hint",
    "picker.open", "picker.ranks", "picker.list", "picker.one", "picker.none_of_one", "picker.only_chosen", "picker.gone",
    "status.paused", "status.failed", "status.failed_title", "shell.gone",
    "status.never", "status.ago", "status.now", "status.loading", "status.lost", "status.denied",
    "status.refused", "status.refused_address", "status.without", "status.charts", "status.load_again",
    "health.good", "health.problem", "health.problems", "health.notes", "health.verifying", "health.verified", "health.shown",
    "health.copied", "health.place", "health.at", "health.all", "health.more", "health.bytes",
    "age.ago", "age.now", "age.s", "age.m", "age.h", "age.d",
    "state.live", "state.idle", "state.waiting", "state.loading", "state.empty", "state.outside", "state.unreadable",
    "shell.no_data", "shell.rest", "shell.less",
    *(f"problem.{kind}" for kind in KINDS), *(key for _, key in _KEYS), *notes.TEXTS, *boards.TEXTS,
    *page_files.TEXTS, *mirrors.TEXTS,
)  # fmt: skip


def frame(page: Page, ids: Ids, routes: str, *, picker: bool = False) -> html.Div:
    """Return a page with its frame. picker: show run picker and data health above the page, for a page without a shell."""
    head = [html.Div([picker_host(ids), failure_button(), health_button()], className="ms-frame-head")] if picker else []
    return html.Div(
        [
            dcc.Store(id=ids("state"), data={}),
            dcc.Store(id=ids("version")),
            dcc.Store(id=ids("status")),
            dcc.Store(id=ids("mark")),
            dcc.Store(id=ids("changes")),
            dcc.Store(id=ids("runs")),
            dcc.Store(id=ids("prefs")),
            dcc.Store(id=ids("reload"), data=0),
            dcc.Store(id=ids("problems")),
            dcc.Store(id=ids("health-asked")),
            dcc.Interval(id=ids("interval"), disabled=True),  # assets/kit/polling.js has it tick when there is news
            *head,
            html.Div(page.layout(ids, routes), className="ms-page", **{"data-routes": routes}),
            html.Div(missing_data("shell.empty", "scalar", page=page.path or "start"), className="ms-frame-empty"),
            html.Div(parts.empty_state("shell.missing", hint="shell.missing_hint"), className="ms-frame-missing"),
            _gone(),
            _health(ids),
            _keys(ids),
        ],
        id=ids("frame"),
        className="ms ms-frame",
        **{
            "data-frame": ids("frame").removesuffix("-frame"),
            "data-path": page.path,
            "data-needs": " ".join(page.needs),
            **({"data-bare": ""} if page.bare else {}),
            "data-texts": json.dumps(for_browser(_BROWSER_TEXTS)),
        },
    )


def register(app: Any, source: Sources, page: Page, ids: Ids, routes: str, *, picker: Any = None) -> None:
    """Add the callbacks of a frame and of its page. picker: id of the run picker's element if it is outside the frame."""
    _register_clock(app, source, page, ids)
    _register_health(app, source, ids)
    call = in_browser(app, "mindscope")
    call("frame_opened", Output(ids("prefs"), "data"), Input(ids("frame"), "id"))
    call("runs_changed", Output(ids("runs"), "data"), Input(ids("changes"), "data"), State(ids("frame"), "id"))
    call("status_changed", Input(ids("status"), "data"))
    call(
        "frame_shows",
        Input(ids("runs"), "data"),
        Input(ids("state"), "data"),
        State(ids("state"), "id"),
    )
    call(
        "picker_changed",
        Input(ids("runs"), "data"),
        Input(ids("state"), "data"),
        State(picker or ids("picker"), "id"),
    )
    page.register(app, source, ids, routes)


def picker_host(ids: Ids) -> html.Div:
    """The element that assets/kit/picker.js draws the run picker in."""
    return html.Div(id=ids("picker"), className="ms-picker")


def health_button() -> html.Button:
    """The data health badge; assets/kit/health.js writes the counts into it and opens the list."""
    return html.Button(
        [parts.icon("health"), html.Span(className="ms-health-text")],
        type="button",
        className="ms-button ms-button-quiet ms-health",
        **{"data-action": "health"},
        **attributes(title="health.open"),
    )


def failure_button() -> html.Button:
    """The badge that says that the last scan failed; its title and the data health have the reason."""
    return html.Button(
        t("status.failed"),
        type="button",
        className="ms-button ms-button-quiet ms-failure",
        hidden=True,
        **{"data-action": "health"},
    )


def _gone() -> html.Div:
    """The empty state of a page if none of its runs exists."""
    newest = parts.button("shell.gone_newest", **{"data-action": "newest"})
    return html.Div(
        [
            html.P(className="ms-empty-sentence"),
            html.P(t("shell.gone_hint"), className="ms-empty-hint"),
            html.P(newest, className="ms-empty-act"),
        ],
        className="ms-empty ms-frame-gone",
    )


def _health(ids: Ids) -> html.Dialog:
    return html.Dialog(
        [
            html.Header(
                [
                    html.H2(t("health.title"), className="ms-dialog-title"),
                    parts.button("health.copy", icon_name="copy", **{"data-action": "health-copy"}),
                    parts.button("health.csv", icon_name="download", **{"data-action": "health-csv"}),
                    parts.icon_button("close", "dialog.close", **{"data-action": "close"}),
                ],
                className="ms-dialog-head",
            ),
            html.Div(id=ids("health-list"), className="ms-dialog-body ms-health-list"),
        ],
        id=ids("health"),
        className="ms ms-dialog ms-dialog-wide",
        **attributes(aria_label="health.title"),
    )


def _keys(ids: Ids) -> html.Dialog:
    # The rows are added when the list opens: every component on a page costs time at each answer of the server.
    return html.Dialog(
        [
            html.Header(
                [
                    html.H2(t("keys.title"), className="ms-dialog-title"),
                    parts.icon_button("close", "dialog.close", **{"data-action": "close"}),
                ],
                className="ms-dialog-head",
            ),
            html.Div(className="ms-keys", **{"data-keys": json.dumps(_KEYS)}),
            html.P(
                [
                    html.A(t("shell.start"), href="start", **{"data-page": "start", "data-action": "close"}), " · ",
                    html.A(t("shell.guides"), href="guides", **{"data-page": "guides", "data-action": "close"}),
                ],
                className="ms-keys-start",
            ),
        ],
        id=ids("keys"),
        className="ms ms-dialog",
        **attributes(aria_label="keys.title"),
    )


def _register_clock(app: Any, source: Sources, page: Page, ids: Ids) -> None:
    known_changes: Cache[tuple[int, str, bool], RunListing] = Cache(MOST_LISTINGS)

    def changed_since(mark: str, version: int) -> RunListing:
        make = partial(listing, source, page.needs, every=page.every, since=mark)
        if not mark:
            return make()
        # Those who follow the list have seen the same and ask for the same news; who may write sees another notebook.
        return known_changes.made((version, mark, source.notes.notebook().read_only), make)

    def tick(_ticks: Any, reloads: Any, known: Any, mark: Any) -> tuple[Any, Any, Any, Any]:
        # All inputs trigger the first call of a page, which must not cause a scan.
        if reloads and ctx.triggered_id == ids("reload"):
            source.runs.refresh()
        status = shown_status(source)
        answer = asdict(status)
        if status.version == known:
            return answer, no_update, no_update, no_update
        changes = changed_since(mark if isinstance(mark, str) else "", status.version)
        return answer, status.version, changes["mark"], changes

    app.callback(
        Output(ids("status"), "data"),
        Output(ids("version"), "data"),
        Output(ids("mark"), "data"),
        Output(ids("changes"), "data"),
        Input(ids("interval"), "n_intervals"),
        Input(ids("reload"), "data"),
        State(ids("version"), "data"),
        State(ids("mark"), "data"),
    )(tick)


def _register_health(app: Any, source: RunSources, ids: Ids) -> None:
    def list_problems(asked: Any) -> ProblemListing:
        run = text({"run": asked.get("run", [])} if isinstance(asked, dict) else None, "run")
        return problems(source, PROBLEMS_SENT, run)

    app.callback(Output(ids("problems"), "data"), Input(ids("health-asked"), "data"), prevent_initial_call=True)(list_problems)

    in_browser(app, "mindscope")(
        "health_listed",
        Input(ids("problems"), "data"),
        State(ids("health-list"), "id"),
        prevent_initial_call=True,
    )

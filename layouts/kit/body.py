"""The body of a page about one run's data of a kind: choice of run, progress of reading, empty states, list of damage.

A subject describes itself in a `BodySubject`. Its own `body` and `register_body`, which its pages call, call `frame` and
`register_frame`. Until there is something to show, the page's own components are hidden, and one of the states is shown:
opening, no-runs, none (the chosen runs have no such data), damaged (damage may have taken it), loading, unknown (no run has
what the address names), or one of the subject.

assets/kit/body.js is the counterpart in the browser. It sets ids("wanted") to what it needs to know of the chosen run, again
while the answer, ids("reading"), is not final.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from dash import Input, Output, State, dcc, html, no_update
from parsers import Problem

from layouts.kit.callbacks import Catalogue, in_browser, register_catalogue
from layouts.kit.elements import button, damaged_state, empty_state, toolbar
from layouts.kit.i18n import Texts, attributes, define_texts, for_browser, t
from layouts.kit.page import Ids
from layouts.kit.recording import RECORDINGS, missing_data

TEXTS = define_texts({
    "body.no_runs": "common.no_run_is_chosen",
    "body.no_runs_hint": "common.choose_runs_at_the_top",
    "body.loading": "common.the_runs_are_being_read",
    "body.damaged": "common.damaged",
    "body.notes_n": ("Notes on the files: {n}", "文件提示：{n} 条"),
    "body.stop": "common.stop",
})
WRITTEN = ("body.notes_n",)
"""Texts that assets/kit/body.js writes on every page."""
MOST_PROBLEMS = 50
"""Maximum number of problems in the list of damage."""


@dataclass(frozen=True, slots=True)
class BodySubject:
    """What the pages of a subject say and keep.

    name is the prefix of its text keys: `controls` names the toolbar, `none` is the state without data, `unknown` that of a
    name in the address that no run has; `elsewhere` and `damaged_n` are written by the browser. record is the kind of data in
    RECORDINGS that its pages show, but for pages whose name is a kind. texts are sent to the browser.
    stores are further stores. asks: the browser sets ids("ask") to what the page shows.
    """

    name: str
    class_name: str
    record: str
    texts: Texts
    stores: Sequence[str] = ()
    asks: bool = True

    @property
    def namespace(self) -> str:
        """The namespace of its functions in the browser."""
        return f"mindscope_{self.name}"


def frame(
    subject: BodySubject, ids: Ids, routes: str, children: Sequence[Any], *, above: Sequence[Any] = (),
    states: Sequence[html.Div] = (), texts: Iterable[str] = (), class_name: str = "", data: Mapping[str, str],
) -> html.Div:
    """Return the page. above is shown between toolbar and states, texts are further text keys for its scripts.

    data are attributes of the root (`data-*`) for the browser.
    """
    parts = ("chosen", "catalogue", "digest", "wanted", "reading", *(("ask",) if subject.asks else ()), *subject.stores)
    return html.Div(
        [
            *(dcc.Store(id=ids(part)) for part in parts),
            toolbar([], label=f"{subject.name}.controls", class_name="ms-body-bar"),
            *above,
            html.Div([*_states(subject, ids.page), *states], className="ms-body-states"),
            html.Div(list(children), className="ms-body-content", hidden=True),
        ],
        id=ids("root"),
        className=f"ms-body {subject.class_name} {class_name}".rstrip(),
        **{
            "data-instance": ids.instance, "data-page": ids.page, "data-routes": routes,
            "data-texts": json.dumps(for_browser([*WRITTEN, *subject.texts, *texts])),
            **{f"data-{name}": value for name, value in data.items()},
        },
    )  # fmt: skip


def state(name: str, *children: Any) -> html.Div:
    """Return a state by its name, hidden until the browser shows it."""
    return html.Div(list(children), hidden=True, **{"data-state": name})


def record_of(subject: BodySubject, page: str) -> str:
    """Return the kind of data, a key of RECORDINGS, that a page of a subject shows."""
    return page if page in RECORDINGS else subject.record


def _states(subject: BodySubject, page: str) -> list[html.Div]:
    none = f"{subject.name}.none"
    elsewhere = html.Div(className="ms-body-elsewhere")
    return [
        html.Div(html.Div(className="ms-skeleton ms-body-skeleton"), **{"data-state": "opening"}),
        state("no-runs", empty_state("body.no_runs", hint="body.no_runs_hint")),
        state("none", missing_data(none, record_of(subject, page), page=page, above=[elsewhere])),
        state("damaged", damaged_state(none)),
        state("loading", empty_state("body.loading")),
        unknown_state(f"{subject.name}.unknown"),
    ]


def unknown_state(key: str) -> html.Div:
    """Return one line about data that the address names and no run has; the browser fills in the name."""
    line = [t(key), " ", html.Span(className="ms-body-unknown ms-mono")]
    return state("unknown", html.Div(html.P(line, className="ms-empty-sentence"), className="ms-empty"))


def unlisted_states(subject: BodySubject) -> list[html.Div]:
    """Return the states of a run whose listing has nothing to show, or failed; the browser fills in problems and reason."""
    nothing = empty_state(f"{subject.name}.nothing", hint=f"{subject.name}.nothing_hint")
    failed = [
        html.P(t(f"{subject.name}.failed"), className="ms-empty-sentence"), html.P(className="ms-empty-hint ms-body-why")
    ]  # fmt: skip
    return [
        state("nothing", nothing, html.Ul(className="ms-body-found")), state("failed", html.Div(failed, className="ms-empty")),
    ]  # fmt: skip


def status_line(name: str, class_name: str = "", *, before: Sequence[Any] = ()) -> html.Div:
    """A line with a text, a bar, and buttons that stop and resume; assets/kit/progress.js fills it.

    name is the prefix of the text keys: `reading`, `working`, `preparing`, `waiting`, `cancelled` and `work_failed` are states,
    `progress` names the bar, and `again` is on the button that resumes. before are components in front of the text.
    """
    return html.Div(
        [
            *before,
            html.Span(className="ms-body-text"),
            html.Progress(
                className="ms-body-progress", max="1", value="0", **attributes(aria_label=f"{name}.progress"),
                **{"data-name": name},
            ),
            html.Span(className="ms-body-share ms-muted"),
            button("body.stop", icon_name="stop", **{"data-act": "cancel"}),
            button(f"{name}.again", icon_name="refresh", hidden=True, **{"data-act": "again"}),
        ],
        className=f"ms-body-status {class_name}".rstrip(), hidden=True, role="status",
    )  # fmt: skip


def damage() -> html.Details:
    """The list of damage in the files shown, for a toolbar or the foot of a page; assets/kit/body.js fills it."""
    return html.Details(
        [html.Summary(t("body.damaged"), className="ms-button ms-button-quiet"), html.Div(className="ms-popover")],
        className="ms-details ms-body-damage", hidden=True,
    )  # fmt: skip


class DamagedFile(TypedDict):
    """A file, and what was lost; of a note nothing."""

    path: str
    text: str
    note: NotRequired[bool]


class ListedDamage(TypedDict):
    """The list of damage: the first problems, then notes, and the numbers of more problems and of all notes."""

    problems: list[DamagedFile]
    more: int
    notes: int


def listed_damage(problems: Sequence[Problem]) -> ListedDamage:
    """Return the first problems and notes, and how many there are, for the list of damage."""
    damage, notes = ([one for one in problems if one.is_note is kind] for kind in (False, True))
    listed: list[DamagedFile] = [{"path": problem.path, "text": problem.text} for problem in damage[:MOST_PROBLEMS]]
    told: list[DamagedFile] = [{"path": one.path, "text": one.text, "note": True} for one in notes[:MOST_PROBLEMS]]
    return {"problems": [*listed, *told], "more": len(damage) - len(listed), "notes": len(notes)}


def register_frame(
    app: Any, subject: BodySubject, ids: Ids, catalogue: Catalogue, look: Callable[[Any], Mapping[str, Any] | None]
) -> None:
    """Add the callbacks of `frame`: the catalogue, and look(wanted), which returns ids("reading"); None if wanted is empty."""
    register_catalogue(app, ids, catalogue)

    def answer(wanted: Any) -> Any:
        found = look(wanted)
        return no_update if found is None else found

    # The browser sets `wanted` itself, because what it asks for next depends on the answer.
    app.callback(Output(ids("reading"), "data"), Input(ids("wanted"), "data"), prevent_initial_call=True)(answer)
    inputs = [Input(ids(part), "data") for part in ("state", "catalogue", "reading", "prefs")]
    asked = [Output(ids("ask"), "data")] if subject.asks else []
    in_browser(app, subject.namespace)("plan", *asked, *inputs, State(ids("root"), "id"))

"""The start page: what is in this directory, and what can be asked of it?

Six questions, each a link to the page that answers it with run, rank and more chosen (`layouts.runs.questions`). What the
runs do not have is listed with the code that records it. The page has something to show without any run, and follows the
runs as they are found and grow. The server makes three parts; the browser replaces those that changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict

from dash import Input, Output, State, dcc, html, no_update

from layouts.kit.callbacks import in_browser
from layouts.kit.i18n import attributes, t
from layouts.kit.page import Ids
from layouts.kit.plain_html import markup
from layouts.kit.recording import RECORDINGS
from layouts.kit.state import digest_of, text
from layouts.runs.questions import Question, counted, questions
from layouts.runs.start import drawing
from layouts.sources import Sources


class StartParts(TypedDict):
    """What the page shows, as plain lists (`layouts.kit.plain_html`), and a digest of it."""

    digest: str
    parts: dict[str, list[Annotated[Any, object]]]


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data."""
    del routes
    return html.Div(
        [
            dcc.Store(id=ids("shown")),
            html.Section(
                [
                    html.H2(t("start.found"), className="ms-start-heading"),
                    html.Div(html.Div(className="ms-skeleton"), className="ms-start-found", role="status",
                             **{"data-part": "found"}),
                ],
                className="ms-start-head",
            ),
            html.Section(
                [
                    html.Div(
                        [
                            html.H2(t("start.asks"), className="ms-start-heading"),
                            html.A(t("start.guides"), href="guides", className="ms-start-guides", **{"data-page": "guides"}),
                        ],
                        className="ms-start-line",
                    ),
                    html.Div(
                        [html.Div(className="ms-skeleton") for _ in range(6)], className="ms-start-answers",
                        **{"data-part": "answers"},
                    ),
                ],
                className="ms-start-asks", **attributes(aria_label="start.asks"),
            ),
            html.Section(className="ms-start-lacks", **{"data-part": "missing"}),
        ],
        id=ids("root"), className="ms-start",
    )  # fmt: skip


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes

    def look(state: Any, _version: Any, known: Any) -> Any:
        found = shown(source, state)
        return no_update if isinstance(known, Mapping) and known.get("digest") == found["digest"] else found

    app.callback(
        Output(ids("shown"), "data"), Input(ids("state"), "data"), Input(ids("version"), "data"), State(ids("shown"), "data"),
    )(look)  # fmt: skip
    call = in_browser(app, "mindscope_start")
    call("shown", Input(ids("shown"), "data"), Input(ids("state"), "data"), State(ids("root"), "id"))


def shown(source: Sources, state: Any) -> StartParts:
    """Return the parts of the page. `record` of the state is the kind of data whose code is shown."""
    rows, status = source.runs.rows(), source.runs.status()
    places = source.runs.places()
    asked = questions(rows, source.profiles.rows, places)
    made = {
        "found": drawing.found(
            counted(rows, len(source.studies.rows())), loaded=status.loaded, total=status.total, problems=status.problems,
            coming=status.coming, demo=bool(places),
        ),
        "answers": drawing.answers(
            asked, {row.key: row.name for row in rows},
            _colours(source, asked),
        ),
        "missing": drawing.missing(asked, len(rows), text(state, "record", choices=("", *RECORDINGS))),
    } if status.read_at is not None else {}  # fmt: skip
    parts = {name: markup(content) for name, content in made.items()}
    return {"digest": digest_of(parts), "parts": parts}


def _colours(source: Sources, asked: Sequence[Question]) -> dict[str, str]:
    """Return the colour that the run of each question has on the page that answers it: name of the question -> #rrggbb."""
    members = {row.key: row.members[0] for row in source.runs.rows() if row.members}
    found = {}
    for one in asked:
        if one.place is not None and one.run in members:
            colours = source.runs.colours(tuple(one.place.state.get("run", ())))
            found[one.name] = colours.get(members[one.run], "")
    return {name: colour for name, colour in found.items() if colour}

"""The guides page: what is wrong with this run, and which page shows the cause?

A list of symptoms in the user's words, those found in the run first, with their evidence. A symptom opens its steps: each asks
a question, says what the data of this run answer, by which rule, and leads to the page that shows it. What takes long runs on
request. The server makes the parts; the browser replaces those that changed, searches the list, and keeps ticks and remarks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict

from dash import Input, Output, State, dcc, html, no_update

from layouts.kit import elements as parts
from layouts.kit.body import unknown_state
from layouts.kit.callbacks import in_browser
from layouts.kit.i18n import attributes, for_browser, t
from layouts.kit.page import Ids
from layouts.kit.plain_html import markup
from layouts.kit.state import bind, digest_of, text, texts
from layouts.runs.checks import Checks
from layouts.runs.chosen_runs import label_of, selected_rows
from layouts.runs.guides import drawing
from layouts.runs.guides.plain_text import as_text
from layouts.runs.symptoms.answering import WORKING, Answer, Sign, SymptomAnswers
from layouts.runs.symptoms.links import address
from layouts.runs.symptoms.model import Symptom
from layouts.runs.symptoms.probed import SECONDS, Budget, QuestionSubject, SourceRun
from layouts.runs.symptoms.registry import SYMPTOMS
from layouts.sources import Sources

MOST_SHOWN = 50
"""Runs that others are compared with."""
MOST_JUDGED = 20
"""Runs of which the one with the severest symptom is opened."""
ACTS = ("", "again", "cancel")
BROWSER_TEXTS = (
    "guides.run", "guides.other", "guides.nobody", "guides.remark", "guides.done", "guides.not_kept",
)  # fmt: skip
"""Texts that scripts write."""


class GuideParts(TypedDict):
    """What the page shows, as plain lists (`layouts.kit.plain_html`), and a digest of it.

    run is the key of the run, other that of the second one, "" for none; runs are (key, name) of those to choose from. unknown
    is a run that the address names and nobody has, "" for none. again: something is being read. text is the open symptom as
    text.
    """

    digest: str
    parts: dict[str, list[Annotated[Any, object]]]
    run: str
    other: str
    symptom: str
    unknown: str
    runs: list[Annotated[list[str], tuple[str, str]]]
    again: bool
    text: Annotated[list[str], "Texts"]


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data."""
    choices = [
        html.Label([html.Span(t("guides.run"), className="ms-field-name"), html.Span(**{"data-choice": "run"})],
                   className="ms-field"),
        html.Label([html.Span(t("guides.other"), className="ms-field-name"), html.Span(**{"data-choice": "other"})],
                   className="ms-field"),
    ]  # fmt: skip
    search = parts.text_input(ids("search"), "guides.search", class_name="ms-filter ms-guides-search", type="search")
    return html.Div(
        [
            dcc.Store(id=ids("shown")),
            dcc.Store(id=ids("turn")),
            html.Div([search, *choices], className="ms-toolbar ms-guides-bar"),
            html.Div(
                [parts.empty_state("guides.no_runs", hint="guides.no_runs_hint"), unknown_state("guides.unknown")],
                className="ms-guides-no-runs", hidden=True,
            ),
            html.Div(
                [
                    html.Nav(
                        [html.Div(className="ms-skeleton") for _ in range(6)], className="ms-guides-list",
                        **{"data-part": "list"}, **attributes(aria_label="guides.symptoms"),
                    ),
                    html.Article(html.Div(className="ms-skeleton"), className="ms-card ms-guides-open-symptom",
                                 tabIndex=-1, **{"data-part": "steps"}),
                ],
                className="ms-guides-body",
            ),
        ],
        id=ids("root"), className="ms-guides",
        **{"data-routes": routes, "data-texts": json.dumps(for_browser(BROWSER_TEXTS))},
    )  # fmt: skip


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    answers = SymptomAnswers(source)

    def look(state: Any, _version: Any, turn: Any, known: Any) -> Any:
        found = shown(source, answers, state, turn)
        is_same = isinstance(known, Mapping) and known.get("digest") == found["digest"] and not found["again"]
        return no_update if is_same else found

    app.callback(
        Output(ids("shown"), "data"), Input(ids("state"), "data"), Input(ids("version"), "data"), Input(ids("turn"), "data"),
        State(ids("shown"), "data"),
    )(look)  # fmt: skip
    bind(app, ids, "search", "value", "q", default="")
    call = in_browser(app, "mindscope_guides")
    call("shown", Input(ids("shown"), "data"), Input(ids("state"), "data"), State(ids("root"), "id"))


def shown(source: Sources, answers: SymptomAnswers, state: Any, turn: Any) -> GuideParts:
    """Return the parts of the page. `of`, `with` and `symptom` of the state are the run, the second one, and what is open.

    turn is what the browser asks for: the steps whose slow probes may run ("look"), and what to do with their work ("act").
    """
    rows = selected_rows(state, source)
    chosen = list(rows)
    firsts = list(dict.fromkeys(rows[run].members[0] for run in chosen))
    keys = {rows[run].key: rows[run].members[0] for run in chosen} | {run: run for run in chosen}
    budget = Budget(SECONDS)
    named = [text(state, key, limit=100_000) for key in ("of", "with")]
    unknown = next((one for one in named if one and one not in keys), "")
    run, unsure = "" if unknown else keys.get(named[0], ""), False
    if not run and firsts and not unknown:
        run, unsure = _worst(source, answers, firsts, budget)
    other = _other(state, keys, firsts, run)
    looked = texts(turn, "look") if isinstance(turn, Mapping) else []
    act = text(turn, "act", choices=ACTS) if isinstance(turn, Mapping) else ""
    probed = SourceRun(source, QuestionSubject(run, other, tuple(firsts[:MOST_SHOWN]), "", budget)) if run else None
    if run:
        source.runs.want([run, *([other] if other else [])])
    signs = answers.signs(probed) if probed is not None else [Sign(symptom) for symptom in SYMPTOMS.values()]
    wanted = text(state, "symptom", limit=40)
    symptom = SYMPTOMS.get(wanted) or signs[0].symptom
    told = [] if probed is None else _answers(answers, probed, symptom, looked, act, text(turn, "at") if act else "")
    book = source.notes.notebook()
    checks = book.checks.get(rows[run].key, Checks()) if run else Checks()
    why_not = "" if book.kept else book.why_not or (drawing.READ_ONLY if book.read_only else drawing.NO_WORKSPACE)
    links = [] if probed is None else [
        address(source, probed, step, one.finding) for step, one in zip(symptom.steps, told, strict=True)
    ]  # fmt: skip
    name = label_of(run, rows[run]) if run else ""
    made = {
        "list": markup(drawing.listed(signs, symptom.name, has_run=bool(run))),
        "steps": markup(drawing.steps(symptom, told, links, checks, name, why_not=why_not)) if run else [],
    }  # fmt: skip
    again = unsure or any(sign.is_reading for sign in signs) or any(one.state in WORKING for one in told)
    names = [[one, label_of(one, rows[one])] for one in firsts]
    return {
        "digest": digest_of([made, run, other, unknown, names, again]), "parts": made, "run": run, "other": other,
        "symptom": symptom.name, "unknown": unknown, "runs": names, "again": again,
        "text": list(as_text(symptom, name, told, checks)) if run else ["", ""],
    }  # fmt: skip


def _worst(source: Sources, answers: SymptomAnswers, firsts: Sequence[str], budget: Budget) -> tuple[str, bool]:
    """Return (the run whose curves have the severest symptom, else the first one; whether some are still being read).

    Of two runs each is compared with the other one.
    """
    if len(firsts) < 2:
        return firsts[0], False
    others = {run: next(one for one in firsts if one != run) if len(firsts) == 2 else "" for run in firsts[:MOST_JUDGED]}
    worst, unsure = answers.worst_of_curves(
        SourceRun(source, QuestionSubject(run, other, tuple(firsts[:MOST_SHOWN]), "", budget)) for run, other in others.items()
    )
    return worst or firsts[0], unsure


def _other(state: Any, keys: Mapping[str, str], firsts: list[str], run: str) -> str:
    """Return the run to compare with: the one that is chosen ("" for none), else the other one of two runs on screen."""
    if texts(state, "with"):
        other = keys.get(text(state, "with", limit=100_000), "")
        return "" if other == run else other
    return next((one for one in firsts if one != run), "") if len(firsts) == 2 else ""


def _answers(
    answers: SymptomAnswers, run: SourceRun, symptom: Symptom, looked: list[str], act: str, at: str
) -> list[Answer]:  # fmt: skip
    """Return the answers to the steps of a symptom. looked are the steps that somebody asked for; act is about the one `at`."""
    found = []
    for step in symptom.steps:
        name = f"{symptom.name}.{step.name}"
        own = SourceRun(run.source, QuestionSubject(run.asked.run, run.asked.other, run.asked.shown, act if name == at else "",
                                          run.asked.budget)) if act and name == at else run  # fmt: skip
        found.append(answers.answer(own, step, slow=name in looked))
    return found

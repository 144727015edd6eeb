"""The parts of the start page: what was found, the questions with their links, and the code that records what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from dash import html

from layouts.kit import elements as parts
from layouts.kit import units as fmt
from layouts.kit.i18n import attributes, t
from layouts.kit.recording import demo_line, recording
from layouts.runs.questions import Destination, Question

PAGES = {
    "run": "", "profile": "profile_overview", "dump": "first_cause", "graph": "graph", "explain": "saliency", "study": "tuning",
}  # fmt: skip
"""Kind of data that is counted -> the page that shows it."""


def found(
    counts: Mapping[str, int], *, loaded: int, total: int, problems: int, coming: int = 0, demo: bool = False
) -> list[Any]:
    """Return the line of what was found: a link for each kind, what is being read or damaged, and what the demo is.

    coming is the number of runs that are still being written. While that, or reading, goes on, the numbers are not final.
    """
    if not counts and not total:
        return [html.P(t("start.empty"), className="ms-start-empty")]
    links: list[Any] = [
        html.A(
            t(f"start.{kind}" if number == 1 else f"start.{kind}_n", n=fmt.count(number)),
            href=PAGES[kind] or ".", className="ms-start-count", **{"data-page": PAGES[kind], "data-key": f"count-{kind}"},
        )
        for kind, number in counts.items()
    ]  # fmt: skip
    if loaded < total:
        links.append(html.Span(t("start.reading", n=fmt.count(total - loaded), total=fmt.count(total)), className="ms-muted"))
    if coming:
        text = t("start.coming" if coming == 1 else "start.coming_n", n=fmt.count(coming))
        links.append(html.Span(text, className="ms-muted"))
    if problems:
        text = t("start.problem" if problems == 1 else "start.problem_n", n=fmt.count(problems))
        links.append(html.Button(text, type="button", className="ms-start-problems", **{"data-action": "health"}))
    if demo:
        links.append(html.P(t("start.is_demo"), className="ms-start-demo ms-muted"))
    return links


def answers(asked: Sequence[Question], names: Mapping[str, str], colours: Mapping[str, str]) -> list[Any]:
    """Return a link for each question that the data can answer.

    names: key of a row -> name of the run; colours: name of a question -> colour of its run.
    """
    return [_answer(one, one.place, names, colours) for one in asked if one.place is not None]


def _answer(question: Question, place: Destination, names: Mapping[str, str], colours: Mapping[str, str]) -> html.A:
    query = urlencode([(key, value) for key, values in place.state.items() for value in values])
    about = [parts.icon(place.page or "runs"), t(f"{place.page or 'runs'}.title")]
    return html.A(
        [
            html.Span(className=f"ms-start-art ms-start-art-{question.name}", **{"aria-hidden": "true"}),
            html.Span(
                [
                    html.Span(t(f"start.{question.name}"), className="ms-start-question"),
                    html.Span(t(_says(question.name, place)), className="ms-start-says"),
                    html.Span(
                        [html.Span(about, className="ms-start-page"), *_where(question, names, colours)],
                        className="ms-start-where",
                    ),
                ],
                className="ms-start-text",
            ),
        ],
        href=(place.page or ".") + (f"?{query}" if query else ""), className="ms-card ms-start-answer",
        **{"data-page": place.page, "data-query": query, "data-exact": ""},
        **{"data-key": question.name, "data-card": question.name},
    )  # fmt: skip


def _says(name: str, place: Destination) -> str:
    other = {("best", ""): "start.best.says_runs", ("broke", "scalars"): "start.broke.says_curve"}
    return other.get((name, place.page), f"start.{name}.says")


def _where(question: Question, names: Mapping[str, str], colours: Mapping[str, str]) -> list[Any]:
    """The run that a link opens, or the number of runs, and the rank or the number of ranks."""
    told: list[Any] = []
    if question.run:
        dot = html.Span(className="ms-dot", style={"background": colours.get(question.name, "currentColor")})
        name = names.get(question.run, question.run)
        told.append(html.Span([dot, html.Span(name, className="ms-cut ms-name")], className="ms-start-run", title=name))
    if question.number:
        told.append(html.Span(t("start.of_ranks" if question.run else "start.of_runs", n=fmt.count(question.number))))
    elif question.rank is not None:
        told.append(html.Span(t("start.rank", n=question.rank)))
    return told


def _lacking(question: Question) -> str:
    """Return the question that cannot be answered: itself, "settings" where results alone answer it, "" for none."""
    if question.place is None:
        return question.name
    return "settings" if question.name == "best" and question.place.page != question.page else ""


def missing(asked: Sequence[Question], runs: int, chosen: str) -> list[Any]:
    """Return the questions without data, one of which is chosen by its kind of data, and the code that records it.

    Runs with results, but without settings, are among them: no page tells what made the difference.
    """
    entries = [(name, one.needs, one.page) for one in asked if (name := _lacking(one))]
    if not entries:
        return []
    kind, page = next(((needs, page) for _, needs, page in entries if needs == chosen), entries[0][1:])
    choices = [
        html.Button(
            [
                html.Span(t(f"start.{name}"), className="ms-start-question"),
                html.Span(t(f"start.needs.{needs}"), className="ms-start-needs"),
            ],
            type="button", className="ms-start-choice",
            **{"data-record": needs, "data-key": f"record-{needs}", "aria-pressed": str(needs == kind).lower()},
        )
        for name, needs, _ in entries
    ]  # fmt: skip
    return [
        html.H2(t("start.missing" if runs else "start.missing_all"), className="ms-start-heading"),
        html.Div(
            [
                html.Div(choices, className="ms-start-choices", role="group", **attributes(aria_label="start.choose")),
                html.Div([recording(kind), demo_line(page, "start.demo", "start.open_demo")], className="ms-start-code"),
            ],
            className="ms-card ms-start-missing", **{"data-card": "missing"},
        ),
    ]  # fmt: skip

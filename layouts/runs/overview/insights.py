"""The insights into the scalars of one run, the severest first; each is a sentence that links to its place on the curve."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from dash import ClientsideFunction, Input, Output, State, dcc, html, no_update
from parsers import Insight
from parsers.analysis.curves.insights.finding import FEWEST

from layouts.curves.insights import as_json, cause_link, link
from layouts.kit import elements as parts
from layouts.kit import units as fmt
from layouts.kit.i18n import attributes, t
from layouts.kit.page import Ids
from layouts.kit.state import BadInput
from layouts.runs.symptoms.meanings import OF_INSIGHTS, meaning_link
from layouts.sources import RunSources

SECONDS = 0.3
"""CPU time, in seconds, that a request may spend on analysing curves; the browser then requests the rest."""
MOST = 100
"""Maximum number of insights listed."""


def layout(ids: Ids, routes: str) -> html.Section:
    """Return the empty list and the stores of its requests."""
    head = html.Header(
        [
            html.H3(t("insights.title"), className="ms-card-title"),
            html.Span(className="ms-badge ms-insights-count", hidden=True),
            html.Span(className="ms-muted ms-insights-left", hidden=True),
            html.Span(className="ms-grow"),
            html.Span(className="ms-insights-strict", **attributes(title="insights.strict_tip")),
            html.A(
                parts.icon("download"), className="ms-button ms-button-icon ms-insights-csv", download="",
                **{"data-routes": routes}, **attributes(title="insights.csv", aria_label="insights.csv"),
            ),
        ],
        className="ms-card-head",
    )  # fmt: skip
    return html.Section(
        [
            dcc.Store(id=ids("insights-again")),
            dcc.Store(id=ids("insights-left")),
            head,
            html.Ul(id=ids("insights"), className="ms-insights-list"),
            html.P(t("insights.none"), className="ms-muted ms-insights-none", hidden=True),
        ],
        className="ms-card ms-insights",
        tabIndex=-1,
        hidden=True,
        **attributes(aria_label="insights.title"),
    )


def register(app: Any, source: RunSources, ids: Ids) -> None:
    """Add the callbacks to a Dash application."""

    def look(shown: Any, _again: Any) -> tuple[Any, Any]:
        return entries(source, shown)

    app.callback(
        Output(ids("insights"), "children"),
        Output(ids("insights-left"), "data"),
        Input(ids("shown"), "data"),
        Input(ids("insights-again"), "data"),
        prevent_initial_call=True,
    )(look)
    app.clientside_callback(
        ClientsideFunction("mindscope_overview", "insights"),
        Input(ids("insights-left"), "data"),
        Input(ids("insights"), "children"),
        State(ids("root"), "id"),
        prevent_initial_call=True,
    )


class InsightsLeft(TypedDict):
    """How many scalars of a run are not analysed yet, how many it has, and whether any has the `fewest` values that a judgement
    takes."""

    run: str
    left: int
    scalars: int
    judged: bool
    fewest: int
    version: Annotated[Any, object]
    """That of the request."""


def entries(source: RunSources, shown: Any) -> tuple[Any, Any]:
    """Return (entries for the run shown, {"run", "left": number of scalars not analysed yet, "scalars": number of all})."""
    if shown is None:
        return no_update, no_update
    if not isinstance(shown, dict) or not isinstance(shown.get("run"), str):
        raise BadInput(f"shown: expected an object with a run, found {str(shown)[:80]!r}")
    run = shown["run"]
    found, left = source.curves.insights(run, None, SECONDS) if run else ((), 0)
    listed = [_entry(source, run, one) for one in found[:MOST]]
    scalars = len(source.runs.tags(run)) if run else 0
    judged = bool(found) or any_judged(source, run)
    answer: InsightsLeft = {
        "run": run, "left": left, "scalars": scalars, "judged": judged, "fewest": FEWEST, "version": shown.get("version"),
    }  # fmt: skip
    return listed, answer


def any_judged(source: RunSources, run: str) -> bool:
    """Return whether a scalar of a run has as many values as the rules about courses of curves need."""
    every = (source.curves.series(run, tag) for tag in source.runs.tags(run))
    return any(series is not None and series.step.size >= FEWEST for series in every)


def _entry(source: RunSources, run: str, one: Insight) -> html.Li:
    facts = as_json(one)
    href = link(source, run, one)
    english, chinese = facts["text"]
    reason = {"title": facts["reason"][0], "data-en-title": facts["reason"][0], "data-zh-title": facts["reason"][1]}
    languages = [html.Span(english, className="en", lang="en"), html.Span(chinese, className="zh", lang="zh-CN")]
    anchor = html.A(
        [
            html.Span(className=f"ms-insight-mark ms-insight-mark-{one.severity}"),
            html.Span(t(f"insights.kind.{one.kind}"), className="ms-insight-kind"),
            html.Span(languages, className="t ms-insight-words"),
            html.Span(fmt.number(facts["score"], 2), className="ms-insight-score ms-number"),
        ],
        href=href, className="ms-insight", **{"data-page": "scalars", "data-query": href.partition("?")[2]}, **reason,
    )  # fmt: skip
    row = next((row for row in source.runs.rows() if run in row.members), None)
    cause = cause_link(row, one, source.curves.recorded(run, one.tag))
    meaning = html.A(
        parts.icon("start"), className="ms-insight-meaning",
        **attributes(title="symptoms.meaning", aria_label="symptoms.meaning"),
        **meaning_link(OF_INSIGHTS[one.kind], run if row is None else row.key),
    )  # fmt: skip
    both: list[Any] = [anchor, meaning]
    if cause is not None:
        both.append(html.A(t("insights.cause"), className="ms-insight-cause", **cause))
    return html.Li(both, **{"data-score": f"{facts['score']:.6g}", "data-kind": one.kind})

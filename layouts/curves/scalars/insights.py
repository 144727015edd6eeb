"""Insights for the cards on screen, computed in short requests of their own so that curves do not wait for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from dash import ClientsideFunction, Input, Output, State
from parsers import Insight
from parsers.names import EXPRESSION

from layouts.curves.insights import SentInsight, as_json, cause_link, view
from layouts.curves.scalars.digests import SentDigest, digests
from layouts.kit.page import Ids
from layouts.kit.state import BadInput, texts
from layouts.runs.chosen_runs import label_of, selected_rows
from layouts.runs.symptoms.meanings import OF_INSIGHTS, meaning_link
from layouts.sources import RunSources

SECONDS = 0.15
"""CPU time, in seconds, that a request may spend on analysing curves; the browser then requests the rest."""
MOST_TAGS = 60
MOST = 400
"""Maximum number of insights sent, the severest first."""


def register(app: Any, source: RunSources, ids: Ids) -> None:
    """Add the callbacks to a Dash application."""

    def look(ask: Any, _version: Any) -> InsightMarks:
        return marks(source, ask)

    app.callback(
        Output(ids("marks"), "data"), Input(ids("marked"), "data"), Input(ids("version"), "data"), prevent_initial_call=True
    )(look)
    app.clientside_callback(
        ClientsideFunction("mindscope_scalars", "marks"),
        Input(ids("marks"), "data"),
        State(ids("root"), "id"),
        prevent_initial_call=True,
    )


class InsightMark(SentInsight):
    """The mark of an insight on a card."""

    run: str
    label: str
    colour: str
    time: float
    started: float
    view: str
    """The range to zoom to."""
    cause: Mapping[str, str] | None
    """Attributes of a link to what caused it."""
    meaning: Mapping[str, str]
    """Attributes of a link to the symptom that explains it."""


class InsightMarks(TypedDict):
    """The marks on cards, how many insights and series are missing, and, once no series is, what the curves do in words."""

    marks: list[InsightMark]
    left: int
    more: int
    digests: list[SentDigest]


def marks(source: RunSources, ask: Any) -> InsightMarks:
    """Return the insights into the tags and runs of a request {"tag": [...], "run": [...]}.

    The result is {"marks": [...], "left": number of series not analysed yet, "more": number of insights left out, "digests":
    [...]}. A mark has the fields of `told`, the run with its label, colour and start, the wall time of the insight, the view
    that shows it, and the attributes of links to its cause in the dump of the run, or None, and to the symptom that explains
    it.
    """
    if ask is None:
        return {"marks": [], "left": 0, "more": 0, "digests": []}
    tags = texts(ask, "tag")
    if len(tags) > MOST_TAGS:
        raise BadInput(f"tag: expected at most {MOST_TAGS} tags, found {len(tags)}")
    chosen = texts(ask, "run")
    rows = selected_rows({"run": chosen} if chosen else {}, source)
    of_run = source.runs.colours(chosen)
    found: list[InsightMark] = []
    left, seconds = 0, SECONDS
    known_of: dict[str, Sequence[Insight]] = {}
    for run, row in rows.items():
        known = set(source.runs.tags(run))
        asked = [tag for tag in tags if tag in known or tag.startswith(EXPRESSION)]
        every, missing = source.curves.insights(run, asked, seconds)
        left += missing
        known_of[run] = every
        # Once one run has used up the time, the other runs give only the insights that are cached.
        seconds = 0.0 if missing else seconds
        for one in every:
            series = source.curves.recorded(run, one.tag)
            if series is None or one.last_place >= series.step.size:
                continue
            found.append({
                **as_json(one), "run": run, "label": label_of(run, row), "colour": of_run.get(run, ""),
                "view": view(one, series), "time": float(series.wall_time[one.place]),
                "started": row.started or 0.0, "cause": cause_link(row, one, series),
                "meaning": meaning_link(OF_INSIGHTS[one.kind], row.key),
            })  # fmt: skip
    found.sort(key=lambda one: (-one["severity"], -one["score"]))
    said = [] if left else digests(source, rows, tags, known_of)
    return {"marks": found[:MOST], "left": left, "more": max(0, len(found) - MOST), "digests": said}

"""What the rules of insights judged on the curves of one card, and what not and why; asked for when it is opened."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from dash import ClientsideFunction, Input, Output, State
from parsers.analysis.curves.insights.judging import FEW, judgements

from layouts.kit import units as fmt
from layouts.kit.i18n import both
from layouts.kit.page import Ids
from layouts.kit.state import texts
from layouts.runs.chosen_runs import label_of, selected_rows
from layouts.sources import RunSources

MOST = 8
"""How many curves of a card are listed; the first ones are."""


class SentJudgement(TypedDict):
    """What one rule says of a curve; score is that of its severest insight, 0 without any, reason why it is not judged."""

    kind: str
    state: str
    score: float
    reason: Annotated[tuple[str, str], "Texts"]


class JudgedCurve(TypedDict):
    """A curve and what each rule says of it."""

    run: str
    tag: str
    label: str
    colour: str
    rules: list[SentJudgement]


class Judged(TypedDict):
    """Curves of the card that was asked about, and how many more there are."""

    curves: list[JudgedCurve]
    more: int


def register(app: Any, source: RunSources, ids: Ids) -> None:
    """Add the callbacks to a Dash application."""

    def look(ask: Any) -> Judged | None:
        return judged(source, ask)

    app.callback(Output(ids("judging"), "data"), Input(ids("judging-ask"), "data"), prevent_initial_call=True)(look)
    app.clientside_callback(
        ClientsideFunction("mindscope_scalars", "judging"),
        Input(ids("judging"), "data"),
        State(ids("root"), "id"),
        prevent_initial_call=True,
    )


def judged(source: RunSources, ask: Any) -> Judged | None:
    """Return what rules say of the curves of {"tag": [...], "run": [...]}; None for no request."""
    if ask is None:
        return None
    tags, chosen = texts(ask, "tag"), texts(ask, "run")
    rows = selected_rows({"run": chosen} if chosen else {}, source)
    of_run = source.runs.colours(chosen)
    found: list[JudgedCurve] = []
    number = 0
    for run, row in rows.items():
        for tag in tags:
            series = source.curves.recorded(run, tag)
            if series is None or not series.step.size:
                continue
            number += 1
            if number > MOST:
                continue
            every, _ = source.curves.insights(run, [tag], float("inf"))
            known = [one for one in every if one.tag == tag and one.last_place < series.step.size]
            best: dict[str, float] = {}
            for one in known:
                best[one.kind] = max(best.get(one.kind, 0.0), one.score)
            rules: list[SentJudgement] = [
                {"kind": one.kind, "state": one.state, "score": min(best.get(one.kind, 0.0), 1e6),
                 "reason": _reason(one.reason, one.points, one.needed)}
                for one in judgements(tag, series, known)
            ]  # fmt: skip
            label, colour = label_of(run, row), of_run.get(run, "")
            found.append({"run": run, "tag": tag, "label": label, "colour": colour, "rules": rules})
    return {"curves": found, "more": max(number - MOST, 0)}


def _reason(reason: str, points: int, needed: int) -> tuple[str, str]:
    if not reason:
        return "", ""
    values = {"points": fmt.count(points), "n": fmt.count(needed)} if reason == FEW else {}
    return both(f"insights.reason.{reason}", **values)

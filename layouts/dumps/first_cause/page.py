"""The first cause: which operator was the first to make NaN or Inf, from which line, and how far did the damage spread?

One sentence answers. Then come the iterations with bad values, each with its first operator, source line and origin; the spread
in one of them by order of execution; and tensors whose norm left its own history, with the norm of one of them as a chart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from dash import Input, Output, State, dcc, html, no_update
from parsers.analysis.dumps.first_cause import EXPLODING, NON_FINITE, VANISHING
from parsers.deferred import pandas as pd
from parsers.export.frames import csv_rows

from layouts.dumps.body import body, register_body
from layouts.dumps.dump_choice import DumpChoice, read_choice, read_node
from layouts.dumps.first_cause import figures, sections
from layouts.dumps.first_cause.loss import loss_of
from layouts.dumps.first_cause.texts import TEXTS
from layouts.dumps.first_cause.work import (
    MOST_ROWS,
    BadOperators,
    FoundCauses,
    find_causes,
    find_departures,
    find_spread,
    norms_of,
    row_of,
)
from layouts.kit.body import damage, status_line
from layouts.kit.elements import button
from layouts.kit.i18n import LANGUAGES, t
from layouts.kit.page import Ids
from layouts.kit.page_parts import Answer, progress, worked
from layouts.kit.plain_html import markup
from layouts.kit.plot_cards import plot_card
from layouts.kit.state import text
from layouts.sources import Sources

PARTS = ("causes", "spread", "departures", "norms")
KINDS = (NON_FINITE, EXPLODING, VANISHING)
TABLES = ("causes", "spread", "departures")
"""Tables with a file of all their rows."""


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    status = status_line("debugging", "ms-first-cause-status")
    head = html.Div(html.Div(className="ms-skeleton"), className="ms-first-cause-head", **{"data-section": "head"})
    note = html.P(className="ms-first-cause-note ms-muted")
    children: list[Any] = [
        *(dcc.Download(id=ids(f"file-{name}")) for name in TABLES),
        status,
        html.Section(head, className="ms-card", tabIndex=-1, **{"data-card": "head"}),
        _table(ids, "causes"),
        plot_card(ids("spread-plot"), "spread", t("first_cause.spread_card"), "ms-first-cause-picture"),
        _table(ids, "spread"),
        _table(ids, "departures"),
        plot_card(ids("norms-plot"), "norms", t("first_cause.norms"), "ms-first-cause-norms", note),
        damage(),
    ]  # fmt: skip
    return body(ids, routes, children, parts=PARTS, keys=("kind",), choices=(), texts=TEXTS, class_name="ms-first-cause")


def _table(ids: Ids, name: str) -> html.Section:
    title = t("first_cause.spread_card" if name == "spread" else f"first_cause.{name}")
    save = button("first_cause.csv", icon_name="download", id=ids(f"save-{name}"), n_clicks=0, class_name="ms-button-quiet")
    head = html.Header(
        [html.H3(title, className="ms-card-title"), html.Span(className="ms-card-badges"), save], className="ms-card-head"
    )
    rows = html.Div(html.Div(className="ms-skeleton"), className="ms-first-cause-body", **{"data-section": name})
    return html.Section([head, rows], className="ms-card", tabIndex=-1, **{"data-card": name})


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    parts = {"causes": causes, "spread": spread, "departures": departures, "norms": norms}
    answers: dict[str, Answer] = {name: partial(answer, source) for name, answer in parts.items()}
    register_body(app, source, ids, answers)
    for name in TABLES:
        app.callback(
            Output(ids(f"file-{name}"), "data"), Input(ids(f"save-{name}"), "n_clicks"), State(ids(f"{name}-ask"), "data"),
            prevent_initial_call=True,
        )(_saver(source, name))  # fmt: skip


# Parts ---------------------------------------------------------------------------------------------------------------


def causes(source: Sources, ask: Any) -> Mapping[str, Any]:
    """Return the sentence and the table of causes; of what was found so far while they are being searched for."""
    choice = read_choice(ask)
    if choice is None:
        return {"state": "missing"}
    work = worked(source.dumps, choice.run, find_causes(), ask)
    answer = progress(work) | {"sections": {}, "rows": [], "tensor": None}
    found = work.result
    if not isinstance(found, FoundCauses):
        return answer
    finished = work.state == "ready"
    made = {"head": sections.head(choice.run, found, finished=finished), "causes": sections.causes(choice.run, found)}
    answer["sections"] = {name: markup(children) for name, children in made.items()}
    columns = [found.frame[name].astype(object).tolist() for name in ("rank", "iteration", "kind")]
    answer["rows"] = [list(one) for one in zip(*columns, strict=True)][:MOST_ROWS]
    if len(found.frame):
        answer["tensor"] = _tensor(found, int(found.frame["row"].iloc[0]))
    return answer


def _tensor(found: FoundCauses, row: int) -> dict[str, Any]:
    tensors = found.causes.tensors
    return {
        "rank": int(tensors["rank"].to_numpy()[row]), "node": str(tensors["name"].array[row]),
        "io": f"{tensors['io'].array[row]}.{int(tensors['slot'].to_numpy()[row])}",
    }  # fmt: skip


def _found(source: Sources, choice: DumpChoice) -> FoundCauses | None:
    """Return the causes if the search for them is finished."""
    found = source.dumps.work(choice.run, find_causes())
    return found.result if found.state == "ready" and isinstance(found.result, FoundCauses) else None


def spread(source: Sources, ask: Any) -> Mapping[str, Any]:
    """Return picture and table of the operators with bad values in one iteration."""
    choice = read_choice(ask)
    found = _found(source, choice) if choice is not None and choice.step is not None else None
    if choice is None or choice.step is None or found is None:
        return {"state": "waiting" if choice is not None else "missing"}
    work = worked(source.dumps, choice.run, find_spread(found.causes, choice.rank, choice.step, _kind(ask)), ask)
    if not isinstance(work.result, BadOperators):
        return progress(work)
    frame = found.frame
    own = frame[(frame["rank"] == choice.rank) & (frame["iteration"] == choice.step) & (frame["kind"] == _kind(ask))]
    first = str(own["name"].iloc[0]) if len(own) else ""
    picture = figures.spread(work.result, first, language=_language(ask), dark=_dark(ask))
    table = sections.spread(choice.run, choice.rank, choice.step, work.result)
    return progress(work) | {
        "figure": picture, "sections": {"spread": markup(table)}, "ranked": found.causes.tensors["rank"].nunique() > 1,
        "rank": choice.rank, "step": choice.step, "kind": _kind(ask),
    }  # fmt: skip


def departures(source: Sources, ask: Any) -> Mapping[str, Any]:
    """Return the table of tensors whose norm left its history, and the first of them."""
    choice = read_choice(ask)
    found = _found(source, choice) if choice is not None else None
    if choice is None or found is None:
        return {"state": "waiting" if choice is not None else "missing"}
    tag, loss = _loss(source, choice, found)
    work = worked(source.dumps, choice.run, find_departures(found.causes, loss), ask)
    if not isinstance(work.result, pd.DataFrame):
        return progress(work)
    ranked = found.causes.tensors["rank"].nunique() > 1
    table = sections.departures(choice.run, work.result, tag, found, ranked=ranked)
    first = _tensor(found, int(work.result["row"].iloc[0])) if len(work.result) else None
    return progress(work) | {"sections": {"departures": markup(table)}, "tensor": first}


def norms(source: Sources, ask: Any) -> Mapping[str, Any]:
    """Return the chart of the norm of one tensor."""
    choice = read_choice(ask)
    found = _found(source, choice) if choice is not None else None
    if choice is None or found is None:
        return {"state": "waiting" if choice is not None else "missing"}
    node, io = read_node(ask)
    row = row_of(found.causes.tensors, choice.rank, node, io)
    if row is None:
        return {"state": "ready", "figure": None, "node": node, "io": io, "loss": ""}
    tag, loss = _loss(source, choice, found)
    figure = figures.norms(norms_of(found.causes, row), (tag, dict(loss)), language=_language(ask), dark=_dark(ask))
    drawn = figure is not None and any(trace["meta"]["role"] == "loss" for trace in figure["data"])
    return {"state": "ready", "figure": figure, "node": node, "io": io, "loss": tag if drawn else ""}


def _loss(source: Sources, choice: DumpChoice, found: FoundCauses) -> tuple[str, Mapping[int, float]]:
    iteration = found.causes.tensors["iteration"]
    return loss_of(source, choice.run, int(iteration.min()), int(iteration.max())) if len(iteration) else ("", {})


def _kind(ask: Any) -> str:
    return text(ask, "kind", NON_FINITE, choices=KINDS)


def _language(ask: Any) -> str:
    return text(ask, "lang", "en", choices=LANGUAGES)


def _dark(ask: Any) -> bool:
    return text(ask, "theme", "light", choices=("light", "dark")) == "dark"


# Files ---------------------------------------------------------------------------------------------------------------


def _saver(source: Sources, name: str) -> Callable[[Any, Any], Any]:
    def save(clicks: Any, ask: Any) -> Any:
        choice = read_choice(ask) if clicks else None
        found = _found(source, choice) if choice is not None else None
        if choice is None or found is None:
            return no_update
        frame = found.frame
        if name == "spread" and choice.step is not None:
            frame = found.causes.spread(choice.rank, choice.step, kind=_kind(ask))
        elif name == "departures":
            frame = found.causes.departed(_loss(source, choice, found)[1])
        run = re.sub(r"[^\w.-]+", "_", choice.run).strip("._")[:60] or "dump"
        return {"filename": f"{run}_{name}.csv", "content": b"".join(csv_rows(frame)).decode()}

    return save

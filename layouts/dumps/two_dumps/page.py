"""The page about two dumps: which tensor is the first that differs, between two runs, ranks, iterations, or a CPU and a device?

One sentence names it and says whether its inputs differ already. Then come difference and cosine of all outputs in the order of
execution, all tensors with their errors, and operators that only one dump has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from dash import Input, Output, State, dcc, html, no_update
from parsers.analysis.dumps.two_dumps import TOLERANCE, LoneProducer, first_difference, lone_producers
from parsers.export.frames import csv_rows

from layouts.dumps.body import body, register_body
from layouts.dumps.dump_choice import DumpChoice, read_against, read_choice
from layouts.dumps.open_dump import DumpView
from layouts.dumps.two_dumps import sections
from layouts.dumps.two_dumps.figure import curve
from layouts.dumps.two_dumps.texts import TEXTS
from layouts.dumps.two_dumps.work import ComparedDumps, Earliest, TwoDumpsRequest, closest, comparison, earliest
from layouts.kit.body import damage, status_line
from layouts.kit.callbacks import in_browser
from layouts.kit.elements import button, empty_state
from layouts.kit.i18n import attributes, t
from layouts.kit.page import Ids
from layouts.kit.page_parts import progress, worked
from layouts.kit.plain_html import markup
from layouts.kit.plot_cards import plot_card
from layouts.kit.state import number, texts
from layouts.sources import Sources

TABLES = ("table", "alone")
MOST_PARTNERS = 12
"""Dumps that are listed to find the one that shares most with the chosen one."""


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    status = status_line("debugging", "ms-two-dumps-status")
    searching = status_line("debugging", "ms-two-dumps-searching", before=[html.Span(t("two_dumps.searching"))])
    head = html.Div(html.Div(className="ms-skeleton"), className="ms-two-dumps-head", **{"data-section": "head"})
    iterations = html.P(className="ms-two-dumps-earliest", hidden=True)
    cards = [
        status,
        searching,
        html.Section([head, iterations], className="ms-card", tabIndex=-1, **{"data-card": "head"}),
        plot_card(ids("plot"), "curve", t("two_dumps.curve"), "ms-two-dumps-curve"),
        *(_table(ids, name) for name in TABLES),
    ]
    children: list[Any] = [
        *(dcc.Download(id=ids(f"file-{name}")) for name in TABLES),
        html.Div(empty_state("two_dumps.one_dump", hint="two_dumps.one_dump_hint"), className="ms-two-dumps-none", hidden=True),
        html.Div(cards, className="ms-two-dumps-cards"),
        damage(),
    ]
    return body(
        ids, routes, children, parts=("compare", "earliest", "partner"), keys=("tol", "show", "find"), compared=True,
        texts=TEXTS, class_name="ms-two-dumps",
    )  # fmt: skip


def _table(ids: Ids, name: str) -> html.Section:
    save = button("two_dumps.csv", icon_name="download", id=ids(f"save-{name}"), n_clicks=0, class_name="ms-button-quiet")
    tools = html.Span(className="ms-two-dumps-tools", role="toolbar", **attributes(aria_label="two_dumps.show"))
    title = html.H3(t(f"two_dumps.{name}"), className="ms-card-title")
    rows = html.Div(html.Div(className="ms-skeleton"), className="ms-two-dumps-body", **{"data-section": name})
    head = html.Header([title, tools, save], className="ms-card-head")
    return html.Section([head, rows], className="ms-card", tabIndex=-1, **{"data-card": name})


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    parts = {"compare": compared, "earliest": searched, "partner": partner}
    register_body(app, source, ids, {name: partial(answer, source) for name, answer in parts.items()})
    for name in TABLES:
        app.callback(
            Output(ids(f"file-{name}"), "data"), Input(ids(f"save-{name}"), "n_clicks"), State(ids("compare-ask"), "data"),
            prevent_initial_call=True,
        )(_saver(source, name))  # fmt: skip
    in_browser(app, "mindscope_two_dumps")(
        "picked", Input(ids("plot"), "clickData"), State(ids("root"), "id"), prevent_initial_call=True
    )


def compared(source: Sources, asked: Any) -> Mapping[str, Any]:
    """Return sentence, curve and tables; of what was compared so far while the rest is."""
    ask = TwoDumpsRequest.read_any(asked)
    other = source.dumps.open(ask.other.run) if ask is not None else None
    if ask is None or other is None:
        return {"state": "missing"}
    if other.dump is None:
        return {"state": "waiting" if other.state == "reading" else other.state, "text": other.text}
    work = worked(source.dumps, ask.one.run, comparison(ask, other.dump), asked)
    found = work.result
    if not isinstance(found, ComparedDumps):
        return progress(work)
    producers = _lone_producers(source, ask, found, other.dump)
    made = {
        "head": sections.head(ask, _names(source, ask), found, producers, finished=work.state == "ready"),
        "table": sections.table(ask, found.differences), "alone": sections.alone(ask, found.pairs),
    }  # fmt: skip
    return progress(work) | {
        "sections": {name: markup(children) for name, children in made.items()},
        "figure": curve(found.differences, ask.tolerance, language=ask.language, dark=ask.dark),
        "alone": bool((found.pairs["row"] < 0).any() or (found.pairs["other_row"] < 0).any()),
    }  # fmt: skip


def searched(source: Sources, asked: Any) -> Mapping[str, Any]:
    """Return the first iteration that differs (step, null for none), in how many before it no output does (alike), and how
    many iterations both dumps have (shared)."""
    one, two = read_choice(asked), read_against(asked)
    other = source.dumps.open(two.run) if one is not None and two is not None else None
    if one is None or two is None or other is None or other.dump is None:
        return {"state": "waiting" if other is not None and other.state == "reading" else "missing"}
    work = worked(source.dumps, one.run, earliest(one, two, other.dump, number(asked, "tol", TOLERANCE, 0.0, 1e12)), asked)
    found = work.result
    return progress(work) | (asdict(found) if isinstance(found, Earliest) else {})


def partner(source: Sources, asked: Any) -> Mapping[str, Any]:
    """Return the key of the dump of `among` that shares most with the chosen one, "" if none is listed."""
    choice = read_choice(asked)
    keys = texts(asked, "among")[:MOST_PARTNERS]
    opened = {key: source.dumps.open(key) for key in dict.fromkeys([choice.run if choice is not None else "", *keys])}
    one = opened.pop(choice.run).dump if choice is not None else None
    if any(found.state == "reading" for found in opened.values()):
        return {"state": "reading"}
    if one is None:
        return {"state": "missing", "key": ""}
    others = {key: found.dump for key, found in opened.items() if found.dump is not None and len(found.dump.tensors)}
    return {"state": "ready", "key": closest(one, others)}


def _lone_producers(source: Sources, ask: TwoDumpsRequest, found: ComparedDumps, other: DumpView) -> list[LoneProducer]:
    """Return what the first operator that differs takes values of and only one dump has."""
    place = first_difference(found.differences, ask.tolerance)
    dump = ask.one.dump(source)
    if place is None or dump is None:
        return []
    row, other_row = (int(found.differences[name].iloc[place]) for name in ("row", "other_row"))
    if row >= len(dump.tensors) or other_row >= len(other.tensors):  # listed anew meanwhile
        return []
    return lone_producers((dump.flow(row), other.flow(other_row)), found.pairs, found.differences, place)


def _names(source: Sources, ask: TwoDumpsRequest) -> tuple[str, str]:
    known = {row.key: row.name for row in source.runs.rows()}
    return known.get(ask.one.run, ask.one.run), known.get(ask.other.run, ask.other.run)


def _saver(source: Sources, name: str) -> Callable[[Any, Any], Any]:
    def save(clicks: Any, asked: Any) -> Any:
        ask = TwoDumpsRequest.read_any(asked) if clicks else None
        other = source.dumps.open(ask.other.run).dump if ask is not None else None
        if ask is None or other is None:
            return no_update
        found = source.dumps.work(ask.one.run, comparison(ask, other)).result
        if not isinstance(found, ComparedDumps):
            return no_update
        frame = found.differences
        if name == "alone":
            frame = found.pairs[(found.pairs["row"] < 0) | (found.pairs["other_row"] < 0)]
        content = b"".join(csv_rows(frame)).decode()
        return {"filename": f"{_file(ask.one)}_{_file(ask.other)}_{name}.csv", "content": content}

    return save


def _file(choice: DumpChoice) -> str:
    run = re.sub(r"[^\w.-]+", "_", choice.run).strip("._")[:40] or "dump"
    return f"{run}_rank{choice.rank}_{choice.step}"

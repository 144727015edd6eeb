"""The memory page: what fills the device memory at its peak or at any moment, and does it leak?

Shows the curves of a component, what was alive at the chosen moment, what changed in the window, the map of the pool, the
static plan and the components of CANN, each if the files have it. Moments and windows are offsets from the first record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from dash import Input, Output, State, dcc, html, no_update
from parsers.analysis.profiles.memory import (
    MemoryPlan,
    MemoryRecording,
    Pool,
    difference,
    growth,
    highest,
    large_components,
    minima_of_steps,
    pool_at,
    top,
)
from parsers.analysis.profiles.memory.capacity import HOST_COMPONENT, memory_of_device
from parsers.deferred import pandas as pd
from parsers.export.frames import csv_rows
from parsers.model import Ints

from layouts.kit import units as fmt
from layouts.kit.body import damage
from layouts.kit.callbacks import in_browser
from layouts.kit.elements import scrolled, toolbar
from layouts.kit.figures.alternatives import described_by, listed, named
from layouts.kit.i18n import LANGUAGES, both, t, texts_of
from layouts.kit.page import Ids
from layouts.kit.plain_html import markup
from layouts.kit.state import text
from layouts.profiles.body import body, register_body
from layouts.profiles.links import traced
from layouts.profiles.memory import absent, changes, curve, explained, head, memory_texts, modules_card, plan_card, pool_card
from layouts.profiles.memory.asks import FRAMES, MemoryRequest
from layouts.profiles.memory.plain import Plain, element
from layouts.profiles.memory.recordings import Recordings
from layouts.profiles.memory.spans import StepSpan, least_moments, spans_of, times
from layouts.profiles.memory.texts import TEXTS
from layouts.profiles.memory.tiles import tiles
from layouts.profiles.memory_sessions import minima_of_sessions
from layouts.profiles.plots import plot_card
from layouts.sources import ProfileSources

MOST_SAVED = 200_000
"""Maximum rows of a CSV file made from a table of the page; whole frames have a route (`app.routes.profiles.frames`)."""
SAVED = ("groups", "part", "changed")
_STORES = ("about", "draw", "press", "screen", "save", "overall", "moment", "figure-curve", "figure-plan")


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    children: list[Any] = [
        *(dcc.Store(id=ids(part)) for part in _STORES),
        dcc.Download(id=ids("file")),
        html.Section(_part("head"), className="ms-card ms-memory-head", tabIndex=-1),
        damage(),
        toolbar([], label="memory.controls", class_name="ms-memory-tools"),
        plot_card(ids("curve"), "curve", t("memory.curve"), "ms-memory-curve"),
        _card("moment", [
            _part("at"),
            html.Div(
                [
                    html.Div(className="ms-memory-tiles"),
                    scrolled([], "ms-memory-of-table", **{"data-part-of": "table"}),
                ],
                className="ms-memory-both",
            ),
            _part("blocks"),
        ]),
        _card("pool", [_part("pool-said"), html.Div(className="ms-memory-pool")]),
        html.Div(
            [html.Section(_part("plan-said"), className="ms-card ms-memory-plan-head", tabIndex=-1),
             plot_card(ids("plan"), "plan", t("memory.plan"), "ms-memory-plan"),
             html.Section(_part("plan-at"), className="ms-card ms-memory-plan-at", tabIndex=-1)],
            className="ms-memory-plans", hidden=True,
        ),
        _card("modules", [_part("modules")]),
        _card("absent", [_part("absent")]),
    ]  # fmt: skip
    return body(
        ids, routes, children, title="memory.title", frames=FRAMES, keys=MemoryRequest.keys(),
        compared=True, texts=tuple(TEXTS),
        class_name="ms-memory ms-breakdown",
    )  # fmt: skip


def _part(name: str) -> html.Div:
    """An element that the page's script fills with the part of this name."""
    return html.Div(className=f"ms-memory-of-{name}", **{"data-part-of": name})


def _card(name: str, content: Sequence[Any]) -> html.Section:
    title = [html.H3(t(f"memory.{name}"), className="ms-card-title"), html.Span(className="ms-card-badges"),
             html.Span(className="ms-memory-card-tools")]  # fmt: skip
    return html.Section(
        [html.Header(title, className="ms-card-head"), html.Div(list(content), className="ms-card-body")],
        className=f"ms-card ms-memory-card ms-memory-{name}-card", tabIndex=-1, hidden=True, **{"data-card": name},
    )  # fmt: skip


def register(app: Any, source: ProfileSources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    known = Recordings(source)
    register_body(app, source, ids, FRAMES)

    def about(asked: Any) -> tuple[Any, Any]:
        ask = MemoryRequest.read_any(asked)
        return (no_update, no_update) if ask is None else overall(source, known, ask)

    def draw(asked: Any) -> Any:
        ask = MemoryRequest.read_any(asked)
        return no_update if ask is None else drawn(source, known, ask)

    def press(asked: Any) -> Any:
        ask = MemoryRequest.read_any(asked)
        return no_update if ask is None else at_moment(source, known, ask)

    def save(asked: Any) -> Any:
        ask = MemoryRequest.read_any(asked)
        return no_update if ask is None else saved(source, known, ask, text(asked, "what", "groups", SAVED)) or no_update

    app.callback(
        Output(ids("overall"), "data"), Output(ids("figure-plan"), "data"), Input(ids("about"), "data"),
        prevent_initial_call=True,
    )(about)
    app.callback(Output(ids("figure-curve"), "data"), Input(ids("draw"), "data"), prevent_initial_call=True)(draw)
    app.callback(Output(ids("moment"), "data"), Input(ids("press"), "data"), prevent_initial_call=True)(press)
    app.callback(Output(ids("file"), "data"), Input(ids("save"), "data"), prevent_initial_call=True)(save)
    _register_browser(app, ids)


# The whole profile -------------------------------------------------------------------------------------------------------


def overall(source: ProfileSources, known: Recordings, ask: MemoryRequest) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return (the parts that do not depend on the moment, as plain elements by name, with facts; the figure of the plan)."""
    recording = known.of(ask.choice, ask)
    spans, state = spans_of(source, ask.choice)
    static = ask.choice.frame(source, "static_memory")
    answer: dict[str, Any] = {"facts": {**_offers(recording), "again": state in ("reading", "waiting")}}
    said: list[Any] = []
    if recording is not None:
        told = _told(source, known, ask, recording, spans, state, static)
        answer["facts"]["again"] |= told.spans_state in ("reading", "waiting")
        moment = explained.at_moment(known.frame(ask.choice, "operator_memory"), recording, top(recording.series), "name")
        said = [head.sentence(moment, told), head.figures(moment, told), *head.notes(moment, told)]
        if ask.against is not None:
            table = head.peaks_table(known.frame(ask.choice, "memory"), known.frame(ask.against, "memory"))
            said += [table] if table is not None else []
    plan = plan_card.graphs(static)
    figure = None
    if static is not None and plan:
        found, node = plan_card.chosen(static, ask.graph, ask.node)
        figure = plan_card.figure(found, node, words(ask.language), dark=ask.dark)
        figure = described_by(figure, both("memory.plan"), {"plan": both("memory.word.allocated")}, more=_ends(found))
        sentence = plan_card.sentence(found)
        answer["plan-said"] = markup([] if recording is None else [sentence, *plan_card.facts(static)])
        answer["plan-at"] = markup(plan_card.table(static, found, node))
        answer["facts"] |= {"graphs": plan, "graph": found.graph, "node": node}
        if recording is None:
            said = [sentence, *plan_card.facts(static)]
    modules = ask.choice.frame(source, "module_memory")
    answer["modules"] = markup(modules_card.parts(large_components(modules), modules)) if modules is not None else []
    frames = {name: ask.choice.frame(source, name) for name in FRAMES}
    capacity, _ = _capacity(source, ask, static, recording)
    torch = ask.choice.of_torch(source)
    answer["absent"] = markup(absent.lines(frames, recording, spans, state, capacity=capacity, torch=torch))
    answer["head"] = markup(said)
    return answer, figure


def _offers(recording: MemoryRecording | None) -> dict[str, Any]:
    if recording is None:
        return {"clocks": [], "devices": [], "components": []}
    offer = recording.offer
    return {
        "clocks": list(offer.clocks), "clock": recording.clock, "devices": list(offer.devices), "device": recording.device,
        "components": list(offer.components), "component": recording.component,
    }  # fmt: skip


def _told(
    source: ProfileSources, known: Recordings, ask: MemoryRequest, recording: MemoryRecording, spans: Sequence[StepSpan],
    state: str,
    static: pd.DataFrame | None,
) -> head.Told:
    capacity, of_file = _capacity(source, ask, static, recording)
    frame, peak = known.frame(ask.choice, "operator_memory"), top(recording.series)
    pool = _pool(frame, recording, peak)
    blocks, addressed = _addressed(frame, recording, peak)
    found = growth(recording, *times(spans))
    if found.leak.verdict == "cannot tell" and state not in ("reading", "waiting"):
        of_sessions, reading = minima_of_sessions(source, ask.choice, recording.component)
        state = reading if reading != "ready" else state
        found = growth(recording, *times(spans), of_sessions)
    leaks = found.over == "steps" and found.leak.verdict == "leak"
    grown = _grown(frame, recording, spans, found.least) if leaks else None
    return head.Told(spans, state, found.leak, capacity, of_file, pool if addressed == blocks else None, grown, found.over)


def _grown(frame: pd.DataFrame, recording: MemoryRecording, spans: Sequence[StepSpan], least: Ints) -> tuple[str, int] | None:
    """Return the operator whose blocks grew most from the minimum of the first step to that of the last, and by how much."""
    moments = least_moments(spans, recording.series, least)
    if moments is None:
        return None
    first, last = (explained.at_moment(frame, recording, time, "name").explained.groups for time in moments)
    found = difference(first, last)
    grown = found["difference_bytes"].to_numpy()
    place = int(np.argmax(grown)) if len(grown) else -1
    return (str(found["group"].iat[place]), int(grown[place])) if place >= 0 and grown[place] > 0 else None


def _capacity(
    source: ProfileSources, ask: MemoryRequest, static: pd.DataFrame | None, recording: MemoryRecording | None
) -> tuple[int, bool]:
    """Return (the capacity in bytes, whether a file has it); a setting goes before the file, 0 is neither."""
    found = plan_card.value_of(static, "capacity")
    if not found and (recording is None or recording.component != HOST_COMPONENT):
        found = memory_of_device(ask.choice.frame(source, "hardware"))
    return (ask.capacity, False) if ask.capacity else (found, found > 0)


def words(language: str) -> dict[str, str]:
    """Return the words in figures in one language, by their key without the prefix memory.word."""
    number = LANGUAGES.index(language)
    prefix = "memory.word."
    return {key.removeprefix(prefix): pair[number] for key, pair in texts_of("memory").items() if key.startswith(prefix)}


def _ends(found: MemoryPlan) -> tuple[str, str]:
    nodes = (("forward_start", found.forward_start), ("backward_end", found.backward_end))
    return listed([named(both(f"memory.word.{name}"), fmt.count(node)) for name, node in nodes if node >= 0])


def _names() -> dict[str, tuple[str, str]]:
    prefix = "memory.word."
    return {key.removeprefix(prefix): pair for key, pair in texts_of("memory").items() if key.startswith(prefix)}


# The curve ---------------------------------------------------------------------------------------------------------------


def drawn(source: ProfileSources, known: Recordings, ask: MemoryRequest) -> dict[str, Any] | None:
    """Return the figure of the curve; None without a recording."""
    recording = known.of(ask.choice, ask)
    if recording is None:
        return None
    spans, _ = spans_of(source, ask.choice) if recording.clock == "ns" else ([], "")
    capacity, _ = _capacity(source, ask, ask.choice.frame(source, "static_memory"), recording)
    view = curve.MemoryWindow(words(ask.language), ask.window, ask.columns, capacity, ask.dark)
    least = minima_of_steps(recording, *times(spans)) if len(spans) > 1 else None
    figure = curve.figure(recording, view, spans, least if least is not None and len(least) else None,
                          _against(source, known, ask, recording, spans))  # fmt: skip
    return described_by(figure, both("memory.curve"), _names())


def _against(
    source: ProfileSources, known: Recordings, ask: MemoryRequest, recording: MemoryRecording, spans: Sequence[StepSpan]
) -> tuple[MemoryRecording, int] | None:
    """Return the recording to compare with and its moment that lies at the origin of the other: both begin the first step that
    they share at the same place, otherwise their first records are at the same place."""
    if ask.against is None:
        return None
    other = known.of(ask.against, ask)
    if other is None or other.clock != recording.clock:
        return None
    if recording.clock == "ns" and spans:
        starts = {span.name: span.start for span in spans_of(source, ask.against)[0]}
        shared = next((span for span in spans if span.name in starts), None)
        if shared is not None:
            return other, starts[shared.name] - (shared.start - recording.origin)
    return other, other.origin


# The moment --------------------------------------------------------------------------------------------------------------


def _moment(
    known: Recordings, ask: MemoryRequest, recording: MemoryRecording, time: int
) -> tuple[pd.DataFrame, explained.MemoryMoment]:
    frame = known.frame(ask.choice, "operator_memory")
    offered = recording.offer.groupings
    by = ask.by if ask.by in offered else offered[0]
    return frame, explained.at_moment(frame, recording, time, by)


def _time(ask: MemoryRequest, recording: MemoryRecording) -> int:
    """Return the chosen moment: the peak, or the highest one of the pressed pixel column."""
    return top(recording.series) if ask.at is None else highest(recording.series, recording.origin + ask.at[0], ask.at[1])


def at_moment(source: ProfileSources, known: Recordings, ask: MemoryRequest) -> dict[str, Any]:
    """Return the parts about the chosen moment as plain elements by name, the rectangles of treemap and pool, and facts."""
    recording = known.of(ask.choice, ask)
    if recording is None:
        return {"facts": None}
    time = _time(ask, recording)
    frame, moment = _moment(known, ask, recording, time)
    spans, _ = spans_of(source, ask.choice) if recording.clock == "ns" else ([], "")
    timeline = ask.choice if traced(source, ask.choice) else None
    answer: dict[str, Any] = {
        "facts": _facts(ask, recording, moment),
        "at": markup(head.at(moment, spans, timeline, peak=ask.at is None)), "tiles": [], "table": [], "blocks": [],
        "pool": [], "pool-said": [],
    }  # fmt: skip
    if ask.view == "changed":
        answer["blocks"] = changes.parts(frame, recording, ask.window)
    elif len(recording.blocks):
        against = _moment_against(source, known, ask, recording, spans, time, moment.by)
        answer["tiles"] = tiles(moment)
        answer["table"] = [explained.table(moment, ask.part, against)]
        if ask.part is not None:
            answer["blocks"] = _blocks_of_part(frame, moment, ask.part)
    pool = _pool(frame, recording, time)
    if pool is not None:
        answer["pool"] = pool_card.cells(pool, frame)
        answer["pool-said"] = markup(pool_card.said(pool, *_addressed(frame, recording, time)))
    return answer


def _pool(frame: pd.DataFrame, recording: MemoryRecording, time: int) -> Pool | None:
    """Return the pool at a moment; None without addresses."""
    return None if recording.pool is None else pool_at(frame, recording.blocks, time, recording.pool)


def _addressed(frame: pd.DataFrame, recording: MemoryRecording, time: int) -> tuple[int, int]:
    """Return (number of blocks in use at a moment, how many of them have an address)."""
    rows = recording.blocks.rows[recording.blocks.alive_at(time)]
    return len(rows), int(np.count_nonzero(frame["address"].to_numpy()[rows] >= 0))


def _facts(ask: MemoryRequest, recording: MemoryRecording, moment: explained.MemoryMoment) -> dict[str, Any]:
    times = recording.series.time
    before = int(np.searchsorted(times, moment.time, side="left")) - 1
    after = int(np.searchsorted(times, moment.time, side="right"))
    return {
        "at": moment.time - recording.origin, "peak": ask.at is None, "by": moment.by, "view": ask.view,
        "groupings": list(recording.offer.groupings),
        "previous": int(times[before]) - recording.origin if before >= 0 else None,
        "next": int(times[after]) - recording.origin if after < len(times) else None,
        "blocks": len(recording.blocks), "part": ask.part,
        "text": memory_texts.moment(moment.time, recording.origin, recording.clock),
    }  # fmt: skip


def _moment_against(
    source: ProfileSources, known: Recordings, ask: MemoryRequest, recording: MemoryRecording, spans: Sequence[StepSpan],
    time: int,
    by: str
) -> explained.MemoryMoment | None:
    """Return the same moment of the profile to compare with: its own peak, or as long after the common place."""
    found = _against(source, known, ask, recording, spans)
    if found is None or ask.against is None:
        return None
    other, at = found
    when = top(other.series) if ask.at is None else at + time - recording.origin
    frame = known.frame(ask.against, "operator_memory")
    return explained.at_moment(frame, other, when, by)


def _blocks_of_part(frame: pd.DataFrame, moment: explained.MemoryMoment, part: str) -> list[Plain]:
    found = explained.alive_of(frame, moment, part)
    said = element("p", head.part_said(moment, part, len(found)))
    return [said, *explained.largest(frame, moment.recording, found)] if len(found) else [said]


def saved(source: ProfileSources, known: Recordings, ask: MemoryRequest, what: str) -> dict[str, str] | None:
    """Return a table as a CSV file for dcc.Download: groups of the moment, blocks of one group, or changed blocks."""
    recording = known.of(ask.choice, ask)
    if recording is None:
        return None
    time = _time(ask, recording)
    frame, moment = _moment(known, ask, recording, time)
    if what == "groups":
        against = _moment_against(source, known, ask, recording, spans_of(source, ask.choice)[0], time, moment.by)
        table = explained.compared(moment, against) if against is not None else explained.with_before(moment)
        table["group"] = [head.BEFORE_RECORDING if group == explained.BEFORE else group for group in table["group"]]
    else:
        if what == "part":
            chosen = explained.alive_of(frame, moment, ask.part or "")
        else:
            chosen = changes.in_window(recording, ask.window).chosen
        table = frame.iloc[recording.blocks.rows[chosen[:MOST_SAVED]]]
    name = re.sub(r"[^\w.-]+", "_", f"{ask.choice.run}_{ask.choice.rank}_memory_{what}").strip("._")[:80]
    content = b"".join(csv_rows(table, list(table.columns))).decode()
    return {"filename": f"{name}.csv", "content": content}


def _register_browser(app: Any, ids: Ids) -> None:
    """Add the callbacks that run in the browser (assets/profiles/memory/page.js)."""

    call = in_browser(app, "mindscope_memory")

    root = State(ids("root"), "id")
    call(
        "plan", Output(ids("about"), "data"), Output(ids("draw"), "data"), Output(ids("press"), "data"),
        Input(ids("ask"), "data"), Input(ids("screen"), "data"), Input(ids("prefs"), "data"), root, prevent_initial_call=True,
    )  # fmt: skip
    for name in ("curve", "plan"):
        call(f"painted_{name}", Output(ids(name), "figure"), Input(ids(f"figure-{name}"), "data"), root,
             prevent_initial_call=True)  # fmt: skip
        call(f"pressed_{name}", Input(ids(name), "clickData"), root, prevent_initial_call=True)
    call("moved", Input(ids("curve"), "relayoutData"), root, prevent_initial_call=True)
    for name in ("overall", "moment"):
        call(name, Input(ids(name), "data"), root, prevent_initial_call=True)

"""The What-if card of the job overview: what a step would take if one thing were different, beside the recorded one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

import numpy as np
from dash import html
from parsers.analysis.jobs.replay.kept_graphs import REPLAYED
from parsers.analysis.jobs.replay.recording import NotJudged
from parsers.analysis.jobs.replay.what_ifs import AT_MOST, BETWEEN, Replay, WhatIf

from layouts.jobs.what_if_request import WhatIfRequest, replay_asked
from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.kit.tables import Cell, TableColumn, table
from layouts.kit.work import Report
from layouts.profiles.frames import ProfileFrame
from layouts.profiles.source import JobWork
from layouts.sources import ProfileSources

LEAST = 0.001
"""Share of a step that a change saves at least to have a line of its own, if nobody asked for it."""
EVEN = 1.02
"""Up to this ratio of the longest to the shortest, stages are said to be equally long."""
MOST_RANKS = 64
"""Ranks of the table by rank; the CSV has all."""
_STILL = ("reading", "waiting")


class WhatIfProgress(TypedDict):
    """How far the card is: "reading" (bytes of files), "working" or "waiting" (steps), "ready", "cancelled" or "failed"."""

    state: str
    done: int
    total: int
    text: str


READY = WhatIfProgress(state="ready", done=0, total=0, text="")


def what_if(source: ProfileSources, ask: WhatIfRequest, *, again: bool = False) -> tuple[list[Any], WhatIfProgress]:
    """Return (content of the card, how far it is): files are read, and large jobs replayed, in the background.

    again: resume what was stopped.
    """
    of = ask.choice.run, ask.choice.session, ask.choice.rank
    found = {name: source.profiles.frame(*of, name, again=again) for name in REPLAYED}
    stopped = next((one for one in found.values() if one.state in ("cancelled", "failed")), None)
    if stopped is not None:
        return [], WhatIfProgress(state=stopped.state, done=0, total=0, text=stopped.text)
    reading = [one for one in found.values() if one.state in _STILL]
    if reading:
        done, total = (sum(getattr(one, name) for one in reading) for name in ("done", "total"))
        return [], WhatIfProgress(state="reading", done=done, total=total, text="")
    told = source.profiles.work(*of, _work(ask, found), again=again)
    if told.state != "ready":
        return [], WhatIfProgress(state=told.state, done=told.done, total=told.total, text=told.text)
    if isinstance(told.result, str):
        return [html.P([t("job.what.not_judged"), " ", t(f"job.what.reason.{told.result}")], className="ms-muted")], READY
    return drawn(told.result, only_large=not (ask.ranks or ask.links or ask.causes)), READY


def stop(source: ProfileSources, ask: WhatIfRequest) -> None:
    """Stop reading and replaying."""
    of = ask.choice.run, ask.choice.session, ask.choice.rank
    found = {name: source.profiles.frame(*of, name) for name in REPLAYED}
    for name, one in found.items():
        if one.state in _STILL:
            source.profiles.cancel(*of, name)
    source.profiles.cancel_work(*of, _work(ask, found))


def _work(ask: WhatIfRequest, found: Mapping[str, ProfileFrame]) -> JobWork:
    """Return the work whose result is a Replay, or the reason why there is none."""

    def job(report: Report) -> Replay | str:
        try:
            return replay_asked(ask, lambda name: found[name].frame, report)
        except NotJudged as reason:
            return str(reason)

    return JobWork("what if", (ask.ranks, ask.links, ask.causes), job)


def drawn(replay: Replay, *, only_large: bool = False) -> list[Any]:
    """Return the lines as a table, the largest saving first, what they were compared with, and the lines by rank.

    only_large: lines that save less than LEAST of a step are counted only.
    """
    steps = {"steps": fmt.count(len(replay.steps)), "ranks": fmt.count(len(replay.ranks)), "step": _time(replay.step_ns)}
    said: list[Any] = [html.P(t("job.what.recorded", missed=fmt.percent(replay.missed), **steps))]
    if len(replay.stages) > 1:
        longest, shortest = int(np.argmax(replay.stages)), int(np.argmin(replay.stages))
        ratio = replay.stages[longest] / max(replay.stages[shortest], 1.0)
        told = {"stage": longest, "other": shortest, "times": f"{ratio:.2f}"}
        said.append(html.P(t("job.what.stages", **told) if ratio > EVEN else t("job.what.even")))
    columns = [TableColumn(f"job.what.{name}") for name in ("change", "replayed", "saved", "share")]
    lines = [line for line in replay.lines if line.saved_ns >= LEAST * replay.step_ns or not only_large]
    rows = [_line(line, replay.step_ns) for line in lines]
    said.append(table(columns, rows, class_name="ms-job-table ms-job-what-lines", scroll="ms-job-scroll"))
    if len(lines) < len(replay.lines):
        left = fmt.count(len(replay.lines) - len(lines))
        said.append(html.P(t("job.what.small", n=left), className="ms-muted"))
    if not replay.kernels:
        said.append(html.P(t("job.what.no_kernels"), className="ms-muted"))
    return [*said, _by_rank(replay)]


def _line(line: WhatIf, step_ns: float) -> list[Any]:
    saved, most = (_time(max(value, 0.0)) for value in (line.saved_ns, line.most_ns))
    told: Any = saved
    if line.bound == AT_MOST:
        told = t("job.at_most", time=saved)
    elif line.bound == BETWEEN:
        told = t("job.what.between", time=saved, most=most)
    part = max(line.saved_ns, 0.0) / step_ns
    bar = html.Span(
        html.Span(className="ms-job-what-part", style={"width": f"{100.0 * (1.0 - min(part, 1.0)):.1f}%"}),
        className="ms-job-what-bar", **{"aria-hidden": "true"},
    )  # fmt: skip
    numbers = [Cell(shown, class_name="ms-number") for shown in (told, fmt.percent(part))]
    value = html.Span(_time(step_ns - max(line.saved_ns, 0.0)), className="ms-job-what-value")
    replayed = html.Span([bar, value], className="ms-job-what-step")
    return [_named(line), Cell(replayed, class_name="ms-number"), *numbers]


def _named(line: WhatIf) -> Any:
    ranks = ", ".join(map(str, line.subject))
    return t(f"job.what.if.{line.cause}", ranks=ranks, link=" → ".join(map(str, line.subject)))


def _by_rank(replay: Replay) -> html.Details:
    """Return the mean step of each rank, recorded and after each change."""
    order = np.argsort(-replay.by_rank, kind="stable")[:MOST_RANKS]
    columns = [
        TableColumn("profiling.rank"), TableColumn("job.what.step"), *(TableColumn(_named(line)) for line in replay.lines)
    ]
    rows = [
        (str(replay.ranks[place]), *(Cell(_time(float(one[place])), class_name="ms-number")
                                     for one in (replay.by_rank, *(line.by_rank for line in replay.lines))))
        for place in sorted(order.tolist())
    ]  # fmt: skip
    shown = table(columns, rows, class_name="ms-job-table", scroll="ms-job-rows")
    more = [] if len(replay.ranks) <= MOST_RANKS else [
        html.P(t("job.first_of", n=fmt.count(MOST_RANKS), total=fmt.count(len(replay.ranks))), className="ms-muted")
    ]  # fmt: skip
    return html.Details([html.Summary(t("job.what.by_rank")), shown, *more], className="ms-job-what-ranks")


def _time(ns: float) -> str:
    return fmt.duration(ns / 1e9)

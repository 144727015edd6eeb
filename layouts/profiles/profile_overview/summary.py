"""What the overview shows of executions, operators, advice and ranks: frames in, components out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.jobs.advice import Review
from parsers.analysis.jobs.step_parts import RankSteps, rank_steps
from parsers.analysis.profiles.busy import HOST, busy
from parsers.analysis.profiles.launches import CAUSES, launch_figures
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.kit.tables import COUNT, SHARE, TIME_NS, Cell, Quantity, TableColumn, TableRow, table
from layouts.profiles.advising import sentence as advised
from layouts.profiles.composition import bar, dot, sentence, strip
from layouts.profiles.frames import IdleTime
from layouts.profiles.idling import idle_card
from layouts.profiles.kernel_names import kernel_labels
from layouts.profiles.links import address
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

MOST_OPERATORS = 10
MOST_RANKS = 128
"""Maximum ranks listed."""


def busy_card(kernels: pd.DataFrame | None) -> list[Any]:
    """Busy and idle time from single executions; empty without timed ones."""
    usual = busy(kernels) if kernels is not None else None
    if usual is None or not usual.whole_ns > 0:
        return []
    number = html.P(t("profile_overview.busy_of", n=fmt.count(usual.steps)), className="ms-muted")
    made = [sentence(usual, key="profile_overview.busy"), bar(usual), html.Div(number, className="ms-breakdown-notes")]
    return [_card("profile_overview.busy_title", html.Div(made, className="ms-breakdown-head ms-profile-overview-head"))]


def operators_card(operators: pd.DataFrame | None, choice: ProfileChoice) -> list[Any]:
    """The operators that took most time on the device; of a profile of the host alone, most self time there."""
    if operators is None or operators.empty:
        return []
    device = operators[operators["core"] != HOST]
    rows = device if len(device) else operators
    column = "total_ns" if len(device) or rows["self_ns"].isna().all() else "self_ns"
    times = rows[column] if rows[column].notna().any() else rows["mean_ns"]
    keys = ["full_name", "name", "type", "core"]
    grouped = rows.assign(time=times).groupby(keys, observed=True, sort=False)[["count", "time"]].sum()
    whole = math.fsum(grouped["time"])
    if not whole > 0:
        return []
    longest = grouped.sort_values("time", ascending=False, kind="stable").head(MOST_OPERATORS).reset_index()
    labels = kernel_labels(longest["name"].astype(str))
    cores = longest["core"].nunique() > 1  # a column in which all rows are alike takes room from the names
    body = [
        (Cell(html.Span(labels[row["name"]], className="ms-name"), class_name="ms-cut", props={"title": row["full_name"]}),
         *([row["core"]] if cores else []),
         int(row["count"]) if row["count"] > 0 else None, row["time"], row["time"] / whole)
        for row in longest.to_dict("records")
    ]  # fmt: skip
    columns = (
        _column("operator"), *([_column("core")] if cores else []), _column("count", COUNT),
        _column("self" if column == "self_ns" else "time", TIME_NS), _column("share", SHARE),
    )  # fmt: skip
    more = _link("operators", choice, "profile_overview.all_operators", n=fmt.count(len(grouped)))
    return [_card("profile_overview.ten_operators", html.Div([_table(columns, body), more]))]


def advice_card(review: Review | None, choice: ProfileChoice) -> list[Any]:
    """The first advice, or that there is none, with the number of rules that were checked; None: files are being read."""
    if review is None:
        return [_card("profile_overview.first_advice", html.P(t("profile_overview.reading"), className="ms-muted"))]
    numbers = {"n": fmt.count(len(review.found)), "checked": fmt.count(len(review.found) + len(review.fine)),
               "total": fmt.count(len(review.found) + len(review.fine) + len(review.unchecked))}  # fmt: skip
    more = _link("advice", choice, "profile_overview.all_advice", **numbers)
    if not review.found:
        key = "profile_overview.no_advice" if review.fine else "profile_overview.no_rule"
        return [_card("profile_overview.first_advice", html.Div([html.P(t(key)), more]))]
    first = review.found[0]
    title = html.P(t(f"advice.{first.rule}.title"), className="ms-profile-overview-rule")
    return [_card("profile_overview.first_advice", html.Div([title, advised(first), more]))]


def idle_cards(found: IdleTime, choice: ProfileChoice) -> list[Any]:
    """Why the device was idle, by the trace; empty for a profile without one."""
    content = idle_card(found, choice)
    return [_card("profiling.idle.title", html.Div(content, className="ms-idle"))] if content else []


def launch_card(kernels: pd.DataFrame | None) -> list[Any]:
    """How kernels were launched: delays, the longest queue, gaps of the busiest stream by cause; empty without launches."""
    found = launch_figures(kernels) if kernels is not None else None
    if found is None:
        return []
    stream, delays = found.streams[0], np.quantile(found.delay_ns, (0.5, 0.95))
    said = html.P(t(
        "profile_overview.launch.said", delay=fmt.duration(delays[0] * 1e-9), high=fmt.duration(delays[1] * 1e-9),
        n=fmt.count(len(found.delay_ns)),
    ))  # fmt: skip
    times = {"busy": stream.busy_ns, **dict(zip(CAUSES, stream.gap_ns, strict=True))}
    whole = sum(times.values())
    shares = {state: time / whole if whole else 0.0 for state, time in times.items()}
    names = {state: html.Span([dot(_LOOKS[state]), t(f"profile_overview.launch.{state}")], className="ms-breakdown-name")
             for state in times}  # fmt: skip
    rows = [(names[state], time, shares[state] if whole else None) for state, time in times.items()]
    drawn = strip([(_LOOKS[state], share) for state, share in shares.items()])
    columns = (_column("stream_time"), _column("time", TIME_NS), _column("share", SHARE))
    notes = [
        t("profile_overview.launch.stream", stream=str(stream.stream), n=fmt.count(stream.kernels)),
        t("profile_overview.launch.queue", longest=fmt.count(stream.longest_queue)),
        t("profile_overview.launch.longer", share=fmt.percent(found.longer_calls / len(found.delay_ns))),
        *([t("profile_overview.launch.full", n=fmt.count(found.at_full_queue))] if found.at_full_queue else []),
    ]
    lines = html.Ul([html.Li(note, className="ms-muted") for note in notes], className="ms-profile-overview-notes")
    return [_card("profile_overview.launch.title", html.Div([said, drawn, _table(columns, rows), lines]))]


_LOOKS = {"busy": "computing", "host": "free", "between": "preparing", "other": "exposed"}
"""State of a stream -> part of a step whose colour it has."""


def ranks_card(source: ProfileSources, choice: ProfileChoice) -> list[Any]:
    """The ranks of the job with the average step of each; empty for a single rank."""
    members = source.profiles.members(choice.run, choice.session, choice.rank)
    if len(members) < 2:
        return []
    steps = choice.frame(source, "cluster_steps")
    table_of_job = rank_steps([steps] if steps is not None else [])
    rows = []
    for run, session, rank in members[:MOST_RANKS]:
        mine = (run, session, rank) == (choice.run, choice.session, choice.rank)
        rows.append(_rank(ProfileChoice(run, session, rank), table_of_job, mine=mine))
    columns = (_column("rank"), _column("step", TIME_NS), *(_column(name, SHARE) for name in ("computing", "exposed", "free")))
    left = len(members) - MOST_RANKS
    foot = [html.P(t("profile_overview.more_ranks", n=fmt.count(left)), className="ms-muted")] if left > 0 else []
    return [_card("profile_overview.ranks", html.Div([_table(columns, rows), *foot]))]


def _rank(choice: ProfileChoice, job: RankSteps, *, mine: bool) -> TableRow:
    """Return the mean step of a rank as the page Cluster has it; of legacy files what computes is forward and backward."""
    link = Cell(t("profiling.rank_n", n=choice.rank), link=address("profile_overview", choice))
    cells: list[float | None] = [None] * 4
    (places,) = np.nonzero(job.ranks == choice.rank)
    if len(places):
        told = {name: float(job.at(name)[places[0]]) for name in ("total", "computing", "forward_backward", "exposed", "free")}
        whole = told["total"]
        computing = told["computing"] if np.isfinite(told["computing"]) else told["forward_backward"]
        if whole > 0:
            cells = [whole, computing / whole, told["exposed"] / whole, told["free"] / whole]
    return TableRow((link, *cells), props={"aria-current": "true"} if mine else {})


def _column(name: str, quantity: Quantity | None = None) -> TableColumn:
    return TableColumn(f"profile_overview.column.{name}", quantity)


def _table(columns: Sequence[TableColumn], rows: Sequence[Any]) -> Any:
    return table(
        columns, rows, class_name="ms-breakdown-table ms-profile-overview-table", scroll="ms-profile-overview-rows"
    )


def _card(title: str, content: Any) -> html.Section:
    head = html.Header(html.H3(t(title), className="ms-card-title"), className="ms-card-head")
    return html.Section([head, html.Div(content, className="ms-card-body")], className="ms-card", tabIndex=-1)


def _link(page: str, choice: ProfileChoice, key: str, **values: str) -> html.P:
    return html.P(html.A(t(key, **values), **address(page, choice)))

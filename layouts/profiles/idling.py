"""Idle time of a stream by cause, for overview and advice: frames of `parsers.profiler.trace.idle` in, components out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import html
from parsers import Idle
from parsers.analysis.jobs.advice import called
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.i18n import attributes, both, t
from layouts.kit.tables import TIME_NS, Cell, TableColumn, table
from layouts.profiles.frames import IdleTime
from layouts.profiles.links import address, range_on_timeline
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

CAUSES = ("host", "synchronisation", "data", "communication", "stream", "short", "unknown")
"""In the order of the bar: causes of the host, then those of the device, then the rest."""
COLOURS = {
    "host": "hsl(28 70% 58%)", "synchronisation": "hsl(45 75% 52%)", "data": "hsl(322 42% 58%)", "stream": "hsl(190 50% 46%)",
    "communication": "hsl(266 45% 60%)", "short": "hsl(215 10% 70%)", "unknown": "hsl(215 8% 48%)",
}  # fmt: skip
"""As in assets/profiles/timeline/gaps.js."""
MOST_CALLS = 6
MOST_STEPS = 12
"""Steps in the table of the overview, those with the most idle time."""
_LEAST_SHARE = 0.01
_WIDE = 0.08


def idle_time(source: ProfileSources, choice: ProfileChoice) -> IdleTime:
    """Return the idle time of a profile by cause, or why there is none yet."""
    return source.profiles.idle_time(choice.run, choice.session, choice.rank)


def idle_frames(found: IdleTime) -> dict[str, pd.DataFrame | None]:
    """Return the frames that the rules of the advice look at."""
    idle = found.idle
    return {"gap_steps": idle.steps if idle else None, "gap_calls": idle.calls if idle else None}


def idle_card(found: IdleTime, choice: ProfileChoice) -> list[Any]:
    """The idle time of the average step by cause, the calls behind it, and each step; empty for a profile without a trace."""
    if found.state == "missing":
        return []
    if found.idle is None:
        link = html.A(t("profiling.idle.read"), **address("timeline", choice)) if found.state == "unread" else None
        return [html.P(t(f"profiling.idle.{found.state}"), className="ms-muted"), *([html.P(link)] if link else [])]
    idle = found.idle
    whole = float(idle.steps["duration_ns"].mean())
    if not whole > 0:
        return []
    parts = {cause: float(idle.steps[f"{cause}_ns"].mean()) for cause in CAUSES}
    return [idle_sentence(parts, whole, idle.stream, stepped=_stepped(idle)), cause_bar(parts, whole),
            _calls(idle, choice), *_steps(idle, choice)]  # fmt: skip


def idle_sentence(parts: Mapping[str, float], whole_ns: float, stream: str, *, stepped: bool) -> html.P:
    """One sentence: how long a stream is idle in the average step, or in all of the trace."""
    idle = sum(parts[cause] for cause in CAUSES)
    key = "profiling.idle.step" if stepped else "profiling.idle.whole"
    values = {"stream": stream, "idle": fmt.duration(idle / 1e9), "whole": fmt.duration(whole_ns / 1e9),
              "share": fmt.percent(idle / whole_ns)}  # fmt: skip
    return html.P(t(key, **values), className="ms-idle-sentence")


def cause_bar(parts: Mapping[str, float], whole_ns: float) -> html.Div:
    """A bar as long as the step, with a segment for each cause of its idle time; and the causes with their times."""
    shown = [(cause, parts[cause]) for cause in CAUSES if parts[cause] > 0]
    segments = []
    for cause, ns in shown:
        share = ns / whole_ns
        told = f"{fmt.duration(ns / 1e9)}, {fmt.percent(share)}"
        english, chinese = (f"{name}: {told}" for name in both(f"timeline.cause.{cause}"))
        segments.append(html.Span(
            fmt.percent(share) if share >= _WIDE else "", className="ms-idle-segment",
            style={"width": f"{100 * share:.4f}%", "background": COLOURS[cause]},
            **{"title": english, "data-en-title": english, "data-zh-title": chinese, "data-cause": cause},
        ))  # fmt: skip
    legend = [
        html.Li([_dot(cause), t(f"timeline.cause.{cause}"), html.Span(fmt.duration(ns / 1e9), className="ms-number"),
                 html.Span(fmt.percent(ns / whole_ns), className="ms-number ms-muted")],
                **attributes(title=f"timeline.cause_tip.{cause}"))
        for cause, ns in shown
    ]  # fmt: skip
    return html.Div([html.Div(segments, className="ms-idle-bar"), html.Ul(legend, className="ms-idle-legend")])


def _dot(cause: str) -> html.Span:
    return html.Span(className="ms-idle-dot", style={"background": COLOURS[cause]})


def _stepped(idle: Idle) -> bool:
    return bool((idle.steps["step"] != "").all())


def _calls(idle: Idle, choice: ProfileChoice) -> Any:
    """The calls behind most of the idle time, each with a link to its longest gap."""
    number, whole = len(idle.steps), float(idle.steps["duration_ns"].sum())
    rows = idle.calls[idle.calls["idle_ns"] > _LEAST_SHARE * whole].head(MOST_CALLS)
    key = "profiling.idle.of_step" if _stepped(idle) else "profiling.idle.of_whole"
    lines = [
        html.Li([
            _dot(row["cause"]),
            html.A(called(row["site"], row["name"]), className="ms-mono ms-cut", title=f"{row['site']}\n{row['name']}".strip(),
                   **range_on_timeline(choice, row["start_ns"], row["duration_ns"], by="gaps", stream=idle.track)),
            html.Span(t(key, time=fmt.duration(row["idle_ns"] / number / 1e9)), className="ms-idle-time"),
        ])
        for row in rows.to_dict("records")
    ]  # fmt: skip
    return html.Ul(lines, className="ms-idle-calls") if lines else None


def _steps(idle: Idle, choice: ProfileChoice) -> list[Any]:
    """Each step with its idle time as the sum of its causes; those with the most idle time if there are many."""
    steps = idle.steps
    if len(steps) < 2:
        return []
    rows = steps.sort_values("idle_ns", ascending=False, kind="stable").head(MOST_STEPS).sort_values("start_ns")
    causes = [cause for cause in CAUSES if (steps[f"{cause}_ns"] > 0).any()]
    columns = [
        TableColumn("profiling.idle.step_head"), TableColumn("profiling.idle.idle_head", TIME_NS),
        *(TableColumn([_dot(cause), t(f"timeline.cause.{cause}")], TIME_NS) for cause in causes),
    ]  # fmt: skip
    body = [
        (Cell(row["step"], link=range_on_timeline(choice, row["start_ns"], row["duration_ns"], by="gaps", stream=idle.track)),
         row["idle_ns"], *(row[f"{cause}_ns"] or None for cause in causes))
        for row in rows.to_dict("records")
    ]  # fmt: skip
    said = t("profiling.idle.steps" if len(rows) == len(steps) else "profiling.idle.steps_most",
             n=fmt.count(len(rows)), total=fmt.count(len(steps)))  # fmt: skip
    drawn = table(columns, body, class_name="ms-idle-table", scroll="ms-idle-rows")
    return [html.Details([html.Summary(said), drawn], className="ms-idle-steps")]

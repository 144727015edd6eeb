"""The overview of one profile: its average step in words and as a bar, and its steps over those of the run."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from dash import html
from parsers import Series
from parsers.analysis import Breakdown, StepTimes, step_times, times_at

from layouts import format as fmt
from layouts.figures.step_times import joined
from layouts.figures.steps import Look
from layouts.i18n import both, t
from layouts.profiling.composition import bar, chosen_trace, notes, percent, sentence, usual_of
from layouts.sources import RunSource

MOST_TAGS = 50
"""Of so many scalars the one with the most steps tells the times."""
_EQUAL = 0.02


class Clock(NamedTuple):
    """The scalar that tells when steps ended: tag, its steps and the times between them."""

    tag: str
    series: Series
    times: StepTimes


def clock(source: RunSource, run: str) -> Clock | None:
    """The scalar with the most records of a member run; None where no scalar has two steps."""
    best: tuple[str, Series] | None = None
    for tag in list(source.tags(run))[:MOST_TAGS]:
        series = source.series(run, tag)
        if series is not None and (best is None or series.step.size > best[1].step.size):
            best = tag, series
    if best is None:
        return None
    times = step_times(best[1])
    return Clock(*best, times) if len(times) else None


def head(breakdown: Breakdown | None) -> list[Any]:
    """The sentence, the bar, and what they are of."""
    usual = usual_of(breakdown)
    if breakdown is None or usual is None:
        return [html.P(t("composition.no_steps"), className="ms-breakdown-sentence")]
    return [sentence(usual), bar(usual), html.Div(notes(breakdown, usual), className="ms-breakdown-notes")]


def beside(breakdown: Breakdown | None, told: Clock | None, look: Look) -> tuple[list[Any], dict[str, Any] | None]:
    """(what the two step times say of each other, figure) of a profile and its run; no figure where either is missing."""
    if breakdown is None or not len(breakdown):
        return [], None
    if told is None:
        return [html.P(t("profile_overview.no_scalars"), className="ms-muted")], None
    numbered = breakdown.step[(breakdown.step >= 0) & breakdown.judged]
    if not numbered.size:
        return [html.P(t("profile_overview.no_numbers"), className="ms-muted")], None
    lines = [_compared(breakdown, told), html.P(t("profile_overview.by", tag=told.tag), className="ms-muted")]
    return lines, joined(breakdown, told.times, look)


def _compared(breakdown: Breakdown, told: Clock) -> html.P:
    rows = np.flatnonzero((breakdown.step >= 0) & breakdown.judged)
    run = times_at(told.times, breakdown.step[rows])
    both_there = np.isfinite(run)
    if not both_there.any():
        values = {
            "first": int(breakdown.step[rows].min()), "last": int(breakdown.step[rows].max()),
            "from_step": int(told.series.step.min()), "to_step": int(told.series.step.max()),
        }  # fmt: skip
        return html.P(t("profile_overview.apart", **{name: fmt.count(step) for name, step in values.items()}))
    steps = breakdown.step[rows][both_there]
    profiled = float(breakdown.whole_ns[rows][both_there].mean())
    wall = float(run[both_there].mean())
    change = wall / profiled - 1.0 if profiled > 0.0 else 0.0
    name = "equal" if abs(change) < _EQUAL else "slower" if change > 0.0 else "faster"
    english, chinese = both(f"profile_overview.{name}", **({} if name == "equal" else {"share": percent(abs(change))}))
    patterns = both("profile_overview.same")
    values_of = {
        "first": fmt.count(int(steps.min())), "last": fmt.count(int(steps.max())), "profiled": fmt.duration(profiled / 1e9),
        "run": fmt.duration(wall / 1e9),
    }  # fmt: skip
    texts = [pattern.format(change=said, **values_of) for pattern, said in zip(patterns, (english, chinese), strict=True)]
    return html.P(html.Span(
        [html.Span(texts[0], className="en", lang="en"), html.Span(texts[1], className="zh", lang="zh-CN")], className="t"
    ))  # fmt: skip


def drawn(source: RunSource, run: str, steps: Any, look: Look) -> tuple[list[Any], list[Any], dict[str, Any] | None]:
    """(head, lines about the run's own step time, figure) of a profile with these steps."""
    breakdown, _ = chosen_trace(steps, "")
    lines, figure = beside(breakdown, clock(source, run), look)
    return head(breakdown), lines, figure

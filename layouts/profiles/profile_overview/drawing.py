"""The overview of one profile: its average step in words and as a bar, and its steps drawn over those of the run."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from dash import html
from parsers import Series
from parsers.analysis import Breakdown, StepTimes, step_times, times_at

from layouts.kit import units as fmt
from layouts.kit.i18n import both, t
from layouts.profiles.composition import bar, chosen_trace, notes, sentence, usual_of, without_steps
from layouts.profiles.step_alternatives import with_run
from layouts.profiles.step_plots import StepStyle
from layouts.profiles.step_times import joined
from layouts.sources import RunSources

MOST_TAGS = 50
"""Maximum number of scalars searched for the one with the most steps, whose wall times are used."""
_EQUAL = 0.02


class Clock(NamedTuple):
    """The scalar whose wall times give the run's step times: tag, series, times between its steps."""

    tag: str
    series: Series
    times: StepTimes


def clock_of(source: RunSources, run: str) -> Clock | None:
    """Return the scalar of a member run with the most records; None if it yields no step time."""
    best: tuple[str, Series] | None = None
    for tag in list(source.runs.tags(run))[:MOST_TAGS]:
        series = source.curves.recorded(run, tag)
        if series is not None and (best is None or series.step.size > best[1].step.size):
            best = tag, series
    if best is None:
        return None
    times = step_times(best[1])
    return Clock(*best, times) if len(times) else None


def head(breakdown: Breakdown | None, steps: Any = None) -> list[Any]:
    """Return the sentence, the bar, and notes on which steps they cover."""
    usual = usual_of(breakdown)
    if breakdown is None or usual is None:
        key = without_steps(steps) if breakdown is None else "composition.no_steps"
        return [html.P(t(key), className="ms-breakdown-sentence")]
    return [sentence(usual), bar(usual), html.Div(notes(breakdown, usual), className="ms-breakdown-notes")]


def beside(breakdown: Breakdown | None, clock: Clock | None, look: StepStyle) -> tuple[list[Any], dict[str, Any] | None]:
    """Compare the step times of a profile and its run: (lines of text, figure); no figure if either is missing."""
    if breakdown is None or not len(breakdown):
        return [], None
    if clock is None:
        return [html.P(t("profile_overview.no_scalars"), className="ms-muted")], None
    numbered = breakdown.step[(breakdown.step >= 0) & breakdown.judged]
    if not numbered.size:
        return [html.P(t("profile_overview.no_numbers"), className="ms-muted")], None
    lines = [_compared(breakdown, clock), html.P(t("profile_overview.by", tag=clock.tag), className="ms-muted")]
    return lines, with_run(joined(breakdown, clock.times, look))


def _compared(breakdown: Breakdown, clock: Clock) -> html.P:
    rows = np.flatnonzero((breakdown.step >= 0) & breakdown.judged)
    run = times_at(clock.times, breakdown.step[rows])
    both_there = np.isfinite(run)
    if not both_there.any():
        values = {
            "first": int(breakdown.step[rows].min()), "last": int(breakdown.step[rows].max()),
            "from_step": int(clock.series.step.min()), "to_step": int(clock.series.step.max()),
        }  # fmt: skip
        return html.P(t("profile_overview.apart", **{name: fmt.count(step) for name, step in values.items()}))
    steps = breakdown.step[rows][both_there]
    profiled = float(breakdown.whole_ns[rows][both_there].mean())
    wall = float(run[both_there].mean())
    change = wall / profiled - 1.0 if profiled > 0.0 else 0.0
    name = "equal" if abs(change) < _EQUAL else "slower" if change > 0.0 else "faster"
    english, chinese = both(f"profile_overview.{name}", **({} if name == "equal" else {"share": fmt.percent(abs(change))}))
    patterns = both("profile_overview.same")
    values_of = {
        "first": fmt.count(int(steps.min())), "last": fmt.count(int(steps.max())), "profiled": fmt.duration(profiled / 1e9),
        "run": fmt.duration(wall / 1e9),
    }  # fmt: skip
    texts = [pattern.format(change=said, **values_of) for pattern, said in zip(patterns, (english, chinese), strict=True)]
    return html.P(html.Span(
        [html.Span(texts[0], className="en", lang="en"), html.Span(texts[1], className="zh", lang="zh-CN")], className="t"
    ))  # fmt: skip


def drawn(source: RunSources, run: str, steps: Any, look: StepStyle) -> tuple[list[Any], list[Any], dict[str, Any] | None]:
    """Return (card of the average step, lines about the run's step time, figure) of a profile with these steps."""
    breakdown, _ = chosen_trace(steps, "")
    lines, figure = beside(breakdown, clock_of(source, run), look)
    card = html.Section(
        [
            html.Header(html.H3(t("profile_overview.made_of"), className="ms-card-title"), className="ms-card-head"),
            html.Div(head(breakdown, steps), className="ms-breakdown-head ms-profile-overview-head"),
        ],
        className="ms-card", tabIndex=-1,
    )  # fmt: skip
    return [card], lines, figure

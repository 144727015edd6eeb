"""Computes the insights of series: which rules apply, and to which points."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from parsers.analysis.curves.insights import noise, oscillation, overfitting, pace, speed, trends
from parsers.analysis.curves.insights.confirmed import confirmed
from parsers.analysis.curves.insights.frozen import frozen
from parsers.analysis.curves.insights.levels import Levels, levels
from parsers.analysis.curves.insights.rules import LEAST, LEVELS, RULES, Insight
from parsers.analysis.curves.insights.shifts import deviation, shift
from parsers.analysis.curves.insights.spikes import spikes
from parsers.analysis.curves.insights.unmoved import unmoved
from parsers.analysis.curves.segments import newest, resolved, restarts
from parsers.analysis.lineage.results import VALIDATION_LOSS, VALIDATION_METRIC, kind_of
from parsers.deferred import pandas as pd
from parsers.frames import INSIGHTS
from parsers.lineage.table import better
from parsers.model import Floats, Ints, Series

FEWEST = 8
"""With fewer points, only values that are not finite are reported."""
_SCALES = 64
"""A loss scale takes at most so many values; other scales are measured like anything else."""
FEWEST_COURSE = 40
"""Points from which on the levels of a curve are judged."""
_FEW = 80
"""Curves of fewer points may be too short for the rule of divergence."""
FINITE = 0.5
"""Share of finite values from which on what they do says anything about a curve."""
_AT_BOUND = 0.15
"""Share of equal lowest or highest values from which on they are a bound."""
WANDERS = re.compile(
    r"(^|[^a-z])(gan|adv)([^a-z]|$)|generator|discriminator|critic|adversarial"
    r"|(^|[^a-z])[dg][ _/.-]?loss([^a-z]|$)|(^|[^a-z])(loss|err)[ _/.-]?[dg]([^a-z]|$)",
    re.IGNORECASE,
)
"""Losses of networks that play against each other, which neither fall nor should."""
_TURNS = ("divergence", "shift", "spike", "plateau")
"""What a curve that turned looks like to rules that know nothing of evaluations."""
_ORDER = {kind: number for number, kind in enumerate(RULES)}


class RecordedRun(Protocol):
    """What insights need of a run; `parsers.Run` satisfies it."""

    def tags(self, kind: str = "scalar") -> tuple[str, ...]:
        """Its scalar tags."""
        ...

    def series(self, tag: str) -> Series:
        """One of its series."""
        ...


@dataclass(frozen=True)
class _SeriesPoints:
    """Points of a series and their indices in it."""

    place: Ints | range
    step: Ints
    value: Floats

    @cached_property
    def saturated(self) -> bool:
        """Whether a curve of more than a few values is at its lowest or highest one as often as not."""
        return is_at_bound(self.value)


def insights(
    run: RecordedRun, *, sensitivity: str | Mapping[str, str] = "normal", now: float | None = None
) -> pd.DataFrame:  # fmt: skip
    """Return the insights of a run's scalars (schema INSIGHTS), the most severe first.

    sensitivity is one of LEVELS ("off", "low", "normal" or "high"), or such a level per kind of RULES ({"spike": "low"}), where
    kinds left out are "normal". now is the current time in seconds since 1970; without it, as for a run known to have ended,
    no stall is reported. ValueError for another level or kind.
    """
    least = _least(sensitivity)
    found = insights_of_run({tag: run.series(tag) for tag in run.tags("scalar")}, now)
    return frame([one for one in found if one.score >= least[one.kind]])


def frame(found: list[Insight]) -> pd.DataFrame:
    """Return insights as a frame of schema INSIGHTS, in the order given."""
    if not found:
        return INSIGHTS.empty()
    columns = {
        column.name: _OF_RULE[column.name](found) if column.name in _OF_RULE else [getattr(one, column.name) for one in found]
        for column in INSIGHTS.columns
    }
    return INSIGHTS.check(pd.DataFrame({c.name: pd.Series(columns[c.name], dtype=c.dtype) for c in INSIGHTS.columns}))


_OF_RULE = {
    "unit": lambda found: [RULES[one.kind].unit for one in found],
    "rule": lambda found: [RULES[one.kind].doc for one in found],
}


def insights_of_run(every: Mapping[str, Series], now: float | None = None) -> list[Insight]:
    """Return the insights of all series of a run by tag, the most severe first, for every sensitivity (score from LEAST on)."""
    found = [one for tag, series in every.items() for one in insights_of(tag, series)]
    standing = stalled(every, now) if now is not None else None
    return ranked([*found, *([standing] if standing else [])])


def ranked(found: list[Insight]) -> list[Insight]:
    """Sort by severity, then by rule, then by score, highest first."""
    return sorted(found, key=lambda one: (-one.severity, _ORDER[one.kind], -one.score, one.tag, one.place))


def insights_of(tag: str, series: Series) -> list[Insight]:
    """Return the insights of one series except a `stall` at its end, in the order of RULES, for every sensitivity.

    Judged are the points that pages show, with restarts resolved (`segments.resolved`); places are those in the series.
    Steps that go back begin another session, which is no fault. Deterministic; about 0.1 microseconds of CPU a point.
    """
    shown = resolved(series)
    if shown is series:
        return _insights(tag, series, np.empty(0, np.int64))
    kept = newest(series.step)
    begun = np.unique(np.searchsorted(kept, restarts(series.step)))
    found = _insights(tag, shown, begun[(begun > 0) & (begun < kept.size)])
    return [replace(one, place=int(kept[one.place]), last_place=int(kept[one.last_place])) for one in found]


def _insights(tag: str, series: Series, starts: Ints) -> list[Insight]:
    """Return the insights of a series without superseded points; starts are the points with which other sessions begin."""
    found = list(_non_finite(tag, series))
    if series.step.size < FEWEST:
        return found
    finite = np.isfinite(series.value)
    whole = bool(finite.all())
    at = range(series.step.size) if whole else np.flatnonzero(finite)
    points = _SeriesPoints(at, series.step if whole else series.step[at], series.value if whole else series.value[at])
    # A file may hold any number; overflow just means that a value is far from all others.
    with np.errstate(over="ignore", invalid="ignore"):
        course = list(_evaluated(tag, series, points))
        wide = [one for one in course if one.kind == "spike"]
        found += course
        found += (one for one in _spikes(tag, series, points) if not any(_within(one, other) for other in wide))
    found += _slower(tag, series, starts)
    found += _paused(tag, series, starts)
    found += _gaps(tag, series)
    return sorted((one for one in found if one.score >= LEAST), key=lambda one: (_ORDER[one.kind], one.place))


def stalled(every: Mapping[str, Series], now: float) -> Insight | None:
    """Return whether a run that is not known to have ended is stalled, judged by its most recently written tag.

    A run that has not grown for two hours, or for 250 usual intervals, counts as ended.
    """
    recorded = [(tag, one) for tag, one in every.items() if one.step.size]
    if not recorded:
        return None
    newest = max(float(one.wall_time[-1]) for _, one in recorded)
    # Of the tags written at the end, the one with most points gives the best estimate of the usual interval.
    tag, series = max(recorded, key=lambda pair: (float(pair[1].wall_time[-1]) >= newest - 1.0, pair[1].step.size))
    found = pace.stall(series.wall_time, now)
    if found is None or newest > float(series.wall_time[-1]) + found.seconds / 2:
        return None
    end = series.step.size - 1
    return _insight(tag, series, "stall", (end, end), found.seconds / found.usual, value=found.seconds, usual=found.usual)


def _least(sensitivity: str | Mapping[str, str]) -> Mapping[str, float]:
    """Return the least score of each kind."""
    named = dict.fromkeys(RULES, sensitivity) if isinstance(sensitivity, str) else sensitivity
    for kind, level in named.items():
        if kind not in RULES:
            raise ValueError(f"sensitivity: expected kinds among {', '.join(RULES)}; found {kind!r}")
        if level not in LEVELS:
            raise ValueError(f"sensitivity: expected one of {', '.join(LEVELS)}; found {level!r}")
    return {kind: LEVELS[named.get(kind, "normal")] for kind in RULES}


def _insight(
    tag: str, series: Series, kind: str, places: tuple[int, int], measured: float, *,
    value: float, usual: float, points: int = 1, limit: float | None = None,
) -> Insight:  # fmt: skip
    limit = RULES[kind].limit if limit is None else limit
    first, last = places
    return Insight(
        tag, kind, int(series.step[first]), int(series.step[last]), first, last, measured / limit, measured, limit,
        float(value), float(usual), points,
    )  # fmt: skip


def _signed(value: Floats, sign: float) -> Floats:
    """Return values of which less is better; the same array if they are."""
    return value if sign == 1.0 else value * sign


def is_at_bound(value: Floats) -> bool:
    """Return whether finite values are at their lowest or highest one as often as not."""
    if not value.size:
        return False
    often = max(np.count_nonzero(value == end) for end in (value.min(), value.max()))
    return bool(often >= _AT_BOUND * value.size)


def is_loss_scale(tag: str, value: Floats) -> bool:
    """Return whether a curve of finite values is the scale of a loss, of which neither direction is better."""
    return "scale" in tag.lower() and np.unique(value).size <= min(_SCALES, value.size // 2)


def _within(one: Insight, other: Insight) -> bool:
    """Return whether the places of two insights overlap."""
    return one.place <= other.last_place and other.place <= one.last_place


def _non_finite(tag: str, series: Series) -> Iterator[Insight]:
    """Return all non-finite values as one insight that begins at the first."""
    at = np.flatnonzero(~np.isfinite(series.value))
    if at.size:
        first = int(at[0])
        before = series.value[first - 1] if first else np.nan
        yield _insight(tag, series, "non_finite", (first, int(at[-1])), float(at.size), value=float(series.value[first]),
                       usual=float(before), points=int(at.size))  # fmt: skip


def _evaluated(tag: str, series: Series, points: _SeriesPoints) -> Iterator[Insight]:
    """What the course of a curve shows; a fault that says more than others replaces them."""
    value = points.value
    if value.size < FEWEST:
        return
    if unmoved(tag, value) and value.size >= FINITE * series.value.size:
        yield _insight(tag, series, "unmoved", (int(points.place[0]), int(points.place[-1])), float(value.size),
                       value=float(np.median(value)), usual=float(np.median(value)), points=value.size)  # fmt: skip
        return
    turn = _turn(tag, series, points)
    marks = list(_courses(tag, series, points))
    worse = any(one.kind == "divergence" and one.score >= 1.0 for one in marks)
    if any(one.kind == "shift" and one.score >= 1.0 for one in marks):
        turn = None  # it jumped
    if turn is not None and turn.score >= 1.0 and not (worse and turn.measured > 1.0):
        marks, worse = [one for one in marks if one.kind not in _TURNS], turn.kind == "divergence"
    yield from marks
    if turn is not None and not any(one.kind == "divergence" for one in marks):
        yield turn
    if not worse and not is_loss_scale(tag, value) and not oscillation.SCHEDULE.search(tag):
        yield from _scatter(tag, series, points)
    if value.size >= RULES["speed"].fewest and speed.is_speed(tag) and (fall := speed.fall(value)) is not None:
        first = int(points.place[fall.first])
        yield _insight(tag, series, "speed", (first, int(points.place[-1])), fall.before / fall.after, value=fall.after,
                       usual=fall.before, points=value.size - fall.first)  # fmt: skip


def _turn(tag: str, series: Series, points: _SeriesPoints) -> Insight | None:
    """Return where a curve of an evaluation, or any curve of few points, turned for the worse."""
    kind = "overfitting" if kind_of(tag) in (VALIDATION_METRIC, VALIDATION_LOSS) else "divergence"
    wanted = better(tag)
    if not wanted or WANDERS.search(tag) or points.value.size < RULES[kind].fewest:
        return None
    if kind == "divergence" and points.value.size >= _FEW:
        return None
    sign = -1.0 if wanted == "max" else 1.0
    found = overfitting.turn(_signed(points.value, sign))
    if kind == "overfitting" and wanted == "min":
        found = max(filter(None, (found, overfitting.turn_by_ratio(points.value))), key=lambda one: one.share, default=None)
    if found is None:
        return None
    return _insight(tag, series, kind, (int(points.place[found.first]), int(points.place[-1])), found.share,
                    value=sign * found.end, usual=sign * found.best, points=points.value.size - found.first)  # fmt: skip


def _scatter(tag: str, series: Series, points: _SeriesPoints) -> Iterator[Insight]:
    """Swings at one rate, else noise that grows."""
    end = int(points.place[-1])
    swings = oscillation.swings(points.value) if points.value.size >= RULES["oscillation"].fewest else None
    if swings is not None:
        yield _insight(tag, series, "oscillation", (int(points.place[swings.first]), end), swings.share, value=swings.height,
                       usual=swings.earlier, points=swings.periods)  # fmt: skip
        if swings.share >= RULES["oscillation"].limit:
            return
    grown = noise.growth(points.value) if points.value.size >= RULES["noisier"].fewest else None
    if grown is not None:
        yield _insight(tag, series, "noisier", (int(points.place[grown.first]), end), grown.times,
                       value=grown.after, usual=grown.before, points=points.value.size - grown.first)  # fmt: skip


def _courses(tag: str, series: Series, points: _SeriesPoints) -> Iterator[Insight]:
    """A frozen value; a divergence, else a setback, a shift and a plateau."""
    # For a loss scale neither direction is better, and it stays and jumps as a matter of course.
    scale = is_loss_scale(tag, points.value)
    wanted = "" if scale else better(tag)
    if points.value.size < FEWEST_COURSE:
        return
    sign = -1.0 if wanted == "max" else 1.0
    known = levels(_signed(points.value, sign))
    end = int(points.place[-1])
    still = None if scale else frozen(points.value, wanted=wanted)
    if still is not None:
        places = int(points.place[still.first]), int(points.place[still.last])
        count = still.last - still.first + 1
        yield _insight(tag, series, "frozen", places, float(count), value=float(points.value[still.first]),
                       usual=float(points.value[still.first - 1]), points=count, limit=still.limit)  # fmt: skip
    changes = list(_changes(tag, series, points, known, wanted, sign, scale=scale))
    yield from changes
    if scale or any(one.kind == "divergence" and one.score >= 1.0 for one in changes):
        return
    if not wanted or WANDERS.search(tag) or points.value.size < RULES["plateau"].fewest or points.saturated:
        return
    if still is not None and still.last == points.value.size - 1:
        return
    best = _best(points.value, wanted)
    flat = trends.plateau(known, points.value.size, best=None if best is None else sign * best)
    if flat is not None:
        place = int(known.first[flat.first])
        yield _insight(tag, series, "plateau", (int(points.place[place]), end), flat.share, value=sign * flat.after,
                       usual=sign * flat.before, points=points.value.size - place)  # fmt: skip


def _changes(
    tag: str, series: Series, points: _SeriesPoints, known: Levels, wanted: str, sign: float, *, scale: bool
) -> Iterator[Insight]:  # fmt: skip
    """A divergence, else a setback that was made up for and a shift."""
    end = int(points.place[-1])
    turn = trends.divergence(known, falls=not wanted)
    # Down at once and up again is no fall that was lost: of a name that wants neither, the shift down is the fault.
    jump = None if scale or (turn is not None and wanted) else _shift(tag, series, points, known, wanted, sign)
    if turn is not None:
        first = int(points.place[known.first[turn.first]])
        if jump is None or jump.score < 1.0 or jump.place >= first - known.size:
            yield _insight(tag, series, "divergence", (first, end), turn.share, value=sign * turn.after,
                           usual=sign * turn.before)  # fmt: skip
            if turn.share >= RULES["divergence"].limit:
                return
        jump = jump or _shift(tag, series, points, known, wanted, sign)
    if scale:
        return
    value = _signed(points.value, sign)
    stops = end + 1 < series.value.size
    back = trends.ending(value, known, deviation(value, known), falls=not wanted, stops=stops)
    if back is not None:
        yield _insight(tag, series, "divergence", (int(points.place[back.first]), end), back.share, value=sign * back.peak,
                       usual=sign * back.before)  # fmt: skip
        return
    back = trends.setback(known, falls=not wanted)
    if back is not None and (turn is None or back.last < points.value.size - 1 - known.size):
        first, last = int(points.place[back.first]), int(points.place[back.last])
        if jump is None or not first <= jump.place <= first + 2 * known.size:
            jump = jump if jump is None or not first <= jump.place <= last else None
            yield _insight(tag, series, "spike", (first, last), back.sigma, value=sign * back.peak, usual=sign * back.before,
                           points=back.last - back.first + 1)  # fmt: skip
    if jump is not None:
        yield jump


def _shift(tag: str, series: Series, points: _SeriesPoints, known: Levels, wanted: str, sign: float) -> Insight | None:
    if points.value.size < RULES["shift"].fewest:
        return None
    found = shift(_signed(points.value, sign), known, sign=1 if wanted else 0)
    if found is None:
        return None
    first = int(points.place[found.first])
    return _insight(tag, series, "shift", (first, int(points.place[-1])), found.sigma, value=sign * found.after,
                    usual=sign * found.before, points=points.value.size - found.first)  # fmt: skip


def _best(value: Floats, wanted: str) -> float | None:
    """Return the best possible value: 0 for a loss without negative values, 1 (or 100) for a share."""
    low, high = float(value.min()), float(value.max())
    if low < 0:
        return None
    if wanted == "min":
        return 0.0
    return 1.0 if high <= 1 else 100.0 if high <= 100 else None


def _spikes(tag: str, series: Series, points: _SeriesPoints) -> Iterator[Insight]:
    # One slow step is no fault of a speed, nor is a worse value of a curve that has reached its bound.
    if is_loss_scale(tag, points.value) or speed.is_speed(tag) or points.saturated:
        return
    for one in confirmed(points.value, spikes(points.value)):
        first, last = int(points.place[one.first]), int(points.place[one.last])
        value = float(points.value[one.peak])
        yield _insight(tag, series, "spike", (first, last), one.sigma, value=value, usual=value - one.height,
                       points=one.last - one.first + 1, limit=one.limit)  # fmt: skip


def _slower(tag: str, series: Series, starts: Ints) -> Iterator[Insight]:
    if series.step.size < RULES["slower"].fewest:
        return
    change = pace.slower(series.step, series.wall_time, starts)
    if change is not None:
        yield _insight(tag, series, "slower", (change.first, series.step.size - 1), change.after / change.before,
                       value=change.after, usual=change.before, points=series.step.size - change.first)  # fmt: skip


def _paused(tag: str, series: Series, starts: Ints) -> Iterator[Insight]:
    found = pace.pause(series.step, series.wall_time, starts)
    if found is not None:
        yield _insight(tag, series, "stall", (found.after, found.after + 1), found.seconds / max(found.usual, 1e-9),
                       value=found.seconds, usual=found.usual, points=0)  # fmt: skip


def _gaps(tag: str, series: Series) -> Iterator[Insight]:
    for gap in pace.gaps(series.step):
        yield _insight(tag, series, "gap", (gap.after, gap.after + 1), gap.times, value=gap.missing, usual=gap.usual, points=0)

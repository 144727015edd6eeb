"""What a curve does, in a few numbers: where it begins and ends, its best value, its insights, restarts and speed.

All points count, with restarts resolved as on pages; the last value is that of `final_values.last_value`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from parsers.analysis.curves.final_values import Final, final
from parsers.analysis.curves.insights import RULES, Insight, insights_of, ranked
from parsers.analysis.curves.insights.finding import FEWEST
from parsers.analysis.curves.segments import resolved, restarts
from parsers.analysis.runs.speed import Speed, speed
from parsers.lineage.table import better
from parsers.model import Series

FOUND, NOTHING, NOT_JUDGED, NOT_RECORDED = "found", "nothing found", "not judged", "not recorded"
NORMAL = 1.0
"""Score from which on an insight is shown at the normal sensitivity."""


@dataclass(frozen=True, slots=True)
class CurveFact:
    """One fact: a claim, the numbers behind it, the limit, and where.

    about is "curve", "run", "profile" or "dump", name its tag or the like; kind says what is claimed, state is FOUND, NOTHING,
    NOT_JUDGED (missing says what is missing) or NOT_RECORDED. step and last_step are where it begins and ends, if anywhere.
    value, usual (what it was compared with), measured and limit are NaN where there are none; unit is that of measured and
    limit, else of value. rule says what is compared with the limit. points is how many values it concerns.
    """

    about: str
    name: str
    kind: str
    state: str = FOUND
    step: int | None = None
    last_step: int | None = None
    value: float = math.nan
    usual: float = math.nan
    measured: float = math.nan
    limit: float = math.nan
    unit: str = ""
    rule: str = ""
    points: int = 0
    missing: str = ""


@dataclass(frozen=True, slots=True)
class CurveDigest:
    """What one curve does. first and first_step are the first finite value and its step, NaN and -1 without one.

    direction is that of better values, "min", "max" or ""; without one low and high are the ends of all finite values. insights
    are those of the normal sensitivity, the severest first; with fewer than FEWEST points little is judged. restarted and
    last_restarted are the steps that the first and the last of the restarts went back to. speed is None for unknown.
    """

    tag: str
    direction: str
    first: float
    first_step: int
    final: Final
    low: float
    high: float
    insights: tuple[Insight, ...]
    restarts: int
    restarted: int
    last_restarted: int
    speed: Speed | None

    @property
    def judged(self) -> bool:
        """Whether there are enough points for all but the rule about values that are not finite."""
        return self.final.points >= FEWEST

    def facts(self) -> Iterator[CurveFact]:
        """Return the facts in the order in which a sentence tells them."""
        end = self.final
        if self.first_step >= 0:
            yield CurveFact("curve", self.tag, "first", step=self.first_step, value=self.first)
        yield CurveFact("curve", self.tag, "last", step=end.last_step, value=end.last, points=end.points)
        if end.finite_step >= 0 and not math.isfinite(end.last):
            yield CurveFact("curve", self.tag, "last_finite", step=end.finite_step, value=end.finite)
        if end.best_step >= 0:
            yield CurveFact("curve", self.tag, "best", step=end.best_step, value=end.best, rule=self.direction)
        elif self.first_step >= 0:
            yield CurveFact("curve", self.tag, "range", value=self.high, usual=self.low)
        yield from map(insight_fact, self.insights)
        if not self.judged:
            missing = f"{FEWEST} points, there are {end.points}"
            yield CurveFact("curve", self.tag, "insights", NOT_JUDGED, points=end.points, missing=missing)
        elif not self.insights:
            yield CurveFact("curve", self.tag, "insights", NOTHING, points=end.points)
        if self.restarts:
            yield CurveFact("curve", self.tag, "restarts", step=self.restarted, value=float(self.restarts))
        if self.speed is not None:
            yield CurveFact("curve", self.tag, "steps_per_second", step=self.speed.first, last_step=self.speed.last,
                            value=1.0 / self.speed.seconds, unit="steps/s", points=self.speed.intervals)  # fmt: skip


def insight_fact(one: Insight) -> CurveFact:
    """Return an insight as a fact."""
    rule = RULES[one.kind]
    return CurveFact("curve", one.tag, one.kind, FOUND, one.step, one.last_step, one.value, one.usual, one.measured, one.limit,
                     rule.unit, rule.doc, one.points)  # fmt: skip


def curve_digest(tag: str, series: Series, known: Iterable[Insight] | None = None) -> CurveDigest:
    """Return what a series that is not empty does; known are its insights if they were computed before, of any sensitivity."""
    every = insights_of(tag, series) if known is None else known
    kept = resolved(series)
    direction = better(tag)
    finite = np.isfinite(kept.value)
    known = kept.value if finite.all() else kept.value[finite]
    at = int(finite.argmax()) if known.size else -1
    first, first_step = (float(kept.value[at]), int(kept.step[at])) if known.size else (math.nan, -1)
    low, high = (float(known.min()), float(known.max())) if known.size else (math.nan, math.nan)
    begun = series.step[restarts(series.step)].tolist()
    return CurveDigest(
        tag, direction, first, first_step, final(series, direction), low, high,
        tuple(ranked([one for one in every if one.score >= NORMAL])),
        len(begun), begun[0] if begun else -1, begun[-1] if begun else -1, speed(series),
    )  # fmt: skip

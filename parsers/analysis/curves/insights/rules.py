"""The rules of insights as data: one rule per kind of insight, with its limit.

A rule has one limit. The score of an insight is the measured value divided by that limit: 1 is just enough at the normal
sensitivity. Each level of sensitivity has its own minimum score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class InsightRule:
    """One kind of insight.

    limit is in `unit`. severity: 2 for errors, 1 for hints. fewest: the minimum number of points of a tag. doc: what is
    compared with the limit.
    """

    kind: str
    limit: float
    unit: str
    severity: int
    fewest: int
    doc: str


RULES: Mapping[str, InsightRule] = MappingProxyType({rule.kind: rule for rule in (
    InsightRule("non_finite", 1.0, "values", 2, 1, "values that are NaN or infinite"),
    InsightRule("divergence", 0.5, "of the way", 2, 16,
        "how far the curve went back at its end, as a share of the way it had come, and more than ever before"),
    InsightRule("unmoved", 8.0, "equal values", 2, 8,
        "values, from the first to the last, that are one value or stay within 0.3 % of it, of a curve that should become "
        "better or is a norm of gradients; the best possible value is none"),
    InsightRule("overfitting", 0.3, "of the way", 1, 16,
        "how far the curve of an evaluation went back at its end, as a share of the way it had come, and more than ever "
        "before; of a loss, also in its logarithm, whichever share is larger"),
    InsightRule("frozen", 20.0, "equal values", 1, 40,
        "values in a row that are equal, or differ by less than a tenth of the usual change from point to point, of a curve "
        "that changes otherwise; the limit is at least a hundredth of the points and four times the usual longest repetition"),
    InsightRule("stall", 10.0, "intervals", 1, 20,
        "time since the last point of a run not known to have ended, at least 300 s, or between two points, at least 60 s, "
        "over the longest usual interval"),
    InsightRule("spike", 6.0, "sigma", 1, 20,
                "distance from the curve before and after, in robust standard deviations of the noise around it; the limit is "
                "lower for fewer than 100,000 points and higher where the noise of the curve has heavy tails"),
    InsightRule("shift", 2.0, "sigma", 1, 60,
        "height of a jump to another level that lasts, for the worse where the name says what is better, in robust standard "
        "deviations of the points"),
    InsightRule("oscillation", 0.5, "of the variance", 1, 40,
        "share of the variance about the course of the curve that is at one rate, at least 4 times, and does not settle; "
        "the swings are at least 4 % of the range of the curve"),
    InsightRule("noisier", 1.8, "times", 1, 60,
        "noise at the end over that before it grew, both absolute and relative to the level where that is above the noise"),
    InsightRule("slower", 1.4, "times", 1, 60, "time per step after a lasting change, over that before it"),
    InsightRule("speed", 1.25, "times", 1, 20, "recorded speed at its best, over that at the end"),
    InsightRule("plateau", 0.25, "of the points", 1, 100, "share of the points, up to the last, without a change for the "
                "better, after the curve stopped on its way or never got away"),
    InsightRule("gap", 4.0, "strides", 1, 20, "steps without a point, over the largest usual distance between points around"),
)})  # fmt: skip
"""The severest first."""

LEVELS: Mapping[str, float] = MappingProxyType({"off": math.inf, "low": 1.5, "normal": 1.0, "high": 0.85})
"""Level of sensitivity -> least score; each rule may have its own."""
LEAST = min(LEVELS.values())
"""The minimum score of any detector."""


@dataclass(frozen=True, slots=True)
class Insight:
    """An anomaly of one curve.

    tag is the curve's, kind one of RULES. step and place (index in the series) are where it begins, last_step and
    last_place where it ends. score is `measured` over the limit of its rule (of a spike: over the limit for its
    curve, `limit`). value and usual are the two numbers that were compared, in the unit of the curve, of steps or of
    seconds; points how many values it concerns.
    """

    tag: str
    kind: str
    step: int
    last_step: int
    place: int
    last_place: int
    score: float
    measured: float
    limit: float
    value: float
    usual: float
    points: int

    @property
    def severity(self) -> int:
        """That of its rule."""
        return RULES[self.kind].severity

"""What the rules of insights judged on a curve, and what not: no mark is "nothing found" only if a rule had what it needs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from parsers.analysis.curves.insights import finding, oscillation, speed
from parsers.analysis.curves.insights.rules import RULES, Insight
from parsers.analysis.curves.insights.unmoved import GRADIENT
from parsers.analysis.curves.segments import resolved
from parsers.analysis.lineage.results import VALIDATION_LOSS, VALIDATION_METRIC, kind_of
from parsers.lineage.table import better
from parsers.model import Floats, Series

FOUND, NOTHING, NOT_JUDGED, NOT_RECORDED = "found", "nothing found", "not judged", "not recorded"
FEW, DIRECTION, SCALE, GAME, AT_BOUND, SCHEDULE, SPEED, COVERED, NO_EVALUATION, NO_SPEED, NO_TIMES = REASONS = (
    "few", "direction", "scale", "game", "bound", "schedule", "speed", "covered", "no_evaluation", "no_speed", "no_times",
)  # fmt: skip
"""Why a rule is not judged: too few points; a name that does not say what is better; the scale of a loss; a loss of networks
that play against each other; a curve at a bound; a schedule; a speed; a mark of another rule that says more. Why there is
nothing to judge: no evaluation, no speed, no times."""
_NEED_DIRECTION = ("overfitting", "plateau")
_NOT_OF_SCALES = ("unmoved", "frozen", "shift", "spike", "oscillation", "noisier", "plateau")
_COVERED = {
    "unmoved": ("divergence", "overfitting", "frozen", "shift", "oscillation", "noisier", "plateau", "speed"),
    "divergence": ("overfitting", "shift", "oscillation", "noisier", "plateau"),
    "overfitting": ("divergence", "shift", "plateau"),
    "shift": ("overfitting",),
    "oscillation": ("noisier",),
}
"""Rules that are not asked of a curve once another one has found something, or whose marks give way to it."""
_OF_TIMES = ("stall", "slower")


@dataclass(frozen=True, slots=True)
class RuleJudgement:
    """What one rule (a kind of RULES) says of a curve: a state, and unless it was judged the reason.

    points is how many of those the rule takes there are, needed how many it takes.
    """

    kind: str
    state: str
    reason: str
    points: int
    needed: int


def judgements(tag: str, series: Series, found: Iterable[Insight]) -> list[RuleJudgement]:
    """Return what each rule says of a series, in the order of RULES; found are its insights that are shown."""
    shown = resolved(series)
    finite = shown.value[np.isfinite(shown.value)]
    own = [one for one in found if one.tag == tag]
    kinds, covering = {one.kind for one in own}, {one.kind for one in own if one.score >= 1.0}
    covered = {kind for other in covering for kind in _COVERED.get(other, ())}
    if finite.size and any(one.kind == "frozen" and one.last_step == shown.step[np.isfinite(shown.value)].max() for one in own):
        covered.add("plateau")  # a curve that is frozen at its end
    timed = bool(np.isfinite(shown.wall_time).any())
    made = []
    for kind in RULES:
        points = shown.step.size if kind in ("non_finite", "slower", "stall", "gap") else finite.size
        needed = _needed(kind, tag, shown.step.size)
        if kind in kinds:
            made.append(RuleJudgement(kind, FOUND, "", points, needed))
            continue
        state, reason = _missing(kind, tag, finite, timed=timed)
        if not reason and (points < needed or (kind != "non_finite" and shown.step.size < finding.FEWEST)):
            state, reason = NOT_JUDGED, FEW
        if not reason and kind in covered:
            state, reason = NOT_JUDGED, COVERED
        made.append(RuleJudgement(kind, state if reason else NOTHING, reason, points, needed))
    return made


def _needed(kind: str, tag: str, points: int) -> int:
    """Return how many of the points of a curve a rule takes.

    A divergence is judged from fewer on where the name says what is better, unless that is a matter of overfitting.
    """
    fewest = RULES[kind].fewest
    if kind == "divergence" and (not better(tag) or finding.WANDERS.search(tag) or _is_evaluation(tag)):
        fewest = finding.FEWEST_COURSE
    if kind == "unmoved":
        fewest = max(fewest, math.ceil(finding.FINITE * points))
    return fewest if kind == "non_finite" else max(fewest, finding.FEWEST)


def _is_evaluation(tag: str) -> bool:
    return kind_of(tag) in (VALIDATION_METRIC, VALIDATION_LOSS)


def _missing(kind: str, tag: str, finite: Floats, *, timed: bool) -> tuple[str, str]:
    """Return the state and the reason of a rule that cannot judge such a curve; empty reasons for one that can."""
    if kind in _OF_TIMES and not timed:
        return NOT_RECORDED, NO_TIMES
    if kind == "speed" and not speed.is_speed(tag):
        return NOT_RECORDED, NO_SPEED
    if kind == "overfitting" and not _is_evaluation(tag):
        return NOT_RECORDED, NO_EVALUATION
    if kind in _NEED_DIRECTION and not better(tag):
        return NOT_JUDGED, DIRECTION
    if kind == "unmoved" and not better(tag) and not GRADIENT.search(tag):
        return NOT_JUDGED, DIRECTION
    if kind in _NEED_DIRECTION and finding.WANDERS.search(tag):
        return NOT_JUDGED, GAME
    if kind in _NOT_OF_SCALES and finding.is_loss_scale(tag, finite):
        return NOT_JUDGED, SCALE
    if kind in ("oscillation", "noisier") and oscillation.SCHEDULE.search(tag):
        return NOT_JUDGED, SCHEDULE
    if kind == "spike" and speed.is_speed(tag):
        return NOT_JUDGED, SPEED
    if kind in ("plateau", "spike") and finding.is_at_bound(finite):
        return NOT_JUDGED, AT_BOUND
    return NOTHING, ""

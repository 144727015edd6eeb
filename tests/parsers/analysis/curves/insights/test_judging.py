"""What was judged and what not agrees with the rules themselves, over curves that their author did not make."""

from __future__ import annotations

import numpy as np
import pytest

from parsers import Series
from parsers.analysis.curves.insights import RULES, insights_of
from parsers.analysis.curves.insights.judging import (
    DIRECTION,
    FEW,
    FOUND,
    NO_EVALUATION,
    NO_SPEED,
    NO_TIMES,
    NOT_JUDGED,
    NOT_RECORDED,
    NOTHING,
    RuleJudgement,
    judgements,
)
from tests.amounts import some_or_every
from tests.simulations.curve_kinds import FAULTS, HEALTHY, faulty, healthy

LENGTHS = (3, 15, 19, 39, 59, 99, 20_000)


def _series(value: np.ndarray, *, timed: bool = True) -> Series:
    points = len(value)
    step = np.arange(points, dtype=np.int64)
    wall = 1.7e9 + step if timed else np.full(points, np.nan)
    return Series(step, wall, np.asarray(value, np.float64), np.zeros(points, np.int32), step)


def _of(tag: str, series: Series) -> dict[str, RuleJudgement]:
    return {one.kind: one for one in judgements(tag, series, insights_of(tag, series))}


@some_or_every
def test_what_is_not_judged_is_never_found(every: bool) -> None:
    """Also of the beginnings of curves: then rules lack points."""
    told = dict.fromkeys((FOUND, NOTHING, NOT_JUDGED, NOT_RECORDED), 0)
    for seed in range(500, 520 if every else 501):
        made = [*(healthy(kind, seed) for kind in HEALTHY), *(faulty(kind, FAULTS[kind].sizes[-1], seed) for kind in FAULTS)]
        for curve in made:
            for length in LENGTHS:
                series = _series(curve.value[:length])
                found = {one.kind for one in insights_of(curve.tag, series)}
                for one in judgements(curve.tag, series, ()):
                    assert one.state == NOTHING or one.kind not in found, (curve.tag, length, one)
                    told[_of(curve.tag, series)[one.kind].state] += 1
    assert min(told.values()) > 0, told


def test_every_rule_has_one_state() -> None:
    assert [one.kind for one in judgements("loss", _series(np.ones(3)), ())] == list(RULES)


def test_of_few_points_most_rules_are_not_judged_and_say_how_many_they_take() -> None:
    found = _of("loss", _series(np.linspace(2, 1, 20)))
    assert found["shift"] == RuleJudgement("shift", NOT_JUDGED, FEW, 20, 60)
    assert found["plateau"].needed == 100
    assert found["non_finite"].state == NOTHING
    assert found["gap"].state == NOTHING
    assert {one.state for kind, one in _of("loss", _series(np.ones(3))).items()
            if kind not in ("non_finite", "speed", "overfitting")} == {NOT_JUDGED}  # fmt: skip


def test_values_that_are_not_finite_do_not_count() -> None:
    value = np.linspace(2, 1, 100)
    value[50:] = np.nan
    found = _of("loss", _series(value))
    assert found["non_finite"].state == FOUND
    assert (found["shift"].state, found["shift"].points) == (NOT_JUDGED, 50)


@pytest.mark.parametrize(("tag", "kind", "state", "reason"), [
    ("weights/mean", "plateau", NOT_JUDGED, DIRECTION), ("weights/mean", "unmoved", NOT_JUDGED, DIRECTION),
    ("grad_norm", "unmoved", NOTHING, ""), ("train/loss", "overfitting", NOT_RECORDED, NO_EVALUATION),
    ("val/loss", "overfitting", NOTHING, ""), ("loss", "speed", NOT_RECORDED, NO_SPEED),
    ("samples_per_second", "speed", NOTHING, ""),
])  # fmt: skip
def test_what_a_name_does_not_say_is_the_reason(tag: str, kind: str, state: str, reason: str) -> None:
    value = 1.0 + np.exp(-np.arange(300) / 100) + np.random.default_rng(1).normal(0, 0.02, 300)
    found = _of(tag, _series(value if tag != "samples_per_second" else np.random.default_rng(1).normal(100, 1, 300)))[kind]
    assert (found.state, found.reason) == (state, reason)


def test_without_times_nothing_is_said_of_them() -> None:
    found = _of("loss", _series(np.linspace(2, 1, 300), timed=False))
    assert {found[kind].state for kind in ("stall", "slower")} == {NOT_RECORDED}
    assert found["stall"].reason == NO_TIMES

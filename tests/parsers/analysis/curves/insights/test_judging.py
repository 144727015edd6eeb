"""What was judged and what not agrees with the rules themselves, over curves that their author did not make."""

from __future__ import annotations

import numpy as np
import pytest

from parsers import Series
from parsers.analysis.curves.insights import RULES, insights_of
from parsers.analysis.curves.insights.judging import (
    COVERED,
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


@pytest.mark.parametrize(
    ("tag", "needed"),
    [("train/loss", 16), ("accuracy", 16), ("grad_norm", 40), ("d_loss", 40), ("val/loss", 40), ("eval/accuracy", 40)],
)
def test_points_that_a_divergence_takes(tag: str, needed: int) -> None:
    """More of a curve without a better side, of losses of adversaries, and of an evaluation, which may overfit."""
    assert _of(tag, _series(np.ones(3)))["divergence"].needed == needed


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


def _falling(points: int, noise: float = 0.02) -> np.ndarray:
    return 2.0 * np.exp(-np.arange(points) / 40) + 0.5 + np.random.default_rng(0).normal(0, noise, points)


def test_what_gives_way_to_another_mark_is_not_said_to_be_absent() -> None:
    """A jump is told as divergence, and a validation loss that rises as overfitting: then neither has no jump, nor no rise."""
    jump = _falling(300)
    jump[150:] += 1.2
    found = _of("loss", _series(jump))
    assert found["divergence"].state == FOUND
    assert (found["shift"].state, found["shift"].reason) == (NOT_JUDGED, COVERED)
    found = _of("val/loss", _series(jump))
    assert found["overfitting"].state == FOUND
    assert {found[kind].reason for kind in ("divergence", "shift", "plateau")} == {COVERED}
    rise = _falling(300)
    rise[200:] += np.linspace(0, 5, 100)
    found = _of("val/loss", _series(rise))
    assert found["divergence"].state == FOUND
    assert found["overfitting"].reason == COVERED


def test_noise_of_a_curve_that_swings_and_levels_of_one_that_is_frozen_are_not_judged() -> None:
    swing = _falling(400, 0.01)
    swing[100:] += 0.3 * np.sin(np.arange(300) / 4) * np.linspace(0.2, 1, 300)
    found = _of("loss", _series(swing))
    assert found["oscillation"].state == FOUND
    assert found["noisier"].reason == COVERED
    still = _falling(400)
    still[150:] = still[150]
    found = _of("loss", _series(still))
    assert found["frozen"].state == FOUND
    assert found["plateau"].reason == COVERED


def test_points_that_other_rules_of_the_same_kind_take() -> None:
    rise = np.r_[np.linspace(2, 0.2, 8), np.linspace(0.2, 3, 16)]
    found = _of("val/loss", _series(rise))
    assert found["divergence"] == RuleJudgement("divergence", NOT_JUDGED, FEW, 24, 40)
    assert _of("loss", _series(rise))["divergence"].state == FOUND
    stuck = np.full(200, np.nan)
    stuck[::3] = 1.0
    found = _of("loss", _series(stuck))
    assert found["unmoved"] == RuleJudgement("unmoved", NOT_JUDGED, FEW, 67, 100)


def test_a_curve_of_which_half_is_finite_is_judged_for_moving() -> None:
    value = np.full(200, 0.7)
    value[::2] = np.nan
    assert _of("train/loss", _series(value))["unmoved"] == RuleJudgement("unmoved", FOUND, "", 100, 100)

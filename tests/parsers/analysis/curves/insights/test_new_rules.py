"""What the rules of swings, noise, speeds and still metrics mark, and what looks alike and is none."""

from __future__ import annotations

import numpy as np
import pytest

from parsers.analysis.curves.insights import LEVELS, insights_of, stalled
from tests.parsers.analysis.curves.insights.curves import series

T = np.arange(400)
FALLING = 1.0 + 3.0 * np.exp(-T / 80.0)
NOISE = np.random.default_rng(3).normal(size=400)


def found(tag, value, wall=None):
    n = len(value)
    wall = 1.7e9 + np.arange(n) * 0.5 if wall is None else wall
    return [one for one in insights_of(tag, series(np.arange(n), wall, value)) if one.score >= LEVELS["normal"]]


def kinds(tag, value, wall=None):
    return [one.kind for one in found(tag, value, wall)]


@pytest.mark.parametrize(("tag", "value"), [("accuracy", 0.0), ("loss", 2.302585), ("loss", 0.0), ("grad_norm", 0.0)])
def test_a_metric_that_never_moves_is_an_error_and_the_only_mark(tag, value):
    (mark,) = found(tag, np.full(50, value))
    assert (mark.kind, mark.severity, mark.place, mark.last_place, mark.points) == ("unmoved", 2, 0, 49, 50)


@pytest.mark.parametrize(
    ("tag", "value"), [("accuracy", 1.0), ("lr", 0.1), ("grad_norm", 1.0), ("error_rate", 0.0), ("loss_scale", 8.0)]
)
def test_a_setting_or_the_best_possible_value_may_stay(tag, value):
    assert kinds(tag, np.full(50, value)) == []


def test_swings_are_told_with_their_height_and_whether_they_grow():
    (mark,) = found("loss", FALLING + 0.02 * NOISE + 0.2 * np.sin(T / 3.0))
    assert mark.kind == "oscillation"
    assert mark.value == pytest.approx(0.4, rel=0.2)
    (mark,) = found("loss", FALLING + 0.01 * NOISE + 0.4 * (T / 400.0) ** 2 * np.sin(T / 3.0))
    assert mark.kind == "oscillation"
    assert mark.value > 2.0 * mark.usual
    assert kinds("loss", FALLING + 0.02 * NOISE + 0.2 * np.exp(-T / 60.0) * np.sin(T / 3.0)) == []


def test_epochs_and_schedules_are_no_swings():
    assert "oscillation" not in kinds("loss", FALLING * (1.1 - 0.2 * (T % 40) / 40.0) + 0.01 * NOISE)
    assert kinds("lr", 0.1 + 0.05 * np.sin(T / 10.0)) == []


def test_noise_that_grows_is_told_from_where_it_does():
    (mark,) = found("loss", FALLING + 0.02 * NOISE * np.where(T < 240, 1.0, 3.0))
    assert mark.kind == "noisier"
    assert abs(mark.place - 240) <= 30
    assert mark.usual == pytest.approx(0.02, rel=0.4)
    # The noise of a reward goes with its level.
    assert "noisier" not in kinds("reward", (1.0 + T / 40.0) * (1.0 + 0.1 * NOISE))


def test_a_speed_that_falls_is_told_and_one_that_dips_is_not():
    speed = 1000.0 * (1.0 + 0.03 * NOISE)
    (mark,) = [one for one in found("samples_per_second", speed * np.where(T < 200, 1.0, 0.6)) if one.kind == "speed"]
    assert abs(mark.place - 200) <= 10
    assert mark.measured == pytest.approx(1 / 0.6, rel=0.1)
    assert kinds("samples_per_second", speed * np.where(T % 97 == 50, 0.7, 1.0)) == []
    assert "speed" not in kinds("loss", FALLING)


def test_a_run_of_27_ms_steps_has_not_stalled_before_five_minutes_and_a_long_pause_within_it_is_one():
    wall = 1.7e9 + np.arange(400) * 0.027
    one = series(np.arange(400), wall, FALLING)
    assert stalled({"loss": one}, wall[-1] + 200) is None
    assert stalled({"loss": one}, wall[-1] + 400) is not None
    value = FALLING + 0.01 * NOISE
    assert kinds("loss", value, wall + np.where(T < 200, 0.0, 20.0)) == []
    (mark,) = found("loss", value, wall + np.where(T < 200, 0.0, 600.0))
    assert (mark.kind, mark.place, mark.last_place) == ("stall", 199, 200)
    # An evaluation every hundred steps is usual.
    assert kinds("loss", value, wall + 600.0 * (T // 100)) == []


@pytest.mark.parametrize(("tag", "sign"), [("val_loss", 1.0), ("eval/accuracy", -1.0)])
def test_an_evaluation_that_turned_is_overfitting_from_its_best_value_on(tag, sign):
    t = np.arange(30)
    value = np.where(t < 12, 2.0 - t / 12.0, 1.0 + 0.5 * (t - 12) / 17.0)
    (mark,) = found(tag, sign * value)
    assert (mark.kind, mark.severity) == ("overfitting", 1)
    assert abs(mark.place - 12) <= 1
    assert mark.measured == pytest.approx(0.5, abs=0.1)
    assert kinds(tag, sign * np.minimum.accumulate(value)) == []


def test_a_reward_that_has_reached_its_end_is_judged_like_any_other_curve():
    value = np.array([
        8.0, 8.0, 11.595366, 14.550467, 16.184437, 22.372536, 30.811634, 48.082783, 69.895668, 110.716942, 104.641502,
        186.141373, 292.343781, 181.060104, 260.910919, 500.0, 417.035156, 500.0, 500.0, 448.357117, *[500.0] * 37,
    ], np.float32).astype(np.float64)  # fmt: skip
    assert not {"oscillation", "noisier"} & set(kinds("episode_return", value))

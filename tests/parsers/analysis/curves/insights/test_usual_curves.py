"""What recurs, settles, is skewed or rounded is no fault, and a fault beside it is still found."""

from __future__ import annotations

import numpy as np
import pytest

from parsers.analysis.curves.insights import LEVELS, insights_of
from tests.parsers.analysis.curves.insights.curves import series

N = 1200
T = np.arange(N)
FALLING = 1.0 + 2.0 * np.exp(-T / 400.0)


def noise(seed=0, size=0.01, n=N):
    return size * np.random.default_rng(seed).normal(size=n)


def marks(tag, value):
    one = series(np.arange(len(value)), 1.7e9 + np.arange(len(value)) * 0.5, value)
    return [mark for mark in insights_of(tag, one) if mark.score >= LEVELS["normal"]]


def kinds(tag, value):
    return [mark.kind for mark in marks(tag, value)]


def teeth(number):
    return 1.0 - 0.15 * (T / N * number % 1.0)


@pytest.mark.parametrize("number", [3, 4, 7, 12])
def test_epochs_are_no_shift_and_one_beside_them_is(number):
    value = FALLING * teeth(number) + noise(number)
    assert kinds("loss", value) == []
    at = int(N * (int(number / 2) + 0.45) / number)
    found = [one for one in marks("loss", value + 0.5 * (at <= T)) if one.kind in ("shift", "divergence")]
    assert [abs(one.place - at) <= 5 for one in found] == [True]


@pytest.mark.parametrize("cycles", [2, 3, 4, 6])
def test_warm_restarts_are_no_shift_even_if_there_is_one(cycles):
    phase = T / N * cycles % 1.0
    value = FALLING * (1.0 + 0.1 * (1.0 + np.cos(np.pi * phase))) + noise(cycles)
    assert kinds("loss", value) == []


@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_one_restart_beside_noise_that_goes_with_the_level_is_no_shift_and_a_step_as_high_is(seed, relative):
    course = 0.4 + 3.0 / (1.0 + 60.0 * T / N) ** 0.6
    phase = T / N * 2 % 1.0
    away = 0.3 * (1.0 + np.cos(np.pi * phase)) / 2.0 * (course if relative else 1.0)
    scatter = np.exp(noise(seed, 0.02))
    assert kinds("loss", (course + away) * scatter) == []
    step = np.where(T >= N // 2, 0.3 * course[N // 2], 0.0)
    (mark,) = marks("loss", (course + step) * scatter)
    assert (mark.kind, abs(mark.place - N // 2) <= 3) == ("shift", True)


@pytest.mark.parametrize("scale", [1e-100, 1e300])
def test_restarts_and_steps_are_told_apart_at_any_scale(scale):
    restarted = FALLING * (1.0 + 0.1 * (1.0 + np.cos(np.pi * (T / N * 2 % 1.0)))) + noise(3)
    assert kinds("loss", restarted * scale) == []
    assert kinds("loss", (FALLING + 0.2 * (T >= N // 2) + noise(3)) * scale) == ["shift"]


def test_a_jump_in_the_middle_that_lasts_is_a_shift():
    (mark,) = marks("loss", FALLING + 0.2 * (T >= N // 2) + noise(1))
    assert (mark.kind, abs(mark.place - N // 2) <= 3) == ("shift", True)


def test_a_spike_beside_restarts_is_found():
    value = FALLING * (1.0 + 0.1 * (1.0 + np.cos(np.pi * (T / N * 4 % 1.0)))) + noise(2)
    value[500:502] += 0.4
    assert [(mark.kind, mark.place) for mark in marks("loss", value)] == [("spike", 500)]


def test_a_curve_that_settles_is_no_plateau_however_noisy_and_one_that_stops_is():
    for seed in range(10):
        settled = 1.0 + np.exp(-T / 150.0)
        assert "plateau" not in kinds("loss", settled * (1.0 + noise(seed, 0.15)))
        stopped = 3.0 - np.minimum(T, 500) / 500.0
        assert "plateau" in kinds("loss", stopped + noise(seed, 0.03))


@pytest.mark.parametrize("n", [100, 150, 200])
def test_a_short_curve_that_stops_is_a_plateau_and_one_that_jumps_a_shift(n):
    t = np.arange(n)
    assert kinds("loss", 3.0 - 2.0 * np.minimum(t / (0.4 * n), 1.0) + noise(n, 0.02, n)) == ["plateau"]
    (mark,) = marks("loss", 3.0 - t / n + 0.8 * (t >= n // 2) + noise(n, 0.01, n))
    assert mark.kind in ("shift", "divergence")
    assert abs(mark.place - n // 2) <= 5


def test_large_values_of_skewed_noise_are_no_spikes_and_larger_ones_are():
    told = 0
    for seed in range(20):
        norm = np.exp(np.random.default_rng(seed).normal(scale=0.3, size=800))
        told += "spike" in kinds("grad_norm", norm)
        norm[400] = 20.0
        assert "spike" in kinds("grad_norm", norm)
    assert told == 0


def test_rounding_coarser_than_the_noise_repeats_values_and_finer_does_not():
    random = np.random.default_rng(3)
    rounded = np.rint(20 * np.clip(0.8 - 0.4 * np.exp(-T / 300.0) + 0.008 * random.normal(size=N), 0, 1)) / 20
    assert "frozen" not in kinds("val_acc", rounded)
    counted = random.binomial(100, 0.7, N) / 100
    counted[500:700] = counted[500]
    assert "frozen" in kinds("accuracy", counted)


def test_what_is_recorded_in_turn_does_not_swing_unless_it_grows():
    turn = np.array([0.0, 0.1, 0.05, -0.1])[T % 4]
    assert kinds("loss", FALLING + turn + noise(4)) == []
    assert "oscillation" in kinds("loss", FALLING + turn * (T / N) ** 2 * 4 + noise(4))


def test_the_loss_of_an_adversary_wanders_by_any_of_its_names():
    level = 0.7 + 0.6 * np.exp(-T / 40.0) + noise(5, 0.05)
    for tag in ("d_loss", "loss/D", "loss_G", "errD"):
        assert kinds(tag, level) == []

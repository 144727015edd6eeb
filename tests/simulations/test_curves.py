"""What the simulated curves say of themselves is true."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.simulations.curves import (
    FAULTY,
    HEALTHY,
    KINDS,
    Kind,
    Maker,
    divergence,
    draw,
    growing_noise,
    oscillation,
    overfitting_pair,
    power_loss,
    slower,
    spikes,
    stall,
    sudden_noise,
)


def seeded(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.name))
def test_a_curve_is_in_order_and_its_truth_lies_within_it(kind: Kind) -> None:
    for seed in range(20):
        curve = draw(seeded(seed), kind)
        points = len(curve.value)
        assert kind.points[0] <= points <= kind.points[1]
        assert len(curve.step) == len(curve.wall_time) == points
        assert (np.diff(curve.step) > 0).all()
        assert (np.diff(curve.wall_time) > 0).all()
        if kind in HEALTHY:
            assert np.isfinite(curve.value).all()
            assert (curve.truth.fault, curve.truth.first, curve.truth.last) == ("", -1, -1)
        else:
            assert curve.truth.fault
            assert 0 <= curve.truth.first <= curve.truth.last < points
        np.testing.assert_array_equal(draw(seeded(seed), kind).value, curve.value)


def test_there_are_healthy_curves_of_many_kinds() -> None:
    assert len({kind.make for kind in HEALTHY}) >= 16
    assert len({kind.name for kind in KINDS}) == len(HEALTHY) + len(FAULTY)


@pytest.mark.parametrize("make", [divergence, growing_noise, sudden_noise, slower])
def test_a_fault_changes_nothing_before_its_place(make: Maker) -> None:
    clean, faulty = make(seeded(), 300, 0.01, 1.0), make(seeded(), 300, 0.01, 5.0)
    first = faulty.truth.first
    healthy = power_loss(seeded(), 300, 0.0)
    assert abs(clean.value / healthy.value - 1.0).max() < 0.06
    np.testing.assert_array_equal(clean.value[:first], faulty.value[:first])
    np.testing.assert_array_equal(clean.wall_time[: first + 1], faulty.wall_time[: first + 1])
    assert not np.array_equal(clean.value, faulty.value) or not np.array_equal(clean.wall_time, faulty.wall_time)


@pytest.mark.parametrize("size", [0.2, 0.5, 1.0, 2.0])
def test_validation_regains_the_stated_share_of_its_fall(size: float) -> None:
    training, validation = overfitting_pair(seeded(), 200, 0.0, size)
    least = validation.truth.first
    value = validation.value
    assert int(np.argmin(value)) == least
    assert (value[-1] - value[least]) / (value[0] - value[least]) == pytest.approx(size)
    assert (np.diff(training.value) < 0).all()


def test_noise_grows_by_the_stated_factor() -> None:
    clean = growing_noise(seeded(), 5000, 0.0, 10.0).value
    sudden, first = sudden_noise(seeded(), 5000, 0.01, 10.0), sudden_noise(seeded(), 5000, 0.01, 10.0).truth.first
    share = sudden.value / clean - 1.0
    assert share[first:].std() / share[:first].std() == pytest.approx(10.0, rel=0.1)
    growing = growing_noise(seeded(), 5000, 0.01, 10.0)
    share = growing.value / clean - 1.0
    assert share[-100:].std() / share[:first].std() == pytest.approx(10.0, rel=0.25)


def test_swings_spikes_and_divergence_have_the_stated_size() -> None:
    clean = power_loss(seeded(), 1000, 0.0).value
    swing = oscillation(seeded(), 1000, 0.0, 0.3)
    assert (swing.value / clean - 1.0).max() == pytest.approx(0.3, rel=0.1)
    assert (swing.value == clean)[: swing.truth.first].all()
    spiked = spikes(seeded(), 1000, 0.01, 20.0)
    np.testing.assert_allclose(spiked.value[list(spiked.truth.places)], clean[list(spiked.truth.places)] * 1.2)
    assert divergence(seeded(), 1000, 0.0, 1e3).value[-1] == pytest.approx(1e3 * clean[-1])


def test_a_stall_lasts_as_long_as_stated_and_slow_steps_take_the_stated_factor() -> None:
    still = stall(seeded(), 100, 0.01, 30.0, step_s=0.027)
    taken = np.diff(still.wall_time)
    assert int(np.argmax(taken)) == still.truth.first - 1
    assert taken.max() == pytest.approx(30.027, abs=0.01)
    slow = slower(seeded(), 400, 0.01, 2.0)
    taken = np.diff(slow.wall_time)
    assert np.median(taken[slow.truth.first :]) / np.median(taken[: slow.truth.first]) == pytest.approx(2.0, rel=0.02)


def test_what_never_moves_is_0_or_the_logarithm_of_ten() -> None:
    kind = next(kind for kind in FAULTY if kind.name == "never_moves")
    assert {float(value) for seed in range(20) for value in draw(seeded(seed), kind).value} == {0.0, math.log(10.0)}

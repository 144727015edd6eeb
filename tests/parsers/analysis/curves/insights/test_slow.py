"""Rules that leave out work find what the slow references find, which look at every point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.analysis.curves.insights import noise, pace, spikes, unmoved
from parsers.model import Floats, Ints
from tests.amounts import examples
from tests.parsers.analysis.curves.insights.slow import noise as slow_noise
from tests.parsers.analysis.curves.insights.slow import pace as slow_pace
from tests.parsers.analysis.curves.insights.slow import spikes as slow_spikes
from tests.parsers.analysis.curves.insights.slow import unmoved as slow_unmoved

SIZES = (5, 18, 20, 30, 60, 100, 250, 999, 1_000, 1_500, 4_000, 20_000, 100_000, 120_001)
KINDS = ("falling", "rounded", "walk", "cauchy", "counts", "huge", "constant", "louder", "still")
EMPTY = np.empty(0, np.int64)
seeds = st.integers(0, 2**32 - 1)


def curve(random: np.random.Generator, kind: str, size: int) -> Floats:
    value = np.exp(-np.arange(size) / (size / 5)) + 10.0 ** random.uniform(-4, 0) * random.normal(size=size)
    if kind == "rounded":
        value = np.round(value, 2)
    elif kind == "walk":
        value = np.cumsum(random.normal(size=size))
    elif kind == "cauchy":
        value = random.standard_cauchy(size)
    elif kind == "counts":
        value = random.integers(0, 5, size) / 4.0
    elif kind == "huge":
        value = np.clip(value, -1.7, 1.7) * 1e308
    elif kind == "constant":
        value = np.full(size, random.choice([0.0, 1.0, 2.5]))
    elif kind == "louder":
        value = value * np.where(np.arange(size) > size * random.uniform(0.2, 0.9), random.uniform(1, 10), 1)
    elif kind == "still":
        value = 2.3026 * (1 + 10.0 ** random.uniform(-5, -2) * random.normal(size=size))
        odd = random.integers(size, size=max(1, int(size * random.uniform(0, 0.03))))
        value[odd] += 5 * random.normal()
    for _ in range(int(random.integers(0, 4))):
        value[int(random.integers(size))] += float(random.choice([1, -1, 5, 100, 0.2]))
    return value


@settings(max_examples=examples(400), deadline=None)
@given(seed=seeds, kind=st.sampled_from(KINDS), size=st.sampled_from(SIZES))
def test_rules_about_values(seed: int, kind: str, size: int) -> None:
    value = curve(np.random.default_rng(seed), kind, size)
    with np.errstate(all="ignore"):
        assert repr(spikes.spikes(value)) == repr(slow_spikes.spikes(value))
        assert repr(noise.growth(value)) == repr(slow_noise.growth(value))
        assert unmoved.unmoved("loss", value) == slow_unmoved.unmoved("loss", value)


def recorded(random: np.random.Generator, size: int) -> tuple[Ints, Floats, Ints]:
    """Steps, wall times and where sessions begin: even, slower, with pauses and gaps, in whole seconds or damaged."""
    step = np.cumsum(random.choice([1, 1, 1, 2] if random.random() < 0.5 else [1], size=size)).astype(np.int64)
    if random.random() < 0.2:
        step[size // 2 :] += int(random.integers(1, 500))
    taken = np.abs(10.0 ** random.uniform(-3, 1) * (1 + random.uniform(0, 0.5) * random.normal(size=size)))
    if random.random() < 0.5:
        taken *= np.where(np.arange(size) > size * random.uniform(0.1, 0.9), random.uniform(1, 1.6), 1)
    if random.random() < 0.25:
        taken *= np.linspace(1, random.uniform(1, 2), size)
    if random.random() < 0.3:
        taken[random.integers(size, size=int(random.integers(1, 4)))] += random.uniform(10, 4_000)
    wall = 1.7e9 + np.cumsum(taken)
    if random.random() < 0.1:
        wall = np.floor(wall)
    if random.random() < 0.1:
        wall[random.integers(size, size=2)] = random.choice([0.0, np.nan])
    return step, wall, np.array([size // 3]) if size > 10 and random.random() < 0.2 else EMPTY


@settings(max_examples=examples(200), deadline=None)
@given(seed=seeds, size=st.sampled_from((2, 10, 70, 300, 5_000, 100_001, 150_000)))
def test_rules_about_times(seed: int, size: int) -> None:
    step, wall, starts = recorded(np.random.default_rng(seed), size)
    with np.errstate(all="ignore"):
        assert repr(pace.gaps(step)) == repr(slow_pace.gaps(step))
        assert repr(pace.pause(step, wall, starts)) == repr(slow_pace.pause(step, wall, starts))
        if size >= 60:
            assert repr(pace.slower(step, wall, starts)) == repr(slow_pace.slower(step, wall, starts))


def found_in_long_curves() -> dict[str, Any]:
    """One finding of each rule in 200,000 points, from the references."""
    random = np.random.default_rng(7)
    value = 0.3 + 0.02 * random.normal(size=200_000)
    value[120_000] += 1.0
    louder = value * np.where(np.arange(value.size) > 100_000, 3.0, 1.0) + 5.0
    step, taken = np.arange(value.size), 0.5 + 0.01 * random.random(value.size)
    pausing, slowing, gapped = taken.copy(), taken.copy(), step.copy()
    pausing[60_000] += 900
    slowing[90_000:] *= 1.5
    gapped[150_000:] += 40
    still = 2.3026 + 1e-4 * random.normal(size=value.size)
    return {
        "spike": (spikes.spikes, slow_spikes.spikes, (value,)), "noisier": (noise.growth, slow_noise.growth, (louder,)),
        "unmoved": (unmoved.unmoved, slow_unmoved.unmoved, ("loss", still)), "gap": (pace.gaps, slow_pace.gaps, (gapped,)),
        "stall": (pace.pause, slow_pace.pause, (step, 1.7e9 + np.cumsum(pausing), EMPTY)),
        "slower": (pace.slower, slow_pace.slower, (step, 1.7e9 + np.cumsum(slowing), EMPTY)),
    }  # fmt: skip


@pytest.mark.parametrize("rule", ["spike", "noisier", "unmoved", "gap", "stall", "slower"])
def test_what_is_found_in_a_long_curve_is_the_same(rule: str) -> None:
    fast, slow, arguments = found_in_long_curves()[rule]
    wanted = slow(*arguments)
    assert wanted, "the reference finds something, so that the test can fail"
    assert repr(fast(*arguments)) == repr(wanted)

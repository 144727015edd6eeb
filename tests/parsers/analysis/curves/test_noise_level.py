"""The noise of a curve relative to its level, against noise of a known size."""

from __future__ import annotations

import numpy as np
import pytest

from parsers.analysis.curves.noise_level import expected_noise, noise_level


@pytest.mark.parametrize("size", [0.01, 0.1])
def test_the_size_of_normal_noise_is_measured_beside_a_trend(size: float) -> None:
    trend = 2.0 + 3.0 * np.exp(-np.arange(4_000) / 300.0)
    value = trend + size * np.random.default_rng(0).standard_normal(trend.size)
    assert noise_level(value, 60) == pytest.approx(size / 2.0, rel=0.06)


def test_spikes_and_nan_change_little() -> None:
    value = 1.0 + 0.01 * np.random.default_rng(1).standard_normal(2_000)
    value[1_500:1_520] = np.nan
    value[1_700::100] += 50.0
    assert noise_level(value, 60) == pytest.approx(0.01, rel=0.1)


def test_short_curves_and_a_level_of_0_have_none() -> None:
    assert noise_level(np.ones(59), 60) is None
    assert noise_level(np.zeros(100), 60) is None


def test_noise_of_means_of_batches_is_as_expected() -> None:
    rng = np.random.default_rng(2)
    small, large = (noise_level(1.0 + rng.standard_normal((4_000, n)).mean(axis=1) * 0.1, 60) for n in (4, 64))
    assert small is not None
    assert large == pytest.approx(expected_noise(small, 64, 4), rel=0.1)

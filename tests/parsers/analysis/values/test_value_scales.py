"""Scales of values against formulas of numpy: bins are even in places, places grow with values, quantiles hold equal shares."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import HistogramValue
from parsers.analysis import resample, usual_limits
from parsers.analysis.values.value_scales import QUANTILE, SCALES, SYMLOG, scaled


def counted(data: np.ndarray, bins: int = 400) -> HistogramValue:
    count, edges = np.histogram(data, bins)
    extent = float(data.min()), float(data.max()), float(data.sum())
    return HistogramValue(edges[:-1], np.diff(edges), count.astype(np.float64), *extent, data.size)


@pytest.fixture
def wide() -> list[HistogramValue]:
    random = np.random.default_rng(0)
    data = random.choice([-1.0, 1.0], 4_000) * 10.0 ** random.uniform(-3, 3, 4_000)
    return [HistogramValue(np.sort(data), np.zeros(4_000), np.ones(4_000), -1e3, 1e3, 0.0, 4_000)]


def test_a_symmetric_logarithm_is_that_of_its_formula(wide: list[HistogramValue]) -> None:
    found = scaled(SYMLOG, wide, -1000.0, 1000.0)
    near = float(10.0 ** math.floor(math.log10(np.quantile(np.abs(wide[0].left), 0.25))))
    expected = np.sign(found.edges) * np.log10(1 + np.abs(found.edges) / near)
    np.testing.assert_allclose(found.places, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.diff(found.places), np.diff(found.places)[0])
    assert (found.edges[0], found.edges[-1], found.ticks[0]) == (-1000.0, 1000.0, 0.0)
    assert set(np.abs(found.ticks)) <= {0.0, *(10.0**power for power in range(-3, 4))}


def test_each_bin_of_a_quantile_scale_has_the_same_share() -> None:
    random = np.random.default_rng(1)
    values = [counted(random.exponential(1.0 + step, 1_000 + 100 * step)) for step in range(5)]
    low, high = min(v.min for v in values), max(v.max for v in values)
    found = scaled(QUANTILE, values, low, high)
    shares = resample(values, found.edges) / np.array([[v.total] for v in values])
    np.testing.assert_allclose(shares.mean(axis=0), 1 / (len(found.edges) - 1), rtol=1e-6)
    assert (found.places[0], found.places[-1]) == pytest.approx((0.0, 100.0))
    middle = scaled(QUANTILE, values, 1.0, 3.0)
    below = np.mean([(resample([v], [low, 1.0])[0, 0] / v.total) for v in values])
    assert middle.places[0] == pytest.approx(100 * below)
    assert (middle.edges[0], middle.edges[-1]) == (1.0, 3.0)


numbers = st.lists(st.floats(-1e200, 1e200, allow_nan=False), min_size=2, max_size=60)


@given(numbers, st.sampled_from(SCALES))
def test_values_are_in_order_on_every_scale_and_none_is_lost(data: list[float], kind: str) -> None:
    points = np.sort(np.array(data))
    value = HistogramValue(points, np.zeros(len(points)), np.ones(len(points)), points[0], points[-1], 0.0, len(points))
    low, high = float(points[0]), float(points[-1])
    found = scaled(kind, [value], low, high if high > low else low + 1.0)
    assert len(found.edges) == len(found.places)
    assert (np.diff(found.edges) >= 0).all()
    assert (np.diff(found.places) >= 0).all()
    assert resample([value], found.edges).sum() == len(points)
    rounding = 1e-12 * (found.places[-1] - found.places[0])
    assert (np.diff(found.place(points)) >= -rounding).all()


def test_extreme_values_in_every_step_do_not_set_the_limits() -> None:
    random = np.random.default_rng(2)
    steps = []
    for _ in range(3):
        data = np.sort(np.append(random.normal(0, 1, 20_000), [1e9, -1e12]))
        steps.append(HistogramValue(data, np.zeros(len(data)), np.ones(len(data)), -1e12, 1e9, 0.0, len(data)))
    limits = usual_limits(steps)
    assert limits is not None
    assert -12 < limits[0] < -3.5
    assert 3.5 < limits[1] < 12
    assert usual_limits([counted(random.normal(0, 1, 20_000)) for _ in range(3)]) is None

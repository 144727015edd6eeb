"""Statistics of a few values against scipy, and how often their intervals hold what they should."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from parsers.analysis.curves.seeds import _YUEN, improvement, interquartile_mean
from parsers.analysis.curves.student import student
from tests.amounts import long_after

TIMES = 2000
VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)


def test_quantiles_of_student_are_those_of_scipy() -> None:
    for freedom in range(1, 500):
        assert student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-9)


@given(VALUES)
def test_the_interquartile_mean_is_the_mean_trimmed_by_a_quarter(values: list[float]) -> None:
    found = interquartile_mean(np.array([math.nan, *values, math.inf]))
    assert found.n == len(values)
    assert found.value == pytest.approx(stats.trim_mean(values, 0.25), rel=1e-9, abs=1e-6)
    assert len(values) == 1 or found.low <= found.value <= found.high


@given(VALUES, VALUES)
def test_the_probability_of_improvement_is_mann_whitney_s(one: list[float], other: list[float]) -> None:
    found = improvement(np.array(one), np.array([*other, math.nan]), "max")
    u = stats.mannwhitneyu(one, other, method="asymptotic").statistic if len({*one, *other}) > 1 else len(one) * len(other) / 2
    assert found.value == pytest.approx(u / (len(one) * len(other)))
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    turned = improvement(np.array(one), np.array(other), "min")
    assert turned.value == pytest.approx(1.0 - found.value)
    assert turned.low == pytest.approx(1.0 - found.high, abs=1e-9)


def test_of_nothing_there_is_nothing() -> None:
    assert interquartile_mean(np.array([])).n == 0
    assert math.isnan(interquartile_mean(np.array([math.nan])).value)
    assert math.isnan(interquartile_mean(np.array([3.0])).low)
    assert interquartile_mean(np.array([3.0])).value == 3.0
    assert math.isnan(improvement(np.array([1.0]), np.array([])).value)
    assert interquartile_mean(np.full(6, 1e308)).value == pytest.approx(1e308)
    with pytest.raises(ValueError, match="better"):
        improvement(np.array([1.0]), np.array([1.0]), "more")


def test_groups_that_do_not_overlap_are_no_certainty() -> None:
    found = improvement(np.array([3.0, 4.0, 5.0]), np.array([0.0, 1.0, 2.0]))
    assert found.value == found.high == 1.0
    assert 0.3 < found.low < 0.7


@pytest.mark.parametrize("n", long_after(2, [4, 13, 5, 7, 8, 20, 30]))
def test_quantiles_of_yuen_s_t_are_those_of_normal_samples(n: int) -> None:
    draws = np.sort(np.random.default_rng(n).normal(size=(200_000, n)), axis=1)
    cut = n // 4
    trimmed = stats.trim_mean(draws, 0.25, axis=1)
    pulled = np.clip(draws, draws[:, [cut]], draws[:, [n - cut - 1]])  # winsorized: a quarter at each end
    left = n - 2 * cut
    error = np.sqrt((n - 1) * pulled.var(axis=1, ddof=1) / (left * (left - 1)))
    beyond = np.mean(np.abs(trimmed / error) > _YUEN[n - 4])
    assert beyond == pytest.approx(0.05, abs=0.002)


DISTRIBUTIONS = {
    "normal": stats.norm(), "uniform": stats.uniform(), "laplace": stats.laplace(), "lognormal": stats.lognorm(0.5),
}  # fmt: skip


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("n", long_after(1, [10, 5, 30]))
def test_intervals_of_the_interquartile_mean_cover_95_percent(name: str, n: int) -> None:
    kind = DISTRIBUTIONS[name]
    truth = stats.trim_mean(kind.ppf((np.arange(100_000) + 0.5) / 100_000), 0.25)
    draws = kind.rvs((TIMES, n), random_state=7 * n)
    found = [interquartile_mean(row) for row in draws]
    covered = np.mean([one.low <= truth <= one.high for one in found])
    assert 0.93 - 0.005 <= covered <= 0.97 + 0.008  # what 2,000 draws allow for
    if name in ("normal", "lognormal") and n >= 10:
        assert 0.93 <= covered <= 0.97


@pytest.mark.parametrize("shift", long_after(2, [0.0, 1.0, 0.5, 2.0]))
@pytest.mark.parametrize("n", long_after(1, [10, 5, 20]))
def test_intervals_of_the_probability_of_improvement_cover_95_percent(shift: float, n: int) -> None:
    random = np.random.default_rng(int(10 * shift) + n)
    truth = stats.norm.cdf(shift / math.sqrt(2.0))
    found = [improvement(shift + random.normal(size=n), random.normal(size=n)) for _ in range(TIMES)]
    covered = np.mean([one.low <= truth <= one.high for one in found])
    assert 0.93 <= covered <= 0.985

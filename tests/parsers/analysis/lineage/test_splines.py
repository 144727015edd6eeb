"""Smooth trends: against least squares, against known functions, and how often the band covers them."""

from __future__ import annotations

import numpy as np
import pytest

from parsers.analysis import best_region, fitted, shape
from tests.amounts import long_after


def test_through_points_on_a_line_it_is_the_line() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-3, 5, 200)
    y = 2 - 0.5 * x + rng.normal(size=200)
    fit = fitted(x, y)
    assert fit is not None
    assert fit.straight
    slope, start = np.polyfit(x, y, 1)
    assert fit.y == pytest.approx(start + slope * fit.x, abs=0.25)
    assert shape(x, y, fit) == "down"


def test_of_two_places_it_is_the_line_of_least_squares() -> None:
    x, y = np.array([1.0, 1.0, 2.0, 2.0]), np.array([0.0, 1.0, 3.0, 5.0])
    fit = fitted(x, y)
    assert fit is not None
    slope, start = np.polyfit(x, y, 1)
    assert fit.y == pytest.approx(start + slope * fit.x, abs=1e-5)


@pytest.mark.parametrize("n", long_after(2, [30, 100, 2000]))
def test_the_band_covers_the_curve(n: int) -> None:
    rng = np.random.default_rng(n)
    covered = []
    for _ in range(200):
        x = rng.uniform(0, 1, n)
        fit = fitted(x, np.sin(5 * x) + 0.3 * rng.normal(size=n))
        assert fit is not None
        covered.append(np.mean((fit.low <= np.sin(5 * fit.x)) & (np.sin(5 * fit.x) <= fit.high)))
    assert 0.90 <= np.mean(covered) <= 0.98


def test_shapes_and_best_regions() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 1, 150)
    noise = 0.02 * rng.normal(size=150)
    for name, y in (("peak", -((x - 0.4) ** 2)), ("valley", (x - 0.4) ** 2), ("up", x**3), ("down", -np.sqrt(x))):
        fit = fitted(x, y + noise)
        assert fit is not None
        assert shape(x, y + noise, fit) == name
    fit = fitted(x, (x - 0.4) ** 2 + noise)
    assert fit is not None
    found = best_region(fit, "min")
    assert found is not None
    assert found.low <= 0.4 <= found.high
    assert found.end == 0
    assert found.high - found.low < 0.4
    high = best_region(fit, "max")
    assert high is not None
    assert high.end == 1
    flat = fitted(x, noise)
    assert flat is not None
    assert best_region(flat, "min") is None


@pytest.mark.parametrize(
    ("x", "y"),
    [([], []), ([1.0, 2.0], [1.0, 2.0]), ([1.0] * 5, range(5)), ([np.nan] * 5, range(5)), ([1, 2, np.inf], [1, 2, 3])],
)
def test_what_has_no_curve(x: list[float], y: list[float]) -> None:
    assert fitted(np.array(x, float), np.array(y, float)) is None
    assert shape(np.array(x, float), np.array(y, float), None) == ""


def test_equal_results_and_values_near_the_limits_are_no_error() -> None:
    for x, y in ((np.arange(6.0), np.ones(6)), (np.linspace(-8e307, 8e307, 9), np.linspace(-1e300, 1e300, 9))):
        fit = fitted(x, y)
        assert fit is not None
        assert np.isfinite(fit.y).all()


def test_a_rho_that_is_shown_as_zero_has_no_direction() -> None:
    # Ranks 1 to 4 against 2, 4, 1, 3: rho is 0, in floating point perhaps not quite.
    x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 9.0, 0.0, 1.5])
    assert shape(x, y, fitted(x, y)) == ""

"""Groups of curves against pandas, numpy and scipy, and how often their intervals hold the mean."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from parsers.analysis.curves.groups import aligned, curve, diverged, grid, minus, summarised
from parsers.analysis.curves.segments import newest
from tests.amounts import examples

TIMES = 2000
STEPS = st.lists(st.integers(0, 12), max_size=20)
SOME = st.one_of(st.floats(-100, 100), st.sampled_from([math.nan, math.inf, -math.inf]))


def ramp(x: list[float], y: list[float]) -> tuple[np.ndarray, np.ndarray]:
    return curve(np.array(x, np.float64), np.array(y, np.float64))


@given(STEPS)
def test_of_steps_written_again_the_last_word_counts(steps: list[int]) -> None:
    step = np.array(steps, np.int64)
    kept = newest(step).tolist()
    # What a list of steps is left with, where each step strikes out those at or beyond it that came before.
    left: list[int] = []
    for number, one in enumerate(steps):
        left = [other for other in left if steps[other] < one] + [number]
    assert kept == left


@given(st.lists(st.tuples(st.one_of(st.integers(0, 9).map(float), st.just(math.nan)), SOME), max_size=20))
def test_a_curve_is_sorted_and_the_last_of_equal_places_counts(points: list[tuple[float, float]]) -> None:
    x, y = ramp([p[0] for p in points], [p[1] for p in points])
    last = {place: value for place, value in points if not math.isnan(place)}
    assert x.tolist() == sorted(last)
    for place, value in zip(x.tolist(), y.tolist(), strict=True):
        assert value == last[place] if math.isfinite(last[place]) else math.isnan(value)


@st.composite
def shared(draw: st.DrawFn) -> list[tuple[np.ndarray, np.ndarray]]:
    """Curves over the same steps, of which single values are missing."""
    size = draw(st.integers(1, 8))
    return [ramp(list(range(size)), [draw(SOME) for _ in range(size)]) for _ in range(draw(st.integers(1, 7)))]


@settings(max_examples=examples(60), deadline=None)
@given(shared())
def test_over_shared_steps_a_group_is_what_pandas_groups(curves: list[tuple[np.ndarray, np.ndarray]]) -> None:
    frame = pd.concat([pd.DataFrame({"x": x, "y": y}) for x, y in curves]).dropna()
    by = frame.groupby("x")["y"]
    places = grid(curves, most=100)
    assert places.tolist() == curves[0][0].tolist()
    for name in ("mean", "median"):
        found = summarised(curves, places, line=name, band="std")
        wanted = by.agg([name, "count", "std", "min", "max"]).reindex(places)
        assert found.n.tolist() == wanted["count"].fillna(0).astype(int).tolist()
        np.testing.assert_allclose(found.line, wanted[name], rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(found.high, wanted[name] + wanted["std"], rtol=1e-9, atol=1e-6)
        ends = summarised(curves, places, line=name, band="range")
        np.testing.assert_array_equal(ends.low, wanted["min"])
        np.testing.assert_array_equal(ends.high, wanted["max"])
        interval = summarised(curves, places, line=name, band="interval")
        there = np.isfinite(interval.low)
        assert (interval.low[there] <= found.line[there] + 1e-9).all()
        assert (interval.high[there] >= found.line[there] - 1e-9).all()


@given(st.lists(st.lists(st.integers(0, 60), min_size=1, max_size=12, unique=True), min_size=1, max_size=5))
def test_between_its_points_a_run_lies_on_the_line_between_them(steps: list[list[int]]) -> None:
    curves = [ramp(sorted(map(float, one)), [3.0 * step + 1 for step in sorted(one)]) for one in steps]
    places = grid(curves, most=1000)
    assert places.tolist() == sorted({float(step) for one in steps for step in one})
    values = aligned(curves, places)
    for row, (x, _) in zip(values, curves, strict=True):
        there = np.isfinite(row)
        np.testing.assert_allclose(row[there], 3.0 * places[there] + 1, rtol=1e-12)
        assert there[np.searchsorted(places, x)].all()
        assert not there[(places < x[0]) | (places > x[-1])].any()


def test_a_gap_is_not_bridged_and_neither_is_a_value_that_is_not_finite() -> None:
    gap = ramp([0, 1, 2, 9, 10, 11], [0, 1, 2, 9, 10, 11])
    hole = ramp([0, 2, 4, 6, 8, 10], [0, math.nan, 4, 6, 8, 10])
    places = np.arange(12.0)
    values = aligned([gap, hole], places)
    assert np.flatnonzero(np.isnan(values[0])).tolist() == [3, 4, 5, 6, 7, 8]
    assert np.flatnonzero(np.isnan(values[1])).tolist() == [1, 2, 3, 11]
    assert summarised([gap, hole], places).n.tolist() == [2, 1, 1, 0, 1, 1, 1, 1, 1, 2, 2, 1]
    # A pace that changes is no gap.
    assert np.isfinite(aligned([ramp([0, 1, 2, 10, 18, 26], [0.0] * 6)], np.arange(27.0))).all()


def test_axes_that_share_nothing_are_evened_out() -> None:
    random = np.random.default_rng(0)
    curves = [curve(np.sort(random.uniform(0, 100, 300)), np.full(300, float(k))) for k in range(20)]
    places = grid(curves, most=500)
    assert places.size == 500
    assert places[0] == min(x[0] for x, _ in curves)
    window = grid(curves, most=500, window=(40.0, 60.0))
    assert window[0] == 40.0
    assert window[-1] == 60.0
    inside = summarised(curves, window, bridge=True)
    assert (inside.n == 20).all()
    np.testing.assert_allclose(inside.line, 9.5)


def test_empty_input() -> None:
    nothing = np.empty(0)
    assert grid([], most=10).size == 0
    assert grid([(nothing, nothing)], most=10).size == 0
    assert summarised([], nothing).line.size == 0
    assert summarised([(nothing, nothing)], np.arange(3.0)).n.tolist() == [0, 0, 0]
    for band in ("range", "std", "interval", "none"):
        assert np.isnan(summarised([(nothing, nothing)], np.arange(3.0), band=band).line).all()
    with pytest.raises(ValueError, match="band"):
        summarised([], nothing, band="all")
    with pytest.raises(ValueError, match="line"):
        summarised([], nothing, line="mode")


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    curves = [curve(np.arange(50.0), random.normal(size=50)) for _ in range(7)]
    whole = summarised(curves, np.arange(50.0), band="interval")
    monkeypatch.setattr("parsers.analysis.curves.groups._CELLS", 7 * 9)
    for one, other in zip(whole, summarised(curves, np.arange(50.0), band="interval"), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_sums_that_overflow_have_a_mean() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = summarised([ramp([0], [1.5e308]) for _ in range(4)], np.zeros(1), band="range")
    assert found.line[0] == pytest.approx(1.5e308)


def columns(draws: np.ndarray) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
    """Draws (n, times) as n curves, each place of which is one simulation."""
    places = np.arange(draws.shape[1], dtype=np.float64)
    return [(places, row) for row in draws], places


DISTRIBUTIONS = {
    "normal": stats.norm(), "uniform": stats.uniform(), "laplace": stats.laplace(), "lognormal": stats.lognorm(0.5),
}  # fmt: skip


@pytest.mark.parametrize("n", [5, 8, 10, 15])
def test_intervals_of_very_skewed_values_cover_as_much_as_the_documentation_says(n: int) -> None:
    kind = stats.lognorm(1.0)
    found = summarised(*columns(kind.rvs((n, 8000), random_state=7 * n)), band="interval")
    covered = np.mean((found.low <= kind.mean()) & (kind.mean() <= found.high))
    # 8,000 draws: a standard error of 0.35 %.
    assert 0.875 - 0.01 <= covered <= 0.901 + 0.01


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("n", [5, 8, 10, 20, 100])
def test_intervals_of_the_mean_cover_95_percent(name: str, n: int) -> None:
    kind = DISTRIBUTIONS[name]
    found = summarised(*columns(kind.rvs((n, TIMES), random_state=3 * n)), band="interval")
    covered = np.mean((found.low <= kind.mean()) & (kind.mean() <= found.high))
    assert 0.93 - 0.005 <= covered <= 0.97 + 0.006  # what 2,000 draws allow for
    if name == "normal":
        assert 0.93 <= covered <= 0.97


@pytest.mark.parametrize("n", [2, 3, 4])
def test_intervals_of_a_handful_of_normal_values_are_student_s(n: int) -> None:
    draws = stats.norm(2.0, 3.0).rvs((n, TIMES), random_state=n)
    found = summarised(*columns(draws), band="interval")
    wanted = stats.ttest_1samp(draws, 0.0).confidence_interval()
    np.testing.assert_allclose(found.low, wanted.low, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found.high, wanted.high, rtol=1e-4, atol=1e-4)
    assert 0.93 <= np.mean((found.low <= 2.0) & (found.high >= 2.0)) <= 0.97


@pytest.mark.long
def test_a_percentile_bootstrap_would_cover_too_little() -> None:
    draws = stats.norm().rvs((5, 300), random_state=1)
    plain = stats.bootstrap((draws,), np.mean, axis=0, method="percentile", n_resamples=999, rng=2).confidence_interval
    assert np.mean((plain.low <= 0) & (plain.high >= 0)) < 0.9
    found = summarised(*columns(draws), band="interval")
    # With many runs there is no difference left.
    assert np.mean((found.low <= 0) & (found.high >= 0)) > 0.92
    many = stats.norm().rvs((200, 40), random_state=3)
    plain = stats.bootstrap((many,), np.mean, axis=0, method="percentile", n_resamples=4999, rng=4).confidence_interval
    found = summarised(*columns(many), band="interval")
    width = plain.high - plain.low
    assert (np.abs(found.low - plain.low) < 0.15 * width).all()
    assert (np.abs(found.high - plain.high) < 0.15 * width).all()


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("n", [5, 6, 10, 21, 100])
def test_intervals_of_the_median_cover_95_percent(name: str, n: int) -> None:
    kind = DISTRIBUTIONS[name]
    draws = kind.rvs((n, TIMES), random_state=5 * n)
    found = summarised(*columns(draws), line="median", band="interval")
    covered = np.mean((found.low <= kind.median()) & (kind.median() <= found.high))
    assert 0.93 - 0.007 <= covered <= 0.97
    np.testing.assert_allclose(found.line, np.median(draws, axis=0))


def test_fewer_than_five_runs_have_no_interval_of_the_median() -> None:
    assert np.isnan(summarised(*columns(np.ones((4, 3))), line="median", band="interval").low).all()


@pytest.mark.parametrize("line", ["mean", "median"])
def test_intervals_of_differences_of_groups_cover_95_percent(line: str) -> None:
    places = np.arange(float(TIMES))
    one = summarised(columns(stats.norm(1.0).rvs((6, TIMES), random_state=1))[0], places, line=line, band="interval")
    other = summarised(columns(stats.norm(0.0, 2.0).rvs((9, TIMES), random_state=2))[0], places, line=line, band="interval")
    found = minus(one, other.line, other.low, other.high)
    np.testing.assert_allclose(found.line, one.line - other.line)
    assert 0.93 <= np.mean((found.low <= 1.0) & (found.high >= 1.0)) <= 0.98
    shifted = minus(one, other.line)
    np.testing.assert_allclose(shifted.high - shifted.low, one.high - one.low)


# Runs that diverge ----------------------------------------------------------------------------------------------------


def test_runs_that_become_nan_are_counted_where_they_do_and_may_count_as_the_worst() -> None:
    # Of ten runs four become worse and then NaN: the mean of those that are left falls, the median of all does not.
    x = np.arange(6.0)
    calm = [(x, np.full(6, 0.4)) for _ in range(6)]
    bad = [(x, np.array([0.4, 0.8, 1.6, np.nan, np.nan, np.nan])) for _ in range(4)]
    curves = [*calm, *bad]
    assert diverged(curves, x).sum(axis=0).tolist() == [0, 0, 0, 4, 4, 4]
    mean = summarised(curves, x)
    assert mean.n.tolist() == [10, 10, 10, 6, 6, 6]
    assert mean.line[3] < mean.line[2]
    worst = summarised(curves, x, line="worst", band="range", wanted="min")
    assert worst.n.tolist() == mean.n.tolist()
    assert worst.line.tolist() == pytest.approx([0.4] * 6)
    assert np.isnan(worst.high[3:]).all()
    # As many again, and the median itself is of a run that diverged.
    more = summarised([*curves, *bad], x, line="worst", wanted="min")
    assert np.isnan(more.line[3:]).all()
    higher = summarised([(x, -y) for x, y in [*calm, *bad[:1]]], x, line="worst", wanted="max")
    assert higher.line.tolist() == pytest.approx([-0.4] * 6)


def test_a_run_of_wide_steps_stays_in_the_mean_of_its_first_and_last_interval() -> None:
    wide = ramp([1, 10, 100, 1000], [1, 10, 100, 1000])
    fine = ramp(np.arange(1, 1001), np.zeros(1000))
    assert summarised([wide, fine], np.array([2.0, 50.0, 500.0, 999.0])).n.tolist() == [2, 2, 2, 2]
    assert summarised([wide, fine], np.array([500.0])).line.tolist() == pytest.approx([250.0])
    # Of even steps one long interval at the end is a gap still.
    even = ramp([1, 2, 3, 4, 500], [1, 2, 3, 4, 5])
    assert summarised([even, fine], np.array([3.5, 200.0])).n.tolist() == [2, 1]

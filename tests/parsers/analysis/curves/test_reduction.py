"""The reduction against brute force: every extreme of every pixel column, every non-finite point."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.analysis import KINDS, non_finite_runs, reduce_points
from tests.amounts import examples

VALUES = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([math.nan, math.inf, -math.inf, 0.0]))


@st.composite
def curves(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    size = draw(st.integers(0, 250))
    y = np.array(draw(st.lists(VALUES, min_size=size, max_size=size)), np.float64)
    shape = draw(st.sampled_from(["rising", "equal", "falling", "restart", "wild", "holes"]))
    x = np.array(draw(st.lists(st.integers(0, 500), min_size=size, max_size=size)), np.float64)
    if shape in ("rising", "restart", "holes"):
        x.sort()
    if shape == "equal":
        x = np.arange(size, dtype=np.float64)
    if shape == "falling":
        x = -np.sort(x)
    if shape == "restart" and size > 4:
        x[size // 2 :] = np.sort(x[size // 2 :] - 300)
    if shape == "holes":
        x[::7] = math.nan
    return x, y


def columns_at(x: float, low: float, high: float, columns: int) -> set[int]:
    """The pixel column by exact arithmetic; within rounding of an edge either neighbour is right."""
    if high == low:
        return {0}
    place = (Fraction(x) - Fraction(low)) / (Fraction(high) - Fraction(low)) * columns
    near = {math.floor(place - Fraction(1, 10**9)), math.floor(place + Fraction(1, 10**9))}
    return {min(max(at, 0), columns - 1) for at in near}


@settings(max_examples=examples(400), deadline=None)
@given(curves(), st.integers(1, 12), st.one_of(st.none(), st.tuples(st.integers(-300, 500), st.integers(0, 500))))
def test_every_extreme_survives(
    curve: tuple[np.ndarray, np.ndarray], columns: int, span: tuple[int, int] | None
) -> None:
    x, y = curve
    window = None if span is None else (float(span[0]), float(span[0] + span[1]))
    got = reduce_points(x, y, columns=columns, window=window)
    keep = got.keep.tolist()
    assert keep == sorted(set(keep))
    assert all(math.isfinite(x[i]) and math.isfinite(y[i]) for i in keep)
    placed = x[np.isfinite(x) & np.isfinite(y)]
    low, high = window or ((placed.min(), placed.max()) if placed.size else (0.0, 0.0))
    inside = [i for i in range(x.size) if math.isfinite(y[i]) and low <= x[i] <= high]
    assert got.inside == len(inside)
    if len(inside) <= 2 * columns:
        assert set(inside) <= set(keep)
    kept = set(keep)
    where = {i: columns_at(x[i], low, high, columns) for i in inside}
    for at in range(columns):
        sure = [i for i in inside if where[i] == {at}]
        sent = [i for i in inside if at in where[i] and i in kept]
        if sure:
            assert min(y[i] for i in sent) <= min(y[i] for i in sure)
            assert max(y[i] for i in sent) >= max(y[i] for i in sure)
            assert sent[0] <= sure[0]
            assert sent[-1] >= sure[-1]
    assert len(keep) <= max(4 * columns, 8 * 4 * columns + 4 * (columns + 2))


@settings(max_examples=examples(300), deadline=None)
@given(curves(), st.integers(1, 12), st.one_of(st.none(), st.tuples(st.integers(-300, 500), st.integers(0, 500))))
def test_every_non_finite_point_lies_in_a_run(
    curve: tuple[np.ndarray, np.ndarray], columns: int, span: tuple[int, int] | None
) -> None:
    x, y = curve
    window = None if span is None else (float(span[0]), float(span[0] + span[1]))
    runs = non_finite_runs(x, y, columns=columns, window=window)
    tests = (math.isnan, lambda v: v == math.inf, lambda v: v == -math.inf)
    for kind, is_kind in enumerate(tests):
        points = [
            i for i in range(x.size)
            if math.isfinite(x[i]) and is_kind(y[i]) and (window is None or window[0] <= x[i] <= window[1])
        ]
        mine = np.flatnonzero(runs.kind == kind)
        assert runs.points[mine].sum() == len(points)
        for i in points:
            assert any(runs.first[r] <= i <= runs.last[r] and runs.low[r] <= x[i] <= runs.high[r] for r in mine)
        for r in mine:
            assert is_kind(y[runs.first[r]])
            assert is_kind(y[runs.last[r]])


def test_kinds_are_named_in_the_order_of_their_codes() -> None:
    runs = non_finite_runs(np.arange(3.0), np.array([-math.inf, math.nan, math.inf]), columns=10)
    assert [KINDS[k] for k in runs.kind] == ["nan", "+inf", "-inf"]
    assert runs.first.tolist() == [1, 2, 0]


@pytest.mark.parametrize("size", [5_000, 300_000])
def test_a_single_spike_and_a_single_nan_survive_at_both_sizes(size: int) -> None:
    x, y = np.arange(size, dtype=np.float64), np.sin(np.arange(size) / 50.0)
    y[size // 3], y[size // 2], y[size // 2 + 1] = 9.0, math.nan, -9.0
    got = reduce_points(x, y, columns=400)
    assert {0, size // 3, size // 2 + 1, size - 1} <= set(got.keep.tolist())
    assert got.keep.size <= 4 * 401
    assert got.inside == size - 1
    runs = non_finite_runs(x, y, columns=400)
    assert (runs.first.tolist(), runs.points.tolist()) == ([size // 2], [1])


def test_both_ways_to_find_extremes_agree() -> None:
    from parsers.analysis.curves import reduction

    y = np.random.default_rng(3).integers(0, 50, 10_000).astype(np.float64)
    starts = np.arange(0, 10_000, 77)
    stops = np.append(starts[1:], y.size)
    for one, other in zip(
        reduction._extremes_by_call(y, starts, stops), reduction._extremes_by_pass(y, starts, stops), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_zoomed_in_points_are_whole_with_their_neighbours() -> None:
    x = np.arange(1_000_000, dtype=np.float64)
    got = reduce_points(x, np.cos(x), columns=500, window=(1000.5, 2999.0))
    assert got.whole
    assert got.inside == 1999
    assert got.keep.tolist() == list(range(1000, 3001))


def test_a_long_nan_stretch_is_one_run() -> None:
    y = np.full(1_000_000, math.nan)
    y[:100_000] = 1.0
    runs = non_finite_runs(np.arange(1_000_000.0), y, columns=500)
    assert (runs.first.tolist(), runs.last.tolist(), runs.points.tolist()) == ([100_000], [999_999], [900_000])


def test_alternating_nans_are_bounded_by_the_columns_and_exact_when_zoomed() -> None:
    y = np.ones(100_000)
    y[::2] = math.nan
    x = np.arange(100_000.0)
    assert non_finite_runs(x, y, columns=100).points.size <= 101
    zoomed = non_finite_runs(x, y, columns=100, window=(0.0, 99.0))
    assert zoomed.first.tolist() == list(range(0, 100, 2))


def test_a_line_does_not_reach_across_a_restart() -> None:
    x = np.concatenate((np.arange(20_000.0), np.arange(10_000.0, 30_000.0)))
    y = np.zeros(40_000)
    got = reduce_points(x, y, columns=100, breaks=np.array([20_000]))
    assert {19_999, 20_000} <= set(got.keep.tolist())


def test_extreme_x_does_not_overflow() -> None:
    x = np.linspace(-1.7e308 / 2, 1.7e308 / 2, 5000) * 2
    with np.errstate(all="raise"):
        got = reduce_points(x, np.zeros(5000), columns=100)
    assert 0 < got.keep.size <= 404
    got = reduce_points(np.full(5000, 7.0), np.arange(5000.0), columns=100)
    assert got.keep.tolist() == [0, 4999]


@pytest.mark.parametrize("window", [(0.0, 3000.0), (5500.0, 5990.0), (5990.0, 5999.0), None])
@pytest.mark.parametrize("tail", [np.nan, 1.0])
def test_a_restart_out_of_sight_interrupts_nothing(window: tuple[float, float] | None, tail: float) -> None:
    x = np.r_[np.arange(6000.0), np.arange(5000.0, 5100.0)]
    y = np.r_[np.sin(x[:6000]), np.full(100, tail)]
    found = reduce_points(x, y, columns=300, window=window, breaks=np.array([6000]))
    low, high = window or (x.min(), x.max())
    seen = np.flatnonzero((x >= low) & (x <= high) & np.isfinite(y))
    assert set(found.keep) >= {seen[np.argmin(y[seen])], seen[np.argmax(y[seen])]}

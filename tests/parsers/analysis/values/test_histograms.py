"""Histograms on common bins against brute force: every count stays, none is added."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers import HistogramValue
from parsers.analysis import bands, beyond, common_edges, even_edges, quantiles, resample, thinned, usual_limits
from tests.amounts import examples

number = st.floats(-1000, 1000, allow_subnormal=False)
width = st.one_of(st.just(0.0), st.floats(0.001, 500))
buckets = st.lists(st.tuples(number, width, st.integers(0, 10**6)), max_size=12)


def value(rows: list[tuple[float, float, float]]) -> HistogramValue:
    left, wide, count = np.array(rows, np.float64).reshape(-1, 3).T
    low = float(left.min()) if len(left) else float("nan")
    high = float((left + wide).max()) if len(left) else float("nan")
    return HistogramValue(left, wide, count, low, high, float("nan"), int(count.sum()))


def by_hand(rows: list[tuple[float, float, float]], edges: list[float]) -> list[Fraction]:
    """Overlap of every bucket with every bin in exact arithmetic."""
    bins = [Fraction(0)] * (len(edges) - 1)
    limits = [Fraction(edge) for edge in edges]
    for left, wide, count in rows:
        begin, extent = Fraction(left), Fraction(wide)
        for at, (low, high) in enumerate(pairwise(limits)):
            if extent:
                overlap = max(Fraction(0), min(high, begin + extent) - max(low, begin))
                bins[at] += Fraction(count) * overlap / extent
            elif low <= begin < high or (begin == high and at == len(bins) - 1):
                bins[at] += Fraction(count)
    return bins


@given(st.lists(buckets, min_size=1, max_size=4), st.integers(1, 40))
def test_common_bins_keep_every_count(rows: list[list[tuple[float, float, float]]], bins: int) -> None:
    values = [value(one) for one in rows]
    edges = common_edges(values, bins)
    counts = resample(values, edges)
    assert counts.shape == (len(rows), bins)
    assert (np.diff(edges) > 0).all()
    assert (counts >= 0).all()
    for row, one in zip(counts, values, strict=True):
        assert row.sum() == pytest.approx(one.count.sum(), rel=1e-12)


@settings(max_examples=examples(60))
@given(buckets, st.lists(st.floats(-1500, 1500), min_size=2, max_size=8, unique=True))
def test_any_bins_against_exact_arithmetic(rows: list[tuple[float, float, float]], edges: list[float]) -> None:
    edges = sorted(edges)
    (counts,) = resample([value(rows)], edges)
    expected = by_hand(rows, edges)
    total = sum(count for _, _, count in rows)
    assert counts == pytest.approx([float(one) for one in expected], rel=1e-9, abs=1e-9 * total + 1e-9)


@settings(max_examples=examples(60))
@given(buckets, st.floats(-1500, 1500), st.floats(0.001, 2000))
def test_what_lies_beyond_the_limits_is_the_rest(rows: list[tuple[float, float, float]], low: float, wide: float) -> None:
    high = low + wide
    ((below, above),) = beyond([value(rows)], low, high)
    total = sum(count for _, _, count in rows)
    expected = by_hand(rows, [-4000.0, low, high])[0]
    assert below == pytest.approx(float(expected), rel=1e-9, abs=1e-9 * total + 1e-9)
    inside = resample([value(rows)], even_edges(low, high, 7)).sum()
    assert below + inside + above == pytest.approx(total, rel=1e-9, abs=1e-9)


def test_nothing_lies_beyond_limits_that_hold_all() -> None:
    rows = [(0.25, 0.25, 3.0), (0.5, 0.0, 2.0), (-1.0, 0.75, 5.0)]
    assert beyond([value(rows), value([])], -1.0, 0.5).tolist() == [[0, 0], [0, 0]]
    assert beyond([value(rows)], 0.5, 9.0).tolist() == [[8, 0]]


def steady(count: int, reach: float = 1.0) -> list[HistogramValue]:
    return [value([(-reach, 2 * reach, 5)]) for _ in range(count)]


def test_few_histograms_far_from_the_rest_are_beyond_the_usual_limits() -> None:
    assert usual_limits([*steady(60), value([(-3e6, 6e6, 5)])]) == (-1.0, 1.0)
    assert usual_limits([*steady(60), value([(-3e38, 6e38, 5)]), *steady(3)]) == (-1.0, 1.0)
    assert usual_limits([*steady(8), value([(0, 100, 1)])]) == (-1.0, 1.0)


def test_what_is_near_or_common_is_usual() -> None:
    assert usual_limits(steady(60)) is None
    assert usual_limits([*steady(60), value([(-3, 6, 5)])]) is None
    assert usual_limits([*steady(60), *steady(10, 1e6)]) is None, "one in six is no outlier"
    assert usual_limits([*steady(3), value([(0, 1e9, 1)])]) is None
    assert usual_limits([]) is None
    widening = [value([(-(1.02**at), 2 * 1.02**at, 5)]) for at in range(200)]
    assert usual_limits(widening) is None
    both = [*steady(57), value([(1.5, 0.5, 5)]), value([(900, 5, 5)])]
    assert usual_limits(both) == (-1.0, 2.0), "only what is far is left out"


def test_a_bucket_of_no_width_counts_whole() -> None:
    (counts,) = resample([value([(0, 0, 3), (1, 0, 4), (2, 0, 5), (5, 0, 100)])], [0, 1, 2])
    assert counts.tolist() == [3, 9]


@pytest.mark.parametrize("centre", [0.0, 1e-300, 3e38, -1e300, 1e20, sys.float_info.max, -sys.float_info.max])
def test_one_value_has_room_around_it(centre: float) -> None:
    values = [value([(centre, 0, 9)])]
    edges = common_edges(values)
    assert (np.diff(edges) > 0).all()
    assert resample(values, edges).sum() == 9


def test_values_hardly_apart_have_room_too() -> None:
    values = [value([(1.0, 0, 9), (np.nextafter(1.0, 2), 0, 1)])]
    edges = common_edges(values)
    assert (np.diff(edges) > 0).all()
    assert resample(values, edges).sum() == 10


def test_limits_as_far_apart_as_float64_has_them() -> None:
    largest = sys.float_info.max
    values = [value([(-largest, 0, 2), (0, 1, 4), (largest, 0, 3)])]
    edges = common_edges(values, 10)
    assert np.isfinite(edges).all()
    assert resample(values, edges).sum() == 9


def test_nothing_gives_empty_bins() -> None:
    assert common_edges([], 4).tolist() == [-0.5, -0.25, 0, 0.25, 0.5]
    assert resample([value([])], common_edges([value([])], 4)).tolist() == [[0, 0, 0, 0]]
    assert resample([], [0, 1]).shape == (0, 1)
    assert np.isnan(quantiles(value([]), [0.1, 0.9])).all()
    assert bands([], [0.5]).shape == (0, 1)


def test_quantiles_of_many_values_are_near_numpys() -> None:
    data = np.random.default_rng(0).normal(size=100_000)
    count, edges = np.histogram(data, 500)
    one = value([(left, right - left, n) for left, right, n in zip(edges[:-1], edges[1:], count, strict=True)])
    wanted = [0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 1.0]
    assert quantiles(one, wanted) == pytest.approx(np.quantile(data, wanted), abs=0.02)
    assert bands([one, value([])], wanted).shape == (2, 7)


@given(buckets)
def test_quantiles_rise_and_stay_within(rows: list[tuple[float, float, float]]) -> None:
    found = quantiles(value(rows), np.linspace(0, 1, 11))
    held = [(left, left + wide) for left, wide, count in rows if count]
    if not held:
        assert np.isnan(found).all()
        return
    found = found.astype(float)
    assert (found >= min(left for left, _ in held) - 1e-9).all()
    assert (found <= max(right for _, right in held) + 1e-9).all()


def test_quantiles_in_buckets_of_no_width() -> None:
    assert quantiles(value([(2, 0, 5), (1, 0, 5)]), [0, 0.25, 0.5, 0.75, 1]).tolist() == [1, 1, 1, 2, 2]


@given(st.integers(0, 5000), st.integers(2, 100))
def test_thinning_keeps_first_and_last(count: int, most: int) -> None:
    places = thinned(count, most)
    assert len(places) == min(count, most)
    if count:
        assert (places[0], places[-1]) == (0, count - 1)
    gaps = np.diff(places)
    assert (gaps > 0).all()
    assert len(gaps) == 0 or gaps.max() - gaps.min() <= 1

"""Distribution and extremes of deviations against plain Python and scipy."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from parsers import open_run
from parsers.analysis.explanations.uncertainty import extremes, one_of_each_cell, spread_of, widest_of_each, widths

deviation = st.one_of(st.floats(0, 0.5), st.sampled_from([0.0, math.nan, math.inf, -0.1, 1e-9, 0.5]))


@given(st.lists(deviation, max_size=60), st.integers(1, 12))
def test_every_deviation_is_counted_once(listed: list[float], bins: int) -> None:
    found = spread_of(np.array(listed, np.float64), bins)
    known = sorted(one for one in listed if math.isfinite(one) and one >= 0)
    assert (found.known, found.unknown) == (len(known), len(listed) - len(known))
    assert int(found.count.sum()) + found.zeros == len(known)
    edges = found.edges.tolist()
    counted = [one for one in known if one > 0 or not found.logarithmic]
    for place, count in enumerate(found.count.tolist()):
        low, high, last = edges[place], edges[place + 1], place == len(found.count) - 1
        assert count == sum(low <= one < high or (last and one == high) for one in counted)
    if known:
        assert found.median == pytest.approx(float(np.median(known)))
    if found.logarithmic:
        assert np.ptp(np.diff(np.log(found.edges))) < 1e-6


def test_no_deviation() -> None:
    found = spread_of(np.array([np.nan, np.nan]))
    assert (found.known, found.unknown, len(found.count)) == (0, 2, 0)
    assert math.isnan(found.median)
    assert spread_of(np.full(3, 0.25)).count.tolist() == [3]


@given(st.lists(st.lists(st.sampled_from([math.nan, 0.0, 1.0, 2.0]), max_size=4), max_size=8), st.integers(0, 4))
def test_the_widest_interval_of_each_sample(samples: list[list[float]], most: int) -> None:
    start = np.cumsum([0, *map(len, samples)])
    width = np.array([one for sample in samples for one in sample], np.float64)
    found = widest_of_each(start, width).tolist()
    for place, sample in enumerate(samples):
        known = [one for one in sample if not math.isnan(one)]
        assert found[place] == (start[place] + sample.index(max(known)) if known else -1)
    rows = np.array([one for one in found if one >= 0], np.int64)
    widest, narrowest = extremes(rows, width, most)
    assert not set(widest.tolist()) & set(narrowest.tolist())
    ordered = sorted((width[row] for row in rows), reverse=True)
    assert [width[row] for row in widest] == ordered[: len(widest)]
    assert [width[row] for row in narrowest] == ordered[::-1][: len(narrowest)]
    assert len(widest) + len(narrowest) == min(len(rows), 2 * most)


def test_intervals_of_a_real_run_are_those_of_a_beta_distribution(real_data: Path) -> None:
    table = open_run(str(real_data / "explain" / "summary_real")).explanations.predictions
    mean, variance = table["probability"].to_numpy(), table["sd"].to_numpy() ** 2
    a = mean**2 * (1 - mean) / variance - mean
    b = a * (1 - mean) / mean
    width, recorded = widths(table["low"].to_numpy(), table["high"].to_numpy(), table["sd"].to_numpy())
    assert recorded
    np.testing.assert_allclose(width, beta.ppf(0.975, a, b) - beta.ppf(0.025, a, b), rtol=0.05)
    assert table["sd"].to_numpy()[5] == np.float32(0.00771204)
    assert (table["low"].to_numpy()[5], table["high"].to_numpy()[5]) == (np.float32(0.940628111), np.float32(0.970772505))


def test_without_intervals_deviations_are_compared() -> None:
    none = np.full(3, np.nan)
    width, recorded = widths(none, none, np.array([0.1, -1.0, 0.3]))
    assert not recorded
    np.testing.assert_array_equal(width, [0.1, np.nan, 0.3])
    width, recorded = widths(np.array([0.5, 0.9, np.nan]), np.array([0.7, 0.8, 1.0]), np.array([0.1, 0.1, 0.1]))
    assert recorded
    np.testing.assert_array_equal(width, [0.7 - 0.5, np.nan, np.nan])


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(0, 2)), max_size=40))
def test_a_point_stands_for_all_of_its_cell(points: list[tuple[float, float, int]]) -> None:
    x, y, group = (np.array(column) for column in zip(*points, strict=True)) if points else (np.zeros(0),) * 3
    first, count = one_of_each_cell(x, y, group.astype(np.int64), 4, 3)
    assert int(count.sum()) == len(points)
    for axis, cells in ((x, 4), (y, 3)):
        span = (axis.max() - axis.min()) / cells if len(axis) else 0.0
        for one in range(len(points)):
            near = first[group[first] == group[one]]
            assert np.abs(axis[near] - axis[one]).min() <= span + 1e-12

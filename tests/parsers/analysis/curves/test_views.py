"""What a view shows of a long curve, by the ends of blocks, against passes over all of its points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.analysis import (
    Places,
    SeriesFacts,
    as_step,
    bad_runs,
    local_milliseconds,
    non_finite_runs,
    reduce_points,
    reduce_view,
    restarts,
    since,
    smooth,
)
from parsers.analysis.curves.blocks import BLOCK, blocks_of
from parsers.analysis.curves.heights import SPAN
from parsers.analysis.curves.places import rises_of
from parsers.model import Series
from parsers.recorded import RunSeries
from tests.amounts import examples

START = 1.7e9
SHAPES = ("even", "uneven", "equal", "restart", "restarts", "laps", "back", "huge")


def made(seed: int, size: int, shape: str, bad: int, whole: bool) -> Series:
    """A series whose x has a shape, with runs of values that are not finite; whole values tie often."""
    random = np.random.default_rng(seed)
    step = np.arange(size) * 2
    if shape in ("uneven", "equal"):
        step = np.sort(random.integers(0, size * 3 if shape == "uneven" else max(1, size // 50), size))
    elif shape == "restart":
        step[size // 3 :] -= size // 2
    elif shape == "restarts":
        for at in random.integers(0, size, 12):
            step[at:] -= int(random.integers(1, size + 1))
    elif shape == "laps":
        step %= max(2, size // 25)
    elif shape == "back":
        step[:: max(2, size // 500)] -= 7
    elif shape == "huge":
        step = step + 2**60
        step[size // 2 :] -= 3
    wall_time = START + np.cumsum(random.random(size))
    if shape in ("restart", "restarts"):
        wall_time[size // 2 :] -= size / 10
    value = random.integers(-3, 4, size).astype(np.float64) if whole else random.normal(size=size)
    for at in random.integers(0, size, bad):
        # Also runs that reach across blocks.
        value[at : at + int(random.choice([1, 2, 40, 3 * BLOCK, size // 3]))] = random.choice([math.nan, math.inf, -math.inf])
    return Series(step.astype(np.int64), wall_time, value, np.zeros(size, np.int32), np.arange(size))


def places_of(series: Series, axis: str, facts: SeriesFacts) -> Places | None:
    if axis == "step":
        return facts.steps and as_step(series.step, facts.steps)
    if facts.times is None:
        return None
    return since(series.wall_time, START - 5.0, facts.times) if axis == "relative" else local_milliseconds(
        series.wall_time, 3600.0, facts.times
    )


cases = st.builds(
    made, st.integers(0, 2**32), st.sampled_from([1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3000, 20_000, 60_001]),
    st.sampled_from(SHAPES), st.sampled_from([0, 0, 1, 5, 30]), st.booleans(),
)  # fmt: skip
spans = st.one_of(st.none(), st.tuples(st.floats(-0.2, 1.2), st.sampled_from([0.0, 1e-4, 0.01, 0.3, 0.9, 2.0])))


def window_of(x: np.ndarray, span: tuple[float, float] | None) -> tuple[float, float] | None:
    if span is None:
        return None
    low, width = float(x.min()), float(x.max() - x.min())
    return low + span[0] * width, low + (span[0] + span[1]) * width


def same(got: Any, want: Any) -> None:
    np.testing.assert_array_equal(got.keep, want.keep)
    assert got[1:] == want[1:]


@pytest.mark.long
@settings(max_examples=examples(400), deadline=None)
@given(cases, st.sampled_from(["step", "relative", "absolute"]), st.sampled_from([1, 2, 7, 60, 300]), spans, spans)
def test_a_view_by_blocks_keeps_what_passes_over_all_points_keep(
    series: Series, axis: str, columns: int, window: tuple[float, float] | None, drawn: tuple[float, float] | None
) -> None:
    facts = SeriesFacts(series)
    x, recorded = places_of(series, axis, facts), facts.recorded()
    if x is None or recorded is None:
        return
    every = np.asarray(x)
    shown = {"columns": columns, "window": window_of(every, window)}
    chosen = {**shown, "axis": window_of(every, drawn), "breaks": restarts(series.step)}
    got = reduce_view(x, recorded, **chosen)
    want = reduce_points(every, series.value, **chosen)
    if got is not None:
        same(got, want)
    # Without blocks a curve is only drawn if x goes back often, or so that a line could not show it.
    assert got is not None or x.falls().size > 0
    runs = bad_runs(x, series.value, recorded.blocks, **shown)
    for one, other in zip(runs, non_finite_runs(every, series.value, **shown), strict=True):
        np.testing.assert_array_equal(one, other)


@settings(max_examples=examples(150), deadline=None)
@given(cases, st.sampled_from([0.05, 0.6, 0.97, 0.99]), st.sampled_from([7, 60, 300]), spans)
def test_a_smoothed_view_is_that_of_the_smoothed_curve(
    series: Series, weight: float, columns: int, span: tuple[float, float] | None
) -> None:
    facts = SeriesFacts(series)
    heights = facts.smoothed(weight)
    if heights is None or facts.steps is None:
        return
    size, value = series.value.size, series.value
    every = heights.between(0, size)
    finite = np.isfinite(value)
    np.testing.assert_array_equal(every[~finite], value[~finite])
    want = smooth(value, weight, restarts(series.step))
    scale = np.abs(value[finite]).max(initial=0.0)
    assert np.abs(every[finite] - want[finite]).max(initial=0.0) <= 2e-15 * scale
    # The same value whatever part is asked for, and ends of blocks that are those of these values.
    x = as_step(series.step, facts.steps)
    chosen = {"columns": columns, "window": window_of(np.asarray(x), span), "breaks": restarts(series.step)}
    got = reduce_view(x, heights, facts.recorded(), **chosen)
    if got is None:
        return
    parts = [reduce_points(np.asarray(x), y, **chosen) for y in (every, value)]
    np.testing.assert_array_equal(got.keep, np.union1d(parts[0].keep, parts[1].keep))
    np.testing.assert_array_equal(heights.at(got.keep), every[got.keep])
    assert got[1:] == parts[0][1:]


@settings(max_examples=examples(100), deadline=None)
@given(cases, st.lists(st.floats(0.0, 1.0), min_size=1, max_size=4), st.booleans())
def test_facts_of_a_growing_series_are_those_of_the_whole(series: Series, cuts: list[float], smoothed: bool) -> None:
    known: dict[Any, Any] = {}
    size = series.value.size
    for stop in [*sorted(int(cut * size) for cut in cuts), size]:
        part = RunSeries(*(column[:stop] for column in series))
        part.known = known
        facts = SeriesFacts(part)
        if not stop:
            continue
        grown = facts.steps, facts.times, facts.blocks
        if smoothed and (heights := facts.smoothed(0.9)) is not None:
            _ = heights.blocks
    whole = SeriesFacts(series)
    for one, other in zip(grown, (whole.steps, whole.times, whole.blocks), strict=True):
        assert (one is None) == (other is None)
        for left, right in zip(one or (), other or (), strict=True):
            np.testing.assert_array_equal(left, right)
    if smoothed and (fresh := whole.smoothed(0.9)) is not None and (heights := facts.smoothed(0.9)) is not None:
        values = heights.between(0, size)
        finite = np.isfinite(series.value)
        np.testing.assert_allclose(values[finite], fresh.between(0, size)[finite], rtol=0, atol=1e-13)
        at = np.arange(size) // BLOCK
        for number in range(int(at[-1]) + 1):
            there = values[(at == number) & finite]
            assert heights.blocks.low[number] == there.min(initial=np.inf)
            assert heights.blocks.high[number] == there.max(initial=-np.inf)


@pytest.mark.parametrize("low", np.arange(3990.5, 4012.0))
@pytest.mark.parametrize("bad", [[], [6001], [6001, 6002, 6004], [5999, 6000, 6001]])
def test_parts_of_a_view_that_touch_at_a_restart_are_one(low: float, bad: list[int]) -> None:
    time = np.r_[np.arange(6000.0), np.arange(4000.0, 8000.0)]
    value = np.cos(time * 7.0)
    value[bad] = math.nan
    series = Series(np.arange(time.size), time, value, np.zeros(time.size, np.int32), np.arange(time.size))
    facts = SeriesFacts(series)
    x, recorded = since(time, 0.0, facts.times), facts.recorded()
    for high in (5999.0, 7000.0):
        chosen = {"columns": 50, "window": (low, high)}
        same(reduce_view(x, recorded, **chosen), reduce_points(time, value, **chosen))


def test_a_request_that_began_before_the_run_grew_does_not_use_the_newer_facts() -> None:
    series = made(0, 5000, "even", 3, whole=False)
    known: dict[Any, Any] = {}
    old = RunSeries(*(column[:3000] for column in series))
    new = RunSeries(*series)
    old.known = new.known = known
    assert SeriesFacts(new).blocks.size == 5000
    assert SeriesFacts(old).blocks.size == 3000
    assert SeriesFacts(old).smoothed(0.5).blocks.size == 3000
    assert SeriesFacts(new).smoothed(0.5).blocks.size == 5000
    assert SeriesFacts(old).smoothed(0.5).at(np.array([2999])).size == 1


def test_only_the_last_smoothings_are_kept() -> None:
    series = RunSeries(*made(1, 4000, "even", 0, whole=False))
    series.known = {}
    for weight in (0.1, 0.2, 0.3, 0.1, 0.4):
        _ = SeriesFacts(series).smoothed(weight).blocks
    assert sorted(key[1] for key in series.known if key[0] == "mean") == [0.1, 0.3, 0.4]
    assert sorted(key[1] for key in series.known if key[0] == "ends") == [0.1, 0.3, 0.4]


def test_facts_need_a_fraction_of_the_memory_of_the_points() -> None:
    series = RunSeries(*made(2, 1_000_000, "even", 0, whole=False))
    series.known = {}
    facts = SeriesFacts(series)
    _ = facts.steps, facts.times, facts.smoothed(0.9).blocks, facts.smoothed(0.5).blocks
    arrays = [part for _, fact in series.known.values() for part in (fact if isinstance(fact, tuple) else vars(fact).values()
              if hasattr(fact, "__dict__") else ()) if isinstance(part, np.ndarray)]  # fmt: skip
    assert 0 < sum(array.nbytes for array in arrays) < 0.6 * series.value.size


@pytest.mark.parametrize("every", [2, 3])
def test_single_bad_values_all_over_need_no_blocks(every: int) -> None:
    value = np.ones(200_000)
    value[::every] = math.nan
    assert blocks_of(value) is None


def test_times_that_are_not_finite_and_steps_that_go_back_all_the_time_have_no_places() -> None:
    assert rises_of(np.array([1.0, math.nan, 2.0])) is None
    assert rises_of(np.array([1.0, math.inf])) is None
    assert rises_of(np.arange(200_000)[::-1]) is None
    assert rises_of(np.empty(0)) is None


def test_an_infinite_average_is_left_to_the_loop() -> None:
    series = Series(np.arange(1000), np.arange(1000.0), np.full(1000, 1.7e308), np.zeros(1000, np.int32), np.arange(1000))
    assert SeriesFacts(series).smoothed(0.5) is None


def test_many_restarts_are_left_to_the_loop() -> None:
    size = 40 * SPAN * 16
    step = np.arange(size) % (2 * SPAN)
    series = Series(step, np.arange(size) * 1.0, np.ones(size), np.zeros(size, np.int32), np.arange(size))
    assert SeriesFacts(series).smoothed(0.5) is None

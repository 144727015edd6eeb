"""Figures of long series, drawn by the ends of their blocks, against the same figures made of all points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from layouts.curves.chosen_lines import lines_of, look_of
from layouts.curves.lines import figure
from layouts.curves.scalar_asks import ChartRequest
from layouts.curves.smoothed_lines import ChartLine, DrawnLine, LineStyle, VisibleRange, prepared
from parsers import Series
from parsers.analysis import LONG, Places, restarts, smooth
from tests.amounts import long_after
from tests.layouts.curves.scalars.conftest import START, arrays
from tests.layouts.kit.figures.test_typed_arrays import read

SIZE = 3 * LONG


def long_series(shape: str) -> Series:
    random = np.random.default_rng(len(shape))
    step, wall_time = np.arange(SIZE) * 2, START + np.cumsum(random.random(SIZE))
    value = random.normal(1.0, 0.5, SIZE)
    if shape in ("bad", "restarted and bad"):
        for at in random.integers(0, SIZE, 30):
            value[at : at + int(random.integers(1, 900))] = random.choice([np.nan, np.inf, -np.inf])
    if shape.startswith("restarted"):
        step[SIZE // 2 :] -= SIZE // 3
        wall_time[SIZE // 4 :] -= SIZE // 9
    if shape == "positive":
        value = np.exp(value)
    return Series(step, wall_time, value, np.zeros(SIZE, np.int32), np.arange(SIZE))


def both(series: Series, ask: dict[str, str]) -> tuple[ChartLine, ChartLine, LineStyle]:
    """The line of an ask as the page makes it, the same with all its x and nothing known of it, and the look."""
    source = arrays({"a": {"loss": series}})
    asked = ChartRequest.read({"tag": ["loss"], "columns": ["300"]} | {key: [value] for key, value in ask.items()})
    (line,) = lines_of(source, [("a", "loss", series)], asked)
    return line, replace(line, x=np.asarray(line.x), facts=None), look_of(asked)


def same(one: Any, other: Any, *, drawn: bool = False) -> bool:
    """Compare parts of figures. Heights of smoothed lines may differ by rounding."""
    if isinstance(one, dict) and "bdata" in one:
        rounding = {"rtol": 1e-6, "atol": 1e-9} if drawn else {"rtol": 0.0, "atol": 0.0}
        return bool(np.allclose(read(one), read(other), equal_nan=True, **rounding))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key], drawn=key == "y") for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


VIEWS = {"all": "", "part": f"{SIZE // 2},{SIZE},,", "few": f"{SIZE + 0.5},{SIZE + 300},,", "none": f"{SIZE * 5},{SIZE * 6},,"}


@pytest.mark.parametrize("shape", long_after(2, ["plain", "positive", "bad", "restarted", "restarted and bad"]))
@pytest.mark.parametrize("ask", long_after(4, [
    {}, {"threshold": ">0.2&<0.9", "smooth": "0.3"}, {"x": "absolute", "zone": "60"}, {"log": "1", "smooth": "0.9"},
    {"smooth": "0.6"}, {"smooth": "0.99"}, {"log": "1"}, {"threshold": "<0.5|>1.8"}, {"x": "relative"},
    {"x": "relative", "threshold": ">1.2"},
]))  # fmt: skip
def test_a_figure_by_blocks_is_that_of_all_points(shape: str, ask: dict[str, str]) -> None:
    for name, view in VIEWS.items():
        line, plain, look = both(long_series(shape), ask if ask.get("x") == "absolute" else {**ask, "view": view})
        assert isinstance(line.x, Places)
        assert same(figure([line], look), figure([plain], look)), name


def test_a_smoothed_curve_is_the_smoothing_of_all_points() -> None:
    series = long_series("restarted and bad")
    line, _, look = both(series, {"smooth": "0.9"})
    curve: DrawnLine = prepared(line, look)
    want = smooth(series.value, 0.9, restarts(series.step))[curve.kept.keep]
    assert np.abs(curve.shown - want).max() <= 2e-15 * np.nanmax(np.abs(series.value[np.isfinite(series.value)]))
    np.testing.assert_array_equal(curve.raw, series.value[curve.kept.keep])


def test_a_view_of_one_percent_does_not_look_at_the_other_points() -> None:
    line, _, look = both(long_series("plain"), {"smooth": "0.9"})
    look = replace(look, view=VisibleRange(x=(SIZE, SIZE * 1.02)))
    _ = line.facts.recorded(), line.facts.restarts, line.facts.smoothed(0.9)
    looked: list[int] = []
    convert = line.x.convert
    counted = replace(line.x, convert=lambda column: looked.append(column.size) or convert(column))
    figure([replace(line, x=counted)], look)
    assert sum(looked) < SIZE / 4


def test_times_that_are_no_numbers_are_drawn_by_all_points() -> None:
    series = long_series("plain")
    series.wall_time[5] = np.nan
    line, plain, look = both(series, {"x": "relative"})
    assert not isinstance(line.x, Places)
    made = figure([line], look)
    assert same(made, figure([plain], look))
    assert made["layout"]["meta"]["unplaced"] == 1

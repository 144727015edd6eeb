"""The range of the value axes, against numpy's quantiles of all points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layouts.curves.chosen_lines import lines_of, look_of
from layouts.curves.lines import figure
from layouts.curves.scalar_asks import ChartRequest
from layouts.curves.smoothed_lines import ChartLine, LineStyle, VisibleRange
from layouts.curves.value_ranges import tick_format
from parsers.analysis import LONG
from tests.amounts import examples
from tests.layouts.curves.scalars.conftest import START, arrays, series
from tests.layouts.kit.figures.test_typed_arrays import read


def line(value: Any, **changes: Any) -> ChartLine:
    made = series(value)
    return ChartLine(**{"run": "r", "tag": "loss", "label": "r", "colour": "#123456", "series": made,
                   "x": made.step.astype(float), "started": START} | changes)  # fmt: skip


def axis(made: dict[str, Any], name: str = "yaxis") -> tuple[float, float]:
    low, high = made["layout"][name]["range"]
    return low, high


def arrows(made: dict[str, Any]) -> list[dict[str, Any]]:
    return [trace for trace in made["data"] if trace.get("meta", {}).get("beyond")]


def spiked(spike: float = 1e6) -> np.ndarray:
    value = 2.0 + np.random.default_rng(1).normal(0.0, 0.1, 500)
    value[200] = spike
    return value


def test_one_spike_does_not_set_the_range_and_is_marked() -> None:
    value = spiked()
    made = figure([line(value)], LineStyle())
    low, high = axis(made)
    near, far = np.quantile(value, (0.02, 0.98))
    assert low <= near
    assert far <= high < 10.0
    assert made["layout"]["meta"]["outliers"] == {"shown": False, "beyond": int(np.sum((value < low) | (value > high)))}
    top = next(trace for trace in arrows(made) if trace["marker"]["symbol"] == "triangle-up")
    assert 200.0 in read(top["x"])
    assert set(read(top["y"])) == {1.0}
    assert top["marker"]["color"] == "#123456"


def test_everything_is_in_range_when_asked_for() -> None:
    made = figure([line(spiked())], LineStyle(outliers=True))
    assert axis(made)[1] >= 1e6
    assert made["layout"]["meta"]["outliers"] == {"shown": True, "beyond": 0}
    assert not arrows(made)


@pytest.mark.parametrize("value", [
    np.exp(-np.arange(500) / 100), np.linspace(0.0, 1.0, 300), [3.0, 2.0, 1.0], np.sin(np.arange(400) / 9),
    np.where(np.arange(400) < 200, 1.0, 2.0), [0.0] * 499 + [5.0],
], ids=["decay", "ramp", "few", "sine", "step", "zeros with one value"])  # fmt: skip
def test_what_has_no_outliers_is_shown_whole(value: Any) -> None:
    value = np.asarray(value)
    made = figure([line(value)], LineStyle())
    low, high = axis(made)
    assert low <= value.min()
    assert high >= value.max()
    assert high - low <= 1.2 * np.ptp(value)
    assert made["layout"]["meta"]["outliers"] is None


@pytest.mark.parametrize("constant", [0.1, -7.0, 0.0, 1e300, 5e-324, 1e-12])
@pytest.mark.parametrize("weight", [0.0, 0.6, 0.99])
def test_a_constant_is_a_flat_line_in_the_middle_with_one_tick(constant: float, weight: float) -> None:
    made = figure([line(np.full(1000, constant))], LineStyle(weight=weight))
    low, high = axis(made)
    assert low < constant < high
    assert (constant - low) / (high - low) == pytest.approx(0.5, abs=0.01)
    assert made["layout"]["yaxis"]["tickvals"] == [constant]


def test_values_that_differ_in_the_last_bit_are_no_constant() -> None:
    value = np.array([1.0, np.nextafter(1.0, 2.0)] * 50)
    made = figure([line(value)], LineStyle())
    assert "tickvals" not in made["layout"]["yaxis"]
    low, high = axis(made)
    assert high - low < 1e-14


def test_each_axis_has_a_range_of_its_own() -> None:
    made = figure([line(spiked()), line(np.full(500, 3.0), tag="lr", axis=2)], LineStyle())
    assert axis(made)[1] < 10.0
    assert made["layout"]["yaxis2"]["tickvals"] == [3.0]


def test_a_log_axis_goes_by_the_logarithm() -> None:
    value = np.geomspace(1e-3, 1e3, 500)
    made = figure([line(value)], LineStyle(log=True))
    low, high = axis(made)
    assert low == pytest.approx(-3.3, abs=0.1)
    assert high == pytest.approx(3.3, abs=0.1)
    spike = np.abs(np.random.default_rng(2).normal(1.0, 0.05, 500))
    spike[7] = 1e-30
    made = figure([line(spike)], LineStyle(log=True))
    assert axis(made)[0] > -1.0
    assert made["layout"]["meta"]["outliers"]["beyond"] >= 1
    assert arrows(made)[-1]["marker"]["symbol"] == "triangle-down"


def test_only_what_is_in_view_sets_the_range() -> None:
    value = spiked()
    made = figure([line(value)], LineStyle(view=VisibleRange(x=(0.0, 150.0))))
    low, high = axis(made)
    assert low <= value[:151].min()
    assert value[:151].max() <= high < 4.0
    assert made["layout"]["meta"]["outliers"] is None


def test_a_range_set_by_hand_stands() -> None:
    made = figure([line(spiked())], LineStyle(view=VisibleRange(y=(1000.001, 1000.002))))
    assert axis(made) == (1000.001, 1000.002)
    assert made["layout"]["yaxis"]["tickformat"] == ".8~g"
    assert not arrows(made)


def test_outliers_of_a_long_series_are_counted_by_all_its_points() -> None:
    value = np.random.default_rng(3).normal(1.0, 0.1, 2 * LONG)
    at = np.random.default_rng(4).integers(0, value.size, 12)
    value[at] = 1e9
    value[at[0] + 1] = np.nan
    made = series(value)
    ask = ChartRequest.read({"tag": ["loss"], "columns": ["300"]})
    (one,) = lines_of(arrays({"a": {"loss": made}}), [("a", "loss", made)], ask)
    assert one.facts is not None
    for window in (None, (float(LONG) - 0.5, float(LONG) * 1.5)):
        found = figure([one], LineStyle(columns=300, view=VisibleRange(x=window)))
        low, high = axis(found)
        assert high < 10.0
        inside = np.ones(value.size, bool) if window is None else (made.step >= window[0]) & (made.step <= window[1])
        want = int(np.sum(inside & np.isfinite(value) & ((value < low) | (value > high))))
        assert found["layout"]["meta"]["outliers"]["beyond"] == want > 2
    assert look_of(ask).outliers is False


@given(low=st.floats(-1e12, 1e12), span=st.floats(1e-9, 1e12))
@settings(max_examples=examples(300), deadline=None)
def test_neighbouring_ticks_have_other_labels(low: float, span: float) -> None:
    """plotly puts at most six ticks at multiples of 1, 2 or 5 times a power of ten."""
    high = low + span
    if high - low < 1e-13 * max(abs(low), abs(high)):
        return
    digits = int(tick_format(low, high)[1:-2])
    least = (high - low) / 6
    step = min(size * 10.0**power for power in range(-12, 14) for size in (1, 2, 5) if size * 10.0**power >= least)
    ticks = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
    labels = [f"{tick:.{digits}g}" for tick in ticks]
    assert len(set(labels)) == len(labels)


@given(st.lists(st.floats(width=32), max_size=60), st.booleans(), st.sampled_from([0.0, 0.9]))
@settings(max_examples=examples(200), deadline=None)
def test_any_values_have_a_range_that_plotly_can_show(value: list[float], log: bool, weight: float) -> None:
    with np.errstate(all="ignore"):
        made = figure([line(value)], LineStyle(log=log, weight=weight))
    found = made["layout"]["yaxis"].get("range")
    if found is not None:
        assert np.isfinite(found).all()
        assert found[0] < found[1]

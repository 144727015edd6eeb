"""Figures of steps: what is in their traces, against what they were made of."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layouts.profiles.step_plots import StepStyle, bars, trends, unit_of
from layouts.profiles.step_times import joined
from parsers import STEPS, Series, open_run
from parsers.analysis import Breakdown, breakdowns, outliers, step_times
from tests.amounts import examples
from tests.writers.step_traces import frame, legacy

WORDS = {
    **{part: part for part in (
        "interval", "forward_backward", "forward", "tail", "other", "preparing", "computing", "overlapped", "exposed", "free",
        "whole", "step", "mean", "usual", "unknown", "stream", "run", "profiled",
    )},
    "steps": "steps {first} to {last}", "more": "and {n} more",
}  # fmt: skip
LOOK = StepStyle(WORDS)


def decoded(spec: dict[str, str]) -> np.ndarray[Any, Any]:
    return np.frombuffer(base64.b64decode(spec["bdata"]), spec["dtype"]).astype(np.float64)


def role(figure: dict[str, Any], name: str) -> dict[str, Any]:
    return next(trace for trace in figure["data"] if trace["meta"]["role"] == name)


def roles(figure: dict[str, Any]) -> list[str]:
    return [trace["meta"]["role"] for trace in figure["data"]]


def made(rows: list[dict[str, object]]) -> Breakdown:
    (found,) = breakdowns(frame(rows))
    return found


def regular(count: int, odd: dict[int, float] | None = None) -> Breakdown:
    random = np.random.default_rng(5)
    return made([
        legacy(at + 1, 1e6 + float(random.integers(0, 1000)), (odd or {}).get(at, 8e6) + float(random.integers(0, 1000)), 1e6)
        for at in range(count)
    ])  # fmt: skip


def test_a_bar_per_step_with_the_times_of_the_file(real_data: Path) -> None:
    (found,) = breakdowns(open_run(real_data / "mindinsight_legacy/profiler").profile[".", 0].steps)
    figure = bars(found, LOOK)
    assert figure["layout"]["meta"] == {
        "steps": 20, "total": 20, "bin": 1, "unit": "ms", "window": [0, 19], "outliers": 0, "unsound": 0, "beyond": 0,
    }  # fmt: skip
    # iteration_interval, fp_and_bp and tail of step 2: 9037809, 1714377 and 2300344 counts of 10 ns
    for part, ticks in (("interval", 9037809), ("forward_backward", 1714377), ("tail", 2300344)):
        assert decoded(role(figure, part)["y"])[1] == pytest.approx(ticks / 1e5, rel=1e-6)
    assert "interval 90.4 ms  69.2 %" in role(figure, "hover")["hovertext"][1]
    shares = bars(found, StepStyle(WORDS, measure="share"))
    stack = sum(decoded(role(shares, part)["y"]) for part in found.parts)
    np.testing.assert_allclose(stack, 100.0, rtol=1e-5)


@pytest.mark.parametrize("count", [1, 249, 250, 251, 10_000])
def test_as_many_bars_as_the_screen_has_room_for(count: int) -> None:
    found = regular(count)
    figure = bars(found, LOOK)
    heights = [decoded(role(figure, part)["y"]) for part in found.parts]
    assert len(heights[0]) <= 250
    assert figure["layout"]["meta"]["bin"] == -(-count // 250)
    hover = role(figure, "hover")["meta"]
    first, stop = decoded(hover["first"]).astype(int), decoded(hover["stop"]).astype(int)
    assert first[0] == 0
    assert stop[-1] == count
    assert (first[1:] == stop[:-1]).all()
    mean = [found.whole_ns[a:b].mean() / 1e6 for a, b in zip(first, stop, strict=True)]
    np.testing.assert_allclose(sum(heights), mean, rtol=1e-5)
    assert len(json.dumps(figure)) < 250_000


@given(st.sets(st.integers(0, 4_999), max_size=40), st.sampled_from([200, 1000, 4000]))
@settings(max_examples=examples(25))
def test_no_bar_hides_a_step_that_stands_out(odd: set[int], columns: int) -> None:
    found = regular(5_000, dict.fromkeys(odd, 2e7))
    out = outliers(found)
    assert set(out.row.tolist()) == odd
    figure = bars(found, StepStyle(WORDS, columns=columns))
    assert figure["layout"]["meta"]["outliers"] == len(odd)
    if not odd:
        assert "long" not in roles(figure)
        return
    marks = role(figure, "long")
    places = decoded(marks["meta"]["places"]).astype(int).tolist()
    more = sum(int(found_in.group(1)) for text in marks["hovertext"] if (found_in := re.search(r"and (\d+) more", text)))
    assert set(places) <= odd
    assert len(places) + more == len(odd)
    size = figure["layout"]["meta"]["bin"]
    assert {place // size for place in places} == {place // size for place in odd}


def test_steps_far_beyond_the_others_are_marked_at_the_edge_and_do_not_squeeze_them() -> None:
    found = regular(50, {7: 5e9})
    figure = bars(found, LOOK)
    assert figure["layout"]["meta"]["beyond"] == 1
    top = figure["layout"]["yaxis"]["range"][1]
    assert 10.0 < top < 20.0
    marks = role(figure, "long")
    assert decoded(marks["y"])[0] <= top
    assert "5.00 s" in marks["hovertext"][0]
    assert "forward_backward +4.99 s" in marks["hovertext"][0]


def test_a_window_a_picked_step_and_rows_that_cannot_be_told() -> None:
    rows = [legacy(at + 1, 1.0, 8.0, 1.0) for at in range(30)]
    rows[12] = legacy(13, float("nan"), 8.0, 1.0)
    figure = bars(made(rows), StepStyle(WORDS, window=(10, 19), step=15))
    meta = figure["layout"]["meta"]
    assert (meta["steps"], meta["window"], meta["unsound"]) == (10, [10, 19], 1)
    (shape,) = figure["layout"]["shapes"]
    assert (shape["x0"], shape["x1"]) == (13.5, 14.5)
    unsound = role(figure, "unsound")
    assert (decoded(unsound["x"]).tolist(), unsound["hovertext"]) == ([12.0], ["step 13: unknown"])
    ticks = figure["layout"]["xaxis"]
    assert all(int(text) == place + 1 for place, text in zip(ticks["tickvals"], ticks["ticktext"], strict=True))
    outside = bars(made(rows), StepStyle(WORDS, window=(-5, 10**9), step=1000))
    assert outside["layout"]["meta"]["steps"] == 30
    assert not outside["layout"]["shapes"]


def test_a_line_per_part_and_one_of_the_whole() -> None:
    rows = [legacy(at + 1, 1e6, 8e6 + at, 1e6) for at in range(9_000)]
    rows[4000] = legacy(4001, 1e6, -1.0, 1e6)
    found = made(rows)
    figure = trends(found, LOOK)
    assert roles(figure) == ["interval", "forward_backward", "tail", "whole"]
    for trace in figure["data"]:
        x, y = decoded(trace["x"]), decoded(trace["y"])
        assert len(x) == len(y) == len(decoded(trace["customdata"])) <= 4_002
        assert np.isnan(y).sum() == 1
    assert decoded(role(figure, "whole")["y"])[0] == pytest.approx(10.0)
    shares = trends(found, StepStyle(WORDS, measure="share"))
    assert roles(shares) == ["interval", "forward_backward", "tail"]
    assert decoded(role(shares, "interval")["y"])[0] == pytest.approx(10.0)
    json.dumps(figure)


def test_profiled_steps_over_the_times_of_the_run() -> None:
    step = np.arange(0, 2_000, 10, dtype=np.int64)
    series = Series(step, 1e9 + step * 0.5, step * 0.0, np.zeros(step.size, np.int32), step)
    found = made([legacy(at, 1e8, 3e8, 1e7) for at in range(100, 110)])
    figure = joined(found, step_times(series), LOOK)
    run, profiled = role(figure, "run"), role(figure, "profiled")
    assert decoded(run["x"]).tolist() == step[1:].tolist()
    np.testing.assert_allclose(decoded(run["y"]), 500.0, rtol=1e-5)
    np.testing.assert_allclose(decoded(profiled["y"]), 410.0)
    low, high = figure["layout"]["xaxis"]["range"]
    assert 0 <= low < 100 < 109 < high < 400
    empty = joined(found, step_times(Series(step[:0], step[:0] * 1.0, step[:0] * 1.0, np.zeros(0, np.int32), step[:0])), LOOK)
    assert decoded(role(empty, "run")["x"]).size == 0


def test_nothing_to_draw() -> None:
    (found,) = breakdowns(frame([legacy(-1, 1.0, 2.0, 3.0, kind="average")]))
    assert len(found) == 0
    for figure in (bars(found, LOOK), trends(found, LOOK), joined(found, step_times(
        Series(*(np.empty(0, dtype) for dtype in (np.int64, np.float64, np.float64, np.int32, np.int64)))), LOOK)):
        json.dumps(figure)
    assert not breakdowns(STEPS.empty())


def test_units() -> None:
    assert [unit_of(value)[1] for value in (0.0, 1.0, 999.0, 1e3, 2e6, 3e9)] == ["ns", "ns", "ns", "µs", "ms", "s"]

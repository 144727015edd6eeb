"""The figure's data against the series it was made of."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layouts.curves.lines import MOST_TRACES, figure, on_canvas
from layouts.curves.smoothed_lines import WRONG, ChartLine, LineStyle, VisibleRange
from layouts.kit.figures.ticks import time_ticks
from parsers import Series
from parsers.analysis import parse_threshold, resolved, superseded
from tests.amounts import examples
from tests.layouts.curves.scalars.conftest import START, series
from tests.layouts.kit.figures.test_typed_arrays import read


def line(s: Series, **changes: Any) -> ChartLine:
    return ChartLine(**{"run": "r", "tag": "loss", "label": "r", "colour": "#123456", "series": s, "x": s.step.astype(float),
                   "started": START} | changes)  # fmt: skip


def xs(trace: dict[str, Any]) -> np.ndarray:
    if "x" in trace:
        return read(trace["x"]).astype(float)
    return trace["x0"] + trace["dx"] * np.arange(read(trace["y"]).size)


def ys(trace: dict[str, Any]) -> np.ndarray:
    return read(trace["y"]).astype(float)


def times(trace: dict[str, Any]) -> np.ndarray:
    """Seconds since the start of the run, as the browser reads them."""
    sent = trace["meta"]["time"]
    return (sent["first"] + np.cumsum(read(sent["steps"]).astype(np.int64))) / 1000


def mains(made: dict[str, Any]) -> list[dict[str, Any]]:
    return [trace for trace in [*made.get("canvas", []), *made["data"]] if "key" in trace.get("meta", {})]


def marks(made: dict[str, Any]) -> list[dict[str, Any]]:
    return [trace for trace in made["data"] if "mark" in trace.get("meta", {})]


def red(made: dict[str, Any]) -> list[dict[str, Any]]:
    return [t for t in made["data"] if "yaxis" not in t and (t.get("line") or t.get("marker"))["color"] == WRONG]


@pytest.mark.parametrize(("steps", "low", "high"), [
    ([0, 100], -1.0, 101.0), ([-50, 150], -52.0, 152.0), ([7], 6.5, 7.5), ([0], -0.5, 0.5),
    ([10_000_000], 9_999_990.0, 10_000_010.0), ([], 0.0 - 0.01, 1.01),
])  # fmt: skip
def test_one_percent_is_left_free_beside_the_curves(steps: list[int], low: float, high: float) -> None:
    made = figure([line(series([0.0] * len(steps), steps))], LineStyle())
    assert made["layout"]["xaxis"]["range"] == pytest.approx([low, high], abs=1e-9)


def test_no_line_is_an_empty_chart() -> None:
    made = figure([], LineStyle())
    assert made["data"] == []
    assert made["layout"]["meta"]["points"] == 0
    orjson.dumps(made)


def test_a_short_series_is_sent_whole_and_evenly() -> None:
    made = figure([line(series([0.5, 0.25, 4.0]))], LineStyle())
    (trace,) = made["data"]
    assert (trace["x0"], trace["dx"]) == (0.0, 1.0)
    assert ys(trace).tolist() == [0.5, 0.25, 4.0]
    assert times(trace).tolist() == [10.0, 12.0, 14.0]
    facts = made["layout"]["meta"]
    assert (facts["points"], facts["inside"], facts["sent"], facts["whole"]) == (3, 3, 3, True)


def test_the_figure_is_plain_json_without_go_objects() -> None:
    made = figure([line(series([1.0, math.nan, -1.0]))], LineStyle(weight=0.5, log=True, threshold=parse_threshold("<1|>2")))
    assert json.loads(orjson.dumps(made)) == made


def test_smoothed_in_full_over_raw_as_a_shadow() -> None:
    values = np.random.default_rng(0).random(50).astype(np.float32).astype(float)
    shadow, main = figure([line(series(values))], LineStyle(weight=0.6))["data"]
    assert shadow["opacity"] == 0.2
    assert "opacity" not in main
    assert main["meta"]["raw"] == 0
    np.testing.assert_array_equal(ys(shadow), values)
    last, want = 0.0, []
    for n, v in enumerate(values, 1):
        last = 0.6 * last + 0.4 * v
        want.append(last / (1 - 0.6**n))
    np.testing.assert_allclose(ys(main), want, rtol=1e-6)


def test_a_million_points_become_a_few_thousand_and_keep_the_spike() -> None:
    values = np.sin(np.arange(1_000_000) / 1e5)
    values[123_456] = 7.5
    made = figure([line(series(values))], LineStyle(columns=500))
    (trace,) = made["data"]
    assert ys(trace).max() == 7.5
    assert xs(trace)[ys(trace).argmax()] == 123_456
    assert ys(trace).size <= 2004
    assert made["layout"]["meta"]["points"] == 1_000_000
    assert not made["layout"]["meta"]["whole"]


def test_zoomed_in_the_points_are_those_recorded() -> None:
    values = np.random.default_rng(1).random(100_000)
    made = figure([line(series(values))], LineStyle(columns=500, view=VisibleRange(x=(5000.0, 5100.0))))
    (trace,) = made["data"]
    assert xs(trace).tolist() == list(range(4999, 5102))
    np.testing.assert_array_equal(ys(trace), values[4999:5102])
    assert made["layout"]["xaxis"]["range"] == [5000.0, 5100.0]
    assert made["layout"]["meta"]["inside"] == 101


def test_the_line_is_interrupted_at_a_restart_and_at_nan() -> None:
    made = figure([line(series([1.0, 2.0, 3.0, 4.0, math.nan, 6.0, 7.0], step=[0, 1, 2, 1, 2, 3, 4]))], LineStyle())
    heights = ys(mains(made)[0])
    assert [None if math.isnan(v) else v for v in heights] == [1.0, 2.0, 3.0, None, 4.0, None, 6.0, 7.0]
    lone = [t for t in made["data"] if t["mode"] == "markers" and "meta" not in t]
    assert [ys(t).tolist() for t in lone] == [[4.0]]


def test_a_single_point_is_a_marker() -> None:
    made = figure([line(series([2.0]))], LineStyle())
    assert [t["mode"] for t in made["data"]] == ["lines", "markers"]


def test_non_finite_values_are_marked_where_they_are() -> None:
    made = figure([line(series([math.nan, math.nan, 1.0, math.inf, 2.0, -math.inf]))], LineStyle())
    by_kind = {t["meta"]["mark"]: t for t in marks(made)}
    assert xs(by_kind[0]).tolist() == [0.0]
    assert read(by_kind[0]["meta"]["high"]).tolist() == [1.0]
    assert read(by_kind[0]["meta"]["count"]).tolist() == [2]
    assert (xs(by_kind[1]).tolist(), ys(by_kind[1]).tolist()) == ([3.0], [1.0])
    assert (xs(by_kind[2]).tolist(), ys(by_kind[2]).tolist()) == ([5.0], [0.0])
    facts = made["layout"]["meta"]
    assert (facts["nan"], facts["above"], facts["below"]) == (2, 1, 1)
    assert facts["first"] == {"x": 0.0, "label": "r", "step": 0, "low": 0.0, "high": 5.0}


def test_all_nan_is_one_band_and_an_axis_without_numbers() -> None:
    made = figure([line(series(np.full(900_000, math.nan)))], LineStyle(columns=800))
    (mark,) = marks(made)
    assert read(mark["meta"]["count"]).tolist() == [900_000]
    assert made["layout"]["yaxis"]["showticklabels"] is False


def test_log_says_what_it_cannot_draw() -> None:
    made = figure([line(series([-1.0, 0.0, 1.0, 10.0]))], LineStyle(log=True))
    assert made["layout"]["yaxis"]["type"] == "log"
    assert made["layout"]["meta"]["hidden"] == 2
    assert ys(mains(made)[0]).tolist() == [1.0, 10.0]


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.one_of(st.integers(-5, 5).map(float), st.just(math.nan)), min_size=1, max_size=200),
    st.sampled_from(["<1.5", ">0&<3", "<-1|>2"]), st.sampled_from([0.0, 0.6]), st.integers(3, 40),
)  # fmt: skip
def test_red_is_what_satisfies_the_threshold_by_raw_values(
    values: list[float], expression: str, weight: float, columns: int
) -> None:
    threshold = parse_threshold(expression)
    made = figure([line(series(values))], LineStyle(weight=weight, threshold=threshold, columns=columns))
    want = {i for i, v in enumerate(values) if threshold.satisfied(np.array([v]))[0]}
    (fact,) = made["layout"]["meta"]["thresholds"]
    assert fact == {"text": threshold.text, "interval": threshold.interval, "satisfied": len(want), "tags": ["loss"]}
    shown = {(int(x), y) for t in red(made) for x, y in zip(xs(t), ys(t), strict=True) if math.isfinite(y)}
    assert {x for x, _ in shown} <= want
    assert all(values[x] == y for x, y in shown)
    if len(values) <= 4 * columns:
        assert {x for x, _ in shown} == want
    # A red line joins two points only where all between satisfy the threshold.
    for trace in red(made):
        if trace["mode"] == "lines":
            points = list(zip(xs(trace), ys(trace), strict=True))
            for (x0, y0), (x1, y1) in itertools.pairwise(points):
                if math.isfinite(y0) and math.isfinite(y1):
                    assert set(range(int(x0), int(x1) + 1)) <= want
    assert sorted(shape["y0"] for shape in made["layout"]["shapes"]) == sorted(threshold.bounds)


def test_another_scalar_as_x_counts_what_has_no_place() -> None:
    s = series([1.0, 2.0, 3.0])
    made = figure([line(s, x=np.array([0.3, math.nan, 0.1]))], LineStyle(axis="tag"))
    assert made["layout"]["meta"]["unplaced"] == 1
    trace = mains(made)[0]
    assert [v for v in ys(trace) if math.isfinite(v)] == [1.0, 3.0]
    assert read(trace["meta"]["step"]).tolist()[0] == 0


def test_two_value_axes() -> None:
    s = series([1.0, 2.0])
    made = figure([line(s), line(s, tag="lr", axis=2)], LineStyle())
    assert [t.get("yaxis") for t in made["data"]] == [None, "y2"]
    assert made["layout"]["yaxis2"]["overlaying"] == "y"
    assert made["layout"]["yaxis"]["fixedrange"]


def test_text_of_files_is_never_in_a_place_that_plotly_reads_as_markup() -> None:
    made = figure([line(series([1.0, math.nan]), tag="<b>t</b>", label="<a href='x'>r</a>", run="<i>")], LineStyle())
    for trace in made["data"]:
        assert not {"name", "text", "hovertemplate", "hovertext", "customdata"} & trace.keys()
    assert not {"title", "annotations"} & made["layout"].keys()


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.0, 300.0, ["0", "1 m", "2 m", "3 m", "4 m", "5 m"]),
        (0.0, 9000.0, ["0", "30 m", "1 h", "1 h 30 m", "2 h", "2 h 30 m"]),
        (0.0, 400_000.0, ["0", "1 d", "2 d", "3 d", "4 d"]),
        (3590.0, 3690.0, ["1 h", "1 h 0 m 30 s", "1 h 1 m", "1 h 1 m 30 s"]),
    ],
)
def test_time_ticks(low: float, high: float, labels: list[str]) -> None:
    ticks = time_ticks(low, high)
    assert [text.replace(" 0 m", " 0 m") for text in ticks["ticktext"]] == [t.replace(" 0 m 30 s", " 30 s") for t in labels]
    assert all(low <= value <= high for value in ticks["tickvals"])


def test_time_ticks_leave_seconds_and_nonsense_to_plotly() -> None:
    assert time_ticks(0.0, 30.0)["ticksuffix"] == " s"
    assert "tickvals" not in time_ticks(0.0, math.inf)
    assert "tickvals" not in time_ticks(-1e300, 1e300)


def test_a_view_between_two_points_shows_the_line_that_crosses_it() -> None:
    made = figure([line(series([0.0, 10.0, 20.0]))], LineStyle(view=VisibleRange(x=(0.4, 0.6))))
    assert xs(made["data"][0]).tolist() == [0.0, 1.0]
    assert made["layout"]["meta"]["inside"] == 0
    assert made["layout"]["yaxis"].get("showticklabels") is None


@pytest.mark.parametrize("weight", [0.0, 0.6])
def test_many_lines_are_for_the_canvas_and_marks_for_plotly(weight: float) -> None:
    look = LineStyle(weight=weight, threshold=parse_threshold("<1"))
    several = [line(series([1.0 + n, 0.5, math.nan, 2.0]), run=f"r{n}") for n in range(MOST_TRACES + 1)]
    few = figure(several[:-1], look)
    assert on_canvas(few) == few
    whole = figure(several, look)
    made = on_canvas(whole)
    assert made["canvas"] + made["data"] == whole["data"]
    assert made["layout"] == whole["layout"]
    assert len(made["canvas"]) == len(several) * (2 if weight else 1)
    assert len(mains(made)) == len(several)
    assert all(whole["data"][trace["meta"]["raw"]] in made["canvas"] for trace in mains(made) if weight)
    assert (len(marks(made)), bool(red(made))) == (1, True)
    assert not mains({"data": made["data"]})


def test_single_points_of_many_lines_are_one_trace_in_their_colours() -> None:
    several = [line(series([float(n)]), run=f"r{n}", colour=f"#00000{n}", axis=1 + n % 2) for n in range(6)]
    left, right = [t for t in figure(several, LineStyle())["data"] if t["mode"] == "markers"]
    assert (ys(left).tolist(), ys(right).tolist()) == ([0.0, 2.0, 4.0], [1.0, 3.0, 5.0])
    assert left["marker"]["color"] == ["#000000", "#000002", "#000004"]
    assert right["yaxis"] == "y2"


def old(steps: list[int], columns: int = 1000) -> list[dict[str, Any]]:
    """The traces of the superseded points of a run that wrote these steps."""
    recorded = series([float(step) for step in steps], steps)
    points, stretches = superseded(recorded)
    made = figure([line(resolved(recorded))], LineStyle(columns=columns), superseded=[line(points, breaks=stretches)])
    return [trace for trace in made["data"] if "superseded" in trace.get("meta", {})]


def test_superseded_stretches_are_not_joined() -> None:
    (trace,) = old([*range(30), *range(20, 90), *range(80, 100)])
    assert trace["line"]["dash"] == "dot"
    at = np.isfinite(ys(trace))
    assert ys(trace)[at].tolist() == [*range(20, 30), *range(80, 90)]
    assert np.flatnonzero(~at).tolist() == [10]


def test_superseded_points_that_stand_alone_are_dots() -> None:
    (dots,) = old([0, 1, 2, 2, 3, 4, 4, 5])
    assert (dots["mode"], ys(dots).tolist(), xs(dots).tolist()) == ("markers", [2.0, 4.0], [2.0, 4.0])
    traces = old([0, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6, 8, 8, 9])
    assert [trace["mode"] for trace in traces] == ["lines", "markers"]
    assert all(trace["opacity"] < 1 for trace in traces)


@pytest.mark.parametrize("steps", [
    np.repeat(np.arange(100_000), 2),
    # Each second step twice; each pair of steps again; each step before the one before it.
    np.repeat(np.arange(100_000), 1 + np.arange(100_000) % 2),
    (np.arange(0, 100_000, 2)[:, None] + [0, 1, 0, 1]).ravel(),
    (np.arange(0, 100_000, 2)[:, None] + [1, 0]).ravel(),
], ids=["twice", "every second", "pairs", "swapped"])  # fmt: skip
def test_superseded_points_are_bounded_by_the_columns(steps: np.ndarray) -> None:
    traces = old(steps.tolist(), columns=500)
    assert len(traces) <= 2
    assert 0 < sum(read(trace["y"]).size for trace in traces) <= 500 * 4 * 2

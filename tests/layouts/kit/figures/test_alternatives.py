"""Text alternatives: what they name, that their numbers are those of the data, and that they stay short."""

from __future__ import annotations

import numpy as np
import pytest

from layouts.curves.lines import figure
from layouts.curves.smoothed_lines import ChartLine, LineStyle, VisibleRange
from layouts.kit.figures.alternatives import MOST_NAMED, alternative, described, described_by, entry, in_both, listed, marked
from layouts.kit.figures.typed_arrays import drawn, numbers
from parsers import Series
from parsers.analysis import SeriesFacts

LOOK = LineStyle()


def line(run: str, values: list[float], *, tag: str = "loss") -> ChartLine:
    value = np.array(values, np.float64)
    step = np.arange(value.size, dtype=np.int64)
    series = Series(step, step.astype(np.float64), value, np.zeros(value.size, np.int32), step)
    x = step.astype(np.float64)
    return ChartLine(run=run, tag=tag, label=run, colour="#123456", series=series, x=x, started=0.0, facts=SeriesFacts(series))


def said(lines: list[ChartLine], look: LineStyle = LOOK) -> list[str]:
    found = figure(lines, look)["layout"]["meta"]["alternative"]
    assert len(found) == 2
    return found


def test_nothing_is_said_of_nothing() -> None:
    assert said([]) == ["Line chart without a point.", "没有数据点的折线图。"]
    assert alternative(None, ("", "")) == ("", "")
    assert listed([]) == ("", "")
    assert marked([("NaN", 0)]) is None
    assert entry("a", np.empty(0))[0] == "a: no finite value"


def test_a_curve_is_named_with_its_last_lowest_and_highest_value() -> None:
    english, chinese = said([line("a", [3.0, 0.125, 7.5, 2.0])])
    assert english == "Line of loss, over steps. a: last 2, lowest 0.1250, highest 7.500."
    assert chinese == "loss 的曲线，横轴为步骤。a：最新 2，最小 0.1250，最大 7.500。"


def test_values_are_those_recorded_whatever_is_drawn() -> None:
    values = np.random.default_rng(3).standard_normal(5_000)
    look = LineStyle(weight=0.9, columns=10, view=VisibleRange(x=(100.0, 200.0)))
    english, _ = said([line("a", values.tolist())], look)
    assert f"last {values[-1]:.4g}, lowest {values.min():.4g}, highest {values.max():.4g}" in english
    assert "smoothed" in english
    assert "Zoomed to steps 100 to 200." in english


def test_what_is_not_finite_is_counted_and_its_first_place_is_named() -> None:
    english, _ = said([line("a", [1.0, np.nan, np.inf, 2.0]), line("b", [5.0, -np.inf, 5.0, 5.0])])
    assert "a: last 2, lowest 1, highest 2, 2 not finite" in english
    assert "b: last 5, lowest 5, highest 5, 1 not finite" in english
    assert "Marked: NaN: 1; +Inf: 1; -Inf: 1." in english
    assert "First non-finite value: step 1 of a." in english


def test_many_runs_are_counted() -> None:
    lines = [line(f"run_{number:03d}", [1.0, 2.0]) for number in range(100)]
    for text, more in zip(said(lines), ("; and 95 more.", "；另有 95 个。"), strict=True):
        assert text.count("run_") == MOST_NAMED == 5
        assert more in text
        assert len(text) < 400


def test_several_tags_are_told_apart_and_long_names_are_cut() -> None:
    long = "x" * 500
    english, _ = said([line("a", [1.0, 2.0], tag="left"), line("a", [1.0, 3.0], tag="right"), line(long, [1.0, 2.0])])
    assert english.startswith("3 lines of left; right; loss, over steps. a left: last 2")
    assert len(english) < 400
    assert len(in_both(long)[0]) == 80


@pytest.mark.parametrize("name", ["<b>{0}</b>", "{", "50 % {run}", "a; b."])
def test_names_of_files_are_text(name: str) -> None:
    for text in said([line(name, [1.0, 2.0], tag=name)]):
        assert text.count(name) == 2


def test_an_alternative_from_traces_has_the_unit_of_their_axis() -> None:
    y = np.array([4.0, np.nan, 1.0, 3.0])
    found = {
        "data": [
            {"type": "scatter", "y": numbers(y), "yaxis": "y2", "meta": {"role": "one"}},
            {"type": "bar", "orientation": "h", "x": drawn(np.array([0.25, 0.5])), "y": ["p", "q"], "meta": {"role": "two"}},
            {"type": "scatter", "y": [1, 2, 3], "meta": {"role": "mark"}}, {"type": "scatter", "y": [9], "meta": "text"},
        ],
        "layout": {"yaxis2": {"ticksuffix": " ms"}, "xaxis": {"tickformat": ".1%"}, "meta": {"kept": 1}},
    }  # fmt: skip
    made = described_by(found, ("Title", "标题"), {"one": "First", "two": ("Second", "第二")}, {"mark": "late"})
    assert made["layout"]["meta"] == {"kept": 1, "alternative": [
        ("Title. First: last 3 ms, lowest 1 ms, highest 4 ms; "
         "Second: last 50.0 %, lowest 25.0 %, highest 50.0 %. Marked: late: 3."),
        "标题。First：最新 3 ms，最小 1 ms，最大 4 ms；第二：最新 50.0 %，最小 25.0 %，最大 50.0 %。标记：late：3。",
    ]}  # fmt: skip
    assert found["layout"]["meta"] == {"kept": 1}
    assert described({"data": []}, ("A", "甲"))["layout"]["meta"]["alternative"] == ["A.", "甲。"]

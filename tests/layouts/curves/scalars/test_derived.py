"""Cards of derived curves: their values, what they say was left out, and that all else works as for a recorded tag."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from layouts.curves.chosen_lines import group_lines
from layouts.curves.grouping import grouping
from layouts.curves.scalar_asks import ChartRequest
from layouts.curves.scalars.insights import marks
from layouts.curves.scalars.page import CARDS, filled
from layouts.kit.cards import cards
from tests.layouts.curves.scalars.conftest import arrays, series
from tests.layouts.curves.scalars.test_lines import mains, xs, ys
from tests.sources import MemorySource


def drawn(source: MemorySource, tag: str, **more: Any) -> tuple[Any, list[Any], dict[str, Any], str]:
    """(figure, its lines, what it says of the only derived curve, its stamp)."""
    ask = {"tag": [tag]} | {key: value if isinstance(value, list) else [value] for key, value in more.items()}
    made, stamp = cards.card(CARDS, source, ask)
    said = made["layout"]["meta"]["derived"]
    return made, mains(made), said[0] if said else {}, stamp


@pytest.fixture
def runs() -> MemorySource:
    train, val = np.linspace(2, 1, 40), np.linspace(2.5, 1.2, 4)
    return arrays({
        "a": {"train/loss": series(train), "val/loss": series(val, [0, 10, 20, 30])},
        "b": {"train/loss": series(train * 2), "val/loss": series(val, [5, 5, 7, 39])},
        "c": {"train/loss": series(train)},
        "d": {"train/loss": series(train), "val/loss": series(val, [100, 101, 102, 103])},
    })  # fmt: skip


def test_a_card_draws_the_values_and_says_what_was_left_out(runs: MemorySource) -> None:
    _, lines, said, _ = drawn(runs, "=train/loss - val/loss")
    train, val = np.linspace(2, 1, 40), np.linspace(2.5, 1.2, 4)
    assert [line["meta"]["key"] for line in lines] == ["a", "b"]
    np.testing.assert_array_equal(xs(lines[0]), [0, 10, 20, 30])
    np.testing.assert_array_equal(ys(lines[0]), train[[0, 10, 20, 30]] - val)
    np.testing.assert_array_equal(ys(lines[1]), 2 * train[[5, 7, 39]] - val[[1, 2, 3]])
    assert said == {
        "tag": "=train/loss - val/loss", "error": None, "runs": 4,
        "lacking": 1, "lacking_runs": ["c: val/loss"], "apart": 1, "apart_runs": ["d"],
        "unpaired": [["train/loss", 36 + 37 + 40], ["val/loss", 4]], "superseded": [["val/loss", 1]], "undefined": [],
    }  # fmt: skip


def test_hidden_runs_are_not_counted(runs: MemorySource) -> None:
    said = drawn(runs, "=train/loss - val/loss", hide=["c", "d"])[2]
    assert (said["runs"], said["lacking"], said["apart"]) == (2, 0, 0)


def test_a_recorded_tag_says_nothing_and_comes_before_a_curve_of_its_name() -> None:
    source = arrays({"a": {"=x": series([7.0]), "x": series([1.0])}, "b": {"x": series([2.0])}})
    assert drawn(source, "x")[2] == {}
    _, lines, said, _ = drawn(source, "=x")
    assert [ys(line).tolist() for line in lines] == [[7.0], [2.0]]
    assert said["lacking"] == 0


def test_an_invalid_expression_is_an_empty_card_with_its_error_in_both_languages(runs: MemorySource) -> None:
    made, lines, said, _ = drawn(runs, "=train/loss - ")
    assert (lines, made["layout"]["meta"]["points"]) == ([], 0)
    english, chinese = said["error"]["text"]
    assert said["error"]["column"] == 14
    assert english == "Column 14: expected a tag, a number, a function or (; found the end."
    assert chinese == "第 14 列：应为标签、数字、函数或 (，实际为结尾。"


def test_a_card_is_drawn_again_when_any_of_its_tags_or_what_it_says_changes(runs: MemorySource) -> None:
    stamps = [drawn(runs, "=train/loss - val/loss", run="a")[3]]
    assert stamps[0] == drawn(runs, "=train/loss - val/loss", run="a")[3]
    runs.data["a"]["scalar"]["val/loss"] = series([2.5, 2.0, 1.6, 1.2, 1.0], [0, 10, 20, 30, 30])  # no new step
    stamps.append(drawn(runs, "=train/loss - val/loss", run="a")[3])
    stamps.append(drawn(runs, "=train/loss - val/loss", run=["a", "c"])[3])
    runs.data["c"]["scalar"]["val/loss"] = series([1.0], [1000])
    stamps.append(drawn(runs, "=train/loss - val/loss", run=["a", "c"])[3])
    assert len(set(stamps)) == 4


def test_what_cannot_be_computed_is_counted_and_marked() -> None:
    source = arrays({"a": {"x": series([1.0, 0.0, -2.0, 10.0])}, "b": {"x": series([0.0])}})
    made, lines, said, _ = drawn(source, "=log10(x)")
    assert said["undefined"] == [["log10", 3]]
    assert made["layout"]["meta"]["nan"] == 3
    shown = ys(lines[0])
    assert shown[np.isfinite(shown)].tolist() == [0.0, 1.0]


def test_smoothing_zoom_axes_and_the_one_chart_take_it_as_any_tag(runs: MemorySource) -> None:
    tag = "=train/loss * 2"
    made, lines, _, _ = drawn(runs, tag, run="a", smooth="0.5", view="10,20,,")
    assert made["layout"]["meta"]["inside"] == 11
    mean, wanted = 0.0, []
    for count, value in enumerate(2 * np.linspace(2, 1, 40), 1):
        mean = 0.5 * mean + 0.5 * value
        wanted.append(mean / (1 - 0.5**count))
    within = (xs(lines[0]) >= 10) & (xs(lines[0]) <= 20)
    np.testing.assert_allclose(ys(lines[0])[within], wanted[10:21], rtol=1e-6)
    _, lines, _, _ = drawn(runs, "val/loss", run="a", x=f"tag:{tag}")
    np.testing.assert_array_equal(xs(lines[0]), 2 * np.linspace(2, 1, 40)[[0, 10, 20, 30]])
    made, lines, _, _ = drawn(runs, tag, run="a", right=["train/loss", "=abs(train/loss)"])
    assert [line["meta"]["tag"] for line in lines] == [tag, "train/loss", "=abs(train/loss)"]
    assert len(made["layout"]["meta"]["derived"]) == 2
    _, lines, _, _ = drawn(runs, tag, run=["a", "b"], base="run:a")
    np.testing.assert_allclose(ys(lines[1]), 2 * np.linspace(2, 1, 40))


def test_groups_and_the_table_of_last_values_take_it_too(runs: MemorySource) -> None:
    ask = ChartRequest.read({"tag": ["=2 * train/loss"], "run": ["a", "b"], "group": ["regex:(.)"], "line": ["mean"]})
    found = group_lines(runs, ask, grouping(runs, "regex:[ab]()", ["a", "b"]), "=2 * train/loss")
    np.testing.assert_allclose(found[0].series.value, 3 * np.linspace(2, 1, 40))
    sheet, _ = filled(runs, {"tag": ["=2 * train/loss", "=log10(train/loss)"], "run": ["b"], "table": ["1"]}, None)
    double, logarithm = sheet["table"]["rows"]
    assert [cell["value"] for cell in double["cells"]] == [4.0, 39, None, None, 40], "less is not better for any expression"
    assert (logarithm["better"], logarithm["cells"][2]["value"]) == ("min", np.log10(2.0))


def test_insights_look_at_it() -> None:
    value = np.random.default_rng(1).normal(1.0, 0.01, 400)
    value[200] = np.nan
    source = arrays({"a": {"x": series(value), "y": series(np.ones(400))}})
    found = marks(source, {"tag": ["=x - y", "=x -"], "run": ["a"]})["marks"]
    assert [(mark["tag"], mark["kind"], mark["step"]) for mark in found] == [("=x - y", "non_finite", 200)]

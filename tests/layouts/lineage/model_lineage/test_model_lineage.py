"""The model lineage page: the table and the axes say what the frame says, whatever runs recorded."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from layouts.kit.state import BadInput
from layouts.lineage.asks import MOST_AXES, AxesRequest
from layouts.lineage.callbacks import drawn, filled
from layouts.lineage.drawing import default_columns, sheet
from layouts.lineage.model_columns import COLUMNS, group_of
from layouts.lineage.model_columns import table as model_table
from layouts.lineage.parallel import axis, brief, usual_scale
from layouts.lineage.table import LineageTable, LineageTables
from layouts.values.landscapes import SCALES
from parsers import LineageRow, Setting, lineage_frame
from parsers.analysis.lineage.results import main_result
from tests.amounts import examples
from tests.sources import MemorySource

LONG = "x" * 10_000
RUNS: dict[str, dict[str, Setting]] = {
    "a": {"optimizer": "Adam", "learning_rate": 0.1, "epoch": 3, "metric/acc/top:1": 0.5, "loss": math.nan,
          "network": "<b>LeNet</b>"},
    "team/a": {"optimizer": "SGD", "learning_rate": 0.001, "epoch": 3, "metric/acc/top:1": math.inf, "user_defined/学习率": 2},
    "b": {"learning_rate": 0.0, "user_defined/学习率": "auto", "user_defined/" + LONG: LONG, "user_defined/flag": True,
          "loss": 0.25},
}  # fmt: skip


def source(runs: dict[str, dict[str, Setting]] = RUNS) -> MemorySource:
    return MemorySource({key: {"settings": settings} for key, settings in runs.items()})


def table(runs: dict[str, dict[str, Setting]] = RUNS) -> LineageTable:
    rows = [LineageRow(key, key, values, {}) for key, values in runs.items()]
    return LineageTable(rows, lineage_frame(rows), COLUMNS)


def places(figure: dict[str, Any], name: str) -> list[float]:
    dimension = next(one for one in figure["data"][0]["dimensions"] if one["name"] == name)
    return np.frombuffer(base64.b64decode(dimension["values"]["bdata"]), np.float64).tolist()


def meta(figure: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in figure["layout"]["meta"]["axes"] if one["name"] == name)


def figure(runs: dict[str, dict[str, Setting]] = RUNS, **ask: list[str]) -> dict[str, Any]:
    given = source(runs)
    return drawn(given, LineageTables(given, model_table), ask)  # type: ignore[no-any-return]


def test_missing_nan_and_infinite_values_stand_apart_from_numbers() -> None:
    made = figure(col=["learning_rate", "loss", "metric/acc/top:1"])
    assert made["layout"]["meta"]["keys"] == list(RUNS)
    assert places(made, "learning_rate") == [0.1, 0.001, 0.0]
    loss, accuracy = meta(made, "loss"), meta(made, "metric/acc/top:1")
    assert list(loss["apart"]) == ["NaN", "missing"]
    assert places(made, "loss") == [loss["apart"]["NaN"], loss["apart"]["missing"], 0.25]
    assert loss["apart"]["missing"] < loss["apart"]["NaN"] < loss["low"] <= 0.25 <= loss["high"]
    assert places(made, "metric/acc/top:1") == [0.5, accuracy["apart"]["+Inf"], accuracy["apart"]["missing"]]
    assert accuracy["apart"]["+Inf"] > accuracy["high"]


def test_a_logarithmic_axis_has_logarithms_and_what_is_not_positive_below() -> None:
    made = figure(col=["learning_rate"], log=["learning_rate"])
    about = meta(made, "learning_rate")
    assert about["scale"] == "log"
    assert places(made, "learning_rate") == pytest.approx([-1.0, -3.0, about["apart"]["≤ 0"]])
    assert meta(figure(col=["optimizer"], log=["optimizer"]), "optimizer")["scale"] == "linear"


def test_texts_and_mixed_columns_have_categories() -> None:
    made = figure(col=["optimizer", "user_defined/学习率", "user_defined/flag", "user_defined/" + LONG])
    assert meta(made, "optimizer")["categories"] == ["Adam", "SGD"]
    assert places(made, "optimizer")[:2] == [0.0, 1.0]
    assert meta(made, "user_defined/学习率")["categories"] == ["2", "auto"]
    assert meta(made, "user_defined/flag")["categories"] == ["true"]
    assert len(meta(made, "user_defined/" + LONG)["categories"][0]) == 200
    assert figure(col=["network"])["data"][0]["dimensions"][0]["ticktext"] == ["missing", "<b>LeNet</b>"]


def test_names_of_columns_are_text() -> None:
    (dimension,) = figure({"a": {"user_defined/<b>": 1}}, col=["user_defined/<b>"])["data"][0]["dimensions"]
    assert dimension["label"].endswith("<b>")


def test_hidden_runs_and_unknown_columns_are_left_out() -> None:
    made = figure(col=["epoch", "path", "nothing", "learning_rate"], hide=["a", "nobody"])
    assert [one["name"] for one in made["data"][0]["dimensions"]] == ["epoch", "learning_rate"]
    assert made["layout"]["meta"]["keys"] == ["team/a", "b"]
    assert places(made, "learning_rate") == [0.001, 0.0]


@pytest.mark.parametrize("colour", [[], ["run"], ["loss"], ["optimizer"], ["nothing"]])
def test_lines_have_a_colour_for_each_run(colour: list[str]) -> None:
    line = figure(col=["epoch"], colour=colour)["data"][0]["line"]
    if isinstance(line["color"], dict):
        codes = np.frombuffer(base64.b64decode(line["color"]["bdata"]), np.float64)
        assert len(codes) == len(RUNS)
        assert ((line["cmin"] <= codes) & (codes <= line["cmax"])).all()
        assert [stop for stop, _ in line["colorscale"]] == sorted(stop for stop, _ in line["colorscale"])


def placed(value: float, scale: str, constant: float) -> float:
    if scale == "symlog":
        return math.copysign(math.log10(1 + abs(value) / constant), value)
    return math.log10(value) if scale == "log" else value


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([1.0, 2.0, 3.0, 1e12], "log"), ([1e-5, 1e-4, 1e-3, 1e-1], "log"), ([-1.0, 0.0, 2.0, 1e12], "symlog"),
        ([-1e9, 0.5, 1.5, 1.0], "symlog"), ([0.0, 1e-4, 1e-3, 50.0], "symlog"), ([0.1, 0.2, 0.9], "linear"),
        ([1e12, 1e12, 2e12, 1.0], "linear"), ([-1.0, 0.001, 0.9], "linear"), ([5.0], "linear"), ([], "linear"),
        ([math.nan, math.inf, 1.0, 2.0], "linear"), ([0.0, 0.0], "linear"), ([5e-324, 1e300, 2.0], "log"),
    ],
)  # fmt: skip
def test_a_value_far_off_does_not_press_the_others_together(values: list[float], wanted: str) -> None:
    runs: dict[str, dict[str, Setting]] = {str(n): {"metric/m": value} for n, value in enumerate(values)}
    assert usual_scale(np.array(values)) == wanted
    if values:
        made = figure(runs, col=["metric/m"])
        assert meta(made, "metric/m")["scale"] == wanted
        assert meta(figure(runs, col=["metric/m"], linear=["metric/m"]), "metric/m")["scale"] == "linear"
        assert sheet(table(runs))["columns"][0]["scale"] == wanted


def test_ticks_of_a_symmetric_axis_are_powers_of_ten() -> None:
    runs: dict[str, dict[str, Setting]] = {str(n): {"metric/m": float(value)} for n, value in enumerate([-4e6, *range(9), 3e9])}
    (dimension,) = figure(runs, col=["metric/m"])["data"][0]["dimensions"]
    written = dimension["ticktext"]
    assert written[written.index("0") :] == ["0", "1000", "1e+06", "1e+09"]
    assert written[0] == "-1e+06"


NUMBERS = st.one_of(st.none(), st.floats(), st.integers(-(2**62), 2**62))


@given(st.lists(NUMBERS, max_size=30), st.sampled_from(["linear", "log", "symlog"]))
@example([6.740490382306958e18, *[2.2250738585072014e-308] * 3], "symlog")
@example([179769314.0, *[2.2250738585072014e-308] * 3], "symlog")
@settings(max_examples=examples(200), deadline=None)
def test_any_numbers_have_places_within_the_axis(values: list[float | None], scale: str) -> None:
    runs = {str(n): {} if value is None else {"metric/m": value} for n, value in enumerate(values)}
    made = table({"first": {"metric/m": 0.5}, **runs})
    one = axis("metric/m", made.frame["metric/m"], made.recorded("metric/m"), scale=scale)
    low, high = one.ends
    assert math.isfinite(high - low)
    assert low < high
    assert ((low <= one.places) & (one.places <= high)).all()
    ticks = [place for place, _ in one.ticks]
    assert ticks == sorted(set(ticks))
    assert all(low <= place <= high for place in ticks)
    for value, place in zip([0.5, *values], one.places, strict=True):
        if value is None:
            assert place == one.apart["missing"]
        elif not one.categories and abs(value) <= 1e300 and not (one.scale == "log" and value <= 0):
            assert place == pytest.approx(placed(value, one.scale, one.constant), rel=1e-9, abs=1e-12)


def test_the_sheet_says_what_was_recorded() -> None:
    made = sheet(table())
    json.dumps(made, allow_nan=False)
    columns = {column["name"]: column for column in made["columns"]}
    assert made["keys"] == list(RUNS)
    assert columns["loss"]["values"] == ["NaN", None, 0.25]
    assert columns["epoch"]["values"] == [3, 3, None]
    assert columns["metric/acc/top:1"]["values"] == [0.5, "Infinity", None]
    assert columns["user_defined/学习率"]["values"] == [None, "2", "auto"]
    assert columns["user_defined/flag"]["values"] == [None, None, "true"]
    assert not columns["epoch"]["differs"]
    assert columns["learning_rate"]["differs"]
    assert "batch_size" not in columns
    assert [group_of(name) for name in columns] == sorted(
        (group_of(name) for name in columns), key=["user", "hyper", "metric", "dataset", "other"].index
    )


def test_no_run_and_one_run_are_shown() -> None:
    assert sheet(table({}))["columns"] == []
    assert figure({}, col=["loss"])["data"][0]["dimensions"] == []
    one = table({"a": RUNS["a"]})
    assert set(default_columns(one)) == set(RUNS["a"])
    assert places(figure({"a": RUNS["a"]}, col=["epoch"]), "epoch") == [3.0]


def test_a_sheet_is_sent_once() -> None:
    tables = LineageTables(source(), model_table)
    first, stamp = filled(tables, None)
    assert first["stamp"] == stamp
    assert filled(tables, stamp) != (first, stamp)
    with pytest.raises(BadInput):
        filled(tables, [1])


@pytest.mark.parametrize("data", [
    [], "col", {"col": "a"}, {"col": [1]}, {"col": [str(n) for n in range(MOST_AXES + 1)]}, {"hide": [None]},
    {"log": {"a": 1}}, {"hide": [str(n) for n in range(10_001)]}, {"colour": [1]},
])  # fmt: skip
def test_what_no_page_sends_is_refused(data: object) -> None:
    with pytest.raises(BadInput):
        AxesRequest.read(data)


def test_long_texts_keep_beginning_and_end() -> None:
    text = "a" * 150 + "b" * 150
    assert len(brief(text)) == 200
    assert brief(text).startswith("a" * 100)
    assert brief(text).endswith("b" * 99)
    assert brief("short") == "short"


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        ({}, ""), ({"loss": 20, "metric/acc": 3}, "loss"), ({"loss": 20, "metric/acc": 20}, "metric/acc"),
        ({"last/loss": 20, "best/loss": 20, "loss": 19, "metric/acc": 16}, "metric/acc"),
        ({"last/loss": 20, "best/loss": 20}, "best/loss"), ({"metric/a": 5, "metric/b": 6}, "metric/b"), ({"loss": 0}, ""),
    ],
)  # fmt: skip
def test_the_main_result_is_one_that_most_runs_have(known: dict[str, int], wanted: str) -> None:
    assert main_result(known) == wanted


def test_a_sheet_opens_on_the_main_result_and_leaves_out_names() -> None:
    runs: dict[str, dict[str, Setting]] = {
        f"run{n}": {
            "loss": 1.0 / (n + 1), "metric/acc": 0.5 + n / 100, "metric/rare": 1.0 * n if n < 3 else None, "best/x": 7.0,
            "user_defined/name": f"run {n}", "user_defined/kind": "ab"[n % 2], "epoch": 3, "batch_size": 16 * (1 + n % 4),
            **{f"last/tag{k}": float(n * k) for k in range(1, 20)},
        }
        for n in range(12)
    }  # type: ignore[dict-item]
    found = sheet(table({run: {k: v for k, v in one.items() if v is not None} for run, one in runs.items()}))
    assert (found["colour"], found["sort"], found["ranked"][0]) == ("metric/acc", "-metric/acc", "metric/acc")
    assert set(found["ranked"]) == set(found["default"])
    assert "metric/acc" in found["default"]
    assert {"user_defined/kind", "batch_size", "loss"} < set(found["default"])
    assert not {"user_defined/name", "epoch", "best/x"} & set(found["default"])
    losses = {run: {"loss": one["loss"], "epoch": n} for n, (run, one) in enumerate(runs.items())}
    assert sheet(table(losses))["sort"] == "+loss"
    assert sheet(table({"a": {"epoch": 1}}))["sort"] == ""


def test_the_key_to_the_colours_has_the_ticks_of_the_axis() -> None:
    runs: dict[str, dict[str, Setting]] = {str(n): {"metric/m": float(n), "optimizer": "ab"[n % 2]} for n in range(4)}
    key = figure(runs | {"none": {"epoch": 1}}, col=["metric/m"], colour=["metric/m"])["layout"]["meta"]["key"]
    assert key["ticks"] == [[0.0, "0"], [0.3333, "1"], [0.6667, "2"], [1.0, "3"]]
    assert key["apart"]
    assert key["stops"] == list(SCALES["viridis"][:-1])
    key = figure(runs, col=["metric/m"], colour=["optimizer"])["layout"]["meta"]["key"]
    assert [text for _, text in key["entries"]] == ["a", "b"]
    assert (key["left"], key["apart"]) == (0, False)
    assert "key" not in figure(runs, col=["metric/m"], colour=["run"])["layout"]["meta"]

"""The optimisation target page: what is said of a result and its settings is what numpy says, whatever runs recorded."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import scipy.stats
from dash import no_update
from hypothesis import given, settings
from hypothesis import strategies as st

from layouts.kit.state import BadInput
from layouts.lineage.model_columns import table as model_table
from layouts.lineage.optimisation.asks import ExplanationRequest
from layouts.lineage.optimisation.drawing import MOST_CATEGORIES
from layouts.lineage.optimisation.page import drawn, explained, fitting
from layouts.lineage.source import Fitting
from layouts.lineage.table import LineageTables
from parsers import LineageRow, Setting
from parsers.analysis import Shares, variance_shares
from tests.amounts import examples
from tests.sources import MemorySource, series
from tests.sources.lineage import MemoryLineage

LONG = "名" * 10_000
LRS = [0.1, 0.01, 0.001, 0.1, 0.01, 0.001, 0.1, 0.01, 0.001, 0.1, 0.01, 0.001]
RUNS: dict[str, dict[str, Setting]] = {
    f"run{n}": {
        "learning_rate": lr, "optimizer": ("Adam", "SGD", "Adam")[n // 4], "epoch": 3, "user_defined/<b>": f"tag {n}",
        "metric/acc": 0.5 - 0.1 * math.log10(lr) + 0.01 * (n // 4) + 0.001 * n,
    }
    for n, lr in enumerate(LRS)
}  # fmt: skip


class Growing(MemoryLineage):
    """Says how far shares have come, and keeps what was asked."""

    asked: tuple[list[str], str, str] = ([], "", "")
    answer = Fitting("missing")

    def fitting(self, rows: Sequence[LineageRow], target: str, act: str = "") -> Fitting:
        self.asked = ([one.run for one in rows], target, act)
        return self.answer


def source(runs: dict[str, dict[str, Setting]] = RUNS) -> MemorySource:
    return MemorySource({key: {"settings": settings} for key, settings in runs.items()}, lineage=Growing)


def sheet(runs: dict[str, dict[str, Setting]] = RUNS, **ask: list[str]) -> dict[str, Any]:
    given = source(runs)
    found, stamp = explained(given, LineageTables(given, model_table), ask, None)
    json.dumps(found, allow_nan=False)
    assert found["stamp"] == stamp
    return found  # type: ignore[no-any-return]


def drawing(runs: dict[str, dict[str, Setting]] = RUNS, **ask: list[str]) -> dict[str, Any]:
    given = source(runs)
    found = drawn(given, LineageTables(given, model_table), ask)
    json.dumps(found, allow_nan=False)
    return found  # type: ignore[no-any-return]


def array(spec: dict[str, str]) -> list[float]:
    return np.frombuffer(base64.b64decode(spec["bdata"]), spec["dtype"]).astype(float).tolist()


def trace(found: dict[str, Any], role: str) -> dict[str, Any]:
    return next(one for one in found["figure"]["data"] if one["meta"]["role"] == role)


def test_the_sheet_says_how_strong_each_relation_is_or_why_not() -> None:
    found = sheet()
    assert (found["target"], found["runs"], found["chosen"], found["total"]) == ("metric/acc", 12, 12, 12)
    rows = {one["setting"]: one for one in found["rows"]}
    accuracy = [one["metric/acc"] for one in RUNS.values()]
    assert rows["learning_rate"]["linear"][0] == pytest.approx(abs(np.corrcoef(LRS, accuracy)[0, 1]), abs=1e-6)
    assert (rows["learning_rate"]["shape"], rows["learning_rate"]["tried"]) == ("down", ["0.001", "0.1"])
    assert rows["epoch"]["tried"] == rows["optimizer"]["tried"] == []
    assert rows["learning_rate"]["linear"][1] < rows["learning_rate"]["linear"][0] < rows["learning_rate"]["linear"][2]
    assert {name: one["reason"] for name, one in rows.items()} == {
        "learning_rate": "", "optimizer": "", "epoch": "constant", "user_defined/<b>": "unique",
    }  # fmt: skip
    assert rows["epoch"]["linear"] == [None, None, None]
    assert found["settings"]["learning_rate"] == ["Learning rate", "学习率"]
    bars = found["figure"]["data"][0]
    assert sum(array(bars["y"])) == 12
    assert array(bars["x"])[0] - array(bars["width"])[0] / 2 == pytest.approx(min(accuracy))


def test_only_the_runs_of_the_address_count() -> None:
    found = sheet(run=["run0", "run1", "run5", "gone"])
    assert (found["chosen"], found["total"], found["runs"]) == (3, 12, 3)
    assert sheet(run=[""])["target"] == ""
    assert sheet(run=["*"])["runs"] == 12


def test_last_and_best_values_of_scalars_are_results() -> None:
    given = source({key: {"learning_rate": lr} for key, lr in zip(RUNS, LRS, strict=False)})
    for seed, content in enumerate(given.data.values()):
        content["scalar"] = {"loss": series(20, seed)}
    found, _ = explained(given, LineageTables(given, model_table), {"target": ["last/loss"]}, None)
    assert [one["name"] for one in found["targets"]] == ["best/loss", "last/loss"]
    assert (found["target"], found["runs"]) == ("last/loss", 12)
    assert found["targets"][1]["label"] == ("Last loss", "最新 loss")


def test_nothing_to_explain() -> None:
    assert (sheet({})["target"], sheet({})["total"]) == ("", 0)
    assert sheet({"a": {"epoch": 1}})["target"] == ""
    one = sheet({"a": RUNS["run0"]})
    assert {row["reason"] for row in one["rows"]} == {"few"}
    assert drawing({"a": RUNS["run0"]}, setting=["learning_rate"])["pairs"] == []


@pytest.mark.parametrize("name", ["seed", "random_seed", "dataSeed", "seed_2"])
def test_a_seed_has_a_strength_but_no_best_value(name: str) -> None:
    name = f"user_defined/{name}"
    runs: dict[str, dict[str, Setting]] = {key: {**one, name: n} for n, (key, one) in enumerate(RUNS.items())}
    rows = {one["setting"]: one for one in sheet(runs)["rows"]}
    assert {setting for setting, one in rows.items() if one["seed"]} == {name}
    assert rows[name]["reason"] == ""
    assert drawing(runs, setting=[name])["figure"]["layout"]["meta"]["best"] is None


@pytest.mark.parametrize("name", ["seedling", "proceeds", "reseeding"])
def test_other_words_with_its_letters_are_no_seed(name: str) -> None:
    runs: dict[str, dict[str, Setting]] = {key: {**one, f"user_defined/{name}": n} for n, (key, one) in enumerate(RUNS.items())}
    assert not any(one["seed"] for one in sheet(runs)["rows"])


def test_a_chart_of_numbers_has_the_trend_and_its_band() -> None:
    found = drawing(setting=["learning_rate"])
    points, line, band = trace(found, "runs"), trace(found, "trend"), trace(found, "band")
    accuracy = [one["metric/acc"] for one in RUNS.values()]
    assert array(points["x"]) == LRS
    assert array(points["y"]) == accuracy
    assert points["customdata"] == list(RUNS)
    slope, start = np.polyfit(np.log10(LRS), accuracy, 1)  # three decades: a logarithmic axis
    meta = found["figure"]["layout"]["meta"]
    assert (meta["log"], meta["logs"], meta["runs"], meta["tried"]) == (True, True, 12, ["0.001", "0.1"])
    assert array(line["x"])[0] == pytest.approx(0.001)
    assert array(line["y"]) == pytest.approx(start + slope * np.log10(array(line["x"])), abs=1e-6)
    assert float(meta["slope"]) == pytest.approx(slope, rel=1e-3)
    assert len(array(band["x"])) == 2 * len(array(line["x"]))
    assert meta["shape"] == "down"
    assert meta["best"][0] == "0.001"
    assert meta["best"][3] == -1
    straight = drawing(setting=["learning_rate"], log=["0"])
    assert straight["figure"]["layout"]["xaxis"]["type"] == "linear"
    assert straight["figure"]["layout"]["meta"]["shape"] == "down"


def test_a_trend_holds_between_the_values_of_the_runs_that_have_the_result() -> None:
    runs: dict[str, dict[str, Setting]] = {**RUNS, "failed": {"learning_rate": 10.0, "metric/acc": math.nan}}
    assert drawing(runs, setting=["learning_rate"])["figure"]["layout"]["meta"]["tried"] == ["0.001", "0.1"]
    assert {one["setting"]: one for one in sheet(runs)["rows"]}["learning_rate"]["tried"] == ["0.001", "0.1"]
    assert drawing(runs, setting=["optimizer"])["figure"]["layout"]["meta"]["tried"] == []


def test_a_peak_is_a_curve_with_its_best_region() -> None:
    rng = np.random.default_rng(3)
    rates = 10.0 ** rng.uniform(-4, 0, 80)
    runs: dict[str, dict[str, Setting]] = {
        f"r{n}": {"learning_rate": float(rate), "metric/acc": float(0.9 - 0.1 * (np.log10(rate) + 2.2) ** 2 + 0.01 * noise)}
        for n, (rate, noise) in enumerate(zip(rates, rng.normal(size=80), strict=True))
    }
    found = drawing(runs, setting=["learning_rate"])
    meta = found["figure"]["layout"]["meta"]
    at, low, high = (float(one) for one in meta["best"][:3])
    assert low <= 10**-2.2 <= high
    assert at == pytest.approx(10**-2.2, rel=0.3)
    assert (meta["shape"], meta["slope"], meta["best"][3]) == ("peak", "", 0)
    assert next(one for one in sheet(runs)["rows"] if one["setting"] == "learning_rate")["shape"] == "peak"
    line = trace(found, "trend")
    wanted = 0.9 - 0.1 * (np.log10(array(line["x"])) + 2.2) ** 2
    assert np.abs(np.array(array(line["y"])) - wanted).max() < 0.02


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(60), deadline=None)
def test_arrow_line_and_rho_never_contradict_each_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    x, y = np.exp(rng.normal(size=n) * rng.uniform(0.1, 3)), rng.standard_t(1.5, n)
    runs: dict[str, dict[str, Setting]] = {
        f"r{i}": {"learning_rate": one, "metric/acc": other}
        for i, (one, other) in enumerate(zip(x.tolist(), y.tolist(), strict=True))
    }
    rho = scipy.stats.spearmanr(x, y).statistic
    for log in ([], ["0"], ["1"]):
        found = drawing(runs, setting=["learning_rate"], **({"log": log} if log else {}))
        shape = found["figure"]["layout"]["meta"]["shape"]
        lines = [one for one in found["figure"]["data"] if one["meta"]["role"] == "trend"]
        if shape in ("up", "down"):
            drawn = array(lines[0]["y"])
            assert np.sign(rho) == np.sign(drawn[-1] - drawn[0]) == (1 if shape == "up" else -1)
        elif not shape:
            assert found["figure"]["layout"]["meta"]["slope"] == ""
    (row,) = [one for one in sheet(runs)["rows"] if one["setting"] == "learning_rate"]
    assert row["shape"] == drawing(runs, setting=["learning_rate"])["figure"]["layout"]["meta"]["shape"]


def test_a_chart_of_categories_has_boxes() -> None:
    found = drawing(setting=["optimizer"])
    points, boxes = trace(found, "runs"), trace(found, "boxes")
    assert found["figure"]["layout"]["xaxis"]["ticktext"] == ["Adam", "SGD"]
    assert array(boxes["x"]) == [0.0] * 4 + [1.0] * 4 + [0.0] * 4
    assert np.abs(np.array(array(points["x"])) - array(boxes["x"])).max() < 0.3
    many = {f"r{n}": {"user_defined/kind": f"{n % 40}", "metric/acc": float(n)} for n in range(90)}
    meta = drawing(many, setting=["user_defined/kind"])["figure"]["layout"]["meta"]
    assert (meta["categories"], meta["left"]) == (MOST_CATEGORIES, 40 - MOST_CATEGORIES)


def test_pairs_differ_in_the_setting_alone_where_any_do() -> None:
    found = drawing(setting=["learning_rate"])
    assert found["also"] == []
    assert found["total"] == len(found["pairs"]) == 4  # of Adam 0.001-0.01 and 0.01-0.1, of SGD the same
    for pair in found["pairs"]:
        first, second = (RUNS[key] for key in pair["runs"])
        assert first["optimizer"] == second["optimizer"]
        assert first["learning_rate"] != second["learning_rate"]
        assert pair["values"] == [str(first["learning_rate"]), str(second["learning_rate"])]
        apart_by = float(second["metric/acc"]) - float(first["metric/acc"])
        assert float(pair["difference"].replace("\u2212", "-")) == pytest.approx(apart_by, rel=1e-2)
    apart: dict[str, dict[str, Setting]] = {
        "a": {"learning_rate": 0.1, "epoch": 1, "metric/acc": 1.0}, "b": {"learning_rate": 0.2, "epoch": 2, "metric/acc": 2.0},
    }  # fmt: skip
    nearest = drawing(apart, setting=["learning_rate"])
    assert nearest["also"] == [["Epochs", "训练轮次"]]
    assert nearest["pairs"][0]["runs"] == ["a", "b"]


def test_a_setting_nobody_recorded_is_no_chart() -> None:
    assert drawing(setting=["nothing"])["figure"] is None
    assert drawing(setting=["metric/acc"])["figure"] is None


def test_shares_are_asked_for_the_runs_on_screen() -> None:
    given = source()
    tables = LineageTables(given, model_table)
    assert fitting(given, tables, {})["state"] == "missing"
    rng = np.random.default_rng(1)
    runs = {f"r{n}": {"user_defined/x": float(x), "metric/acc": float(x)} for n, x in enumerate(rng.normal(size=30))}
    given = source(runs)
    tables = LineageTables(given, model_table)
    last: Shares = list(variance_shares(tables.table().frame, "metric/acc", refits=3))[-1]
    given.lineage.answer = Fitting("fitting", 40, last)
    found = fitting(given, tables, {"run": [f"r{n}" for n in range(20)], "act": ["again"]})
    json.dumps(found, allow_nan=False)
    assert given.lineage.asked == ([f"r{n}" for n in range(20)], "metric/acc", "again")
    assert (found["state"], found["done"], found["total"]) == ("fitting", 3, 40)
    assert found["shares"]["user_defined/x"][0] == pytest.approx(last.importance["importance"].iloc[0], abs=1e-6)
    assert len(found["shares"]["user_defined/x"]) == 3
    assert found["tied"] == []
    assert found["fit"] == pytest.approx(last.fit, abs=1e-4)
    assert fitting(source({}), LineageTables(source({}), model_table), {}) is no_update


def test_settings_that_explain_nothing_have_no_shares() -> None:
    rng = np.random.default_rng(2)
    runs = {f"r{n}": {"user_defined/x": float(x), "metric/acc": float(y)} for n, (x, y) in enumerate(rng.normal(size=(30, 2)))}
    given = source(runs)
    tables = LineageTables(given, model_table)
    last: Shares = list(variance_shares(tables.table().frame, "metric/acc"))[-1]
    assert last.fit <= 0.05
    given.lineage.answer = Fitting("fitted", 40, last)
    found = fitting(given, tables, {"run": list(runs)})
    assert (found["judged"], found["shares"]) == (False, {})


def test_a_sheet_is_sent_once() -> None:
    given = source()
    tables = LineageTables(given, model_table)
    found, stamp = explained(given, tables, {}, None)
    assert explained(given, tables, {}, stamp) == (no_update, no_update)
    assert explained(given, tables, None, stamp) == (no_update, no_update)
    assert fitting(given, tables, None) is drawn(given, tables, None) is no_update
    with pytest.raises(BadInput):
        explained(given, tables, {}, [found])


@pytest.mark.parametrize("data", [[], "x", {"target": "a"}, {"act": ["go"]}, {"log": ["2"]}, {"run": [1]}, {"setting": [None]}])
def test_what_no_page_sends_is_refused(data: object) -> None:
    with pytest.raises(BadInput):
        ExplanationRequest.read(data)


value = st.one_of(st.floats(), st.integers(-(2**70), 2**70), st.text(max_size=6), st.just(LONG), st.booleans())
run = st.fixed_dictionaries(
    {},
    optional={"learning_rate": st.floats(), "user_defined/学:习/率": value, "user_defined/" + LONG: value,
              "metric/m": st.floats(), "optimizer": st.text(max_size=4)},
)  # fmt: skip


@pytest.mark.long
@given(st.lists(run, max_size=14))
@settings(max_examples=examples(60), deadline=None)
def test_any_runs_are_shown(runs: list[dict[str, Setting]]) -> None:
    named = {f"run{n}": one for n, one in enumerate(runs)}
    found = sheet(named)
    assert len(json.dumps(found)) < 200_000
    for one in found["rows"]:
        assert one["reason"] or 0 <= one["linear"][0] <= 1
        drawing(named, setting=[one["setting"]])
        drawing(named, setting=[one["setting"]], log=["1"])


def test_the_best_run_is_named_with_its_settings_and_how_many_are_equal() -> None:
    runs: dict[str, dict[str, Setting]] = {
        f"run{n}": {"learning_rate": lr, "metric/acc": acc, "metric/loss": 1 - acc, "metric/width": acc}
        for n, (lr, acc) in enumerate([(0.1, 0.5), (0.01, 0.9), (0.02, 0.9), (0.3, math.nan)])
    }
    best = sheet(runs, target=["metric/acc"])["best"]
    assert best == {"run": "run1", "value": "0.9000", "settings": {"learning_rate": "0.01"}, "equal": 1,
                    "other": {"run": "run2", "settings": {"learning_rate": "0.02"}}}  # fmt: skip
    assert sheet({"run0": runs["run0"]}, target=["metric/acc"])["best"]["other"] is None
    lowest = sheet(runs, target=["metric/loss"])["best"]
    assert (lowest["run"], lowest["value"]) == ("run1", "0.1000")
    assert sheet(runs, target=["metric/width"])["best"] is None

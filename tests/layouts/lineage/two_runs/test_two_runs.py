"""What the page about two runs says of them, against values counted here."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plotly.utils import PlotlyJSONEncoder

from app.store.store import Store
from layouts.dumps.dumped_graphs import RunGraphs
from layouts.graphs.graph_views import Views
from layouts.kit.state import BadInput
from layouts.lineage.two_runs import sections
from layouts.lineage.two_runs.differences import final_value, metrics, pipelines, scalars, settings
from layouts.lineage.two_runs.files import file
from layouts.lineage.two_runs.graphs import graphs
from layouts.lineage.two_runs.page import SECTIONS, compiled, named, plotted, two_runs
from layouts.lineage.two_runs.run_pair import pair, pair_of
from parsers import DatasetGraph, GraphLocation, Series, Setting
from parsers.analysis.lineage.pipelines import MISSING
from tests.layouts.graphs.dataset.pipelines import node, pipeline_source
from tests.pages import page_named
from tests.sources import MemorySource, row, series

PAGE = page_named("two_runs")

DATA = os.environ.get("MINDSCOPE_TEST_DATA", "")
ODD = '<b>odd</b> "run"/%2F/名称 🚀'


def given(**described: Mapping[str, Setting]) -> MemorySource:
    keys = ["one", "two", ODD]
    return MemorySource({
        key: {"scalar": dict.fromkeys(("loss", "acc"), series(50, seed)), "settings": described.get(key, {})}
        for seed, key in enumerate(keys)
    })  # fmt: skip


def values(*numbers: float) -> Series:
    step = np.arange(len(numbers), dtype=np.int64) * 10
    return Series(step, 1e9 + step, np.array(numbers), np.zeros(len(numbers), np.int32), step)


def test_which_two_runs() -> None:
    source = given()
    runs = [pair_of(source, state) for state in (
        {}, {"run": ["two", ODD]}, {"one": [ODD]}, {"other": ["one"]}, {"one": ["two"], "other": ["one"]}, {"one": ["gone"]},
        {"run": ["two"]},
    )]  # fmt: skip
    assert [found and found.runs for found in runs] == [
        ("one", "two"), ("two", ODD), (ODD, "one"), ("two", "one"), ("two", "one"), ("one", "two"), ("two", "one"),
    ]  # fmt: skip
    alone = MemorySource({"one": {"scalar": {"loss": series(50, 0)}}})
    assert pair_of(alone, {"run": ["one"]}) is None
    assert pair_of(MemorySource(), {}) is None
    assert two_runs(MemorySource(), {}) == {"runs": []}
    found = two_runs(source, {})
    assert found["versions"] == [1, 1]
    assert source.wanted == ["one", "two"]
    assert len(set(found["colours"])) == 2
    for bad in (None, {}, {"runs": "ab"}, {"runs": ["one"]}, {"runs": ["one", 2]}, {"runs": ["one", "gone"]}):
        with pytest.raises(BadInput):
            named(source, bad)


@pytest.mark.parametrize("section", [sections.heading, sections.curves])
def test_a_run_that_is_deleted_after_the_pair_was_chosen_is_no_error(
    section: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = given()
    chosen = pair(source, ("one", "two"))
    whole = json.dumps(section(source, chosen), cls=PlotlyJSONEncoder)
    monkeypatch.setattr(source.runs, "rows", lambda: [one for one in given().runs.rows() if one.key != "one"])
    read = source.curves.series
    monkeypatch.setattr(source.curves, "series", lambda run, tag: None if run == "one" else read(run, tag))
    left = json.dumps(section(source, chosen), cls=PlotlyJSONEncoder)
    assert (left == whole) == (section is sections.heading)


def test_the_newest_runs_that_share_most_are_compared() -> None:
    def run(tags: str, **settings: Setting) -> dict[str, Any]:
        return {"scalar": {tag: series(5) for tag in tags}, "settings": settings}

    source = MemorySource({
        "odd": run("x"), "new": run("ab", epoch=1, loss=2.0), "other": run("abc", epoch=2),
        "more": run("abc", epoch=2, loss=1.0), "old": run("ab", epoch=1, loss=2.0),
    })  # fmt: skip
    for state, wanted in (
        ({}, ("new", "more")), ({"run": ["odd", "new", "other"]}, ("new", "other")), ({"one": ["other"]}, ("other", "new")),
        ({"other": ["odd"]}, ("new", "odd")),
    ):  # fmt: skip
        found = pair_of(source, state)
        assert found is not None
        assert found.runs == wanted


def test_two_ranks_of_a_job_are_compared_only_if_nothing_else_is_chosen() -> None:
    ranks = row("job", members=("job/rank_0", "job/rank_1"), tags={"scalar": 1})
    runs = {key: {"scalar": {"loss": series(5)}} for key in ("job/rank_0", "job/rank_1", "single")}
    source = MemorySource(runs, rows=[ranks, row("single", tags={"scalar": 1})])
    assert [pair_of(source, state).runs for state in ({}, {"run": ["job"]})] == [  # type: ignore[union-attr]
        ("job/rank_0", "single"), ("job/rank_0", "job/rank_1"),
    ]  # fmt: skip


def test_a_run_that_grows_is_not_a_reason_to_compare_graphs_anew() -> None:
    def place(order: int) -> GraphLocation:
        return GraphLocation(f"g{order}", "f", 10 * order, 5, 1e9, 0, "", "", order, None, True, None, None)  # type: ignore[arg-type]

    source = MemorySource({"a": {"graph_locations": [place(0)]}, "b": {}}, rows=[row("a"), row("b")])
    before = two_runs(source, {})
    source.change([row("a", version=7), row("b")])
    after = two_runs(source, {})
    assert before != after
    known = compiled(source, before)
    assert compiled(source, after) == known
    source.data["a"]["graph_locations"] = [place(0), place(1)]
    assert compiled(source, after) != known
    assert compiled(source, {"runs": []}) == {"runs": []}


def test_settings_are_compared_as_they_were_recorded() -> None:
    one: dict[str, Setting] = {"batch_size": 32, "user_defined/on": True, "user_defined/nan": math.nan, "optimizer": "Adam",
                               "metric/acc": 0.5, "model_path": "/a"}  # fmt: skip
    other: dict[str, Setting] = {"batch_size": 32, "user_defined/on": 1, "user_defined/nan": math.nan, "user_defined/名": "x",
                                 "metric/acc": "none", "model_path": "/b"}  # fmt: skip
    source = given(one=one, two=other)
    lines = settings(source, ("one", "two"))
    assert [(line.column, line.equal) for line in lines] == [
        ("user_defined/on", False), ("optimizer", False), ("user_defined/名", False), ("batch_size", True),
        ("user_defined/nan", True),
    ]  # fmt: skip
    assert lines[1].values == ("Adam", MISSING)
    assert [(line.column, line.values) for line in metrics(source, ("one", "two"))] == [("metric/acc", (0.5, "none"))]


@pytest.mark.parametrize(
    ("numbers", "direction", "wanted"),
    [
        ((3.0, 1.0, 2.0), "min", (2.0, 20, 1.0, 10)),
        ((3.0, 1.0, 2.0), "max", (2.0, 20, 3.0, 0)),
        ((3.0, 1.0, 2.0), "", (2.0, 20, None, -1)),
        ((-math.inf, 1.0, 2.0), "min", (2.0, 20, 1.0, 10)),
    ],
)
def test_ends_of_a_scalar(numbers: tuple[float, ...], direction: str, wanted: tuple[float | int | None, ...]) -> None:
    end = final_value(values(*numbers), direction)
    assert end is not None
    best = None if math.isnan(end.best) else end.best
    assert (end.last, end.last_step, best, end.best_step) == wanted


def test_a_scalar_without_a_finite_value_has_no_best() -> None:
    end = final_value(values(math.nan, math.inf), "min")
    assert end is not None
    assert (end.last, end.last_step, end.best_step, end.finite_step) == (math.inf, 10, -1, -1)
    assert final_value(values(), "min") is None
    assert final_value(None, "min") is None


def test_scalars_of_both_runs_come_first_and_losses_before_others() -> None:
    one = {"zeta": values(1.0), "acc": values(1.0), "loss": values(3.0)}
    other = {"acc": values(2.0), "loss": values(1.0), "none": values()}
    source = MemorySource({"a": {"scalar": one}, "b": {"scalar": other}})
    assert [(line.tag, line.better, [end is not None for end in line.ends]) for line in scalars(source, ("a", "b"))] == [
        ("loss", "min", [True, True]), ("acc", "max", [True, True]), ("zeta", "", [True, False]),
    ]  # fmt: skip


def test_pipelines_differ_in_parameters_and_operations() -> None:
    def made(size: int) -> DatasetGraph:
        data = node("MnistDataset", sampler=("RandomSampler", {"num_samples": size}))
        return DatasetGraph(node("Batch", data, batch_size=size))

    source = pipeline_source({"a": made(32), "b": made(64), "same": made(32)}, ["none"])
    found = pipelines(source, ("a", "b"))
    assert found is not None
    assert [(line.operation, line.parameter, line.values) for line in found] == [
        ("MnistDataset", "sampler · num_samples", (32, 64)), ("Batch", "batch_size", (32, 64)),
    ]  # fmt: skip
    assert pipelines(source, ("a", "same")) == []
    with pytest.raises(KeyError, match="none"):
        pipelines(source, ("a", "none"))


def test_the_file_holds_every_value_in_full() -> None:
    source = given(one={"learning_rate": 0.1, "metric/acc": 1}, two={"learning_rate": 1e-05})
    answer = file(source, pair(source, ("one", "two")))
    assert answer["filename"] == "one_two.csv"
    rows = list(csv.reader(io.StringIO(answer["content"])))
    assert rows[0] == ["section", "name", "detail", "one", "other"]
    assert ["setting", "learning_rate", "", "0.1", "1e-05"] in rows
    assert ["metric", "metric/acc", "", "1", ""] in rows
    one, other = (source.data[key]["scalar"]["acc"] for key in ("one", "two"))
    assert ["scalar", "acc", "best", repr(float(one.value.max())), repr(float(other.value.max()))] in rows
    assert ["scalar", "acc", "best_step", str(int(one.value.argmax())), str(int(other.value.argmax()))] in rows


def test_hidden_runs_are_not_drawn_as_curves() -> None:
    source = given()
    two = two_runs(source, {})
    assert plotted(two, {}) == {**two, "hide": []}
    hiding = plotted(two, {"hide": ["two", "other"]})
    assert hiding == {**two, "hide": ["two"]}
    found = named(source, hiding)
    assert found is not None
    drawn = json.loads(json.dumps(sections.curves(source, found), default=lambda part: part.to_plotly_json()))
    shown = json.dumps(drawn)
    assert '"key": "one"' in shown
    assert '"key": "two"' not in shown
    assert shown.count('"data-run": "one"') == 2
    assert '"data-run": "two"' not in shown
    with pytest.raises(BadInput):
        named(source, {**two, "hide": "two"})
    nothing = named(source, plotted(two, {"hide": ["one", "two"]}))
    assert nothing is not None
    assert '"key"' not in json.dumps(sections.curves(source, nothing), default=lambda part: part.to_plotly_json())


@pytest.mark.parametrize("name", [name for name in SECTIONS if name != "graph"])
def test_sections_of_runs_with_odd_names_and_no_data_are_drawn(name: str) -> None:
    source = given(one={"user_defined/<b>": "<script>" * 100})
    for runs in (("one", "two"), (ODD, "one")):
        drawn = getattr(sections, name)(source, pair(source, runs))
        json.dumps([part.to_plotly_json() for part in (drawn if isinstance(drawn, list) else [drawn])], default=str)
    bare = MemorySource(rows=[row("a", tags={}, state="empty"), row("b", tags={}, state="waiting")])
    assert getattr(sections, name)(bare, pair(bare, ("a", "b"))) is not None


@pytest.mark.skipif(not DATA, reason="MINDSCOPE_TEST_DATA names no directory of real runs")
def test_graphs_of_real_runs_differ_in_their_optimizers() -> None:
    store = Store([Path(DATA) / "summary"], interval=0).start()
    try:
        assert store.wait(60)
        momentum, adam = "lenet_momentum_lr0.1_b32", "lenet_adam_lr0.01_b64"
        found = graphs(store, Views(RunGraphs(store)), (momentum, adam))
        assert found.nodes == (125, 170)
        types = {name: (one, other) for name, one, other in found.types}
        assert (types["Adam"], types["ApplyMomentum"]) == ((0, 8), (8, 0))
        assert not found.same
        assert graphs(store, Views(RunGraphs(store)), (adam, adam)).same
        with pytest.raises(KeyError, match="nan_inf"):
            graphs(store, Views(RunGraphs(store)), (adam, "nan_inf"))
    finally:
        store.stop()


def test_a_long_name_is_one_the_browser_shortens() -> None:
    key = "a_long_sweep/of_runs_with_seed_0042"
    source = MemorySource(rows=[row(key, size=5), row("b", size=6)])
    told = json.dumps(sections.heading(source, pair(source, (key, "b"))), default=lambda part: part.to_plotly_json())
    assert '"children": "a_long_sweep/of_runs_with_seed_0042", "className": "ms-name"' in told


def test_it_is_a_page_of_every_kind_of_data() -> None:
    assert "scalar" in PAGE.needs
    assert PAGE.path == "two_runs"

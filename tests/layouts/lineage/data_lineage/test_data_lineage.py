"""The data lineage page: its table says what the pipelines of runs were told, and what differs in them."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app import create_app
from app.store.store import Store
from layouts.kit.state import BadInput
from layouts.lineage.callbacks import drawn, filled
from layouts.lineage.data_lineage.detail import detail
from layouts.lineage.pipeline_columns import table
from layouts.lineage.table import LineageTable, LineageTables
from parsers import DatasetGraph, DatasetNode, open_run
from tests.layouts.graphs.dataset.pipelines import chain, node, pipeline_source
from tests.sources import MemorySource

RESIZE = ("Resize", {"size": [32, 32], "interpolation": 0})


def made(batch: int = 32, *, old: bool = False, operations: Any = (RESIZE,)) -> DatasetNode:
    read = node("MnistDataset", dataset_dir="/data", sampler=("RandomSampler", {"num_samples": 0}))
    last = node("Batch", node("Map", read, operations=operations, input_columns=['"image"']), batch_size=batch)
    return replace(last, recorded="BatchDataset") if old else last


def source(*roots: DatasetNode | None) -> MemorySource:
    graphs = {f"run{number}": None if root is None else DatasetGraph(root) for number, root in enumerate(roots)}
    return pipeline_source(graphs, ["no pipeline"])


def column(made_of: LineageTable, name: str) -> list[Any]:
    return [row.values.get(name) for row in made_of.rows]


def test_operations_are_groups_and_what_they_were_told_are_columns() -> None:
    found = table(source(made(), made(64), None, made(32, operations=[RESIZE, ("HWC2CHW", {})])), None)
    assert [row.run for row in found.rows] == ["run0", "run1", "run3"]
    assert column(found, "Batch/batch_size") == [32, 64, 32]
    assert column(found, "Map/Resize/size") == ["32, 32"] * 3
    assert column(found, "Map/input_columns") == ["image"] * 3
    assert column(found, "Map/HWC2CHW") == [None, None, "HWC2CHW"]
    assert column(found, "MnistDataset/sampler/num_samples") == [0, 0, 0]
    operations = found.differing - {"dataset_mark", "runs"}
    assert operations == {"Batch/batch_size", "Map/HWC2CHW"}
    assert found.frame["Batch/batch_size"].dtype == "Int64"
    groups = [title for group, (title, _) in found.about.groups.items() if group.startswith("operation ")]
    assert groups == ["MnistDataset", "Map", "Batch"]


def test_runs_with_an_equal_pipeline_share_a_mark_whatever_their_version_called_it() -> None:
    found = table(source(made(), made(64), made(old=True)), None)
    marks = column(found, "dataset_mark")
    assert marks[0] == marks[2] != marks[1]
    assert column(found, "runs") == [2, 1, 2]


def test_what_most_runs_have_is_told_so_that_others_can_be_marked() -> None:
    sheet, _ = filled(LineageTables(source(made(), made(64), made()), table), None)
    json.dumps(sheet, allow_nan=False)
    columns = {one["name"]: one for one in sheet["columns"]}
    assert columns["Batch/batch_size"]["usual"] == [32]
    assert columns["Map/Resize/size"]["usual"] == []
    assert columns["dataset_mark"]["usual"] == []
    assert "Batch/batch_size" in sheet["default"]
    assert columns["Batch/batch_size"]["full"] == ("Batch batch_size", "Batch batch_size")
    mark = columns["dataset_mark"]["values"][0]
    assert sheet["nodes"]["operation Map"][mark] == 1


def test_a_cell_opens_all_of_its_operation() -> None:
    given = source(made(), made(64))
    mark = DatasetGraph(made(64)).mark
    shown = json.dumps(detail(given, {"node": [f"{mark}:0"]}), default=lambda one: one.to_plotly_json())
    assert "batch_size" in shown
    assert "64" in shown
    map_shown = json.dumps(detail(given, {"node": [f"{mark}:1"]}), default=lambda one: one.to_plotly_json())
    assert "Resize" in map_shown
    assert "Click an operation" not in map_shown
    for gone in ({"node": ["12345678:0"]}, {"node": [f"{mark}:9"]}, {}):
        detail(given, gone)
    with pytest.raises(BadInput):
        detail(given, {"node": ["x:y"]})


def test_the_table_is_made_once_for_each_state() -> None:
    given = source(made(), made(64))
    first = table(given, None)
    assert table(given, first) is first
    given.data["run0"]["dataset_graph"] = DatasetGraph(made(16))
    assert column(table(given, first), "Batch/batch_size") == [16, 64]


def test_no_pipeline_and_odd_ones() -> None:
    assert filled(LineageTables(source(), table), None)[0]["columns"] == []
    odd = node("", node("Map", operations=[("", {"": None}), ("a/b:操作" + "x" * 10_000, {"键": [float("nan"), {"a": 1}]})]))
    given = source(odd, chain(3), node("Zip", chain(3), made()))
    tables = LineageTables(given, table)
    sheet, _ = filled(tables, None)
    json.dumps(sheet, allow_nan=False)
    names = [one["name"] for one in sheet["columns"] if one["axis"]]
    figure = drawn(given, tables, {"col": names[:60]})
    assert len(figure["layout"]["meta"]["keys"]) == 3


def test_exports_say_what_the_table_says(real_data: Path) -> None:
    store = Store([real_data / "summary"], interval=0).start()
    assert store.wait(60)
    client = create_app(store).server.test_client()
    rows = list(csv.DictReader(io.StringIO(client.get("/api/pipelines.csv").get_data(as_text=True))))
    assert len(rows) == 21
    lineage = {row.run: row.settings for row in store.lineage.rows()}
    for row in rows:
        assert int(row["Batch/batch_size"]) == lineage[row["run"]]["batch_size"]
        assert row["dataset_mark"] == lineage[row["run"]]["dataset_mark"]
    assert len({row["dataset_mark"] for row in rows}) == 5
    chosen = client.get("/api/pipelines.json?run=lenet_pynative&col=Batch/batch_size&col=Shuffle/buffer_size").get_json()
    graph = open_run(real_data / "summary" / "lenet_pynative").dataset_graph
    assert graph is not None
    told = {kind: json.loads(parameters) for kind, parameters in graph.nodes[["type", "parameters"]].itertuples(index=False)}
    assert chosen == [
        {"run": "lenet_pynative", "Batch/batch_size": told["Batch"]["batch_size"],
         "Shuffle/buffer_size": told["Shuffle"]["buffer_size"]}
    ]  # fmt: skip
    assert client.get("/api/pipelines.csv?run=nobody").status_code == 404
    assert client.get("/api/pipelines.csv?what=1").status_code == 400
    store.stop()

"""The callbacks as plain functions: what is found, what is told of it, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from dash import html, no_update

from layouts.graphs.dataset.boxes import MOST_BOXES
from layouts.graphs.dataset.page import differences_of, parameters_of, pipelines_of
from layouts.kit.state import BadInput
from layouts.lineage.pipelines import MOST_PIPELINES
from parsers import DatasetGraph
from parsers.lineage.datasets import RecordedPipeline
from tests.layouts.graphs.dataset.pipelines import chain, node, pipeline_source
from tests.layouts.runs.overview.test_overview import parts, words
from tests.sources import MemorySource

ODD = '<script>alert(1)</script> "/../\n名称'
SMALL, LARGE = (DatasetGraph(node("Batch", chain(1), batch_size=size, drop_remainder=True)) for size in (32, 64))


def source() -> MemorySource:
    given = {"new": SMALL, ODD: LARGE, "same": SMALL, "cut": None}
    return pipeline_source(given, ["none"])


def test_runs_with_equal_pipelines_share_a_drawing() -> None:
    found, digest, table = pipelines_of(source(), {"run": ["*"]}, None)
    assert [[run["key"] for run in one["runs"]] for one in found["pipelines"]] == [["new", "same"], [ODD]]
    assert [one["letter"] for one in found["pipelines"]] == ["A", "B"]
    assert found["without"] == ["none"]
    assert [run["key"] for run in found["broken"]] == ["cut"]
    for one in found["pipelines"]:
        marked = [[line["name"] for line in box["lines"] if line["changed"]] for box in one["boxes"]]
        assert marked == [["batch_size"], []]
    cells = [words(cell) for cell in parts(table, html.Td)]
    assert [text.strip() for text in cells] == ["Batch", "batch_size", "32", "64"]
    assert pipelines_of(source(), {"run": ["*"]}, digest) == (no_update,) * 3
    assert pipelines_of(source(), None, None) == (no_update,) * 3
    json.dumps(found)


def test_one_pipeline_is_compared_with_nothing() -> None:
    found, _, table = pipelines_of(source(), {"run": ["new"], "columns": ["3"]}, None)
    assert [one["letter"] for one in found["pipelines"]] == [""]
    assert table is None
    assert pipelines_of(source(), {"run": [""]}, None)[0]["chosen"] == 0
    nothing = pipelines_of(source(), {"run": ["none"]}, None)[0]
    assert (nothing["pipelines"], [run["key"] for run in nothing["elsewhere"]]) == ([], ["new", ODD, "same", "cut"])


def test_the_pipelines_of_all_starts_of_one_run_are_compared() -> None:
    starts = [RecordedPipeline(1.7e9 + 60 * n, graph) for n, graph in enumerate((SMALL, SMALL, LARGE))]
    given = {"new": {"dataset_graph": LARGE, "dataset_graphs": starts}, "same": {"dataset_graph": LARGE}}
    found, _, table = pipelines_of(MemorySource(given), {"run": ["new"]}, None)
    assert [[run["name"] for run in one["runs"]] for one in found["pipelines"]] == [
        ["new · 2023-11-14 22:13:20 UTC"], ["new · 2023-11-14 22:15:20 UTC"],
    ]  # fmt: skip
    assert [words(cell).strip() for cell in parts(table, html.Td)] == ["Batch", "batch_size", "32", "64"]
    beside, _, _ = pipelines_of(MemorySource(given), {"run": ["*"]}, None)
    assert [[run["name"] for run in one["runs"]] for one in beside["pipelines"]] == [["new", "same"]]
    equal = MemorySource({"new": {"dataset_graph": SMALL, "dataset_graphs": starts[:2]}})
    assert [[run["name"] for run in one["runs"]] for one in pipelines_of(equal, {}, None)[0]["pipelines"]] == [["new"]]


def test_more_pipelines_than_are_drawn_are_counted() -> None:
    many = {f"r{n}": DatasetGraph(node("Batch", chain(1), batch_size=n)) for n in range(MOST_PIPELINES + 4)}
    found, _, table = pipelines_of(pipeline_source(many), {"run": ["*"]}, None)
    assert (len(found["pipelines"]), found["left"]) == (MOST_PIPELINES, 4)
    assert len(parts(table, html.Td)) == 2 + MOST_PIPELINES


def test_pipelines_without_end_are_drawn_and_not_compared() -> None:
    wide = {f"r{n}": DatasetGraph(node("Concat", *(node("A") for _ in range(5_000)), count=n)) for n in range(2)}
    found, _, table = pipelines_of(pipeline_source(wide), {}, None)
    assert [len(one["boxes"]) for one in found["pipelines"]] == [MOST_BOXES] * 2
    assert [one["total"] for one in found["pipelines"]] == [5_001] * 2
    assert "but not compared" in words(table)
    assert words(parts(parameters_of(pipeline_source(wide), {"node": [f"{wide['r1'].mark}:0"]}), html.Td)) == "1"


def panel(asked: str, **more: Any) -> Any:
    return parameters_of(source(), {"node": [asked], **more})


def test_the_panel_has_every_parameter_and_both_values_of_what_differs() -> None:
    shown = panel(f"{SMALL.mark}:0")
    rows = {words(line.children[0]): [words(one).strip() for one in parts(line.children[1], html.Span)]
            for line in parts(shown, html.Tr)}  # fmt: skip
    assert rows == {"batch_size": ["A", "32", "B", "64"], "drop_remainder": ["True"]}
    leaf = panel(f"{SMALL.mark}:1")
    assert [words(line.children[0]) for line in parts(leaf, html.Tr)] == ["dataset_dir", "usage", "num_samples"]
    assert "RandomSampler" in words(leaf)
    jumps = [getattr(button, "data-node") for button in parts(leaf, html.Button)]
    assert jumps == [f"{SMALL.mark}:0", f"{LARGE.mark}:1"]


def test_a_long_value_is_folded_and_whole() -> None:
    long = "<img src=x>" * 20_000
    graph = DatasetGraph(node("GeneratorDataset", **{ODD: long}))
    shown = parameters_of(pipeline_source({"a": graph}), {"node": [f"{graph.mark}:0"]})
    [fold] = parts(shown, html.Details)
    assert words(parts(fold, html.Pre)) == long
    assert words(parts(shown, html.Th)) == ODD


@pytest.mark.long
def test_a_node_of_very_many_parameters_says_how_many_are_listed_and_offers_more() -> None:
    operations = [(f"Op{n}", {"a": n, "b": n}) for n in range(2_000)]
    many = DatasetGraph(node("Map", operations=operations, **{f"p{n}": n for n in range(900)}))
    few = parameters_of(pipeline_source({"a": many}), {"node": [f"{many.mark}:0"]})
    assert len(parts(few, html.Tr)) == 500
    assert "500 of 4,900 parameters are listed" in words(few)
    [more] = [one for one in parts(few, html.Button) if hasattr(one, "data-rows")]
    assert "Show 4,900" in words(more)
    every = parameters_of(pipeline_source({"a": many}), {"node": [f"{many.mark}:0"], "rows": [getattr(more, "data-rows")]})
    assert len(parts(every, html.Tr)) == 4_900
    assert "are listed" not in words(every)
    with pytest.raises(BadInput):
        parameters_of(pipeline_source({"a": many}), {"node": [f"{many.mark}:0"], "rows": ["9999999"]})


def test_all_differences_are_saved() -> None:
    many = [DatasetGraph(node("Map", node("MnistDataset"), **{f"p{n}": n * size for n in range(1, 801)})) for size in (1, 2)]
    of = pipeline_source({"=run,1": many[0], "run 2": many[1]})
    assert "300 more differences" in words(pipelines_of(of, {}, None)[2])
    saved = differences_of(of, {})
    assert saved["filename"].endswith(".csv")
    rows = list(csv.DictReader(io.StringIO(saved["content"], newline="")))
    assert len(rows) == 800
    *about, first, second = rows[0]
    assert about == ["operation", "number", "part", "owner", "parameter"]
    assert (first, second) == ("A =run,1", "B run 2")
    told = {(row["parameter"], row[first], row[second]) for row in rows}
    assert ("p7", "7", "14") in told
    assert list(csv.DictReader(io.StringIO(differences_of(pipeline_source({"a": SMALL}), {})["content"]))) == []


def test_an_operation_that_is_not_there_is_none_chosen() -> None:
    for gone in ("", "ffffffff:0", f"{SMALL.mark}:99"):
        assert "Click an operation" in words(panel(gone))
    assert parameters_of(source(), None) is no_update


@pytest.mark.parametrize("bad", [":x", ":-1", "abc", ":1e9", ":٣", ":" + "9" * 5000])
def test_an_operation_named_wrongly_is_refused(bad: str) -> None:
    with pytest.raises(BadInput):
        panel(SMALL.mark + bad)


@pytest.mark.parametrize(
    "bad", [3, [], {"run": "new"}, {"run": [3]}, {"columns": ["x"]}, {"columns": ["0"]}, {"columns": ["nan"]}]
)
def test_anything_else_is_refused(bad: Any) -> None:
    with pytest.raises(BadInput):
        pipelines_of(source(), bad, None)


def test_a_pipeline_that_is_not_whole_says_so() -> None:
    cut = replace(SMALL, problem="Its pipeline is shown to 100 levels; it has more.")
    [one] = pipelines_of(pipeline_source({"a": cut}), {}, None)[0]["pipelines"]
    assert one["problem"] == cut.problem

"""Pipelines compared: exactly what was changed is told, on real pipelines and on made ones."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import DatasetGraph, DatasetNode, open_run
from parsers.analysis.lineage.pipelines import MISSING, ParameterDifference, align, aligned, compare, numbered, pipeline_columns
from tests.layouts.graphs.dataset.pipelines import chain, node


def parameters_of(*roots: DatasetNode) -> list[tuple[str, str, str, tuple[Any, ...]]]:
    places = compare([numbered(DatasetGraph(root)) for root in roots])
    return [(one.part, one.owner, one.key, one.values) for place in places for one in place.differences]


RESIZE = ("Resize", {"size": [32, 32], "interpolation": 0})
RESCALE = ("Rescale", {"rescale": 0.5, "shift": 0.0})


RANDOM = ("RandomSampler", {"num_samples": 0})


def made(batch: int = 32, operations: Any = (RESIZE, RESCALE), sampler: Any = RANDOM) -> DatasetNode:
    read = node("MnistDataset", dataset_dir="/data", sampler=sampler)
    return node("Batch", node("Shuffle", node("Map", read, operations=operations), buffer_size=256), batch_size=batch)


REAL = {
    "lenet_defaults": 32, "lenet_sgd_lr0.05_b48": 48, "lenet_pynative": 64, "lenet_landscape": 96,
    "lenet_adam_lr0.001_b16": 16,
}  # fmt: skip


def test_real_runs_differ_in_their_batch_size_alone(real_data: Path) -> None:
    graphs = []
    for name in REAL:
        graph = open_run(real_data / "summary" / name).dataset_graph
        assert graph is not None
        graphs.append(graph)
    places = compare([numbered(graph) for graph in graphs])
    assert [place.numbers for place in places] == [(n,) * 5 for n in range(5)]
    assert places[0].differences == (ParameterDifference("node", "", "batch_size", tuple(REAL.values()), (0,) * 5),)
    assert all(not place.differences for place in places[1:])


def test_equal_pipelines_differ_in_nothing(real_data: Path) -> None:
    pair = [open_run(real_data / "summary" / name).dataset_graph for name in ("lenet_defaults", "lenet_sink_mode")]
    assert [graph.mark for graph in pair if graph] == ["1559c1a7"] * 2
    assert parameters_of(*(graph.root for graph in pair if graph)) == []


def test_an_operation_that_only_one_has_is_told_and_moves_no_other() -> None:
    one, other = made(), made()
    other = replace(other, children=(node("Repeat", *other.children, count=3),))
    assert parameters_of(one, other) == [("type", "", "", (MISSING, "Repeat"))]
    assert parameters_of(other, one) == [("type", "", "", ("Repeat", MISSING))]


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        (made(batch=64), ("node", "batch_size", (32, 64))),
        (made(operations=[RESIZE, ("Rescale", {"rescale": 0.5, "shift": 1.0})]), ("operation", "shift", (0.0, 1.0))),
        (made(operations=[RESIZE]), ("operation", "", ("Rescale", MISSING))),
        (made(sampler=("RandomSampler", {"num_samples": 5})), ("sampler", "num_samples", (0, 5))),
        (made(sampler=("DistributedSampler", {"num_samples": 0})), ("sampler", "", ("RandomSampler", "DistributedSampler"))),
        (made(sampler=("RandomSampler", {})), ("sampler", "num_samples", (0, MISSING))),
    ],
    ids=["parameter", "operation", "operation left out", "sampler", "other sampler", "parameter left out"],
)
def test_what_was_changed_is_told(changed: DatasetNode, wanted: tuple[Any, ...]) -> None:
    assert [(part, key, values) for part, _, key, values in parameters_of(made(), changed)] == [wanted]


def test_of_three_pipelines_those_that_have_an_operation_are_compared() -> None:
    other = ("Rescale", {"rescale": 0.25, "shift": 0.0})
    found = parameters_of(made(), made(operations=[RESIZE, other]), made(operations=[RESIZE]))
    assert found == [
        ("operation", "Rescale", "", ("Rescale", "Rescale", MISSING)),
        ("operation", "Rescale", "rescale", (0.5, 0.25, MISSING)),
    ]


def test_values_of_two_types_are_two_values() -> None:
    assert parameters_of(node("A", x=1), node("A", x=True)) == [("node", "", "x", (1, True))]
    assert parameters_of(node("A", x=float("nan")), node("A", x=float("nan"))) == []
    assert parameters_of(node("A", x=None), node("A")) == [("node", "", "x", (None, MISSING))]


def test_branches_are_matched_one_by_one() -> None:
    one = node("Zip", made(), node("Repeat", chain(2), count=1))
    other = node("Zip", made(), node("Repeat", chain(2), count=2))
    longer = node("Zip", made(), chain(3), node("Repeat", chain(2), count=1))
    assert parameters_of(one, other) == [("node", "", "count", (1, 2))]
    assert [values for _, _, _, values in parameters_of(one, longer)] == [(MISSING, "Skip")] * 2 + [(MISSING, "MnistDataset")]


@given(st.integers(1, 40), st.data())
def test_edits_of_a_pipeline_are_exactly_what_is_told(length: int, data: Any) -> None:
    edited = data.draw(st.sets(st.integers(0, length - 1)))
    root = node("MnistDataset")
    other = node("MnistDataset")
    for number in range(length):
        root = node("Skip", root, count=number)
        other = node("Skip", other, count=-1 - number if number in edited else number)
    found = {values for part, _, key, values in parameters_of(root, other) if (part, key) == ("node", "count")}
    assert found == {(number, -1 - number) for number in edited}
    assert len(parameters_of(root, other)) == len(edited)


def test_very_many_branches_and_levels_take_no_time() -> None:
    wide = numbered(DatasetGraph(node("Concat", *(node("MnistDataset", place=at) for at in range(10_000)))))
    assert len(aligned(wide, wide)) == 10_001
    deep = numbered(DatasetGraph(chain(100)))
    assert aligned(deep, deep) == {n: n for n in range(100)}


# Any number of pipelines ----------------------------------------------------------------------------------------------

WORDS = st.lists(st.sampled_from("ABC"), min_size=1, max_size=7)


@st.composite
def trees(draw: Any, levels: int = 4) -> DatasetNode:
    children = draw(st.lists(trees(levels - 1), max_size=3)) if levels else []
    return node(draw(st.sampled_from(["Map", "Zip", "Skip", "Batch"])), *children, count=draw(st.integers(0, 2)))


def stretch(words: list[str]) -> DatasetNode:
    found: tuple[DatasetNode, ...] = ()
    for word in reversed(words):
        found = (replace(node(word, *found), kind="operator"),)
    return found[0]


@cache
def common(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Length of the longest common subsequence, by trying everything."""
    if not one or not other:
        return 0
    both = 1 + common(one[1:], other[1:]) if one[0] == other[0] else 0
    return max(both, common(one[1:], other), common(one, other[1:]))


@given(WORDS, WORDS)
def test_no_alignment_has_more_in_common(one: list[str], other: list[str]) -> None:
    graphs = [numbered(DatasetGraph(stretch(words))) for words in (one, other)]
    pairs = aligned(*graphs)
    assert all(one[ours] == other[theirs] for ours, theirs in pairs.items())
    assert list(pairs.values()) == sorted(pairs.values())
    assert len(pairs) == common(tuple(one), tuple(other))


@given(st.lists(trees(), min_size=1, max_size=5))
def test_every_operation_is_in_one_row_below_what_it_feeds(roots: list[DatasetNode]) -> None:
    graphs = [numbered(DatasetGraph(root)) for root in roots]
    rows = align(graphs)
    for at, graph in enumerate(graphs):
        where = {row[at]: place for place, row in enumerate(rows) if row[at] is not None}
        assert sorted(where) == list(range(len(graph.nodes)))
        assert all(where[graph.parents[number]] < where[number] for number in range(1, len(graph.nodes)))
    assert all(any(number is not None for number in row) for row in rows)


@given(trees(), st.integers(1, 4))
def test_a_pipeline_beside_itself_differs_in_nothing(root: DatasetNode, times: int) -> None:
    graph = numbered(DatasetGraph(root))
    assert align([graph] * times) == [(number,) * times for number in range(len(graph.nodes))]
    assert not any(place.differences for place in compare([graph] * times))


def test_what_two_of_three_have_is_one_row() -> None:
    repeated = [replace(made(batch=size), children=(node("Repeat", *made().children, count=size),)) for size in (8, 16)]
    found = parameters_of(made(), *repeated)
    assert found == [
        ("node", "", "batch_size", (32, 8, 16)),
        ("type", "", "", (MISSING, "Repeat", "Repeat")),
        ("node", "", "count", (MISSING, 8, 16)),
    ]


def test_a_branch_beside_none_is_found_again_in_a_third() -> None:
    alone, zipped = node("Batch", made()), node("Batch", node("Zip", made(), chain(2)))
    rows = align([numbered(DatasetGraph(root)) for root in (alone, zipped, alone, zipped)])
    assert [row[0] for row in rows] == [row[2] for row in rows]
    assert [row[1] for row in rows] == [row[3] for row in rows]
    assert len(rows) == len(numbered(DatasetGraph(zipped)).nodes)


# Columns --------------------------------------------------------------------------------------------------------------


def test_columns_stand_in_the_order_of_the_data_and_have_every_fact() -> None:
    plain = ("HWC2CHW", {})
    given = [made(), made(batch=64, operations=[RESIZE, plain, RESCALE]), node("Map", made(), operations=[RESCALE])]
    columns = pipeline_columns([numbered(DatasetGraph(root)) for root in given])
    assert [column.operation for column in columns if column.part == "type"] == [
        "MnistDataset", "Map", "Shuffle", "Batch", "Map 2"]  # fmt: skip
    by_name = {column.name: column.values for column in columns}
    assert len(by_name) == len(columns)
    assert by_name["Batch/batch_size"] == (32, 64, 32)
    assert by_name["Map/HWC2CHW"] == (MISSING, "HWC2CHW", MISSING)
    assert by_name["Map/Rescale/rescale"] == (0.5, 0.5, 0.5)
    assert by_name["Map 2/Rescale/rescale"] == (MISSING, MISSING, 0.5)
    assert by_name["Map 2"] == (MISSING, MISSING, "Map")
    assert by_name["MnistDataset/sampler"] == ("RandomSampler",) * 3
    names = [column.name for column in columns]
    assert names.index("Map/HWC2CHW") == names.index("Map/Resize/interpolation") + 1


def test_names_of_columns_are_not_taken_twice() -> None:
    odd = replace(node("Map", node("Map 2")), parameters={"sampler": 1, "Resize": 2, "Resize/size": 3})
    odd = replace(odd, operations=made().children[0].children[0].operations)
    columns = pipeline_columns([numbered(DatasetGraph(node("Map", odd)))])
    assert len({column.name for column in columns}) == len(columns)



@pytest.mark.long
def test_branches_nested_more_deeply_by_every_pipeline_end() -> None:
    roots = [chain(1)]
    for number in range(300):
        top = node("Zip", roots[-1], node(f"Only{number}")) if number % 90 else node(f"Alone{number}", chain(2))
        roots.append(replace(top, type=f"Zip{number}"))
    graphs = [numbered(DatasetGraph(root)) for root in roots]
    rows = align(graphs)
    assert sum(number is not None for row in rows for number in row) == sum(len(graph.nodes) for graph in graphs)

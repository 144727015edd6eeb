"""Names of profiles and dumps joined with nodes."""

from __future__ import annotations

from pathlib import Path

from parsers import open_run
from parsers.analysis.graphs import network
from parsers.analysis.graphs.painting import WAYS, match
from tests.parsers.analysis.graphs.made import frames


def joined(names: list[str], nodes: list[tuple[str, ...]]) -> list[tuple[int, str]]:
    found = match(names, network(*frames(nodes, [])))
    return [(row, WAYS[way]) for row, way in zip(found.row.tolist(), found.way.tolist(), strict=True)]


def test_nothing() -> None:
    assert joined([], []) == []
    assert joined(["a"], []) == [(-1, "none")]
    assert joined([], [("a", "A")]) == []


def test_full_names_come_before_those_without_a_number() -> None:
    nodes = [("net/Add-op1", "Add"), ("net/Add-op2", "Add"), ("net/Mul-op7", "Mul")]
    assert joined(["net/Add-op2", "net/Mul-op3", "Add-op1"], nodes) == [(1, "name"), (2, "without_op"), (-1, "none")]
    # Add-op2 has its node, so the only one left is that of Add-op9.
    assert joined(["net/Add-op9", "net/Add-op2"], nodes) == [(0, "without_op"), (1, "name")]


def test_several_nodes_of_one_name_are_joined_by_number_or_not_at_all() -> None:
    nodes = [("net/Add-op10", "Add"), ("net/Add-op9", "Add")]
    assert joined(["net/Add-op100", "net/Add-op99"], nodes) == [(0, "without_op"), (1, "without_op")]
    assert joined(["net/Add-op100"], nodes) == [(-1, "several")]
    assert joined(["net/Add-op1", "net/Add-op2", "net/Add-op3"], nodes) == [(-1, "several")] * 3


def test_kernels_and_recorded_parameters() -> None:
    nodes = [("net/Add-op1", "Add"), ("conv.weight", "Parameter", "parameter")]
    assert joined(["net/Add-op1/AddKernel<float, 2>", "conv.weight/auto", "conv/activation"], nodes) == [
        (0, "kernel"), (1, "recorded"), (-1, "none"),
    ]  # fmt: skip


def test_a_real_profile_and_the_graph_of_its_network(real_data: Path) -> None:
    graphs = open_run(real_data / "summary/lenet_sink_mode").graphs
    graph = graphs[next(iter(graphs))]
    (profile,) = open_run(real_data / "profiler/new_graph").profile.values()
    names = [str(name) for name in profile.operators["full_name"].unique()]
    found = match(names, network(graph.nodes, graph.edges))
    assert found.count == len(names) == 43
    assert {WAYS[way] for way in found.way} == {"name"}
    every = graph.nodes["full_name"].tolist()
    assert [every[row] for row in found.row] == names
    # A compilation of another process numbers operators anew.
    other = [name.replace("-op", "-op9") for name in names]
    assert match(other, network(graph.nodes, graph.edges)).count == 43

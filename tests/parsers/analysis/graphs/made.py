"""Graphs for tests: frames made by hand, at random, and of real files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from parsers import open_run
from parsers.frames import EDGES, NODES

KIND = {"p": "parameter", "c": "constant"}


def frames(
    nodes: Iterable[Sequence[str]], edges: Iterable[tuple[int, int] | tuple[int, int, str]]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Nodes are (scope/name, type[, kind[, output type[, shape]]]), edges (source, target[, kind])."""
    rows = []
    for full, kind, *rest in nodes:
        of, output, shape = (*rest, *("operator", "Tensor[Float32]", "2x3")[len(rest) :])
        rows.append((full.rpartition("/")[2], full, full.rpartition("/")[0], kind, of, output, shape, "", len(rows), ""))
    node_frame = _typed(pd.DataFrame(rows, columns=list(NODES.names)), NODES)
    taken: dict[int, int] = {}
    links = []
    for source, target, *kind in edges:
        place = taken[target] = taken.get(target, -1) + 1
        links.append((source, target, 0, place, kind[0] if kind else "data", rows[source][5], rows[source][6]))
    return node_frame, _typed(pd.DataFrame(links, columns=list(EDGES.names)), EDGES)


def _typed(frame: pd.DataFrame, schema: Any) -> pd.DataFrame:
    return schema.check(frame.astype({column.name: column.dtype for column in schema.columns}))


SCOPES = ("", "a", "a/b", "a/b/c", "d", "d/0-Cell", "d/1-Cell", "d/2-Cell", "a/b/c/e/f", "g<i>")


@st.composite
def graphs(draw: Any, largest: int = 40) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Any graph: cycles, duplicate names, edges to itself, many edges between two nodes."""
    size = draw(st.integers(0, largest))
    kinds = st.sampled_from(("operator",) * 8 + ("parameter", "constant"))
    types = st.sampled_from(("MatMul", "Add", "ReLU", "UpdateState", "Load"))
    names = st.tuples(st.sampled_from(SCOPES), st.sampled_from("xyz"), types, kinds)
    nodes = [(f"{scope}/{name}" if scope else name, kind, of) for scope, name, kind, of in draw(_lists(names, size))]
    ends = st.integers(0, max(0, size - 1))
    edge = st.tuples(ends, ends, st.sampled_from(("data", "data", "control")))
    edges = draw(st.lists(edge, max_size=3 * size)) if size else []
    return frames(nodes, edges)


def _lists(of: Any, size: int) -> Any:
    return st.lists(of, min_size=size, max_size=size)


def chain(size: int, types: Sequence[str] = ("A",), scope: str = "") -> tuple[pd.DataFrame, pd.DataFrame]:
    """One node after the other."""
    above = f"{scope}/" if scope else ""
    nodes = [(f"{above}n{number}", types[number % len(types)]) for number in range(size)]
    return frames(nodes, [(number, number + 1) for number in range(size - 1)])


def transformer(layers: int, heads: int = 3) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Equal layers of attention and dense, each with its parameters, after one another."""
    nodes: list[tuple[str, ...]] = [("embed/Gather-op0", "Gather")]
    edges: list[tuple[int, int]] = []
    before = 0
    for layer in range(layers):
        scope = f"net/encoder/{layer}-Layer"
        ends = []
        for head in range(heads):
            weight = len(nodes)
            nodes.append((f"layers.{layer}.head.{head}", "Parameter", "parameter"))
            nodes.append((f"{scope}/attention/{'qkvwxyz'[head % 7]}-Dense/MatMul-op{layer}", "MatMul"))
            edges += [(before, weight + 1), (weight, weight + 1)]
            ends.append(weight + 1)
        nodes.append((f"{scope}/attention/Softmax-op{layer}", "Softmax"))
        edges += [(end, len(nodes) - 1) for end in ends]
        nodes.append((f"{scope}/Add-op{layer}", "Add"))
        edges += [(len(nodes) - 2, len(nodes) - 1), (before, len(nodes) - 1)]
        before = len(nodes) - 1
    nodes.append(("net/Head-op0", "Head"))
    return frames(nodes, [*edges, (before, len(nodes) - 1)])


@cache
def real_graph(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The first graph of a run."""
    graphs = open_run(folder).graphs
    graph = graphs[next(iter(graphs))]
    return graph.nodes, graph.edges

"""Probes of what was built: the data pipeline, the computation graph, and recorded settings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from parsers.analysis.graphs.network import Network, network
from parsers.analysis.graphs.tracing import ancestors
from parsers.analysis.runs.probes.model import FOUND, NOT_JUDGED, NOTHING, Finding, ProbedRun, Where, not_recorded
from parsers.deferred import pandas as pd
from parsers.graphs.graph import Graph
from parsers.lineage.datasets import DatasetNode
from parsers.model import Ints

_UNBOUNDED = re.compile(
    r"(log(1p|softmax)?|div(nonan)?|realdiv|truediv|sqrt|rsqrt|reciprocal|inv|pow|square|exp(m1)?)", re.IGNORECASE
)
"""Operators with values outside their domain, or without a bound: as types in graphs of MindSpore, torch and TensorFlow."""
_MOVED = re.compile(r"all_?gather|all_?to_?all|reduce_?scatter|redistribution", re.IGNORECASE)
_REGULAR = re.compile(r"weight.?decay|dropout|label.?smooth|(^|[^a-z])l[12]([^a-z]|$)|regulari[sz]", re.IGNORECASE)
_BATCH = re.compile(r"batch.?size|(^|[^a-z])bs([^a-z]|$)", re.IGNORECASE)
_LENGTH = re.compile(r"batch.?size|seq(uence)?.?len|max.?len|micro.?batch", re.IGNORECASE)
NAMES = {"batch": _BATCH, "regularization": _REGULAR, "memory": _LENGTH}
"""What a question about settings is about -> their names."""
MOST_OUTPUTS = 8
"""Outputs of a graph from which the nearest operator is looked for."""


def shuffled(run: ProbedRun) -> Finding:
    """Return whether nothing in the data pipeline shuffles, or something shuffles whole batches."""
    graph = run.pipeline()
    if graph is None:
        return not_recorded("no_pipeline")
    rows = list(graph.walk())
    nodes = [node for _, _, node in rows]
    told: dict[str, float | str] = {"n": len(nodes)}
    at = [place for place, node in enumerate(nodes) if node.kind == "shuffle"]
    after = next((place for place in at if _feeds(rows, place, "batch")), None)
    if after is not None:
        where = Where(node=f"{graph.mark}:{after}")
        return Finding(FOUND, "shuffles_batches", told | {"name": nodes[after].type}, where, "shuffled", severity=1.2)
    readers = [place for place, node in enumerate(nodes) if node.kind == "create"]
    how = [_reads_shuffled(nodes[place]) for place in readers]
    if at or any(how):
        return Finding(NOTHING, "shuffles", told, rule="shuffled")
    if graph.problem or not readers or None in how:
        return Finding(NOT_JUDGED, "unknown_reader", told, rule="shuffled")
    where = Where(node=f"{graph.mark}:{readers[0]}")
    return Finding(FOUND, "no_shuffle", told | {"name": nodes[readers[0]].type}, where, "shuffled", severity=1.4)


def _feeds(rows: Sequence[tuple[int, int, DatasetNode]], place: int, kind: str) -> bool:
    """Return whether an operation of a kind runs before that at a place: it is below it, since children feed their parent."""
    level = rows[place][1]
    for _, deep, node in rows[place + 1 :]:
        if deep <= level:
            return False
        if node.kind == kind:
            return True
    return False


def _reads_shuffled(node: DatasetNode) -> bool | None:
    """Return whether a reader shuffles by its sampler or its parameters; None if neither tells."""
    if node.sampler is not None:
        name = node.sampler.name.lower()
        given = node.sampler.parameters.get("shuffle")
        return "random" in name or given is True or bool(node.sampler.parameters.get("shuffle_mode"))
    known: Any = node.parameters.get("shuffle", node.parameters.get("shuffle_mode"))
    if known is None:
        return None
    return known not in (False, 0, "False", "false", "")


def pipeline_order(run: ProbedRun) -> Finding:
    """Return whether an operation on single samples runs after they were put into batches, or data are repeated before that."""
    graph = run.pipeline()
    if graph is None:
        return not_recorded("no_pipeline")
    rows = list(graph.walk())
    told: dict[str, float | str] = {"n": len(rows)}
    for place, (_, _, node) in enumerate(rows):
        where = Where(node=f"{graph.mark}:{place}")
        if node.kind == "map" and _feeds(rows, place, "batch"):
            name = node.operations[0].name if node.operations else node.type
            return Finding(FOUND, "maps_batches", told | {"name": name}, where, "pipeline_order", severity=1.0)
        if node.kind == "shuffle" and _feeds(rows, place, "repeat"):
            return Finding(FOUND, "repeats_first", told | {"name": node.type}, where, "pipeline_order", severity=1.0)
    if graph.problem:
        return Finding(NOT_JUDGED, "pipeline_damaged", told, rule="pipeline_order")
    return Finding(NOTHING, "usual_order", told, rule="pipeline_order")


def unbounded_operators(run: ProbedRun) -> Finding:
    """Return the operators of the graph that make NaN or Inf of finite values: logarithms, divisions, roots, powers."""
    graph = run.graph()
    if graph is None:
        return not_recorded("no_graph")
    kinds = graph.nodes["type"].astype("str")
    rows = np.flatnonzero(is_unbounded(kinds))
    told: dict[str, float | str] = {"nodes": len(graph.nodes)}
    if rows.size:
        names = ", ".join(dict.fromkeys(kinds.iloc[rows].tolist()))
        told |= {"n": int(rows.size), "types": names[:120]}
        row, distance = nearest(graph, rows)
        told["name"] = str(graph.nodes["name"].array[row])
        said = "unbounded_operators"
        if distance is not None:
            told["distance"], said = distance, "unbounded_near"
        return Finding(FOUND, said, told, Where(node=f"n{row}"), "unbounded_operators", severity=0.7)
    if graph.problems:
        return Finding(NOT_JUDGED, "graph_damaged", told, rule="unbounded_operators")
    return Finding(NOTHING, "bounded_operators", told, rule="unbounded_operators")


def is_unbounded(types: pd.Series[Any]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which types of operators make NaN or Inf of finite values."""
    return types.str.fullmatch(_UNBOUNDED).to_numpy(bool)


def nearest(graph: Graph, rows: Ints) -> tuple[int, int | None]:
    """Return which of these nodes is nearest before an output of the graph, and the edges between; None if none leads there."""
    net = network(graph.nodes, graph.edges)
    best: tuple[int, int] | None = None
    for output in _outputs(graph, net)[:MOST_OUTPUTS]:
        found = ancestors(net, output)
        known = np.flatnonzero(np.isin(found.rows, rows))
        if known.size and (best is None or int(found.depth[known[0]]) < best[1]):
            best = int(found.rows[known[0]]), int(found.depth[known[0]])
    return best if best is not None else (int(rows[-1]), None)


def _outputs(graph: Graph, net: Network) -> list[int]:
    """Return the nodes whose values leave the graph: those that the file names, else operators whose values nobody takes."""
    if graph.outputs:
        return list(graph.outputs)
    is_last = net.shown & (net.kind == 0)
    is_last[net.source] = False
    rows: list[int] = np.flatnonzero(is_last)[::-1].tolist()
    return rows


def near(graph: Graph, name: str) -> pd.DataFrame:
    """Return the operators that one is computed from, the nearest first: name, type, distance in edges, unbounded.

    It is the first itself. Without a row if the graph has no operator of that full name.
    """
    rows = np.flatnonzero((graph.nodes["full_name"].astype("str") == name).to_numpy(bool))
    if not rows.size:
        return pd.DataFrame({"name": [], "type": [], "distance": [], "unbounded": []})
    found = ancestors(network(graph.nodes, graph.edges), int(rows[0]))
    kinds = graph.nodes["type"].astype("str").iloc[found.rows]
    operators = (graph.nodes["kind"].astype("str").iloc[found.rows] == "operator").to_numpy(bool)
    made = pd.DataFrame({
        "name": graph.nodes["full_name"].astype("str").iloc[found.rows].to_numpy(), "type": kinds.to_numpy(),
        "distance": found.depth, "unbounded": is_unbounded(kinds),
    })  # fmt: skip
    kept: pd.DataFrame = made[operators].reset_index(drop=True)
    return kept


def redistribution(run: ProbedRun) -> Finding:
    """Return the operators of the graph that move parts of tensors between ranks."""
    graph = run.graph()
    if graph is None:
        return not_recorded("no_graph")
    kinds = graph.nodes["type"].astype("str")
    rows = np.flatnonzero((kinds.str.contains(_MOVED) | graph.nodes["name"].astype("str").str.contains(_MOVED)).to_numpy(bool))
    told: dict[str, float | str] = {"nodes": len(graph.nodes), "n": int(rows.size)}
    if rows.size:
        row = int(rows[0])
        told |= {"types": ", ".join(dict.fromkeys(kinds.iloc[rows].tolist()))[:120]}
        return Finding(FOUND, "redistribution", told, Where(node=f"n{row}"), "redistribution", severity=0.8)
    return Finding(NOTHING, "no_redistribution", told, rule="redistribution")


def setting(run: ProbedRun, *, of: str) -> Finding:
    """Return whether a setting (of: a name in NAMES) differs from that of the other runs on screen."""
    known = {name: value for name, value in run.settings().items() if NAMES[of].search(name)}
    if not known:
        return not_recorded(f"no_setting_{of}")
    if of == "regularization":
        return _regularization(known)
    name, value = next(iter(known.items()))
    told: dict[str, float | str] = {"name": name, "value": str(value)}
    others = [found[name] for one in run.others if name in (found := dict(one.settings()))]
    told["n"] = len(others)
    if not others:
        return Finding(NOT_JUDGED, "setting_alone", told, rule="setting")
    different = [one for one in others if one != value]
    if different:
        return Finding(FOUND, "setting_differs", told | {"other": str(different[0])}, rule="setting", severity=0.9)
    return Finding(NOTHING, "setting_equal", told, rule="setting")


def _regularization(known: dict[str, Any]) -> Finding:
    numbers = {name: float(value) for name, value in known.items() if isinstance(value, int | float)}
    if not numbers:
        name = next(iter(known))
        return Finding(NOT_JUDGED, "setting_text", {"name": name, "value": str(known[name])}, rule="regularization")
    positive = {name: value for name, value in numbers.items() if value != 0.0}
    name, value = next(iter((positive or numbers).items()))
    told: dict[str, float | str] = {"name": name, "value": value, "n": len(numbers)}
    if positive:
        return Finding(NOTHING, "regularized", told, rule="regularization")
    return Finding(FOUND, "not_regularized", told, rule="regularization", severity=0.8)

"""The graph of a rank as the canvas of graphs shows it, and its parts by phase."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from parsers.analysis.graphs.network import OPERATOR, Bools, Network
from parsers.analysis.jobs.strategy.cuts import inputs_in
from parsers.deferred import pandas as pd
from parsers.frames import NODES
from parsers.graphs.graph import Graph, Origin, SourceLine
from parsers.graphs.tables import CONTROL, DATA, Edges
from parsers.model import Problem

PHASES = ("forward", "backward", "recompute", "optimizer")
FORMAT = "parallel_strategy"


@dataclass(frozen=True, slots=True)
class _LazyAttributes:
    """Attributes of nodes by row, as JSON until one is asked for (`parsers.graphs.graph.Details`)."""

    attributes_: pd.Series[str]
    known: dict[int, dict[str, str]] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        return int(self.attributes_.memory_usage(deep=True))

    def attributes(self, row: int) -> dict[str, str]:
        text = str(self.attributes_.iloc[row])
        return json.loads(text) if text else {}

    def raw(self, row: int) -> bytes:
        return str(self.attributes_.iloc[row]).encode()

    def mentions(self, word: str) -> Iterable[int]:
        return np.flatnonzero(self.attributes_.astype("str").str.contains(word, regex=False).to_numpy()).tolist()

    def source_lines(self, row: int) -> tuple[SourceLine, ...]:
        del row
        return ()


def strategy_graph(frame: pd.DataFrame, title: str = "", path: str = "", problems: Iterable[Problem] = ()) -> Graph:
    """Return the graph of one file (schema STRATEGIES); a node's id is its `number`."""
    nodes = pd.DataFrame({
        "name": frame["name"].astype("str").array, "full_name": frame["full_name"].astype("str").array,
        "scope": frame["scope"].array, "type": frame["type"].array, "kind": frame["kind"].array,
        "output_type": frame["output_type"].array, "shape": frame["shape"].array,
        "instance": frame["instance"].astype("str").array, "order": frame["number"].to_numpy(np.int64),
        "subgraph": pd.Categorical.from_codes(np.zeros(len(frame), np.int8), categories=pd.Index([""], dtype="str")),
    }, copy=False)  # fmt: skip
    NODES.check(nodes)
    edges = Edges()
    for target, text in enumerate(frame["inputs"].astype("str").tolist()):
        for place, (source, ordering) in enumerate(inputs_in(text)):
            edges.add(source, target, place, CONTROL if ordering else DATA)
    sources = np.array(edges.source, np.int32)
    sources[sources >= len(frame)] = -1
    return Graph.of(
        Origin(path), title, FORMAT, nodes, edges.frame(nodes, sources), (), tuple(problems),
        _LazyAttributes(frame["attributes"])
    )


def phases(frame: pd.DataFrame) -> Mapping[str, int]:
    """Return the phases that operators of a graph have, in the order of PHASES, and how many operators each has."""
    counts = frame["phase"].astype("str").value_counts()
    return {name: int(counts[name]) for name in PHASES if name in counts}


def in_phases(network: Network, frame: pd.DataFrame, chosen: Collection[str]) -> Network:
    """Return the graph with operators of these phases alone, and with the parameters and constants that they take."""
    operator = network.kind == OPERATOR
    shown: Bools = operator & frame["phase"].isin(list(chosen)).to_numpy()
    taken = np.zeros(network.size, np.bool_)
    taken[network.source[shown[network.target]]] = True
    return network.only(shown | (taken & ~operator))

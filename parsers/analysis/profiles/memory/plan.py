"""The static plan of a graph: memory by node, the blocks in use at a node, and the totals that files give beside them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parsers.deferred import pandas as pd
from parsers.model import Ints

UNKNOWN = -1


class MemoryPlan(NamedTuple):
    """The plan of one graph. Sizes in bytes, -1 for unknown; nodes are numbers.

    node and size are memory by node: of the file where it has it, else that of the blocks, with a value from each node on until
    the next. total is what the file gives for the whole plan, sum the size of all blocks, peak the most in use at once, at node
    peak_node: total is neither of the two, as blocks share memory and the plan has gaps. static is in use at all nodes.
    forward_start and backward_end are nodes, where the file has them.
    """

    graph: int
    node: Ints
    size: Ints
    total: int
    sum: int
    peak: int
    peak_node: int
    static: int
    forward_start: int
    backward_end: int


def plan(static_memory: pd.DataFrame, graph: int) -> MemoryPlan:
    """Return the plan of a graph."""
    rows = static_memory[(static_memory["graph"] == graph).to_numpy()]
    kinds = {str(kind): part for kind, part in rows.groupby(rows["kind"].astype(str), sort=False)}
    blocks = kinds.get("block", rows.iloc[:0])
    static = _one(kinds, "static", "size_bytes")
    node, size = _by_node(blocks)
    told = kinds.get("node")
    if told is not None and (told["size_bytes"] >= 0).any():
        told = told[(told["size_bytes"] >= 0).to_numpy()].sort_values("first", kind="stable")
        node, size = told["first"].to_numpy(), told["size_bytes"].to_numpy()
    top = int(np.argmax(size)) if len(size) else -1
    known = blocks["size_bytes"].to_numpy()
    return MemoryPlan(
        graph, node, size, _one(kinds, "total", "size_bytes"), int(known[known > 0].sum()) if len(known) else UNKNOWN,
        int(size[top]) if top >= 0 else UNKNOWN, int(node[top]) if top >= 0 else UNKNOWN, static,
        _one(kinds, "forward_start", "first"), _one(kinds, "backward_end", "first"),
    )  # fmt: skip


def _one(kinds: dict[str, pd.DataFrame], kind: str, column: str) -> int:
    rows = kinds.get(kind)
    return UNKNOWN if rows is None else int(rows[column].iloc[0])


def _by_node(blocks: pd.DataFrame) -> tuple[Ints, Ints]:
    """Return the memory of blocks by node: a block is in use at its last node too; without one, to the end of the graph."""
    usable = ((blocks["size_bytes"] >= 0) & (blocks["first"] >= 0)).to_numpy()
    first, last, size = (blocks[name].to_numpy()[usable] for name in ("first", "last", "size_bytes"))
    there = (last < 0) | (last >= first)
    first, last, size = first[there], last[there], size[there]
    ends = last >= 0
    nodes = np.concatenate((first, last[ends] + 1))
    changes = np.concatenate((size, -size[ends]))
    order = np.argsort(nodes, kind="stable")
    nodes, sums = nodes[order], np.cumsum(changes[order])
    final = np.append(nodes[1:] != nodes[:-1], True)[: len(nodes)]
    return nodes[final], sums[final]


def in_use_at(static_memory: pd.DataFrame, graph: int, node: int) -> pd.DataFrame:
    """Return the blocks of a graph in use at a node, the largest first."""
    frame = static_memory
    chosen = (frame["graph"] == graph) & (frame["kind"] == "block") & (frame["first"] >= 0) & (frame["first"] <= node)
    chosen &= (frame["last"] >= node) | (frame["last"] < 0)
    return frame[chosen.to_numpy()].sort_values("size_bytes", ascending=False, kind="stable")

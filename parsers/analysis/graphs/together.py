"""Merges two graphs so that one drawing shows their difference: the first graph plus the additions of the second."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.analysis.graphs.difference import GraphDifference, is_counted
from parsers.analysis.graphs.network import CONSTANT, Ints, Network, network
from parsers.analysis.graphs.scopes import Scopes
from parsers.analysis.graphs.visible import Visible
from parsers.deferred import pandas as pd
from parsers.frames import EDGES, NODES
from parsers.schema import Schema

SAME, CHANGED, REMOVED, ADDED = range(4)
STATES = ("same", "changed", "removed", "added")


@dataclass(frozen=True, eq=False, slots=True)
class JoinedNetwork:
    """A network whose first rows are those of the first graph. state: for each row a code into STATES.

    second: for each row that of the second graph, or -1. Edges of both are there, those of the second between what they join.
    """

    network: Network
    state: Ints
    second: Ints


def together(first: Network, second: Network, found: GraphDifference) -> JoinedNetwork:
    """Build the union of two graphs from the matches of their difference."""
    added = found.added
    nodes = pd.concat([first.nodes[list(NODES.names)], second.nodes.iloc[added][list(NODES.names)]], ignore_index=True)
    place = found.back.copy()
    place[added] = first.size + np.arange(len(added))
    extra = found.edges_added
    edges = {
        name: np.concatenate((getattr(first, name), getattr(second, name)[extra]))
        for name in ("output", "input", "control", "call")
    }
    source = np.concatenate((first.source, place[second.source[extra]]))
    frame = pd.DataFrame(
        {
            "source": source,
            "target": np.concatenate((first.target, place[second.target[extra]])),
            "output": edges["output"],
            "input": edges["input"],
            "kind": np.where(edges["control"], "control", np.where(edges["call"], "call", "data")),
            "type": nodes["output_type"].astype("str").to_numpy()[source],
            "shape": nodes["shape"].astype("str").to_numpy()[source],
        }
    )
    union = network(_typed(nodes, NODES), _typed(frame, EDGES))
    state = np.full(union.size, SAME, np.int64)
    state[list(found.changed)] = CHANGED
    state[found.removed] = REMOVED
    state[first.size :] = ADDED
    state[(union.kind == CONSTANT) | ((state != CHANGED) & ~is_counted(union))] = SAME
    shown = np.concatenate((first.shown, np.ones(len(added), np.bool_)))
    return JoinedNetwork(union.only(shown), state, np.concatenate((found.match, added)))


def marks(visible: Visible, scopes: Scopes, state: Ints) -> dict[str, str]:
    """Return the state of each box that holds a difference, by key: the common state of its contents, else "changed"."""
    found: dict[str, str] = {}
    for item in visible.items:
        if item.kind in ("node", "fold"):
            rows = np.array(item.members, np.int64)
        elif item.kind in ("scope", "stack"):
            rows = scopes.each_within(np.array(item.members, np.int64))[0]
        else:
            continue
        inside = set(np.unique(state[rows]).tolist())
        if inside - {SAME}:
            found[item.key] = STATES[inside.pop()] if len(inside) == 1 else STATES[CHANGED]
    return found


def _typed(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    return schema.check(frame[list(schema.names)].astype({column.name: column.dtype for column in schema.columns}))

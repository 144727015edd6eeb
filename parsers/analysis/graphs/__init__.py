"""Prepares graphs for drawing: tree of scopes, visible part, search, simplification, counts and differences.

A graph's frames (NODES, EDGES) are converted to a `Network` of arrays once; everything else is computed from that. A node's id
is its row in every function, also when nodes are hidden.
"""

from __future__ import annotations

from parsers.analysis.graphs.difference import GraphDifference, compare
from parsers.analysis.graphs.network import Network, network
from parsers.analysis.graphs.roles import ROLES, roles
from parsers.analysis.graphs.scopes import Scopes, scopes
from parsers.analysis.graphs.search import FoundNodes, search
from parsers.analysis.graphs.sharing import shared
from parsers.analysis.graphs.simplify import Simplified, is_training, simplified
from parsers.analysis.graphs.together import STATES, JoinedNetwork, marks, together
from parsers.analysis.graphs.visible import BoxLink, GraphView, Item, OpenScopes, SideNode, Visible

__all__ = [
    "ROLES",
    "STATES",
    "BoxLink",
    "FoundNodes",
    "GraphDifference",
    "GraphView",
    "Item",
    "JoinedNetwork",
    "Network",
    "OpenScopes",
    "Scopes",
    "SideNode",
    "Simplified",
    "Visible",
    "compare",
    "is_training",
    "marks",
    "network",
    "roles",
    "scopes",
    "search",
    "shared",
    "simplified",
    "together",
]  # fmt: skip

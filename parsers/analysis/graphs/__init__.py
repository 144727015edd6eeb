"""What is drawn of a graph: its tree of scopes, what is visible of it, what is found, hidden, counted and different in it.

A graph's frames (NODES, EDGES) become a `Network` of arrays once; everything else is computed from that. A node's id is its
row, in every function and whatever is hidden.
"""

from __future__ import annotations

from parsers.analysis.graphs.difference import Difference, compare
from parsers.analysis.graphs.network import Network, network
from parsers.analysis.graphs.scopes import Scopes, scopes
from parsers.analysis.graphs.search import Found, search
from parsers.analysis.graphs.simplify import Simplified, simplified
from parsers.analysis.graphs.together import STATES, Together, marks, together
from parsers.analysis.graphs.visible import Beside, Item, Link, Shown, View, Visible

__all__ = [
    "STATES", "Beside", "Difference", "Found", "Item", "Link", "Network", "Scopes", "Shown", "Simplified", "Together", "View",
    "Visible", "compare", "marks", "network", "scopes", "search", "simplified", "together",
]  # fmt: skip

"""What parameters of a graph are for: weights, the state of the optimizer, inputs.

MindSpore's files say none of this. State is what only the optimizer takes: moments, learning rate, step. Of the rest a weight
is what is loaded (MindSpore reads what can change through Load), what the optimizer updates, or what is named as part of a
cell (`fc1.weight`); an input is what remains.
"""

from __future__ import annotations

import numpy as np

from parsers.analysis.graphs.network import OPERATOR, PARAMETER, Bools, Ints, Network
from parsers.analysis.graphs.simplify import is_optimizer

WEIGHT, STATE, INPUT, OUTPUT = range(4)
ROLES = ("weights", "state", "inputs", "outputs")
"""Outputs are nodes that other frameworks write as parameters although they take a value."""
_INPUT_TYPES = frozenset(("Placeholder", "PlaceholderV2", "IO Node", "prim::Param", "_Arg"))
_LOADS = frozenset(("Load",))
_WEIGHT_TYPES = frozenset(("Variable", "VariableV2", "VarHandleOp"))


def roles(network: Network) -> Ints:
    """Return a code into ROLES for each node; -1 for what is no parameter."""
    return _roles(network)[0]


def stored(network: Network) -> Bools:
    """Return which nodes are parameters that a checkpoint would hold: weights and state, but not inputs and outputs.

    What is neither loaded nor updated is an input only where others are, as in MindSpore's graphs, or if its type says so:
    exports of other frameworks name weights like inputs ("onnx::MatMul_7").
    """
    found, told = _roles(network)
    typed = np.array([kind in _INPUT_TYPES for kind in network.types], np.bool_)[network.type]
    inputs = (found == INPUT) & (typed | told) | (found == OUTPUT)
    kept: Bools = (network.kind == PARAMETER) & ~inputs
    return kept


def _roles(network: Network) -> tuple[Ints, bool]:
    """Return the roles, and whether the graph says of any parameter that it is loaded or updated."""
    size = network.size
    taker = network.kind[network.target] == OPERATOR
    optimizing = is_optimizer(network)

    def typed(names: frozenset[str]) -> Bools:
        return np.array([kind in names for kind in network.types], np.bool_)[network.type]

    def taken(chosen: Bools) -> Bools:
        found = np.zeros(size, np.bool_)
        found[network.source[taker & chosen]] = True
        return found

    updating = taken(optimizing[network.target])
    computing = taken(~optimizing[network.target])
    loaded = taken(typed(_LOADS)[network.target])
    cell = np.zeros(size, np.bool_)
    parameters = np.flatnonzero(network.kind == PARAMETER)
    cell[parameters] = ["." in name for name in network.nodes["name"].array[parameters]]
    written = np.zeros(size, np.bool_)
    written[network.target] = True
    found = np.where(loaded | updating | cell | typed(_WEIGHT_TYPES), WEIGHT, INPUT)
    found[typed(_INPUT_TYPES)] = INPUT
    found[updating & ~computing] = STATE
    found[written & ~updating & ~computing] = OUTPUT
    found[network.kind != PARAMETER] = -1
    return found, bool((loaded | updating)[parameters].any())

"""Tables of a graph: its types of operators, the parameters of its scopes, its operators with a precision flag."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from parsers.analysis.graphs.network import OPERATOR, PARAMETER, Network
from parsers.analysis.graphs.scopes import Scopes
from parsers.analysis.graphs.sizes import type_bytes, values
from parsers.deferred import pandas as pd
from parsers.schema import Column, Schema

OPERATOR_TYPES = Schema(
    "operator_types",
    "The types of operators of a graph, the most frequent first.",
    (
        Column("type", "str", "", "operator type as in the file"),
        Column("count", "int64", "", "operators of it"),
        Column("share", "float64", "", "part of all operators"),
        Column("scopes", "int64", "", "scopes that directly hold one"),
    ),
)
SCOPE_PARAMETERS = Schema(
    "scope_parameters",
    "The parameters in each scope of a graph, however deep, without its inputs; scopes that hold none are left out.",
    (
        Column("scope", "str", "", "scope, parts separated by /; empty at the top"),
        Column("parent", "str", "", "the scope it is in; empty at the top, too"),
        Column("operators", "int64", "", "operators in it"),
        Column("parameters", "int64", "", "parameters in it; one that several scopes take is where the first takes it"),
        Column("values", "int64", "", "numbers they hold; of unknown shape: none"),
        Column("bytes", "int64", "B", "bytes of them; of unknown type: none"),
        Column("own_bytes", "int64", "B", "bytes of those that are in no scope within"),
    ),
)
PARAMETERS = Schema(
    "parameters",
    "The parameters of a graph, the largest first; inputs of the graph, which no checkpoint holds, after all others.",
    (
        Column("node", "int64", "", "row in nodes"),
        Column("name", "str", "", "name as in the file"),
        Column("scope", "str", "", "scope of what takes it first"),
        Column("type", "str", "", "type as in nodes.output_type"),
        Column("shape", "str", "", "shape as in nodes.shape"),
        Column("values", "int64", "", "numbers it holds; 0 for unknown"),
        Column("bytes", "int64", "B", "bytes of it; 0 for unknown"),
        Column("stored", "bool", "", "whether a checkpoint would hold it: it is no input"),
    ),
)
PRECISION = Schema(
    "precision",
    "All operators of a graph with their precision flags: those that reduce precision, then those that raise it, the rest.",
    (
        Column("node", "int64", "", "row in nodes"),
        Column("name", "str", "", "last part of the full name"),
        Column("full_name", "str", "", "name with its scopes"),
        Column("type", "str", "", "operator type as in the file"),
        Column("flag", "str", "", "attribute precision_flag as in the file; empty for none"),
        Column("reduced", "str", "", "yes where the flag says reduce, no for another flag, empty for none"),
        Column("output_type", "str", "", "type of the output"),
        Column("shape", "str", "", "shape of the output"),
    ),
)
FLAG = "precision_flag"
"""The attribute by which MindSpore's Ascend compiler says that it changed an operator's precision."""


def operator_types(network: Network) -> pd.DataFrame:
    """Count each type of operator (schema OPERATOR_TYPES); equally frequent ones by name."""
    rows = np.flatnonzero(network.shown & (network.kind == OPERATOR))
    counts = np.bincount(network.type[rows], minlength=len(network.types))
    places = np.unique(network.type[rows] * (len(network.scope_texts) + 1) + network.scope[rows])
    scopes = np.bincount(places // (len(network.scope_texts) + 1), minlength=len(network.types))
    codes = np.flatnonzero(counts)
    frame = pd.DataFrame(
        {
            "type": [network.types[code] for code in codes],
            "count": counts[codes],
            "share": counts[codes] / max(1, len(rows)),
            "scopes": scopes[codes],
        }
    )
    return _typed(frame.sort_values(["count", "type"], ascending=[False, True]), OPERATOR_TYPES)


def scope_parameters(scopes: Scopes) -> pd.DataFrame:
    """Return parameters and their sizes by scope (schema SCOPE_PARAMETERS), in the order of the tree: for a treemap."""
    held = np.flatnonzero(scopes.parameters)
    within = np.zeros(len(scopes), np.int64)
    np.add.at(within, scopes.parent[1:], scopes.parameter_bytes[1:])
    frame = pd.DataFrame(
        {
            "scope": [scopes.paths[scope] for scope in held],
            "parent": [scopes.paths[scopes.parent[scope]] if scope else "" for scope in held],
            "operators": scopes.operators[held],
            "parameters": scopes.parameters[held],
            "values": scopes.parameter_values[held],
            "bytes": scopes.parameter_bytes[held],
            "own_bytes": (scopes.parameter_bytes - within)[held],
        }
    )
    return _typed(frame, SCOPE_PARAMETERS)


def parameters(scopes: Scopes) -> pd.DataFrame:
    """Return each parameter with its size (schema PARAMETERS), the largest first, equal ones in topological order.

    Inputs come last.
    """
    network = scopes.network
    rows = scopes.nodes[network.kind[scopes.nodes] == PARAMETER]
    many = values(network.shapes)[network.shape[rows]]
    size = many * type_bytes(network.output_types)[network.output_type[rows]]
    kept = scopes.stored[rows]
    order = np.lexsort((rows, network.rank[rows], -many, -size, ~kept))
    rows, many, size, kept = rows[order], many[order], size[order], kept[order]
    frame = pd.DataFrame(
        {
            "node": rows,
            "name": [network.names[row] for row in rows],
            "scope": [scopes.paths[scopes.home[row]] for row in rows],
            "type": [network.output_types[network.output_type[row]] for row in rows],
            "shape": [network.shapes[network.shape[row]] for row in rows],
            "values": many,
            "bytes": size,
            "stored": kept,
        }
    )
    return _typed(frame, PARAMETERS)


def precision(network: Network, flags_of: Mapping[int, str], *, every: bool = True) -> pd.DataFrame:
    """Return which operators were reduced or raised in precision (schema PRECISION). flags_of: the attribute FLAG by row.

    Without every, operators without a flag are omitted.
    """
    rows = np.flatnonzero(network.shown & (network.kind == OPERATOR)).tolist()
    rows = rows if every else [row for row in rows if flags_of.get(row)]
    flags = [flags_of.get(row, "") for row in rows]
    frame = pd.DataFrame(
        {
            "node": rows,
            "name": [network.full_names[row].rpartition("/")[2] for row in rows],
            "full_name": [network.full_names[row] for row in rows],
            "type": [network.types[code] for code in network.type[rows]],
            "flag": flags,
            "reduced": [("yes" if "reduce" in flag else "no") if flag else "" for flag in flags],
            "output_type": [network.output_types[code] for code in network.output_type[rows]],
            "shape": [network.shapes[code] for code in network.shape[rows]],
        }
    )
    order = frame["reduced"].map({"yes": 0, "no": 1, "": 2}).to_numpy(np.int64)
    return _typed(frame.iloc[np.argsort(order, kind="stable")], PRECISION)


def _typed(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    return schema.check(frame.reset_index(drop=True).astype({column.name: column.dtype for column in schema.columns}))

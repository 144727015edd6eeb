"""A model conversion as pages show it: its graph, nodes by state and operator, differences by node, lines of the script."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from parsers.deferred import pandas as pd
from parsers.graphs.conversion import CONVERTED, FOLDED, MARKED, STATES, ConversionReport
from parsers.graphs.graph import Graph, Origin, SourceLine
from parsers.graphs.tables import CONSTANT, OPERATOR, PARAMETER, Edges, Nodes, resolve
from parsers.model import Floats, Problem

FORMAT = "conversion"
AROUND = 12
"""Lines of the script shown before and after those of a node."""
MOST_LINES = 400
"""Maximum lines of the script shown at once."""
_DEEPEST = 60
"""Maximum scopes of a name; the rest is its last part."""


class StateCounts(NamedTuple):
    """Number of nodes by state."""

    states: Mapping[str, int]
    total: int

    @property
    def share(self) -> float:
        """Share of nodes that have code or need none, from 0 to 1; NaN without nodes."""
        return (self.states[CONVERTED] + self.states[FOLDED]) / self.total if self.total else math.nan


def state_counts(report: ConversionReport) -> StateCounts:
    """Return how many nodes have each state of STATES."""
    counted = report.nodes["state"].value_counts()
    return StateCounts({state: int(counted.get(state, 0)) for state in STATES}, len(report.nodes))


def by_operator(report: ConversionReport) -> pd.DataFrame:
    """Return operator, domain and the number of nodes by state (columns STATES), those with most marked nodes first."""
    nodes = report.nodes
    keys = pd.DataFrame({name: nodes[name].astype("str") for name in ("operator", "domain", "state")})
    table = keys.value_counts(sort=False).unstack("state", fill_value=0) if len(keys) else pd.DataFrame(index=keys.index)
    names = table.index.to_frame(index=False) if len(keys) else keys
    frame = pd.DataFrame({name: names[name].astype("str") for name in ("operator", "domain")})
    for state in STATES:
        frame[state] = table[state].to_numpy(np.int64) if state in table else np.zeros(len(frame), np.int64)
    frame["total"] = frame[list(STATES)].sum(axis=1)
    return frame.sort_values([MARKED, "total", "operator"], ascending=[False, False, True], ignore_index=True)


class NodeDifferences(NamedTuple):
    """Largest absolute difference of the values of each row of nodes, NaN for none; and whether one is beyond tolerance."""

    largest: Floats
    beyond: np.ndarray[tuple[int], np.dtype[np.bool_]]
    compared: np.ndarray[tuple[int], np.dtype[np.bool_]]


def node_differences(report: ConversionReport) -> NodeDifferences:
    """Return the differences of nodes by row."""
    rows = row_of_node(report)
    size = len(report.nodes)
    largest, beyond, compared = np.full(size, np.nan), np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    values = report.values
    pairs = zip(values["node"].tolist(), values["largest"].tolist(), values["beyond"].tolist(), strict=True)
    for node, difference, is_beyond in pairs:
        row = rows.get(node, -1)
        if row >= 0:
            largest[row] = np.fmax(largest[row], difference)
            beyond[row] |= is_beyond
            compared[row] = True
    return NodeDifferences(largest, beyond, compared)


def row_of_node(report: ConversionReport) -> dict[int, int]:
    """Return position in the model -> row of nodes; of a position that is given twice the first row."""
    found: dict[int, int] = {}
    for row, node in enumerate(report.nodes["node"].tolist()):
        found.setdefault(node, row)
    return found


def value_table(report: ConversionReport) -> pd.DataFrame:
    """Return the compared values in the order of execution (schema CONVERSION_VALUES) with row, name and operator of nodes.

    row is -1 for a value of no node.
    """
    rows = row_of_node(report)
    places = np.array([rows.get(node, -1) for node in report.values["node"].tolist()], np.int64)
    known = places >= 0
    texts = (report.nodes[column].astype("str").tolist() or [""] for column in ("name", "operator"))
    names, operators = (np.array(some, object) for some in texts)
    return report.values.assign(
        row=places, name=np.where(known, names[places], ""), operator=np.where(known, operators[places], "")
    )


class Excerpt(NamedTuple):
    """Lines of the script: the number of the first one, the lines, and which of them are a node's (from, to; 0 for none)."""

    first: int
    lines: tuple[str, ...]
    begin: int
    end: int


def excerpt(report: ConversionReport, row: int = -1) -> Excerpt:
    """Return the lines around the code of a row of nodes, or the first ones of the script; at most MOST_LINES."""
    begin, end = (int(report.nodes[column].array[row]) for column in ("first_line", "last_line")) if row >= 0 else (0, 0)
    if not 1 <= begin <= end <= len(report.lines):
        return Excerpt(1, report.lines[:MOST_LINES], 0, 0)
    first = max(1, begin - AROUND)
    last = min(len(report.lines), end + AROUND, first + MOST_LINES - 1)
    return Excerpt(first, report.lines[first - 1 : last], begin, min(end, last))


class _NoDetails:
    """Details of nodes: the report has none beyond its frames."""

    nbytes = 0

    def attributes(self, row: int) -> dict[str, str]:
        del row
        return {}

    def raw(self, row: int) -> bytes:
        del row
        return b""

    def mentions(self, word: str) -> tuple[int, ...]:
        del word
        return ()

    def source_lines(self, row: int) -> tuple[SourceLine, ...]:
        del row
        return ()


def conversion_graph(report: ConversionReport, problems: tuple[Problem, ...] = ()) -> Graph:
    """Return the graph of the model: operators first, whose ids are rows of nodes, then inputs and weights, and constants."""
    nodes, edges = Nodes(), Edges()
    known: dict[str, int] = {}
    table = report.nodes
    columns = (table[name].astype("str").tolist() for name in ("name", "operator", "dtype", "shape"))
    for row, (name, operator, dtype, shape) in enumerate(zip(*columns, strict=True)):
        scope, last = _scoped(name or f"{operator}_{row}")
        nodes.add(last, name, scope, operator, OPERATOR, output=(dtype, shape))
        for value in report.outputs[row]:
            known.setdefault(value, row)
    weights = report.weights
    given = {name: (dtype, shape) for name, dtype, shape in report.model_inputs}
    sources = (weights[name].astype("str").tolist() for name in ("source", "source_dtype", "source_shape"))
    given |= {name: (dtype, shape) for name, dtype, shape in zip(*sources, strict=True) if name}
    for row, names in enumerate(report.inputs):
        for place, value in enumerate(names):
            if not value:
                continue
            if value not in known:
                kind = PARAMETER if value in given else CONSTANT
                label = "Parameter" if kind == PARAMETER else "Const"
                known[value] = nodes.add(value, value, "", label, kind, output=given.get(value, ("", "")))
            edges.add(value, row, place)
    frame = nodes.frame()
    made = edges.frame(frame, resolve(edges.source, known))
    return Graph.of(Origin(""), report.model, FORMAT, frame, made, (), problems, _NoDetails())


def _scoped(name: str) -> tuple[str, str]:
    """Return the scopes of a name, without a root, and its last part."""
    parts = [part for part in name.split("/") if part]
    if len(parts) < 2:
        return "", parts[0] if parts else name
    scopes = parts[: min(len(parts) - 1, _DEEPEST)]
    return "/".join(scopes), "/".join(parts[len(scopes) :])

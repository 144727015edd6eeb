"""Collects nodes and edges from readers and builds the frames of a graph."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.frames import EDGES, NODES
from parsers.model import Problem

OPERATOR, PARAMETER, CONSTANT = "operator", "parameter", "constant"
DATA, CONTROL, CALL = "data", "control", "call"
EXAMPLES = 3
"""Maximum names listed as examples in a Problem."""


class Words:
    """A column of repeated texts: each distinct text is stored once, rows are codes."""

    def __init__(self, *known: str) -> None:
        self._codes: dict[str, int] = {text: code for code, text in enumerate(known)}
        self.codes = array("b")

    def add(self, text: str) -> None:
        """Add a row."""
        code = self._codes.setdefault(text, len(self._codes))
        try:
            self.codes.append(code)
        except OverflowError:  # the first text beyond 128
            self.codes = array("i", self.codes)
            self.codes.append(code)

    def equals(self, row: int, text: str) -> bool:
        """Return whether a row has this text."""
        return self.codes[row] == self._codes.get(text, -1)

    def column(self) -> pd.Categorical:
        """Return all rows as a categorical."""
        return category(np.frombuffer(self.codes, self.codes.typecode), list(self._codes))


class Nodes:
    """Collects nodes; one call of `add` per row."""

    def __init__(self) -> None:
        self.name: list[str] = []
        self.full_name: list[str] = []
        self.instance: list[str] = []
        self.order = array("q")
        self.scope, self.type, self.kind, self.output_type, self.shape, self.subgraph = (Words() for _ in range(6))

    def __len__(self) -> int:
        return len(self.name)

    def add(
        self, name: str, full_name: str, scope: str, op_type: str, kind: str, *,
        output: tuple[str, str] = ("", ""), instance: str = "", order: int = 0, subgraph: str = "",
    ) -> int:  # fmt: skip
        """Add a row and return its id; output is type and shape of its value."""
        self.name.append(name)
        self.full_name.append(full_name)
        self.instance.append(instance)
        self.order.append(order)
        self.scope.add(scope)
        self.type.add(op_type)
        self.kind.add(kind)
        self.output_type.add(output[0])
        self.shape.add(output[1])
        self.subgraph.add(subgraph)
        return len(self.name) - 1

    def frame(self) -> pd.DataFrame:
        """Return all rows (schema NODES), once: the texts of millions of nodes are not kept twice."""
        instances = _texts(self.instance)
        self.instance.clear()
        full_names = None if self.full_name == self.name else _texts(self.full_name)  # without scopes one column is both
        self.full_name.clear()
        names = _texts(self.name)
        columns = {
            "name": names,
            "full_name": names if full_names is None else full_names,
            "scope": self.scope.column(),
            "type": self.type.column(),
            "kind": self.kind.column(),
            "output_type": self.output_type.column(),
            "shape": self.shape.column(),
            "instance": instances,
            "order": np.array(self.order, np.int64),
            "subgraph": self.subgraph.column(),
        }
        return pd.DataFrame({name: columns[name] for name in NODES.names}, copy=False)


class Edges:
    """Collects edges. A source is an id, or the key of a node that may come later, found by `resolve`."""

    def __init__(self) -> None:
        self.source: list[Any] = []
        self.target, self.output, self.input, self.kind = (array("i") for _ in range(4))
        self.values: dict[int, tuple[str, str]] = {}

    def add(self, source: Hashable, target: int, place: int, kind: str = DATA, output: int = 0) -> None:
        """Add an edge into input `place` of the target."""
        self.source.append(source)
        self.target.append(target)
        self.input.append(place)
        self.output.append(output)
        self.kind.append(KINDS.index(kind))

    def extend(self, target: array[int], place: array[int], kind: array[int]) -> None:
        """Add edges whose sources are given to `frame` only; a kind is its place in KINDS."""
        self.target.extend(target)
        self.input.extend(place)
        self.kind.extend(kind)
        self.output.frombytes(bytes(len(target) * self.output.itemsize))

    def value(self, output_type: str, shape: str) -> None:
        """Set what the last edge carries, if it differs from the output of its source."""
        self.values[len(self.source) - 1] = (output_type, shape)

    def frame(self, nodes: pd.DataFrame, source: NDArray[np.int32]) -> pd.DataFrame:
        """Return the edges whose source was found (not negative), sorted by consumer and input (schema EDGES)."""
        kept = source >= 0
        target, place = np.array(self.target, np.int32), np.array(self.input, np.int32)
        if len(target) and ((target[1:] < target[:-1]) | ((target[1:] == target[:-1]) & (place[1:] < place[:-1]))).any():
            order = np.lexsort((np.where(place < 0, np.iinfo(np.int32).max, place), target))
            order = order[kept[order]]
        else:
            order = np.flatnonzero(kept)
        source = source[order]
        columns = {
            "source": source,
            "target": target[order],
            "output": np.array(self.output, np.int32)[order],
            "input": place[order],
            "kind": category(np.array(self.kind, np.int32)[order], KINDS),
            "type": self._carried(nodes["output_type"].array, source, order, 0),
            "shape": self._carried(nodes["shape"].array, source, order, 1),
        }
        return pd.DataFrame({name: columns[name] for name in EDGES.names}, copy=False)

    def _carried(self, made: Any, source: NDArray[np.int32], order: NDArray[np.int64], part: int) -> pd.Categorical:
        texts, codes = list(made.categories), made.codes[source].astype(np.int32)
        if self.values:
            known = {text: code for code, text in enumerate(texts)}
            place = np.full(len(self.source), -1, np.int64)
            place[order] = np.arange(len(order))
            for edge, value in self.values.items():
                if place[edge] >= 0:
                    codes[place[edge]] = known.setdefault(value[part], len(known))
            texts = list(known)
        return category(codes, texts)


KINDS = [DATA, CONTROL, CALL]


def resolve(keys: Sequence[Hashable], known: dict[Any, int]) -> NDArray[np.int32]:
    """Return the ids of keys, -1 for unknown ones."""
    get = known.get
    return np.array([get(key, -1) for key in keys], np.int32)


def category(codes: NDArray[np.signedinteger], texts: Sequence[str]) -> pd.Categorical:
    """Build a categorical from codes and unique texts."""
    small = codes.astype(np.min_scalar_type(-max(len(texts), 1)))
    return pd.Categorical.from_codes(small, categories=pd.Index(list(texts), dtype="str"), validate=False)


def _texts(texts: list[str]) -> Any:
    return pd.array(texts, dtype="str")


def missing(path: str, offset: int, names: Sequence[str]) -> Problem:
    """Return the Problem of inputs that refer to no node."""
    what = "1 input names" if len(names) == 1 else f"{len(names):,} inputs name"
    text = f"{what} no node of the graph ({_examples(names)}); these edges are skipped, everything else is shown."
    return Problem(path, offset, 0, "bad_graph", text)


def repeated(path: str, offset: int, names: Sequence[str]) -> Problem:
    """Return the Problem of nodes that share a name."""
    what = "1 name is" if len(names) == 1 else f"{len(names):,} names are"
    text = f"{what} given to several nodes ({_examples(names)}); all are shown, edges begin at the first of a name."
    return Problem(path, offset, 0, "bad_graph", text)


def _examples(names: Sequence[str]) -> str:
    different = list(dict.fromkeys(names))
    shown = ", ".join(name if len(name) <= 60 else name[:59] + "…" for name in different[:EXAMPLES])
    return shown + (", …" if len(different) > EXAMPLES else "")

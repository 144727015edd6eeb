"""Decodes data set pipelines: MindSpore's DatasetGraph, recorded by SummaryCollector in lineage files.

The message is a tree whose root is the last operation and whose leaves are the data sets read; a node has several children
where pipelines are zipped or concatenated. MindSpore 1.x called operations `BatchDataset`, newer versions `Batch`: `type` is
the new name, `recorded` the one in the file. Texts "None" and empty texts in lists count as missing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from parsers.deferred import pandas as pd
from parsers.events.wire import DELIMITED, FIXED32, FIXED64, VARINT
from parsers.frames import DATASET_NODES
from parsers.lineage.mindspore import double, entry, int32, text
from parsers.payloads.messages import collect, fields, repeated, whole

DEEPEST = 100
"""Maximum levels, the limit of protobuf itself."""
MOST = 20_000
"""Maximum nodes."""
_OPERATIONS = frozenset((
    "Batch", "BucketBatchByLength", "BuildSentencePieceVocab", "BuildVocab", "Cache", "Concat", "ConcatDataset", "DataQueue",
    "DeviceQueue", "Filter", "FlatMap", "Map", "PaddedBatch", "Project", "Rename", "Repeat", "Shuffle", "Skip", "SyncWait",
    "Take", "Transfer", "Zip",
))  # fmt: skip
_KINDS = {"Map": "map", "Shuffle": "shuffle", "Batch": "batch", "PaddedBatch": "batch", "BucketBatchByLength": "batch",
          "Repeat": "repeat"}  # fmt: skip
_LISTS, _TEXTS, _FLAGS, _WHOLES, _DOUBLES = 2, 1, 3, 4, 5

Parameters = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DatasetOperation:
    """A tensor operation of a map, or a sampler. size and weights are those of operations that choose by weight."""

    name: str
    parameters: Parameters
    size: tuple[int, ...] = ()
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class DatasetNode:
    """An operation on data sets, or one that reads data (kind "create").

    kind is "create", "map", "shuffle", "batch", "repeat" or "operator". parameters hold text, numbers, booleans, lists of text
    and None. children are where its data come from.
    """

    type: str
    recorded: str
    kind: str
    parameters: Parameters
    operations: tuple[DatasetOperation, ...] = ()
    sampler: DatasetOperation | None = None
    children: tuple[DatasetNode, ...] = ()


@dataclass(frozen=True)
class DatasetGraph:
    """A pipeline. problem is a sentence if a part of it is missing, else ""."""

    root: DatasetNode
    problem: str = ""

    def walk(self) -> Iterator[tuple[int, int, DatasetNode]]:
        """Yield (number of the parent, or -1; level; node), the root first, children after their parent."""
        pending, number = [(-1, 0, self.root)], 0
        while pending:
            parent, level, node = pending.pop()
            yield parent, level, node
            pending += [(number, level + 1, child) for child in reversed(node.children)]
            number += 1

    @property
    def nodes(self) -> pd.DataFrame:
        """One row per node (schema DATASET_NODES); the row number is its id."""
        rows = list(self.walk())
        columns: dict[str, Any] = {
            "parent": np.array([parent for parent, _, _ in rows], np.int32),
            "level": np.array([level for _, level, _ in rows], np.int32),
            "type": [node.type for _, _, node in rows],
            "recorded": [node.recorded for _, _, node in rows],
            "kind": [node.kind for _, _, node in rows],
            "parameters": [_json(node.parameters) for _, _, node in rows],
            "operations": [_json([_plain(one) for one in node.operations]) for _, _, node in rows],
            "sampler": ["" if node.sampler is None else _json(_plain(node.sampler)) for _, _, node in rows],
        }
        types = {column.name: column.dtype for column in DATASET_NODES.columns}
        return pd.DataFrame({name: pd.Series(values, dtype=types[name]) for name, values in columns.items()})

    @cached_property
    def mark(self) -> str:
        """Eight hexadecimal digits, equal for pipelines with equal nodes, operations, samplers and parameters."""
        rows = [
            [parent, node.type, node.parameters, [_plain(one) for one in node.operations],
             None if node.sampler is None else _plain(node.sampler)]
            for parent, _, node in self.walk()
        ]  # fmt: skip
        return hashlib.blake2b(_json(rows).encode(), digest_size=4).hexdigest()


def _plain(one: DatasetOperation) -> dict[str, Any]:
    """Return an operation's name and parameters, for JSON."""
    more = {name: list(values) for name, values in (("size", one.size), ("weights", one.weights)) if values}
    return {"name": one.name, "parameters": one.parameters, **more}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True, slots=True)
class RecordedPipeline:
    """A pipeline of a run, and when it was recorded: wall time in seconds, NaN if unknown."""

    wall_time: float
    graph: DatasetGraph


# Reading -----------------------------------------------------------------------------------------------------------


class _Left:
    """The number of nodes that may still be read, and what was skipped."""

    def __init__(self) -> None:
        self.nodes = MOST
        self.problems: dict[str, None] = {}


def dataset_graph(data: memoryview) -> DatasetGraph:
    """Decode a DatasetGraph message."""
    left = _Left()
    root = _node(data, left, 0)
    return DatasetGraph(root, " ".join(left.problems))


def _node(data: memoryview, left: _Left, level: int) -> DatasetNode:
    left.nodes -= 1
    parameters: dict[str, Any] = {}
    operations: list[DatasetOperation] = []
    children: list[DatasetNode] = []
    sampler = None
    for key, content in fields(data):
        if key == 1 << 3 | DELIMITED:
            if level + 1 >= DEEPEST or left.nodes <= 0:
                what = f"{DEEPEST} levels" if level + 1 >= DEEPEST else f"{MOST:,} operations"
                left.problems[f"Its pipeline is shown to {what}; it has more."] = None
                continue
            children.append(_node(content, left, level + 1))
        elif key == 2 << 3 | DELIMITED:
            parameters |= _parameters(content)
        elif key == 3 << 3 | DELIMITED:
            operations.append(_operation(content, "tensor_op_name"))
        elif key == 4 << 3 | DELIMITED:
            sampler = _operation(content, "sampler_name")
    recorded = str(parameters.pop("op_type", None) or "")
    name = _renamed(recorded)
    kind = _KINDS.get(name, "operator" if children or name in _OPERATIONS else "create")
    return DatasetNode(name, recorded, kind, parameters, tuple(operations), sampler, tuple(children))


def _renamed(recorded: str) -> str:
    """Return the name of an operation in newer versions."""
    short = recorded.removesuffix("Dataset")
    return short if short in _OPERATIONS else recorded


def _operation(data: memoryview, named_by: str) -> DatasetOperation:
    parts = collect(data, {1: DELIMITED}, {2: VARINT, 3: FIXED32})
    parameters: dict[str, Any] = {}
    for content in parts.get(1, ()):
        parameters |= _parameters(content)
    name = str(parameters.pop(named_by, None) or "")
    if isinstance(parameters.get("tensor_op_params"), str):  # newer versions: all parameters as one JSON text
        parameters = _unpacked(parameters)
    elif "tensor_op_params" in parameters:
        del parameters["tensor_op_params"]
    size, weights = repeated(parts, 2, "<i4", VARINT).tolist(), repeated(parts, 3, "<f4", FIXED32).tolist()
    return DatasetOperation(name, parameters, tuple(size), tuple(weights))


def _unpacked(parameters: dict[str, Any]) -> dict[str, Any]:
    try:
        found = json.loads(parameters["tensor_op_params"])
        _json(found).encode()  # a value that cannot be encoded again stays text
    except (ValueError, RecursionError):
        return parameters
    if not isinstance(found, dict):
        return parameters
    others = {name: value for name, value in parameters.items() if name != "tensor_op_params"}
    return {**others, **found}


def _parameters(data: memoryview) -> dict[str, Any]:
    """Decode an OperationParameter: one map per type of value."""
    found: dict[str, Any] = {}
    for key, content in fields(data):
        if key & 7 != DELIMITED or not _TEXTS <= key >> 3 <= _DOUBLES:
            continue
        name, kind, value = entry(content)
        found[name] = _parameter(key >> 3, kind, value)
    return found


def _parameter(number: int, kind: int, value: memoryview) -> Any:
    if number == _TEXTS:
        written = text(value) if kind == DELIMITED else ""
        return None if written == "None" else written
    if number == _LISTS:
        texts = [text(one) for key, one in fields(value) if key == 1 << 3 | DELIMITED] if kind == DELIMITED else []
        return [one or None for one in texts]
    if number == _FLAGS:
        return kind == VARINT and whole(value) != 0
    if number == _WHOLES:
        return int32(value) if kind == VARINT else 0
    return double(value) if kind == FIXED64 else 0.0

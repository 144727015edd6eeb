"""The report of a conversion as frames: nodes, weights, operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd

from app.conversion.calls import CheckpointTensor, Emission
from app.conversion.onnx_model import OnnxModel, OnnxNode, ValueType
from app.conversion.weights import Weight

if TYPE_CHECKING:
    from app.conversion.script import Script

CONVERTED, FOLDED, MARKED = "converted", "folded", "marked"
NODES = (
    "node", "name", "operator", "domain", "state", "message", "first_line", "last_line", "inputs", "outputs", "shape", "dtype",
)  # fmt: skip
"""node is the position in the file; lines count from 1 and are 0 without code; message says why a node is marked."""
WEIGHTS = ("parameter", "shape", "dtype", "source", "source_shape", "source_dtype", "change")


class Converted(Protocol):
    """What these frames need of a conversion."""

    model: OnnxModel
    script: Script
    emissions: list[Emission]
    folded: list[OnnxNode]


def node_rows(conversion: Converted) -> list[dict[str, Any]]:
    """Return one row per node: those of the script and those that were folded, in the order of the file."""
    script, model = conversion.script, conversion.model
    rows = []
    for node, state in _states(conversion):
        lines = script.lines.get(node.index) or [0]
        known = model.types.get(node.outputs[0], ValueType()) if node.outputs else ValueType()
        shape = None if known.shape is None else list(known.shape)
        values = (node.index, node.name, node.op, node.domain, state, script.refusals.get(node.index, ""), *_body(lines),
                  list(node.inputs), list(node.outputs), shape, known.dtype)  # fmt: skip
        rows.append(dict(zip(NODES, values, strict=True)))
    return sorted(rows, key=lambda row: int(row["node"]))


def _body(lines: Sequence[int]) -> tuple[int, int]:
    """Return the last run of lines: those of construct, which come after those of __init__."""
    last = max(lines)
    first = last
    known = set(lines)
    while first - 1 in known:
        first -= 1
    return first, last


def _states(conversion: Converted) -> Iterator[tuple[OnnxNode, str]]:
    for emission in conversion.emissions:
        yield emission.node, MARKED if emission.refusal else CONVERTED
    for node in conversion.folded:
        yield node, FOLDED


def nodes(conversion: Converted) -> pd.DataFrame:
    """Return the nodes as a frame."""
    return pd.DataFrame(node_rows(conversion), columns=list(NODES))


def weight_rows(parameters: Mapping[str, CheckpointTensor], known: Mapping[str, Weight]) -> list[dict[str, Any]]:
    """Return one row per tensor of the checkpoint; source is "" for what was computed at conversion."""
    rows = []
    for name, parameter in parameters.items():
        source = known.get(parameter.sources[0]) if parameter.sources else None
        origin = (source.name, list(source.shape), source.dtype) if source else ("", [], "")
        values = (name, list(parameter.shape), parameter.dtype, *origin, parameter.change)
        rows.append(dict(zip(WEIGHTS, values, strict=True)))
    return rows


def weights(conversion: Converted) -> pd.DataFrame:
    """Return the weights as a frame."""
    return pd.DataFrame(weight_rows(conversion.script.parameters, conversion.model.weights), columns=list(WEIGHTS))


def unused(model: OnnxModel) -> list[str]:
    """Return the initializers that no node uses; they are in no checkpoint."""
    return list(model.unused)

"""Conversion of a model: what it was made of, and the result as frames."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

import pandas as pd

from app.conversion import frames
from app.conversion.calls import Emission
from app.conversion.folding import Folding
from app.conversion.joining import joined
from app.conversion.mapping import emit
from app.conversion.onnx_model import OnnxModel, OnnxNode, load
from app.conversion.script import Script, write_script
from app.conversion.shapes import prepare


@dataclass(frozen=True, slots=True)
class ConversionOptions:
    """How to convert. shapes are sizes of inputs by name; inputs and outputs name values between which nodes are kept."""

    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()
    safetensors: bool = False


@dataclass(slots=True)
class Conversion:
    """A converted model: the script, what its checkpoint is made of, and the report as frames."""

    name: str
    model: OnnxModel
    folding: Folding
    emissions: list[Emission]
    script: Script
    options: ConversionOptions
    folded: list[OnnxNode] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether no node became a marked Cell."""
        return not self.script.refusals

    @property
    def nodes(self) -> pd.DataFrame:
        """One row per node of the model, as in `frames.NODES`."""
        return frames.nodes(self)

    @property
    def weights(self) -> pd.DataFrame:
        """One row per tensor of the checkpoint, as in `frames.WEIGHTS`."""
        return frames.weights(self)

    def recording_script(self) -> Script:
        """Return the script whose classes call `record` with every value."""
        return write_script(self.model, self.folding, self.emissions, name=self.name, weights=self.weight_file, recording=True)

    @property
    def weight_file(self) -> str:
        """Name of the file of weights, the first one of several."""
        return f"{self.name}.{'safetensors' if self.options.safetensors else 'ckpt'}"


def convert(path: str | os.PathLike[str], options: ConversionOptions | None = None) -> Conversion:
    """Convert a model; nothing is written. Raises ConversionError if it cannot be read, and only then."""
    options = options or ConversionOptions()
    path = os.fspath(path)
    model = load(path, options.inputs, options.outputs)
    every = list(model.nodes)
    folding = prepare(model, options.shapes)
    used = {value for node in model.nodes for value in (*node.inputs, *node.outer)} | set(model.outputs)
    emissions, spared = _needed([emit(model, folding, node, used) for node in model.nodes], used, model.outputs)
    emissions = joined(emissions, model.outputs)
    name = os.path.basename(path).rpartition(".")[0] or os.path.basename(path)
    weights = f"{name}.{'safetensors' if options.safetensors else 'ckpt'}"
    script = write_script(model, folding, emissions, name=name, weights=weights)
    gone = folding.folded | spared
    return Conversion(name, model, folding, emissions, script, options, [node for node in every if node.index in gone])


def _needed(emissions: list[Emission], used: Set[str], outputs: Sequence[str]) -> tuple[list[Emission], set[int]]:
    """Return the code without shape arithmetic whose result stands as numbers in other code, and the nodes that this spares."""
    wanted, kept, spared = set(outputs), list[Emission](), set[int]()
    for emission in reversed(emissions):
        made = {name for name in emission.node.outputs if name}
        if emission.refusal or made & wanted or not made & used:
            kept.append(emission)
            wanted.update(emission.values)
        else:
            spared.add(emission.node.index)
    return kept[::-1], spared

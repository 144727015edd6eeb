"""Writes what a network computes as msprobe does: `step<n>/rank0/{dump,stack,construct}.json` and files of small tensors.

The lines of stack.json are those of the program at the time, with paths from the root of the repository.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.writers.digits.network import Array, Network

ROOT = Path(__file__).resolve().parents[3]
LARGEST = 3_000
"""Bytes of an output or gradient whose values are kept."""


class Dump:
    """The dump of one training: watches a network while `step` is open."""

    def __init__(self, directory: Path, network: Network) -> None:
        self._directory, self._network = directory, network

    def begin(self, step: int) -> None:
        """Watch the operations of a step from here on."""
        self._folder = self._directory / f"step{step}" / "rank0"
        (self._folder / "dump_tensor_data").mkdir(parents=True)
        self._data: dict[str, Any] = {}
        self._stacks: dict[str, Any] = {}
        self._parents: dict[str, str | None] = {}
        self._network.watch = self._operation

    def end(self, gradients: dict[str, Array]) -> None:
        """Add the gradients of the step, and write its files."""
        self._network.watch = lambda name, inputs, output: None
        for layer in ("output", "hidden", "conv"):
            name = f"Cell.{layer}.{layer.capitalize()}.parameters_grad.0"
            kinds = ("weight", "bias")
            self._data[name] = {kind: [self._leaf(f"{name}.{kind}", gradients[f"{layer}.{kind}"])] for kind in kinds}
        content = {"task": "tensor", "level": "mix", "framework": "mindspore", "dump_data_dir": "./dump_tensor_data",
                   "data": self._data}  # fmt: skip
        for file, what in (("dump", content), ("stack", self._stacks), ("construct", self._parents)):
            (self._folder / f"{file}.json").write_text(json.dumps(what, separators=(",", ":")) + "\n", encoding="utf-8")

    def _operation(self, name: str, inputs: Sequence[Array], output: Array) -> None:
        scope, _, kind = name.partition("/")
        count = sum(one.startswith(f"Functional.{kind}.") for one in self._data)
        entry = f"Functional.{kind}.{count}.forward"
        module = f"Cell.{scope}.{scope.capitalize()}.forward.0"
        self._parents[entry] = module
        self._parents[module] = None
        self._data[entry] = {
            "input_args": [self._leaf("", one) for one in inputs],
            "input_kwargs": {}, "output": [self._leaf(f"{entry}.output.0", output)],
        }  # fmt: skip
        self._stacks[str(len(self._stacks))] = [[entry], _lines()]

    def _leaf(self, name: str, value: Array) -> dict[str, Any]:
        array = np.asarray(value, np.float32)
        with np.errstate(all="ignore"):
            numbers = {"Max": array.max(), "Min": array.min(), "Mean": array.mean(dtype=np.float64),
                       "Norm": np.sqrt(np.square(array, dtype=np.float64).sum())}  # fmt: skip
        leaf: dict[str, Any] = {"type": "mindspore.Tensor", "dtype": "Float32", "shape": list(array.shape)}
        leaf |= {key: float(one) for key, one in numbers.items()}
        if name and array.nbytes <= LARGEST:
            leaf["data_name"] = f"{name}.npy"
            np.save(self._folder / "dump_tensor_data" / f"{name}.npy", array)
        return leaf


def _lines() -> list[str]:
    """The lines that led to the operation, innermost first. That of the operation is the one before it was reported."""
    found = []
    for one in reversed(traceback.extract_stack()[:-2]):
        path = Path(one.filename)
        if not path.is_relative_to(ROOT / "tests"):
            continue
        line = (one.lineno or 1) - (not found)
        code = path.read_text(encoding="utf-8").splitlines()[line - 1].strip()
        found.append(f"File {path.relative_to(ROOT).as_posix()}, line {line}, in {one.name}, \n {code}")
    return found

"""Checks a conversion: the model in onnxruntime and the script in MindSpore, value by value, on the same seeded inputs.

The script runs in a process of its own (`check_process`). It is a copy whose classes call `record` with every value. References
are computed in pieces of PIECE nodes: a piece of the model is a model of its own, fed with the values that earlier pieces left.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from app.conversion import check_process
from app.conversion.check_result import CHECKED, NOT_CHECKED, TOLERANCE, ConversionComparison
from app.conversion.folding import Array
from app.conversion.onnx_model import OnnxModel, OnnxNode, ValueType
from app.conversion.output import weight_files, write_files
from app.conversion.refusals import ConversionError
from app.conversion.script import renamed_values

if TYPE_CHECKING:
    from app.conversion.converting import Conversion

PIECE = 200
"""Nodes of a piece."""
FED = 1024
"""Elements from which a weight is fed to onnxruntime and not written into the model of a piece."""
BATCH, SIZE = 2, 8
"""Sizes of inputs that are not fixed: of the first axis, of others."""


def check(conversion: Conversion, python: str = sys.executable, seed: int = 0) -> ConversionComparison:
    """Check a conversion with the interpreter that has MindSpore."""
    try:
        import onnxruntime
    except ImportError:
        return ConversionComparison(NOT_CHECKED, "onnxruntime is not installed: pip install 'mindscope[convert]'")
    references = References(conversion, seed)
    with tempfile.TemporaryDirectory(prefix="mindscope-check-") as directory:
        _prepare(conversion, references, directory)
        found = _run(conversion, references, directory, python)
    found.versions["onnxruntime"] = onnxruntime.__version__
    found.seed = seed
    return found


def _prepare(conversion: Conversion, references: References, directory: str) -> None:
    script = conversion.recording_script()
    with open(os.path.join(directory, "script.py"), "w", encoding="utf-8") as file:
        file.write(script.text)
    writers = weight_files(conversion)
    write_files(directory, writers)
    values = [(value, references.piece_of(node)) for node, value in script.recorded]
    job = {"values": values, "piece": PIECE, "tolerance": TOLERANCE, "inputs": conversion.model.inputs,
           "weights": [os.path.join(directory, name) for name in writers]}  # fmt: skip
    with open(os.path.join(directory, "job.json"), "w", encoding="utf-8") as file:
        json.dump(job, file)
    arrays: dict[str, Any] = {f"v{place}": array for place, array in enumerate(references.inputs)}
    np.savez(os.path.join(directory, "inputs.npz"), **arrays)


def _run(conversion: Conversion, references: References, directory: str, python: str) -> ConversionComparison:
    interpreter = os.path.abspath(python) if os.path.dirname(python) else python  # the process starts in another directory
    command = [interpreter, os.path.abspath(check_process.__file__), directory]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"GLOG_v": "3"}
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE,  # noqa: S603  the interpreter that the user named
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                   encoding="utf-8", env=environment, cwd=directory)  # fmt: skip
    except OSError as error:
        return ConversionComparison(NOT_CHECKED, f"{python} could not be started: {error.strerror}")
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        for line in process.stdout:
            message = json.loads(line)
            if "missing" in message:
                return ConversionComparison(NOT_CHECKED, f"{python} has no MindSpore: {message['missing']}")
            if "done" in message:
                return _result(conversion, references, message)
            try:
                references.write(message["piece"], directory)
            except ConversionError as error:
                return ConversionComparison(NOT_CHECKED, str(error))
            process.stdin.write("ready\n")
            process.stdin.flush()
        return ConversionComparison(NOT_CHECKED, f"{python} ended without a result, with exit code {process.wait()}")
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def _result(conversion: Conversion, references: References, message: Mapping[str, Any]) -> ConversionComparison:
    compared = _compared(conversion)
    rows = [{"node": node, **row, "value": name} for row in message["results"] for node, name in compared[row["value"]]]
    found = ConversionComparison(CHECKED, "", rows, message["error"], versions={"mindspore": message["mindspore"]})
    found.constant = references.constant
    if found.error:
        found.reason = "the script was checked up to its error"
    elif found.constant:
        found.reason = f"the output {found.constant[0]!r} is the same number everywhere, which proves nothing"
    return found


def _compared(conversion: Conversion) -> dict[str, list[tuple[int, str]]]:
    """Return value of the script -> the nodes and values that are compared with it, in the order of execution.

    A sum stands for the product in the same layer, too, and a value for those that only rename it.
    """
    producers = {name: node.index for node in conversion.model.nodes for name in node.outputs if name}
    found = {name: [(index, name)] for name, index in producers.items()}
    sums = {emission.node.index: emission.node.outputs[0] for emission in conversion.emissions}
    for emission in conversion.emissions:
        if emission.joined is not None:
            found[sums[emission.joined]].insert(0, (emission.node.index, sums[emission.joined]))
    for name, source in renamed_values(conversion.emissions).items():
        if source in found:
            found[source].append((producers[name], name))
    return found


class References:
    """Values of the model by onnxruntime, computed piece by piece and dropped when no later piece needs them.

    The script ends at the first marked Cell, so nothing from it on is computed: onnxruntime may not know the operator either.
    """

    def __init__(self, conversion: Conversion, seed: int) -> None:
        self._model: OnnxModel = conversion.model
        self._constants = conversion.folding.constants
        nodes = self._model.nodes
        marked = (place for place, node in enumerate(nodes) if node.index in conversion.script.refusals)
        nodes = nodes[: next(marked, len(nodes))]
        self._pieces = [nodes[start : start + PIECE] for start in range(0, len(nodes), PIECE)]
        self._piece = {node.index: place for place, part in enumerate(self._pieces) for node in part}
        self._last = {name: self._piece[node.index] for node in nodes for name in (*node.inputs, *node.outer)}
        self._last |= dict.fromkeys(self._model.outputs, len(self._pieces))
        generator = np.random.default_rng(seed)
        self.inputs = [_input(self._model.types.get(name, ValueType()), generator) for name in self._model.inputs]
        self._held: dict[str, Array] = dict(zip(self._model.inputs, self.inputs, strict=True))
        self._next = 0
        self.constant: list[str] = []

    def piece_of(self, node: int) -> int:
        """Return the piece of a node, -1 if it is never computed."""
        return self._piece.get(node, -1)

    def write(self, piece: int, directory: str) -> None:
        """Compute a piece, and those before it, and write its values."""
        while self._next <= piece:
            values = self._computed(self._pieces[self._next])
            if self._next == piece:
                arrays: dict[str, Any] = {f"v{place}": array for place, array in enumerate(values.values())}
                np.savez(os.path.join(directory, f"piece_{piece}.npz"), names=json.dumps(list(values)), **arrays)
            for name in self._model.outputs:
                array = values.get(name)
                if array is not None and array.size > 1 and array.dtype.kind == "f" and float(np.ptp(array)) == 0:
                    self.constant.append(name)
            self._held |= {name: array for name, array in values.items() if self._last.get(name, -1) > self._next}
            self._next += 1
            self._held = {name: array for name, array in self._held.items() if self._last.get(name, -1) >= self._next}

    def _computed(self, nodes: Sequence[OnnxNode]) -> dict[str, Array]:
        import onnxruntime

        outputs = [name for node in nodes for name in node.outputs if name]
        made = set(outputs)
        needed = dict.fromkeys(name for node in nodes for name in (*node.inputs, *node.outer) if name and name not in made)
        small, feeds = [], dict[str, Array]()
        for name in needed:
            array = self._array(name)
            if name in self._held or array.size >= FED:
                feeds[name] = array
            else:
                small.append(numpy_helper.from_array(array, name))
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in feeds.items()
        ]
        known = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph([node.proto for node in nodes], "piece", inputs, known, small)
        model = helper.make_model(
            graph, opset_imports=list(self._model.proto.opset_import), ir_version=min(self._model.proto.ir_version, 11)
        )
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
            found = session.run(outputs, feeds)
        except Exception as error:  # noqa: BLE001  onnxruntime's errors have no common base; the report gives the reason
            text = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
            raise ConversionError(f"onnxruntime cannot run the model: {text}") from None
        return {name: np.asarray(array) for name, array in zip(outputs, found, strict=True)}

    def _array(self, name: str) -> Array:
        if name in self._held:
            return self._held[name]
        return self._constants[name] if name in self._constants else self._model.weights[name].array()


def _input(known: ValueType, generator: np.random.Generator) -> Array:
    """Return seeded values of an input: normal, or small whole numbers, which are valid indices."""
    shape = tuple(size if isinstance(size, int) else SIZE if place else BATCH for place, size in enumerate(known.shape or ()))
    dtype = known.dtype or "float32"
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        return generator.normal(size=shape).astype(dtype)
    return generator.integers(0, 2, shape).astype(dtype)


Proto = onnx.ModelProto

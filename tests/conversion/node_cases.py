"""Cases of single operators: made from the node tests inside the package `onnx`, and written here for versions those do not
reach.

The reference is what onnxruntime computes. A case of onnx counts where onnxruntime agrees with onnx; it is tried again with the
operator set of every older version of its operator, and counts where onnxruntime accepts it. Inputs that say how an operator
works (shapes, axes, pads) are constants, as in exported models; with `+weights` all inputs but the first are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

TABLE = [
    "Abs",
    "Acos",
    "Acosh",
    "Add",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "AveragePool",
    "BatchNormalization",
    "Cast",
    "Ceil",
    "Clip",
    "Concat",
    "Conv",
    "ConvTranspose",
    "Cos",
    "CumSum",
    "Div",
    "Dropout",
    "Einsum",
    "Erf",
    "Exp",
    "Flatten",
    "Floor",
    "Gather",
    "Gemm",
    "GlobalAveragePool",
    "Greater",
    "LSTM",
    "LeakyRelu",
    "Log",
    "MatMul",
    "MaxPool",
    "Mul",
    "Neg",
    "Not",
    "OneHot",
    "PRelu",
    "Pad",
    "Pow",
    "Reciprocal",
    "ReduceMean",
    "ReduceSum",
    "Relu",
    "Reshape",
    "Resize",
    "Sigmoid",
    "Sin",
    "Slice",
    "Softmax",
    "Split",
    "Sqrt",
    "Squeeze",
    "Sub",
    "Tanh",
    "Transpose",
    "Unsqueeze",
    "Where",
]
OTHERS = [
    "HardSwish",
    "Softplus",
    "Elu",
    "LogSoftmax",
    "Identity",
    "Round",
    "Sign",
    "InstanceNormalization",
    "GlobalMaxPool",
    "ReduceMax",
    "ArgMax",
    "Max",
    "Less",
    "Tile",
    "Expand",
    "TopK",
    "DepthToSpace",
    "LayerNormalization",
    "GRU",
]
MORE = [
    "RNN",
    "Range",
    "Trilu",
    "Gelu",
    "Mod",
    "Equal",
    "LessOrEqual",
    "GreaterOrEqual",
    "And",
    "Or",
    "Xor",
    "ReduceMin",
    "ReduceProd",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceSumSquare",
    "GatherElements",
    "GatherND",
    "ScatterElements",
    "ScatterND",
    "GridSample",
    "GroupNormalization",
    "RMSNormalization",
    "Attention",
    "ArgMin",
    "Min",
    "Mean",
    "Sum",
    "BitShift",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "BitwiseNot",
    "HardSigmoid",
    "Selu",
    "Celu",
    "ThresholdedRelu",
    "Softsign",
    "Mish",
    "Shrink",
    "Hardmax",
    "LRN",
    "LpNormalization",
    "MeanVarianceNormalization",
    "SpaceToDepth",
    "Sinh",
    "Cosh",
    "Tan",
    "IsNaN",
    "IsInf",
    "NonZero",
    "EyeLike",
    "Compress",
    "ReverseSequence",
    "RotaryEmbedding",
    "Upsample",
    "Swish",
    "LpPool",
    "GlobalLpPool",
    "Det",
    "CastLike",
    "Size",
    "Shape",
    "CumProd",
]
CONSTANT = {
    "Reshape": (1,), "Expand": (1,), "Slice": (1, 2, 3, 4), "Pad": (1, 2, 3), "Tile": (1,), "TopK": (1,), "Squeeze": (1,),
    "Unsqueeze": (1,), "Split": (1,), "OneHot": (1,), "Resize": (1, 2, 3), "Upsample": (1,), "CumSum": (1,), "CumProd": (1,),
    "Range": (0, 1, 2), "Trilu": (1,), "Dropout": (1, 2), "Compress": (1,), "RotaryEmbedding": (),
    **{name: (1,) for name in (*OTHERS, *MORE, *TABLE) if name.startswith("Reduce")},
}  # fmt: skip
"""Inputs that are constants in exported models."""
WEIGHTS = {
    "Conv", "ConvTranspose", "BatchNormalization", "Gemm", "MatMul", "LSTM", "GRU", "RNN", "LayerNormalization", "Clip",
    "Where", "InstanceNormalization", "GroupNormalization", "RMSNormalization", "PRelu", "Gather", "GatherElements",
    "GatherND", "Add", "Sub", "Mul", "Div", "Pow", "Max", "Greater", "Less", "Equal", "OneHot", "ScatterElements",
    "ScatterND", "Concat", "Einsum", "Attention",
}  # fmt: skip
WRONG_IN_ONNXRUNTIME: set[str] = set()


@dataclass(frozen=True, slots=True)
class Case:
    """One model with one node, its inputs by name, and its reference."""

    name: str
    op: str
    opset: int
    model: onnx.ModelProto
    inputs: dict[str, np.ndarray]
    outputs: tuple[np.ndarray, ...]

    @property
    def dtypes(self) -> set[str]:
        """Types of inputs and outputs."""
        found = [*self.inputs.values(), *self.outputs, *(numpy_helper.to_array(one) for one in self.model.graph.initializer)]
        return {str(array.dtype) for array in found}


def versions(op: str) -> list[int]:
    """Return the operator sets, 7 or later, in which an operator got a new version; the one before 7 counts as 7."""
    found = {
        max(schema.since_version, 7)
        for schema in onnx.defs.get_all_schemas_with_history()
        if schema.name == op and schema.domain == ""
    }
    return sorted(found)


_VERSIONS: dict[str, list[int]] = {}


def of_onnx(operators: set[str]) -> Iterator[Case]:
    """Yield the cases made from the node tests of onnx."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        collected = collect_testcases(None)
    for test in collected:
        graph = test.model.graph
        if len(graph.node) != 1 or graph.node[0].op_type not in operators or graph.node[0].domain or not test.data_sets:
            continue
        inputs, outputs = test.data_sets[0]
        if not all(isinstance(array, np.ndarray) and array.dtype.kind in "fiub" for array in (*inputs, *outputs)):
            continue
        yield from _of_test(test.name, test.model, inputs, outputs)


def _of_test(name: str, model: onnx.ModelProto, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> Iterator[Case]:
    node = model.graph.node[0]
    op, current = node.op_type, next(entry.version for entry in model.opset_import if not entry.domain)
    arrays = dict(zip([value.name for value in model.graph.input], inputs, strict=True))
    own = _VERSIONS.setdefault(op, versions(op))
    for opset in sorted({current, *(version for version in own if version <= current)}, reverse=True) if current >= 7 else ():
        found = reference(model, arrays, opset)
        if found is None:
            continue
        if opset == current and not _agree(found, outputs):
            return
        yield _case(f"{name}@{opset}", model, arrays, opset, found, CONSTANT.get(op, ()))
        if op in WEIGHTS and len(arrays) > 1:
            yield _case(f"{name}+weights@{opset}", model, arrays, opset, found, range(1, len(node.input)))


def _agree(found: tuple[np.ndarray, ...], wanted: list[np.ndarray]) -> bool:
    return len(found) == len(wanted) and all(
        a.shape == b.shape
        and a.dtype == b.dtype
        and np.allclose(a.astype(np.float64), b.astype(np.float64), 1e-3, 1e-3, equal_nan=True)
        for a, b in zip(found, wanted, strict=True)
    )


def _model(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    graph = helper.make_graph(
        list(model.graph.node), "case", list(model.graph.input), list(model.graph.output), list(model.graph.initializer)
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=min(10, 3 + (opset > 8) + 4 * (opset > 10))
    )


def reference(model: onnx.ModelProto, arrays: dict[str, np.ndarray], opset: int) -> tuple[np.ndarray, ...] | None:
    """Return what onnxruntime computes, None if it does not accept the model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(_model(model, opset).SerializeToString(), options, ["CPUExecutionProvider"])
        return tuple(np.asarray(array) for array in session.run(None, arrays))
    except Exception:
        return None


def _case(name: str, model: onnx.ModelProto, arrays: dict[str, np.ndarray], opset: int, found: tuple[np.ndarray, ...],
          constant: Any) -> Case:  # fmt: skip
    node = model.graph.node[0]
    fixed = {node.input[place] for place in constant if place < len(node.input) and node.input[place]}
    new = _model(model, opset)
    kept = [value for value in new.graph.input if value.name not in fixed]
    if opset < 9:  # initializers are inputs, too
        kept = list(new.graph.input)
    del new.graph.input[:]
    new.graph.input.extend(kept)
    for key in arrays:
        if key in fixed:
            new.graph.initializer.append(numpy_helper.from_array(arrays[key], key))
    for value, array in zip(new.graph.output, found, strict=True):
        value.type.tensor_type.ClearField("shape")
        value.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(array.dtype)
    return Case(name, node.op_type, opset, new, {key: array for key, array in arrays.items() if key not in fixed}, found)

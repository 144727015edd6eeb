"""Cases of single operators: made from the node tests inside the package `onnx`, and written here for versions those do not
reach.

The reference is what onnxruntime computes. A case of onnx counts where onnxruntime agrees with onnx; it is tried again with the
operator set of every older version of its operator, and counts where onnxruntime accepts it. Inputs that say how an operator
works (shapes, axes, pads) are constants, as in exported models; with `+weights` all inputs but the first are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
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


def test_of(name: str) -> str:
    """Return the name of the test from which the case of a name is made, once for each operator set and with weights."""
    return name.split("@")[0].removesuffix("+weights")


def of_onnx(operators: set[str], chosen: Callable[[str], bool]) -> Iterator[Case]:
    """Yield the cases made from the node tests of onnx whose names are chosen; only of these references are computed."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        collected = collect_testcases(None)
    for test in collected:
        graph = test.model.graph
        if len(graph.node) != 1 or graph.node[0].op_type not in operators or graph.node[0].domain or not test.data_sets:
            continue
        if not chosen(test.name):
            continue
        inputs, outputs = ([_array(value) for value in part] for part in test.data_sets[0])
        if not all(array.dtype.kind in "fiub" for array in (*inputs, *outputs)):
            continue
        yield from _of_test(test.name, test.model, inputs, outputs)


def _array(value: Any) -> np.ndarray:
    """Return a value of a test as an array; it is one of objects for sequences and the like."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return np.asarray(value) if isinstance(value, (np.ndarray, np.generic)) else np.empty(0, object)


def _of_test(name: str, model: onnx.ModelProto, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> Iterator[Case]:
    node = model.graph.node[0]
    op, current = node.op_type, max(7, next(entry.version for entry in model.opset_import if not entry.domain))
    arrays = dict(zip([value.name for value in model.graph.input], inputs, strict=True))
    own = _VERSIONS.setdefault(op, versions(op))
    for opset in sorted({current, *(version for version in own if version <= current)}, reverse=True):
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


def written(chosen: Callable[[str], bool]) -> Iterator[Case]:
    """Yield cases of versions and of recurrent operators that no node test of onnx reaches, of those whose name is chosen."""
    rng = np.random.default_rng(2)
    for name, op, opset, shapes, attributes, fixed in (*_old_versions(), *_recurrent()):
        arrays = {}
        for key, value in shapes.items():
            arrays[key] = rng.normal(0, 0.5, value).astype(np.float32) if isinstance(value, tuple) else value
        if not chosen(name):  # its numbers are drawn all the same, so that those of others stay
            continue
        count = {"LSTM": 3, "GRU": 2, "RNN": 2, "TopK": 2}.get(op, 1)
        inputs = [
            helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for key, a in arrays.items()
        ]
        names = [key for key in arrays if not key.startswith("none")]
        node = helper.make_node(
            op, ["" if key.startswith("none") else key for key in arrays], [f"y{n}" for n in range(count)], **attributes
        )
        outputs = [helper.make_empty_tensor_value_info(output) for output in node.output]
        graph = helper.make_graph([node], "case", [value for value in inputs if value.name in names], outputs)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        arrays = {key: arrays[key] for key in names}
        found = reference(model, arrays, opset)
        assert found is not None, name
        yield _case(f"{name}@{opset}", model, arrays, opset, found, fixed)


_Row = tuple[str, str, int, dict[str, Any], dict[str, Any], tuple[int, ...]]


def _old_versions() -> Iterator[_Row]:
    x = {"x": (2, 3, 4)}
    yield "clip", "Clip", 7, x, {"min": -0.3, "max": 0.4}, ()
    yield "clip_below", "Clip", 7, x, {"min": -0.3}, ()
    yield "depth_to_space", "DepthToSpace", 7, {"x": (1, 8, 2, 3)}, {"blocksize": 2}, ()
    yield "pad", "Pad", 7, x, {"pads": [0, 1, 2, 1, 0, 1], "value": 1.5}, ()
    yield "pad_reflect", "Pad", 7, x, {"pads": [0, 1, 2, 0, 1, 1], "mode": "reflect"}, ()
    for opset in (7, 11, 13):
        yield "reduce_mean", "ReduceMean", opset, x, {"axes": [1], "keepdims": 0}, ()
        yield "reduce_mean_all", "ReduceMean", opset, x, {}, ()
    for opset in (7, 11):
        yield "reduce_sum", "ReduceSum", opset, x, {"axes": [0, 2]}, ()
        yield "squeeze", "Squeeze", opset, {"x": (1, 3, 1, 4)}, {"axes": [2]}, ()
        yield "squeeze_all", "Squeeze", opset, {"x": (1, 3, 1, 4)}, {}, ()
        yield "unsqueeze", "Unsqueeze", opset, x, {"axes": [0, 3]}, ()
    yield "resize_nearest", "Resize", 10, {"x": (1, 2, 3, 4), "s": np.array([1, 1, 2, 2], np.float32)}, {}, (1,)
    yield (
        "resize_linear",
        "Resize",
        10,
        {"x": (1, 2, 3, 4), "s": np.array([1, 1, 2, 1.5], np.float32)},
        {"mode": "linear"},
        (1,),
    )
    roi = np.zeros(0, np.float32)
    ways = {
        "nearest": ("asymmetric", "half_pixel"),
        "linear": ("half_pixel", "align_corners", "asymmetric"),
        "cubic": ("half_pixel",),
    }
    for mode, way in ((mode, way) for mode, several in ways.items() for way in several):
        given = {"x": (1, 2, 3, 4), "roi": roi, "s": np.array([1, 1, 2, 2.5], np.float32)}
        yield f"resize_{mode}_{way}", "Resize", 11, given, {"mode": mode, "coordinate_transformation_mode": way}, (1, 2)
    yield "slice", "Slice", 7, {"x": (5, 6, 3)}, {"starts": [1, -3], "ends": [4, 100], "axes": [0, 1]}, ()
    yield "slice_no_axes", "Slice", 7, {"x": (5, 6, 3)}, {"starts": [1], "ends": [-1]}, ()
    yield "top_k", "TopK", 7, x, {"k": 2, "axis": 1}, ()


def _recurrent() -> Iterator[_Row]:
    """Directions, biases, states, lengths, clip, activations, peepholes and layouts."""
    steps, batch, inner, hidden = 5, 3, 4, 6
    lengths = np.array([5, 2, 3], np.int32)
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for direction, count in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            weights = {"x": (steps, batch, inner), "w": (count, gates * hidden, inner), "r": (count, gates * hidden, hidden)}
            bias, state = {"b": (count, 2 * gates * hidden)}, (count, batch, hidden)
            cell = {"c": state} if op == "LSTM" else {}
            none = np.zeros(0, np.float32)
            for reset in (0, 1) if op == "GRU" else (None,):
                how = {"hidden_size": hidden, "direction": direction} | (
                    {} if reset is None else {"linear_before_reset": reset}
                )
                name = f"{op.lower()}_{direction}" + (f"_reset{reset}" if reset is not None else "")
                yield f"{name}", op, 14, weights, how, (1, 2)
                yield f"{name}_bias", op, 14, {**weights, **bias}, how, (1, 2, 3)
                yield f"{name}_bias", op, 7, {**weights, **bias}, how, (1, 2, 3)
                yield f"{name}_states", op, 14, {**weights, **bias, "none4": none, "h": state, **cell}, how, (1, 2, 3)
                yield (
                    f"{name}_fixed_states",
                    op,
                    14,
                    {**weights, **bias, "none4": none, "h": state, **cell},
                    how,
                    (1, 2, 3, 5, 6),
                )
                yield f"{name}_lengths", op, 14, {**weights, **bias, "l": lengths}, how, (1, 2, 3)
                yield f"{name}_fixed_lengths", op, 14, {**weights, **bias, "l": lengths, "h": state, **cell}, how, (1, 2, 3, 4)
                yield f"{name}_clip", op, 14, {**weights, **bias}, how | {"clip": 0.2}, (1, 2, 3)
                yield f"{name}_computed_weights", op, 14, {**weights, **bias}, how, ()
            if op == "LSTM":
                peep = {**weights, **bias, "none4": none, "none5": none, "none6": none, "p": (count, 3 * hidden)}
                yield f"lstm_{direction}_peepholes", op, 14, peep, {"hidden_size": hidden, "direction": direction}, (1, 2, 3, 7)
            other = {"LSTM": ["Tanh", "Sigmoid", "Relu"], "GRU": ["Sigmoid", "Relu"], "RNN": ["Relu"]}[op] * count
            how = {"hidden_size": hidden, "direction": direction, "activations": other}
            yield f"{op.lower()}_{direction}_activations", op, 14, {**weights, **bias}, how, (1, 2, 3)

"""Shape arithmetic at conversion: values that follow from shapes and constants, computed with NumPy.

A size that is not known keeps its name, so that `Shape -> Gather -> Concat -> Reshape` comes out as (batch, -1) and not as a
computation. Weights (floating-point initializers, and integers that are no shape) are never changed, and no array larger than
LARGEST is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from app.conversion.onnx_model import Dim, OnnxModel, OnnxNode, ValueType, attribute_value
from app.conversion.weights import dtype_name

LARGEST = 64 << 20
"""Bytes of a folded constant."""
MOST_WEIGHT = 4096
"""Elements of an integer initializer that takes part in folding."""
Array = NDArray[Any]
Known = Array | tuple[Dim, ...] | str
"""An array, a vector of sizes some of which have only names, or one size that has only a name."""
_Attributes = Mapping[str, Any]
Fold = Callable[[list[Any], _Attributes], Any]


class Folding:
    """Values known at conversion. `constants` are arrays by value name; `sizes` are partly known vectors and numbers."""

    def __init__(self, model: OnnxModel) -> None:
        self._model = model
        self.constants: dict[str, Array] = {}
        self.sizes: dict[str, tuple[Dim, ...] | str] = {}
        self.folded: set[int] = set()

    def run(self) -> int:
        """Fold what can be folded with the types known by now; return the number of nodes folded."""
        before = len(self.folded)
        for node in self._model.nodes:
            if node.index not in self.folded and not node.domain and len(node.outputs) == 1 and not node.outer:
                self._visit(node)
        return len(self.folded) - before

    def known(self, name: str) -> Known | None:
        """Return what is known of a value; of weights only small vectors of integers."""
        if name in self.constants:
            return self.constants[name]
        if name in self.sizes:
            return self.sizes[name]
        weight = self._model.weights.get(name)
        if weight is not None and weight.size <= MOST_WEIGHT and weight.dtype in ("int64", "int32", "bool"):
            self.constants[name] = weight.array()
            return self.constants[name]
        return None

    def _visit(self, node: OnnxNode) -> None:
        found = self._value(node)
        if found is None:
            return
        (output,) = node.outputs
        if isinstance(found, np.ndarray):
            if found.nbytes > LARGEST or (not found.size and output in self._model.outputs):
                return
            self.constants[output] = found
            self.folded.add(node.index)
            self._model.types[output] = ValueType(str(found.dtype), found.shape)
        else:
            self.sizes[output] = found

    def _value(self, node: OnnxNode) -> Known | None:
        attributes = {name: attribute_value(one) for name, one in node.attributes.items()}
        if node.op == "Constant":
            return constant_value(attributes)
        if node.op in ("Shape", "Size"):
            return self._shape(node, attributes)
        values = [self.known(name) if name else None for name in node.inputs]
        if not values or any(value is None and name for name, value in zip(node.inputs, values, strict=True)):
            return None
        if all(isinstance(value, np.ndarray) or value is None for value in values):
            fold = FOLDS.get(node.op)
            return None if fold is None or _too_large(node.op, values) else _folded(fold, values, attributes)
        partial = PARTIAL.get(node.op)
        return None if partial is None else _folded(partial, values, attributes)

    def _shape(self, node: OnnxNode, attributes: _Attributes) -> Known | None:
        shape = self._model.types.get(node.inputs[0], ValueType()).shape if node.inputs else None
        if shape is None:
            return None
        if node.op == "Size":
            return np.array(math.prod(shape), np.int64) if all(isinstance(size, int) for size in shape) else None
        shape = shape[slice(attributes.get("start", 0), attributes.get("end"))]
        return simplest(shape)


def simplest(sizes: Sequence[Dim]) -> Array | tuple[Dim, ...]:
    """Return sizes as an array if all of them are known."""
    return np.array(sizes, np.int64) if all(isinstance(size, int) for size in sizes) else tuple(sizes)


def _too_large(op: str, values: list[Any]) -> bool:
    """Return whether an operator that enlarges would make more than LARGEST bytes, before it does."""
    if op in ("ConstantOfShape", "Expand", "Tile"):
        sizes = values[-1] if op != "Tile" else np.append(values[1], max(values[0].size, 1))
        sizes = np.append(sizes, values[0].size) if op == "Expand" else sizes
        return math.prod(max(int(size), 1) for size in np.ravel(sizes)) * 8 > LARGEST
    if op == "Range":
        start, stop, step = (float(np.ravel(value)[0]) if value.size else 0.0 for value in values)
        return not step or not abs((stop - start) / step) * 8 <= LARGEST
    return False


def _folded(fold: Fold, values: list[Any], attributes: _Attributes) -> Known | None:
    """Apply a fold. What NumPy refuses is left in the graph, where its mapping says what is wrong with it."""
    try:
        with np.errstate(all="ignore"):
            found = fold(values, attributes)
    except (ValueError, IndexError, TypeError, OverflowError, ZeroDivisionError, KeyError, MemoryError):
        return None
    if found is None or isinstance(found, (tuple, str)):
        return found
    return np.asarray(found)


def constant_value(attributes: _Attributes) -> Array | None:
    """Return the value of a Constant node, None for sparse tensors and texts."""
    if isinstance(attributes.get("value"), onnx.TensorProto):
        tensor = attributes["value"]
        if dtype_name(tensor.data_type) in ("", "bfloat16", "string") or tensor.data_location == onnx.TensorProto.EXTERNAL:
            return None
        try:
            found: Array = onnx.numpy_helper.to_array(tensor)
        except (ValueError, TypeError):
            return None
        return found
    for name, kind in (
        ("value_int", np.int64),
        ("value_ints", np.int64),
        ("value_float", np.float32),
        ("value_floats", np.float32),
    ):
        if name in attributes:
            return np.array(attributes[name], kind)
    return None


# Operators on arrays -------------------------------------------------------------------------------------------------


def _axes(values: list[Any], attributes: _Attributes) -> tuple[int, ...] | None:
    if "axes" in attributes:
        return tuple(attributes["axes"])
    return tuple(int(axis) for axis in values[1]) if len(values) > 1 and values[1] is not None else None


def _unsqueeze(values: list[Any], attributes: _Attributes) -> Any:
    axes = _axes(values, attributes)
    return None if axes is None else np.expand_dims(values[0], axes)


def _slice(values: list[Any], attributes: _Attributes) -> Any:
    data = values[0]
    if "starts" in attributes:
        starts, ends = attributes["starts"], attributes["ends"]
        axes, steps = attributes.get("axes"), None
    else:
        starts, ends, axes, steps = ([*values[1:], None, None])[:4]
    axes = range(len(starts)) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    places: list[Any] = [slice(None)] * (1 if isinstance(data, tuple) else data.ndim)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        start, end, step = int(start), int(end), int(step)
        places[int(axis)] = slice(start, None if step < 0 and end < -(1 << 31) else end, step)
    return data[places[0]] if isinstance(data, tuple) else data[tuple(places)]


def _divided(values: list[Any], _attributes: _Attributes) -> Any:
    a, b = values
    if a.dtype.kind in "iu":
        return (np.sign(a) * np.sign(b) * (abs(a) // abs(b))).astype(a.dtype) if np.all(b) else None
    return a / b


def _reduced(reduce: Callable[..., Any]) -> Fold:
    def fold(values: list[Any], attributes: _Attributes) -> Any:
        axes = _axes(values, attributes)
        if not axes and attributes.get("noop_with_empty_axes"):
            return values[0]
        return reduce(values[0], axis=axes or None, keepdims=bool(attributes.get("keepdims", 1))).astype(values[0].dtype)

    return fold


def _reshape(values: list[Any], attributes: _Attributes) -> Any:
    data, target = values
    zeros = attributes.get("allowzero", 0)
    return data.reshape([data.shape[i] if size == 0 and not zeros else int(size) for i, size in enumerate(target)])


def _cast(values: list[Any], attributes: _Attributes) -> Any:
    dtype = dtype_name(attributes["to"])
    return values[0].astype(dtype) if dtype in ("int64", "int32", "float32", "float64", "bool", "float16") else None


def _constant_of_shape(values: list[Any], attributes: _Attributes) -> Any:
    fill = constant_value(attributes)
    fill = np.zeros(1, np.float32) if fill is None else fill
    return np.full([int(size) for size in values[0]], fill.reshape(-1)[0], fill.dtype)


def _expand(values: list[Any], _attributes: _Attributes) -> Any:
    shape = np.broadcast_shapes(values[0].shape, tuple(int(size) for size in values[1]))
    return np.broadcast_to(values[0], shape).copy()


def _plain(function: Callable[..., Any]) -> Fold:
    return lambda values, _attributes: function(*values)


def _same_type(function: Callable[..., Any]) -> Fold:
    return lambda values, _attributes: np.asarray(function(*values)).astype(values[0].dtype)


FOLDS: dict[str, Fold] = {
    "Identity": _plain(lambda x: x), "Gather": lambda v, a: np.take(v[0], v[1], axis=a.get("axis", 0)), "Concat": lambda v, a:
    np.concatenate(v, axis=a.get("axis", 1)), "Unsqueeze": _unsqueeze, "Squeeze": lambda v, a: np.squeeze(v[0], _axes(v, a)),
    "Slice": _slice, "Reshape": _reshape, "Transpose": lambda v, a: np.transpose(v[0], a.get("perm")), "Cast": _cast,
    "ConstantOfShape": _constant_of_shape, "Expand": _expand, "Tile": lambda v, _: np.tile(v[0], tuple(int(n) for n in v[1])),
    "Range": _plain(lambda a, b, c: np.arange(a.item(), b.item(), c.item()).astype(a.dtype)), "Add": _same_type(np.add),
    "Sub": _same_type(np.subtract), "Mul": _same_type(np.multiply), "Div": _divided, "Neg": _same_type(np.negative),
    "Abs": _same_type(np.abs), "Floor": _same_type(np.floor), "Ceil": _same_type(np.ceil), "Sqrt": _same_type(np.sqrt),
    "Min": _plain(lambda *v: _all(np.minimum, v)), "Max": _plain(lambda *v: _all(np.maximum, v)), "Equal": _plain(np.equal),
    "Greater": _plain(np.greater), "Less": _plain(np.less), "Not": _plain(np.logical_not), "And": _plain(np.logical_and),
    "Or": _plain(np.logical_or), "Where": _plain(np.where), "ReduceProd": _reduced(np.prod), "ReduceSum": _reduced(np.sum),
    "ReduceMax": _reduced(np.max), "ReduceMin": _reduced(np.min),
}  # fmt: skip


def _all(function: Callable[..., Any], values: Sequence[Any]) -> Any:
    found = values[0]
    for value in values[1:]:
        found = function(found, value)
    return found


# Operators on sizes that have only names -----------------------------------------------------------------------------


def _items(value: Any) -> list[Dim]:
    """Return the sizes of a vector or number."""
    if isinstance(value, tuple):
        return list(value)
    return [value] if isinstance(value, str) else [int(one) for one in np.ravel(value)]


def _partial_gather(values: list[Any], attributes: _Attributes) -> Any:
    data, places = values
    if not isinstance(data, tuple) or not isinstance(places, np.ndarray) or attributes.get("axis", 0) != 0:
        return None
    if places.ndim == 0:
        found = data[int(places)]
        return np.array(found, np.int64) if isinstance(found, int) else found
    return simplest([data[int(place)] for place in places]) if places.ndim == 1 else None


def _partial_slice(values: list[Any], attributes: _Attributes) -> Any:
    return simplest(_slice(values, attributes)) if isinstance(values[0], tuple) else None


def _partial_concat(values: list[Any], attributes: _Attributes) -> Any:
    if attributes.get("axis", 0) != 0 or any(isinstance(value, str) for value in values):
        return None
    return simplest([size for value in values for size in _items(value)])


def _partial_product(values: list[Any], _attributes: _Attributes) -> Any:
    """A name times one stays that name; another product is a size without a name."""
    a, b = (_items(value) for value in values)
    if len(a) != len(b) and 1 not in (len(a), len(b)):
        return None
    count = max(len(a), len(b))
    a, b = (a * count)[:count], (b * count)[:count]
    found = [
        x * y if isinstance(x, int) and isinstance(y, int) else x if y == 1 else y if x == 1 else ""
        for x, y in zip(a, b, strict=True)
    ]
    if any(isinstance(value, tuple) or getattr(value, "ndim", 0) for value in values):
        return simplest(found)
    return found[0] if isinstance(found[0], str) else np.array(found[0], np.int64)


PARTIAL: dict[str, Fold] = {
    "Gather": _partial_gather,
    "Slice": _partial_slice,
    "Concat": _partial_concat,
    "Mul": _partial_product,
    "Identity": lambda v, _: v[0],
    "Cast": lambda v, a: v[0] if dtype_name(a["to"]) in ("int64", "int32") else None,
    "Unsqueeze": lambda v, _: (v[0],) if isinstance(v[0], str) else None,
    "Squeeze": lambda v, _: v[0][0] if isinstance(v[0], tuple) and len(v[0]) == 1 else None,
    "Reshape": lambda v, _: (v[0],) if isinstance(v[0], str) else v[0] if isinstance(v[0], tuple) and len(v[1]) == 1 else None,
}

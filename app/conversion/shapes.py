"""Types and shapes of all values: what the model says, what onnx infers, and what folding adds."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

import onnx
from onnx import shape_inference

from app.conversion.folding import Folding
from app.conversion.onnx_model import LARGE, Dim, OnnxModel, ValueType
from app.conversion.refusals import ConversionError
from app.conversion.weights import dtype_name, dtype_number

ROUNDS = 4
"""Of inference and folding in turn; each can make the other know more."""

log = logging.getLogger(__name__)


def prepare(model: OnnxModel, shapes: Mapping[str, Sequence[int]]) -> Folding:
    """Infer types and fold shape arithmetic; shapes are those of inputs, by name. Folded nodes leave the model."""
    _set_shapes(model, shapes)
    folding = Folding(model)
    for _ in range(ROUNDS):
        model.types.update(_inferred(model))
        for name, value in folding.constants.items():
            model.types[name] = ValueType(str(value.dtype), value.shape)
        more = folding.run() > 0
        if _reshaped(model, folding):
            more = True
        if not more or not _unknown(model):
            break
        _replace(model, folding)
    model.nodes = [node for node in model.nodes if node.index not in folding.folded]
    return folding


def _set_shapes(model: OnnxModel, shapes: Mapping[str, Sequence[int]]) -> None:
    known = {value.name: value for value in model.proto.graph.input}
    for name, sizes in shapes.items():
        value = known.get(name)
        if value is None or name not in model.inputs:
            raise ConversionError(f"{model.path}: --shape: expected an input of {', '.join(model.inputs)}, found {name!r}")
        tensor = value.type.tensor_type
        if tensor.HasField("shape") and len(tensor.shape.dim) not in (0, len(sizes)):
            raise ConversionError(
                f"{model.path}: --shape: expected {len(tensor.shape.dim)} sizes for {name!r}, found {len(sizes)}"
            )
        tensor.shape.ClearField("dim")
        for size in sizes:
            tensor.shape.dim.add(dim_value=size)
    if shapes:
        del model.proto.graph.value_info[:]
        for output in model.proto.graph.output:
            output.type.tensor_type.ClearField("shape")


def _inferred(model: OnnxModel) -> dict[str, ValueType]:
    try:
        proto = shape_inference.infer_shapes(model.proto, data_prop=True)
    except Exception as error:  # noqa: BLE001  what the C++ library refuses in one node must not end the conversion
        reason = " ".join(str(error).split())[:200]
        log.warning("%s: shapes are those of the file alone, since onnx cannot infer them (%s)", model.path, reason)
        proto = model.proto
    graph = proto.graph
    found = dict(_types((*graph.value_info, *graph.output, *graph.input)))
    for name, weight in model.weights.items():
        found[name] = ValueType(weight.dtype, weight.shape)
    return found


def _types(values: Iterable[onnx.ValueInfoProto]) -> Iterable[tuple[str, ValueType]]:
    for value in values:
        if not value.type.HasField("tensor_type"):
            continue
        tensor = value.type.tensor_type
        shape = tuple(_dim(dim) for dim in tensor.shape.dim) if tensor.HasField("shape") else None
        yield value.name, ValueType(dtype_name(tensor.elem_type), shape)


def _dim(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return int(dim.dim_value)
    return str(dim.dim_param) if dim.HasField("dim_param") else ""


def _unknown(model: OnnxModel) -> bool:
    """Return whether a value has an unknown shape."""
    for node in model.nodes:
        for name in node.outputs:
            shape = model.types.get(name, ValueType()).shape if name else ()
            if shape is None or any(not isinstance(size, int) for size in shape):
                return True
    return False


def described(tensor: onnx.TensorProto) -> onnx.TensorProto:
    """Return a tensor without its numbers if it is large: inference needs only type and shape."""
    if tensor.ByteSize() >= LARGE:
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="folded")
    return tensor


def _reshaped(model: OnnxModel, folding: Folding) -> bool:
    """Tell inference sizes of Reshape that it does not find since one has not even a name; return whether there are any."""
    found = False
    for node in model.nodes:
        sizes = folding.sizes.get(node.inputs[1]) if node.op == "Reshape" and not node.domain and len(node.inputs) > 1 else None
        source, known = model.types.get(node.inputs[0]) if sizes else None, model.types.get(node.outputs[0], ValueType())
        if source is None or not source.dtype or known.shape is not None or isinstance(sizes, str) or sizes is None:
            continue
        before = source.shape or ()
        shape = tuple(_size(size, before[place] if place < len(before) else "") for place, size in enumerate(sizes))
        model.types[node.outputs[0]] = ValueType(source.dtype, shape)
        number = dtype_number(source.dtype)
        model.proto.graph.value_info.append(
            onnx.helper.make_tensor_value_info(node.outputs[0], number, [size or None for size in shape])
        )
        found = True
    return found


def _size(size: Dim, before: Dim) -> Dim:
    """Return a size that Reshape asks for: 0 keeps that of the input, -1 is what is left."""
    return before if size == 0 else "" if size == -1 else size


def _replace(model: OnnxModel, folding: Folding) -> None:
    """Put folded values into the model as initializers, so that inference knows them."""
    graph = model.proto.graph
    outputs = {output for node in model.nodes if node.index in folding.folded for output in node.outputs}
    for place in range(len(graph.node) - 1, -1, -1):
        if outputs.intersection(graph.node[place].output):
            del graph.node[place]
    known = {tensor.name for tensor in graph.initializer}
    for name in outputs - known:
        graph.initializer.append(described(onnx.numpy_helper.from_array(folding.constants[name], name)))

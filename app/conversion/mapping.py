"""Turns every node into code: by its mapping, or as a marked Cell that names what is missing."""

from __future__ import annotations

from collections.abc import Container, Sequence

import onnx

from app.conversion.calls import MS_TYPES, Call, CheckpointTensor, ClassMember, Emission, Line
from app.conversion.folding import Folding
from app.conversion.naming import unique, variable
from app.conversion.onnx_model import OnnxModel, OnnxNode, attribute_value
from app.conversion.operators import MAPPINGS
from app.conversion.refusals import ConversionError, NotCovered

MARKED = "marked"
"""Function of the member that stands for a node without code."""
WITHOUT_MEANING = frozenset((
    "momentum", "storage_order", "sorted", "ratio", "seed", "consumed_inputs", "is_test", "kernel_shape", "stash_type",
    "axes", "split", "value", "mode", "saturate", "round_mode", "training_mode", "hidden_size", "group",
    "linear_before_reset", "num_outputs", "layout", "to", "roi", "cubic_coeff_a", "extrapolation_value", "exclude_outside",
    "nearest_mode", "antialias", "keep_aspect_ratio_policy", "coordinate_transformation_mode", "dtype", "scale",
    "noop_with_empty_axes", "keepdims", "allowzero", "auto_pad", "pads", "dilations", "strides", "count_include_pad",
    "ceil_mode", "output_padding", "output_shape", "axis", "select_last_index", "start", "end", "clip", "activations",
    "direction", "num_heads", "rotary_embedding_dim", "interleaved", "q_num_heads", "kv_num_heads", "qk_matmul_output_mode",
    "broadcast", "width_scale", "height_scale",
))  # fmt: skip
"""Attributes whose mapping asks for them where they matter, or that mean nothing when a model only runs."""
_OUTSIDE = (IndexError, KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError, AttributeError, MemoryError)
"""What a mapping raises for attributes and inputs that ONNX does not allow."""


def emit(model: OnnxModel, folding: Folding, node: OnnxNode, used: Container[str]) -> Emission:
    """Return the code of a node, of outputs that are used; never raises for what the node is."""
    call = Call(model, folding, node)
    try:
        return _emitted(call, _codes(call), used)
    except NotCovered as refusal:
        return marked(call, str(refusal))
    except ConversionError:
        raise
    except _OUTSIDE as error:
        return marked(call, f"attributes or inputs that ONNX does not allow ({type(error).__name__}: {error})")


def _codes(call: Call) -> Sequence[str]:
    node = call.node
    mapping = MAPPINGS.get(node.op) if not node.domain else None
    if mapping is None:
        raise NotCovered("no mapping for this operator" + (f" of the domain {node.domain}" if node.domain else ""))
    _refuse_attributes(call)
    _refuse_empty(call)
    codes = mapping(call)
    left = [name for name in node.attributes if name not in call.asked and name not in WITHOUT_MEANING]
    if left:
        raise NotCovered(f"attribute {left[0]} = {attribute_value(node.attributes[left[0]])!r} is not covered"[:200])
    return [codes] if isinstance(codes, str) else codes


def _refuse_attributes(call: Call) -> None:
    """An attribute must be of the kind that the operator has: a text where a number belongs would become code."""
    try:
        known = onnx.defs.get_schema(call.node.op, call.opset, "").attributes
    except onnx.defs.SchemaError:
        known = {}
    for name, attribute in call.node.attributes.items():
        kind = known[name].type.value if name in known else None
        text = attribute.type in (onnx.AttributeProto.STRING, onnx.AttributeProto.STRINGS)
        if attribute.type != kind and (kind is not None or text):
            wanted = onnx.AttributeProto.AttributeType.Name(kind) if kind else "no such attribute"
            found = onnx.AttributeProto.AttributeType.Name(attribute.type)
            raise NotCovered(f"attribute {name}: expected {wanted}, found {found}")


def _refuse_empty(call: Call) -> None:
    """Tensors without elements have no kernels; no mapping asks for complex numbers or texts."""
    for number, name in enumerate((*call.node.inputs, *call.node.outputs)):
        known = call._model.types.get(name) if name else None
        if known is None:
            continue
        if (
            known.shape is not None
            and 0 in known.shape
            and not (number and name in call._folding.constants | call._model.weights)
        ):
            raise NotCovered("a tensor without elements")
        if known.dtype in ("string", "complex64", "complex128") or known.dtype.startswith(
            ("float8", "float4", "uint4", "int4", "uint2", "int2")
        ):
            raise NotCovered(f"values of type {known.dtype}")


def _emitted(call: Call, codes: Sequence[str], used: Container[str]) -> Emission:
    node, found = call.node, call.emission
    every = [place for place, name in enumerate(node.outputs) if name]
    wanted = [place for place in every if node.outputs[place] in used] or every[:1]
    if len(codes) <= max(wanted):
        raise NotCovered(f"output {max(wanted)}")
    for place in wanted:
        if not codes[place]:
            raise NotCovered(f"output {place} is not covered")
        found.lines.append(Line((f"@o{place}@",), codes[place]))
    return found


def marked(call: Call, refusal: str) -> Emission:
    """Return the code of a node that is not converted: a call of a cell that raises, and has the weights of the node."""
    node, model, folding = call.node, call._model, call._folding
    call.emission = Emission(node, refusal=refusal)
    operands, parameters = [], dict[str, CheckpointTensor]()
    for name in dict.fromkeys((*node.inputs, *node.outer)):
        weight = model.weights.get(name)
        if weight is not None and weight.dtype in MS_TYPES:
            parameters[unique(variable(name), parameters)] = CheckpointTensor(weight.dtype, weight.shape, (name,))
        elif name and weight is None and name not in folding.constants:
            operands.append(call.value(name))
    found = call.emission
    found.members.append(ClassMember(node.op, MARKED, parameters=parameters))
    targets = tuple(f"@o{place}@" for place, name in enumerate(node.outputs) if name)
    found.lines.append(Line(targets, f"@m0@({', '.join(operands)})"))
    return found


def describe(node: OnnxNode) -> str:
    """Return operator and name for messages."""
    domain = f"{node.domain}." if node.domain else ""
    return f"{domain}{node.op} {node.name!r}" if node.name else f"{domain}{node.op} (node {node.index})"


def attribute_texts(node: OnnxNode) -> list[str]:
    """Return the attributes of a node as short texts."""
    found = []
    for name, attribute in node.attributes.items():
        value = attribute_value(attribute)
        text = type(value).__name__ if hasattr(value, "SerializeToString") else repr(value)
        found.append(f"{name} = {text if len(text) <= 100 else text[:97] + '...'}")
    return found

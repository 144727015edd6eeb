"""Activation functions, Softmax, Dropout."""

from __future__ import annotations

import math

from app.conversion.calls import Call, cast, literal
from app.conversion.operators.table import maps
from app.conversion.refusals import NotCovered

_CELLS = {"Relu": "nn.ReLU", "Sigmoid": "nn.Sigmoid", "Tanh": "nn.Tanh"}
_FUNCTIONS = {"Relu": "ops.relu", "Sigmoid": "ops.sigmoid", "Tanh": "ops.tanh", "Softsign": "ops.softsign", "Mish": "ops.mish"}


@maps(*_FUNCTIONS)
def activation(call: Call) -> str:
    """A function of one tensor."""
    return call.run(_FUNCTIONS[call.node.op], call.x())


@maps("Softplus")
def softplus(call: Call) -> str:
    """log(1 + exp(x)), in a form that does not overflow."""
    dtype = call.dtype()
    x = call.x() if dtype != "float16" else call.let(cast(call.x(), "float32"), "x")
    found = f"ops.relu({x}) + ops.log1p(ops.exp(-ops.abs({x})))"
    return found if dtype != "float16" else cast(found, dtype)


@maps("LeakyRelu")
def leaky_relu(call: Call) -> str:
    """A slope below zero."""
    return call.run("ops.leaky_relu", call.x(), literal(call.attribute("alpha", 0.01)))


@maps("PRelu")
def parametric_relu(call: Call) -> str:
    """Slopes below zero that broadcast; one per channel is MindSpore's own cell."""
    x, slope = call.x(), call.x(1)
    return f"ops.where({x} < 0, {slope} * {x}, {x})"


@maps("Elu", "Celu", "Selu")
def exponential(call: Call) -> str:
    """Exponential below zero."""
    op, x = call.node.op, call.x()
    alpha = call.attribute("alpha", 1.67326319217681884765625 if op == "Selu" else 1.0)
    gamma = call.attribute("gamma", 1.05070102214813232421875) if op == "Selu" else 1.0
    if alpha == 1 and gamma == 1:
        return call.run("ops.elu", x)
    below = f"ops.exp(ops.minimum({x}, 0){f' / {literal(alpha)}' if op == 'Celu' else ''}) - 1"
    found = f"ops.where({x} > 0, {x}, {literal(alpha)} * ({below}))"
    return found if gamma == 1 else f"{literal(gamma)} * {found}"


@maps("HardSwish")
def hard_swish(call: Call) -> str:
    """x * max(0, min(1, x / 6 + 1 / 2))."""
    return call.run("ops.hardswish", call.x())


@maps("HardSigmoid")
def hard_sigmoid(call: Call) -> str:
    """max(0, min(1, alpha * x + beta)); MindSpore's own has other defaults."""
    alpha, beta = call.attribute("alpha", 0.2), call.attribute("beta", 0.5)
    return f"ops.maximum(ops.minimum({literal(alpha)} * {call.x()} + {literal(beta)}, 1), 0)"


@maps("ThresholdedRelu")
def thresholded_relu(call: Call) -> str:
    """Zero up to a threshold."""
    x = call.x()
    return f"ops.where({x} > {literal(call.attribute('alpha', 1.0))}, {x}, ops.zeros_like({x}))"


@maps("Shrink")
def shrink(call: Call) -> str:
    """Zero near zero, moved by a bias elsewhere."""
    if call.dtype() not in ("float32", "float16"):
        raise NotCovered(f"type {call.dtype()}")
    bias, lambd, x = call.attribute("bias", 0.0), call.attribute("lambd", 0.5), call.x()
    inner = f"ops.where({x} > {literal(lambd)}, {x} - {literal(bias)}, ops.zeros_like({x}))"
    return f"ops.where({x} < {literal(-lambd)}, {x} + {literal(bias)}, {inner})"


@maps("Gelu")
def gelu(call: Call) -> str:
    """Gaussian error linear unit, exact or by tanh."""
    approximate = call.attribute("approximate", "none")
    if approximate not in ("none", "tanh"):
        raise NotCovered(f"attribute approximate = {approximate!r} is not covered")
    return call.run("ops.gelu", call.x(), f'approximate="{approximate}"')


@maps("Swish")
def swish(call: Call) -> str:
    """x * sigmoid(alpha * x)."""
    x, alpha = call.x(), call.attribute("alpha", 1.0)
    return f"{x} * ops.sigmoid({x})" if alpha == 1 else f"{x} * ops.sigmoid({literal(alpha)} * {x})"


@maps("Softmax", "LogSoftmax")
def softmax(call: Call) -> str:
    """Softmax along an axis; before opset 13 over all axes from it on, as of a matrix."""
    function = "ops.softmax" if call.node.op == "Softmax" else "ops.log_softmax"
    if call.opset >= 13:
        return call.run(function, call.x(), str(call.attribute("axis", -1)))
    rank = call.rank()
    axis = call.attribute("axis", 1)
    axis = axis + rank if axis < 0 else axis
    if axis == rank - 1 or all(size == 1 for size in call.dims()[axis + 1 :]):
        return call.run(function, call.x(), str(axis if axis != rank - 1 else -1))
    shape = call.dims()
    columns = math.prod(call.size(0, place) for place in range(axis, rank))
    flat = f"{call.x()}.reshape(-1, {columns})"
    sizes = [size if isinstance(size, int) else -1 for size in shape]
    if sizes.count(-1) > 1:
        raise NotCovered(f"the shape {shape} is not fixed; fix it with --shape")
    return f"{call.run(function, flat, '-1')}.reshape({', '.join(map(str, sizes))})"


@maps("Hardmax")
def hardmax(call: Call) -> str:
    """One at the first largest value along the axis, zero elsewhere."""
    rank = call.rank()
    axis = call.attribute("axis", -1 if call.opset >= 13 else 1) % rank
    shape = call.shape()
    x = call.x()
    if call.opset < 13 and axis != rank - 1:
        x = f"{x}.reshape(-1, {math.prod(shape[axis:])})"
        depth, axis, back = math.prod(shape[axis:]), 1, f".reshape{tuple(shape)}"
    else:
        depth, back = shape[axis], ""
    on, off = (f"ms.Tensor({value}, ms.{call.dtype()})" for value in (1, 0))
    return f"ops.one_hot(ops.argmax({x}, {axis}), {depth}, {on}, {off}, {axis if axis != rank - 1 else -1}){back}"


@maps("Dropout")
def dropout(call: Call) -> list[str]:
    """The identity, since the script is for inference; the mask is true everywhere."""
    if call.has(2):
        training = call.constant_or_none(2)
        if training is None or training.item():
            ratio = call.constant_or_none(1) if call.has(1) else None
            if training is None or not (call.has(1) and ratio is not None and ratio.item() == 0):
                raise NotCovered("training_mode is on")
    x = call.x()
    return [x, f"ops.ones_like({x}, dtype=ms.bool_)" if call.opset >= 12 else ""][: call.outputs]

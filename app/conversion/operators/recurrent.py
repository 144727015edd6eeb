"""LSTM, GRU and RNN: MindSpore's layer with gates in its order, or steps in time where it has no such layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.conversion.calls import Array, Call, CheckpointTensor
from app.conversion.operators.table import maps
from app.conversion.refusals import NotCovered

_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_ORDER = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}
"""Gates of MindSpore among those of ONNX: input, forget, cell, output of (i, o, f, c); reset, update, new of (z, r, h)."""
_DEFAULTS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
_ACTIVATIONS = {"Sigmoid": "ops.sigmoid", "Tanh": "ops.tanh", "Relu": "ops.relu", "Softsign": "ops.softsign"}


@maps("LSTM", "GRU", "RNN")
def recurrent(call: Call) -> list[str]:
    """All outputs; those of directions are joined along their axis."""
    if call.dtype() != "float32":
        raise NotCovered(f"type {call.dtype()}")
    if call.attribute("input_forget", 0):
        raise NotCovered("attribute input_forget = 1 is not covered")
    op = call.node.op
    direction = call.attribute("direction", "forward")
    count = 2 if direction == "bidirectional" else 1
    activations = tuple(call.attribute("activations") or _DEFAULTS[op] * count)
    if call.attribute("activation_alpha") or call.attribute("activation_beta") or set(activations) - set(_ACTIVATIONS):
        raise NotCovered(f"activations {activations} with parameters")
    plain = activations == _DEFAULTS[op] * count or (op == "RNN" and activations == ("Relu",) * count)
    plain = (
        plain
        and direction != "reverse"
        and not call.has(4)
        and not (op == "LSTM" and call.has(7))
        and not call.attribute("clip", 0.0)
    )
    plain = plain and (op != "GRU" or call.attribute("linear_before_reset", 0) == 1)
    fixed = all(call.fixed(number) for number in (1, 2, 3) if call.has(number)) and not call.fixed(0)
    if plain and fixed and not call.attribute("layout", 0):
        return _layer(call, count, activations)
    return _steps(call, count, activations, reverse=direction == "reverse")


def _layer(call: Call, count: int, activations: tuple[str, ...]) -> list[str]:
    op = call.node.op
    hidden, inner = call.attribute("hidden_size") or call.weight_shape(2)[-1], call.weight_shape(1)[2]
    parameters: dict[str, CheckpointTensor] = {}
    for place, suffix in enumerate(("", "_reverse")[:count]):
        parameters |= _parameters(call, place, suffix, hidden, inner)
    options: dict[str, Any] = {"bidirectional": True} if count == 2 else {}
    if not call.has(3):
        options["has_bias"] = False
    if op == "RNN" and activations[0] == "Relu":
        options["nonlinearity"] = "relu"
    cell = call.cell(f"nn.{op}", ("input_size", inner), ("hidden_size", hidden), weight=1, parameters=parameters, **options)
    states = [call.x(number) for number in (5, 6) if call.has(number)]
    start = ""
    if op == "LSTM" and states:
        zeros = f"ops.zeros_like({states[0]})"
        start = f", ({call.x(5) if call.has(5) else zeros}, {call.x(6) if call.has(6) else zeros})"
    elif states:
        start = f", {states[0]}"
    found = call.let(f"{cell}({call.x()}{start})", "found")
    shape = f"{call.size(0, 0)}, -1, {count}, {hidden}"
    outputs = [f"{found}[0].reshape({shape}).transpose(0, 2, 1, 3)"]
    outputs += [f"{found}[1][0]", f"{found}[1][1]"] if op == "LSTM" else [f"{found}[1]"]
    return outputs[: call.outputs]


def _parameters(call: Call, place: int, suffix: str, hidden: int, inner: int) -> dict[str, CheckpointTensor]:
    order, gates = _ORDER[call.node.op], _GATES[call.node.op]
    rows = gates * hidden

    def arranged(array: Array) -> Array:
        return np.concatenate([array[gate * hidden : (gate + 1) * hidden] for gate in order])

    change = f"gates in the order {order} of direction {place}" if gates > 1 else f"direction {place}"
    found = {
        f"weight_ih_l0{suffix}": call.source(1, (rows, inner), lambda array: arranged(array[place]), change),
        f"weight_hh_l0{suffix}": call.source(2, (rows, hidden), lambda array: arranged(array[place]), change),
    }
    if call.has(3):
        found[f"bias_ih_l0{suffix}"] = call.source(3, (rows,), lambda array: arranged(array[place][:rows]), change)
        found[f"bias_hh_l0{suffix}"] = call.source(3, (rows,), lambda array: arranged(array[place][rows:]), change)
    return found


def _part(call: Call, number: int, place: int, shape: tuple[int, ...]) -> str:
    """Return one direction of a weight, or of a tensor computed when the model runs."""
    if call.fixed(number):
        from app.conversion.calls import ClassMember

        source = call.source(number, shape, lambda array: array[place], f"direction {place}")
        hint = {1: "weight", 2: "recurrent", 3: "bias", 7: "peephole"}.get(number, "state")
        return call.member(ClassMember(hint, "", parameters={"": source}))
    return f"{call.x(number)}[{place}]"


def _steps(call: Call, count: int, activations: tuple[str, ...], *, reverse: bool) -> list[str]:
    op, gates = call.node.op, _GATES[call.node.op]
    batch_first = call.attribute("layout", 0)
    hidden, inner = call.attribute("hidden_size") or call.shape(2)[-1], call.shape(1)[2]
    batch = call.size(0, 0 if batch_first else 1)
    x = call.let(f"{call.x()}.transpose(1, 0, 2)", "x") if batch_first else call.x()
    function = call.helper(f"{op.lower()}_steps")
    per = len(_DEFAULTS[op])
    parts = []
    for place in range(count):
        weights = [_part(call, 1, place, (gates * hidden, inner)), _part(call, 2, place, (gates * hidden, hidden))]
        bias = (
            _part(call, 3, place, (2 * gates * hidden,)) if call.has(3) else f"ops.zeros(({2 * gates * hidden},), ms.float32)"
        )
        states = [_state(call, number, place, batch, hidden) for number in ((5, 6) if op == "LSTM" else (5,))]
        chosen = [_ACTIVATIONS[name] for name in activations[place * per : (place + 1) * per]]
        options = [f"reverse={reverse or place == 1}"]
        options += [f"lengths={call.x(4)}"] if call.has(4) else []
        options += [f"clip={call.attribute('clip')!r}"] if call.attribute("clip", 0.0) else []
        options += [f"peephole={_part(call, 7, place, (3 * hidden,))}"] if op == "LSTM" and call.has(7) else []
        options += ["before_reset=True"] if op == "GRU" and call.attribute("linear_before_reset", 0) else []
        arguments = ", ".join([x, *weights, bias, *states, f"({', '.join(chosen)},)", *options])
        parts.append(call.let(f"{function}({arguments})", "found"))
    outputs = [
        _together([f"{part}[{number}]" for part in parts], 1 if number == 0 else 0)
        for number in range(3 if op == "LSTM" else 2)
    ]
    if batch_first:
        outputs = [f"{outputs[0]}.transpose(2, 0, 1, 3)", *(f"{output}.transpose(1, 0, 2)" for output in outputs[1:])]
    return outputs[: call.outputs]


def _state(call: Call, number: int, place: int, batch: int, hidden: int) -> str:
    if not call.has(number):
        return f"ops.zeros(({batch}, {hidden}), ms.float32)"
    x = call.x(number)
    return f"{x}[:, {place}]" if call.attribute("layout", 0) else f"{x}[{place}]"


def _together(parts: list[str], axis: int) -> str:
    if len(parts) == 1:
        return f"ops.expand_dims({parts[0]}, {axis})"
    return f"ops.stack(({', '.join(parts)}), {axis})"


_STEPS = '''
    """Return ({outputs}) of one direction, time first. Gates are in the order of ONNX: {order}."""
    size = h.shape[1]
    steps = []
    for step in range(x.shape[0]):
        t = x.shape[0] - 1 - step if reverse else step
{body}
        if lengths is not None:  # sequences that have ended keep their state and add zeros
            running = (t < lengths).reshape(-1, 1)
            new = ops.where(running, new, h){keep}
            steps.append(ops.where(running, new, ops.zeros_like(new)))
        else:
            steps.append(new)
        h = new{after}
    if reverse:
        steps = steps[::-1]
    return {result}
'''
_LIMIT = '''

def limited(x, clip):
    """Return values limited to [-clip, clip], all if clip is 0."""
    return ops.minimum(ops.maximum(x, -clip), clip) if clip else x
'''
_LSTM = """\
        gates = ops.matmul(x[t], weight.T) + ops.matmul(h, recurrent.T) + bias[:4 * size] + bias[4 * size:]
        i, o, f, g = gates[:, :size], gates[:, size:2 * size], gates[:, 2 * size:3 * size], gates[:, 3 * size:]
        if peephole is not None:
            i, f = i + peephole[:size] * c, f + peephole[2 * size:] * c
        i, f = activations[0](limited(i, clip)), activations[0](limited(f, clip))
        cell = f * c + i * activations[1](limited(g, clip))
        if peephole is not None:
            o = o + peephole[size:2 * size] * cell
        new = activations[0](limited(o, clip)) * activations[2](cell)"""
_GRU = """\
        inner, state = ops.matmul(x[t], weight.T) + bias[:3 * size], recurrent[:2 * size]
        gates = inner[:, :2 * size] + ops.matmul(h, state.T) + bias[3 * size:5 * size]
        gates = activations[0](limited(gates, clip))
        z, r = gates[:, :size], gates[:, size:]
        if before_reset:
            n = inner[:, 2 * size:] + r * (ops.matmul(h, recurrent[2 * size:].T) + bias[5 * size:])
        else:
            n = inner[:, 2 * size:] + ops.matmul(r * h, recurrent[2 * size:].T) + bias[5 * size:]
        new = (1 - z) * activations[1](limited(n, clip)) + z * h"""
_RNN = """\
        gates = ops.matmul(x[t], weight.T) + ops.matmul(h, recurrent.T) + bias[:size] + bias[size:]
        new = activations[0](limited(gates, clip))"""


def steps_source(name: str) -> str:
    """Return the definition of a function that a script may need."""
    state = "h, c" if name == "lstm_steps" else "h"
    more = {"lstm_steps": ", peephole=None", "gru_steps": ", before_reset=False", "rnn_steps": ""}[name]
    head = f"def {name}(x, weight, recurrent, bias, {state}, activations, reverse=False, lengths=None, clip=0.0{more}):"
    lstm = name == "lstm_steps"
    body = _STEPS.format(
        outputs="outputs, last output, last cell" if lstm else "outputs, last output",
        order={"lstm_steps": "input, output, forget, cell", "gru_steps": "update, reset, new", "rnn_steps": "one"}[name],
        body={"lstm_steps": _LSTM, "gru_steps": _GRU, "rnn_steps": _RNN}[name],
        keep="\n            cell = ops.where(running, cell, c)" if lstm else "",
        after="\n        c = cell" if lstm else "",
        result="ops.stack(steps), h, c" if lstm else "ops.stack(steps), h",
    )
    return head + body.rstrip() + "\n"


HELPERS = {name: steps_source(name) for name in ("lstm_steps", "gru_steps", "rnn_steps")}
"""Functions of scripts, by name; each needs LIMITED."""
LIMITED = _LIMIT.strip() + "\n"

"""Joins nodes that a layer of MindSpore computes at once: a product with weights and the sum with a bias are one Dense layer.

Exporters write a linear layer as MatMul and Add. The value between them is in no variable then, so a check compares the sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from app.conversion.blocks import scope_of
from app.conversion.calls import Emission, Line
from app.conversion.onnx_model import OnnxNode

_SUMS = ("@v0@ + @m0@", "@m0@ + @v0@")


def joined(emissions: Sequence[Emission], outputs: Sequence[str]) -> list[Emission]:
    """Return the code of all nodes, of which those that add a bias to a product do both; outputs are those of the model."""
    users = Counter(value for emission in emissions for value in emission.values)
    users.update(outputs)
    places = {emission.node.outputs[0]: place for place, emission in enumerate(emissions) if _is_product(emission)}
    found = list(emissions)
    for place, emission in enumerate(emissions):
        product = places.get(emission.values[0]) if _adds_parameter(emission) else None
        if product is None or users[emission.values[0]] > 1:
            continue
        dense, bias = emissions[product], emission.members[0].parameters[""]
        member = dense.members[0]
        if scope_of(dense.node) != scope_of(emission.node) or bias.shape != (member.arguments["out_channels"],):
            continue
        arguments = {name: value for name, value in member.arguments.items() if name != "has_bias"}
        layer = replace(member, arguments=arguments, parameters=member.parameters | {"bias": bias})
        found[place] = Emission(emission.node, dense.values, [layer], dense.lines)
        found[product] = Emission(dense.node, joined=emission.node.index)
    return found


def _is_product(emission: Emission) -> bool:
    """Return whether a node is nothing but a Dense layer without a bias, of the type that layers have by default."""
    if [member.function for member in emission.members] != ["nn.Dense"] or emission.lines != [Line(("@o0@",), "@m0@(@v0@)")]:
        return False
    return emission.node.op == "MatMul" and "dtype" not in emission.members[0].arguments


def _adds_parameter(emission: Emission) -> bool:
    """Return whether a node is nothing but the sum of a value and a parameter."""
    node: OnnxNode = emission.node
    one = len(emission.values) == len(emission.members) == len(emission.lines) == 1
    return node.op == "Add" and one and emission.lines[0].code in _SUMS and not emission.members[0].function

"""Write the model of the sample tests/data/mindscope/0.2.0/conversion: a small network with an operator that has no mapping.

    python -m tests.writers.conversions DIR        needs onnx; writes DIR/digits.onnx and prints what onnx counts in it
    mindscope convert DIR/digits.onnx --output tests/data/mindscope/0.2.0/conversion --check --mindspore PYTHON

QuickGelu is a contributed operator of onnxruntime, which therefore has reference values for it, and none of ONNX. The sample
has no checkpoint.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

OPERATORS = {"Conv": 3, "Relu": 3, "Shape": 1, "Gather": 1, "Concat": 1, "Reshape": 1, "GlobalAveragePool": 1, "Gemm": 1,
             "QuickGelu": 1, "Softmax": 1}  # fmt: skip
"""Operators of the model as onnx counts them."""
WEIGHTS = 8
"""Initializers of the model that are floating-point."""


def model() -> Any:
    """Return the model as onnx has it."""
    from onnx import TensorProto, helper, numpy_helper

    generator = np.random.default_rng(7)

    def weight(name: str, *shape: int) -> Any:
        values = generator.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))
        return numpy_helper.from_array(values.astype(np.float32), name)

    nodes, weights, value = [], [], "image"
    for place, (before, after) in enumerate([(3, 8), (8, 8), (8, 8)]):
        scope, own = f"/features/{place}", f"features.{place}.conv"
        nodes += [
            helper.make_node("Conv", [value, f"{own}.weight", f"{own}.bias"], [f"{scope}/conv/out"], name=f"{scope}/conv/Conv",
                             kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
            helper.make_node("Relu", [f"{scope}/conv/out"], [f"{scope}/act/out"], name=f"{scope}/act/Relu"),
        ]  # fmt: skip
        weights += [weight(f"{own}.weight", after, before, 3, 3), weight(f"{own}.bias", after)]
        value = f"{scope}/act/out"
    nodes += [
        helper.make_node("GlobalAveragePool", [value], ["/pool/out"], name="/pool/GlobalAveragePool"),
        helper.make_node("Shape", ["/pool/out"], ["/head/shape"], name="/head/Shape"),
        helper.make_node("Gather", ["/head/shape", "first"], ["/head/batch"], name="/head/Gather", axis=0),
        helper.make_node("Concat", ["/head/batch", "rest"], ["/head/sizes"], name="/head/Concat", axis=0),
        helper.make_node("Reshape", ["/pool/out", "/head/sizes"], ["/head/flat"], name="/head/Reshape"),
        helper.make_node("Gemm", ["/head/flat", "head.weight", "head.bias"], ["/head/out"], name="/head/Gemm", transB=1),
        helper.make_node("QuickGelu", ["/head/out"], ["/head/act"], name="/head/QuickGelu", domain="com.microsoft"),
        helper.make_node("Softmax", ["/head/act"], ["scores"], name="/Softmax", axis=-1),
    ]
    weights += [weight("head.weight", 10, 8), weight("head.bias", 10)]
    weights += [numpy_helper.from_array(np.array([value], np.int64), name) for name, value in (("first", 0), ("rest", -1))]
    shapes = [("image", [2, 3, 16, 16]), ("scores", [2, 10])]
    image, scores = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes)
    graph = helper.make_graph(nodes, "digits", [image], [scores], weights)
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=domains, producer_name="pytorch", ir_version=9)


def main(directory: Path) -> None:
    """Write the model, and print what onnx counts in it."""
    import onnx

    made = model()
    onnx.save(made, directory / "digits.onnx")
    print(dict(Counter(node.op_type for node in made.graph.node)), len(made.graph.initializer) - 2)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

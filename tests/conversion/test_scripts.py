"""What a script looks like: layers that are joined, names, loops, and only what is used."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import Any

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("onnxruntime", reason="the packages of mindscope[convert] are not installed")
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from app.conversion import Conversion, convert


def converted(tmp_path: Path, nodes: list[onnx.NodeProto], weights: dict[str, Any], outputs: tuple[str, ...] = ("y",),
              inputs: tuple[str, ...] = ("x",)) -> Conversion:  # fmt: skip
    first = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4]) for name in inputs]
    last = [helper.make_empty_tensor_value_info(name) for name in outputs]
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "g", first, last, tensors)
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    found = convert(path)
    ast.parse(found.script.text)
    return found


def construct(found: Conversion) -> list[str]:
    """Return the lines of the last construct, of the whole model, without shapes."""
    body = found.script.text.rpartition("def construct(")[2].partition("\n\n")[0]
    return [line.partition("  #")[0].strip() for line in body.splitlines()[1:]]


W, B = np.ones((4, 4), np.float32), np.ones(4, np.float32)
PRODUCT = helper.make_node("MatMul", ["x", "w"], ["p"], "/fc/MatMul")
SUM = helper.make_node("Add", ["b", "p"], ["y"], "/fc/Add")


def test_a_product_and_its_bias_are_one_layer_of_both_nodes(tmp_path: Path) -> None:
    found = converted(tmp_path, [PRODUCT, SUM], {"w": W, "b": B})
    assert construct(found) == ["x = self.dense(x)", "return x"]
    assert "self.dense = nn.Dense(4, 4)\n" in found.script.text
    assert {name: parameter.sources for name, parameter in found.script.parameters.items()} == {
        "dense.weight": ("w",), "dense.bias": ("b",),
    }  # fmt: skip
    rows = found.nodes
    assert rows["state"].tolist() == ["converted", "converted"]
    assert rows["first_line"].nunique() == 1
    line = found.script.text.splitlines()[rows["first_line"].iloc[0] - 1]
    assert line.strip().startswith("x = self.dense(x)")


@pytest.mark.parametrize(
    ("nodes", "weights", "outputs"),
    [
        pytest.param([PRODUCT, SUM], {"w": W, "b": B}, ("y", "p"), id="the product is an output"),
        pytest.param([PRODUCT, SUM, helper.make_node("Neg", ["p"], ["z"])], {"w": W, "b": B}, ("y", "z"), id="is used again"),
        pytest.param([PRODUCT, SUM], {"w": W, "b": np.ones((2, 4), np.float32)}, ("y",), id="a matrix is added"),
        pytest.param([PRODUCT, SUM], {"w": W, "b": np.ones(1, np.float32)}, ("y",), id="a number is added"),
        pytest.param([PRODUCT, helper.make_node("Add", ["p", "x"], ["y"])], {"w": W}, ("y",), id="no parameter"),
        pytest.param([PRODUCT, helper.make_node("Sub", ["p", "b"], ["y"])], {"w": W, "b": B}, ("y",), id="no sum"),
        pytest.param([PRODUCT, helper.make_node("Add", ["p", "b"], ["y"], "/other/Add")], {"w": W, "b": B}, ("y",), id="scope"),
    ],
)
def test_other_sums_stay_sums(
    nodes: list[onnx.NodeProto], weights: dict[str, Any], outputs: tuple[str, ...], tmp_path: Path
) -> None:
    found = converted(tmp_path, nodes, weights, outputs)
    assert all(emission.joined is None for emission in found.emissions)
    assert "has_bias=False" in found.script.text


def test_only_what_is_used_is_imported(tmp_path: Path) -> None:
    plain = converted(tmp_path, [PRODUCT, SUM], {"w": W, "b": B}).script.text
    assert "from mindspore import nn\n" in plain
    assert "def tensor" not in plain
    assert "initializer" not in plain
    with_tensor = converted(tmp_path, [helper.make_node("Mul", ["x", "w"], ["y"])], {"w": B}).script.text
    assert "from mindspore import Parameter, nn\n" in with_tensor
    assert "def tensor" in with_tensor


def layer(number: int, first: str, last: str) -> list[onnx.NodeProto]:
    scope = f"/enc/layer.{number}"
    return [
        helper.make_node("MatMul", [first, f"w{number}"], [f"a{number}"], f"{scope}/self/MatMul"),
        helper.make_node("Add", [f"a{number}", f"b{number}"], [f"c{number}"], f"{scope}/self/Add"),
        helper.make_node("Mul", [f"c{number}", "mask"], [f"d{number}"], f"{scope}/Mul"),
        helper.make_node("Tanh", [f"d{number}"], [f"e{number}"], f"{scope}/Tanh"),
        helper.make_node("Add", [f"e{number}", first], [last], f"{scope}/Add"),
    ]


def test_layers_that_get_a_mask_are_called_in_a_loop(tmp_path: Path) -> None:
    nodes = [*layer(0, "x", "h0"), *layer(1, "h0", "h1"), *layer(2, "h1", "y")]
    weights = {f"w{number}": W for number in range(3)} | {f"b{number}": B for number in range(3)}
    found = converted(tmp_path, nodes, weights, inputs=("x", "mask"))
    assert construct(found) == ["for layer in self.layer:", "x = layer(x, mask)", "return x"]
    assert "self.layer = nn.CellList([" in found.script.text
    assert sorted(found.script.parameters) == [f"layer.{n}.dense.{part}" for n in range(3) for part in ("bias", "weight")]
    assert [value for _, value in found.recording_script().recorded] == [
        f"{name}{number}" if (name, number) != ("h", 2) else "y" for number in range(3) for name in "cdeh"
    ]


def test_a_value_that_is_needed_after_the_loop_stays(tmp_path: Path) -> None:
    nodes = [*layer(0, "x", "h0"), *layer(1, "h0", "h1"), helper.make_node("Sub", ["h1", "x"], ["y"])]
    weights = {f"w{number}": W for number in range(2)} | {f"b{number}": B for number in range(2)}
    found = converted(tmp_path, nodes, weights, inputs=("x", "mask"))
    lines = construct(found)
    assert lines == ["out = x", "for layer in self.layer:", "out = layer(out, mask)", "x = out - x", "return x"]


@pytest.mark.parametrize("later", [False, True])
def test_a_mask_keeps_its_variable_while_a_loop_runs(later: bool, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Exp", ["x"], ["start"], "/enc/start/Exp"),
        helper.make_node("Neg", ["given"], ["mask"], "/enc/Neg"),
        *layer(0, "start", "h0"), *layer(1, "h0", "h1"),
        helper.make_node("Mul", ["h1", "start" if later else "h1"], ["y"], "/enc/Mul"),
    ]  # fmt: skip
    weights = {f"w{number}": W for number in range(2)} | {f"b{number}": B for number in range(2)}
    lines = construct(converted(tmp_path, nodes, weights, inputs=("x", "given")))
    mask = next(line.partition(" = ")[0] for line in lines if "given" in line)
    call = next(line for line in lines if " = layer(" in line)
    target, _, arguments = call.removesuffix(")").partition(" = layer(")
    assert arguments.split(", ") == [target, mask]
    assert target != mask


def test_names_of_scopes_that_python_has_get_the_scope_around(tmp_path: Path) -> None:
    scope = "/net/attention/self"
    nodes = [
        helper.make_node(op, [before], [after], f"{scope}/{op}")
        for op, before, after in (("Neg", "x", "a"), ("Tanh", "a", "b"), ("Abs", "b", "c"), ("Exp", "c", "d"))
    ]
    nodes += [helper.make_node(op, [a], [b], f"/net/attention/{op}") for op, a, b in (("Sqrt", "d", "e"), ("Relu", "e", "f"))]
    nodes += [helper.make_node("Sigmoid", ["f"], ["y"], "/net/Sigmoid")]
    text = converted(tmp_path, nodes, {}).script.text
    assert "class SelfAttention(nn.Cell):" in text
    assert "self.self_attention = SelfAttention()" in text


def test_three_branches_have_three_names(tmp_path: Path) -> None:
    names = ("query", "key", "value")
    nodes = [helper.make_node("MatMul", ["x", name], [f"{name}_out"], f"/net/{name}/MatMul") for name in names]
    nodes += [helper.make_node("Mul", ["query_out", "key_out"], ["m"], "/net/Mul")]
    nodes += [helper.make_node("Add", ["m", "value_out"], ["y"], "/net/Add")]
    assert construct(converted(tmp_path, nodes, dict.fromkeys(names, W))) == [
        "query = self.query(x)", "key = self.key(x)", "value = self.value(x)", "x = query * key", "x = x + value", "return x",
    ]  # fmt: skip


def test_a_weight_is_called_by_what_it_is_of(tmp_path: Path) -> None:
    scale, shift = "net.position.weight", "net.norm.bias"
    nodes = [helper.make_node("Mul", ["x", scale], ["a"]), helper.make_node("Add", ["a", shift], ["y"])]
    found = converted(tmp_path, nodes, {scale: B, shift: B})
    assert sorted(found.script.parameters) == ["norm_bias", "position"]


def test_attributes_are_the_shortest_numbers_of_their_type(tmp_path: Path) -> None:
    nodes = [helper.make_node("LeakyRelu", ["x"], ["y"], alpha=0.1)]
    assert construct(converted(tmp_path, nodes, {}))[0] == "x = ops.leaky_relu(x, 0.1)"


def test_texts_in_code_have_double_quotes() -> None:
    models = sorted((Path(__file__).parents[1] / "data" / "converter" / "ops").glob("*.onnx"))
    assert len(models) == 95
    assert [model.name for model in models if "'" in convert(model).script.text] == []

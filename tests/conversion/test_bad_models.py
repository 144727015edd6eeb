"""Damaged and hostile models: one message with the file and the node or tensor, and nothing of a model is executed."""

from __future__ import annotations

import ast
import os
import time
from pathlib import Path
from typing import Any

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("onnxruntime", reason="the packages of mindscope[convert] are not installed")
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from app.conversion import convert
from app.conversion.refusals import ConversionError

FLOAT = TensorProto.FLOAT


def value(name: str, *shape: Any) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, FLOAT, list(shape) or [2, 3])


def model_of(nodes: list[onnx.NodeProto], weights: list[TensorProto] | None = None, opset: int = 17, *, inputs: Any = None,
             outputs: Any = None) -> onnx.ModelProto:  # fmt: skip
    graph = helper.make_graph(nodes, "g", inputs or [value("x")], outputs or [value("y")], weights or [])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def saved(tmp_path: Path, model: onnx.ModelProto) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def refused(tmp_path: Path, model: onnx.ModelProto) -> str:
    path = saved(tmp_path, model)
    with pytest.raises(ConversionError) as error:
        convert(path)
    text = str(error.value)
    assert text.startswith(str(path))
    assert "\n" not in text
    return text[len(str(path)) :]


def node(op: str, inputs: list[str], outputs: list[str], name: str = "") -> onnx.NodeProto:
    return helper.make_node(op, inputs, outputs, name)


RELU = node("Relu", ["x"], ["y"], "one")


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9, 0.99])
def test_a_file_that_is_cut_off(share: float, tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.ones((3, 3), np.float32), "w")
    data = model_of([node("MatMul", ["x", "w"], ["y"])], [weight]).SerializeToString()
    path = tmp_path / "model.onnx"
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ConversionError, match=r"model\.onnx"):
        convert(path)


def test_garbage(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(np.random.default_rng(0).bytes(10_000))
    with pytest.raises(ConversionError, match="expected an ONNX model"):
        convert(path)


def test_a_circle_names_a_node_of_it(tmp_path: Path) -> None:
    nodes = [node("Add", ["x", "b"], ["a"], "first"), node("Relu", ["a"], ["b"], "second"), node("Relu", ["b"], ["y"], "third")]
    text = refused(tmp_path, model_of(nodes))
    assert "without circles" in text
    assert "'first'" in text or "'second'" in text


def test_an_output_that_exists_twice(tmp_path: Path) -> None:
    text = refused(tmp_path, model_of([RELU, node("Abs", ["x"], ["y"], "two")]))
    assert "node 'two'" in text
    assert "'y' again" in text


def test_an_input_that_does_not_exist(tmp_path: Path) -> None:
    assert "node 'one': expected an input that exists, found 'lost'" in refused(
        tmp_path, model_of([node("Relu", ["lost"], ["y"], "one")])
    )


def test_a_node_without_operator_or_output(tmp_path: Path) -> None:
    assert "expected an operator" in refused(tmp_path, model_of([RELU, node("", ["x"], ["z"], "two")]))
    assert "node 'two': expected an output with a name" in refused(tmp_path, model_of([RELU, node("Relu", ["x"], [""], "two")]))


def test_an_output_that_nothing_computes(tmp_path: Path) -> None:
    assert "found 'other'" in refused(tmp_path, model_of([RELU], outputs=[value("other")]))


def test_weights_with_the_same_name_and_without_one(tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.ones(3, np.float32), "w")
    assert "'w' twice" in refused(tmp_path, model_of([node("Add", ["x", "w"], ["y"])], [weight, weight]))
    assert "one weight per name" in refused(tmp_path, model_of([RELU], [numpy_helper.from_array(np.ones(3, np.float32), "")]))


HOSTILE = [
    "class", "None", "self", "construct", "x y", "a'b", 'a"b', 'a"""b', "a\nimport os", "a\r\nb", "\\", "x\u2028y", "x\u202ey",
    "äö漢字", "1", "__import__('os').system('touch hacked')", "#", "{0}", "%s", "tensor", "load", "ms", "nn", "ops", "a" * 5000,
    "@v0@", "@o0@", "\0",
]  # fmt: skip


def test_names_are_no_code_and_stay_unique(tmp_path: Path) -> None:
    """Names of inputs, nodes, values and weights that are keywords, or contain quotes, lines or code."""
    names = [name for name in HOSTILE if name]
    nodes, last, weights = [], "x", []
    for place, name in enumerate(names):
        weights.append(numpy_helper.from_array(np.full(3, float(place + 2), np.float32), f"{name}w"))
        nodes.append(helper.make_node("Add", [last, f"{name}w"], [name], f"/{name}/{name}"))
        last = name
    nodes += [helper.make_node("Strange", [last], ["y"], names[10], domain="x\ny", **{"at'\ntr": names[8]})]
    found = convert(saved(tmp_path, model_of(nodes, weights)))
    tree = ast.parse(found.script.text)
    assert {name.asname or name.name for one in ast.walk(tree) if isinstance(one, ast.Import) for name in one.names} == {"ms"}
    calls = {one.func.id for one in ast.walk(tree) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)}
    classes = {one.name for one in tree.body if isinstance(one, ast.ClassDef)}
    assert calls - classes <= {"tensor", "Parameter", "initializer", "super", "NotImplementedError"}
    assert all(text.isidentifier() for text in found.script.classes)
    assert len(found.weights["parameter"]) == len(set(found.weights["parameter"])) == len(names)
    assert not (tmp_path / "hacked").exists()


def test_inputs_with_names_of_code(tmp_path: Path) -> None:
    inputs = [value(name) for name in ("class", "a b", "a_b", "lambda: 0", "self")]
    model = model_of([helper.make_node("Sum", [one.name for one in inputs], ["y"])], inputs=inputs)
    tree = ast.parse(convert(saved(tmp_path, model)).script.text)
    construct = next(one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name == "construct")
    arguments = [one.arg for one in construct.args.args]
    assert len(arguments) == len(set(arguments)) == 6


@pytest.mark.parametrize("name", [name for name in HOSTILE if name and "\0" not in name])
def test_names_of_scopes_and_files_are_no_code(name: str, tmp_path: Path) -> None:
    """Scopes with the same nodes become one class, the file names the network, and comments name operators."""
    nodes, last = [], "x"
    for place in range(3):
        for op in ("Relu", "Neg", "Abs"):
            made = f"v{place}{op}"
            nodes.append(helper.make_node(op, [last], [made], f"/{name}.{place}/{op}"))
            last = made
    nodes[-1].output[0] = "last"
    nodes.append(helper.make_node(name, ["last"], ["y"], "strange", domain=name, **{name: name}))
    path = tmp_path / f"{name.replace('/', '')[:60]}.onnx"
    model = model_of(nodes)
    model.producer_name = model.doc_string = model.graph.name = model.graph.doc_string = model.domain = name
    path.write_bytes(model.SerializeToString())
    found = convert(path)
    classes = [one.name for one in ast.parse(found.script.text).body if isinstance(one, ast.ClassDef)]
    assert {*found.script.classes} <= {*classes}
    assert len(classes) == len(set(classes))
    assert all(text.isidentifier() and text.isascii() for text in classes)
    tree = ast.parse(found.script.text)
    imported = {one.name for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)) for one in node.names}
    assert imported <= {"mindspore", "nn", "ops", "Parameter", "initializer"}
    assert "__import__" not in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def external(location: str, *, offset: int = 0, length: int | None = None, shape: tuple[int, ...] = (3,)) -> TensorProto:
    tensor = TensorProto(name="w", dims=shape, data_type=FLOAT, data_location=TensorProto.EXTERNAL)
    for key, text in (("location", location), ("offset", offset), ("length", length)):
        if text is not None:
            tensor.external_data.add(key=key, value=str(text))
    return tensor


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (external("gone.bin"), "found no such file"),
        (external("small.bin", length=12), "expected 12 bytes in 'small.bin', found 8"),
        (external("large.bin", offset=95), "found 100"),
        (external("large.bin", offset=-4), "at -4"),
        (external("large.bin", length=4), "expected 12 bytes"),
        (external("../outside.bin"), "in the directory of the model"),
        (external("/etc/passwd"), "in the directory of the model"),
        (external("link.bin"), "in the directory of the model"),
        (external(""), "in the directory of the model"),
        (external("."), "found no such file"),
        (external("large.bin", shape=(1 << 31, 1 << 31)), "below 1 TiB"),
        (external("large.bin", shape=(-1,)), "found the shape (-1,)"),
    ],
)
def test_external_data_that_is_not_there(tensor: TensorProto, words: str, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "outside.bin").write_bytes(bytes(100))
    (inside / "large.bin").write_bytes(bytes(100))
    (inside / "small.bin").write_bytes(bytes(8))
    (inside / "link.bin").symlink_to(tmp_path / "outside.bin")
    text = refused(inside, model_of([node("Add", ["x", "w"], ["y"])], [tensor]))
    assert "'w'" in text
    assert words in text


def test_values_that_do_not_fill_the_shape(tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.ones(3, np.float32), "w")
    weight.dims[0] = 4
    assert "tensor 'w': expected 4 values" in refused(tmp_path, model_of([node("Add", ["x", "w"], ["y"])], [weight]))


def test_a_data_type_that_does_not_exist(tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.ones(3, np.float32), "w")
    weight.data_type = 99
    assert "tensor 'w': expected a data type, found number 99" in refused(tmp_path, model_of([RELU], [weight]))


def test_sparse_tensors(tmp_path: Path) -> None:
    model = model_of([node("Add", ["x", "w"], ["y"])])
    sparse = model.graph.sparse_initializer.add()
    sparse.values.CopyFrom(numpy_helper.from_array(np.ones(1, np.float32), "w"))
    assert "tensor 'w': expected a dense tensor" in refused(tmp_path, model)


@pytest.mark.parametrize("opset", [1, 6, 29, 2**40])
def test_operator_sets_that_are_not_known(opset: int, tmp_path: Path) -> None:
    assert f"expected an operator set from 7 to 28, found {opset}" in refused(tmp_path, model_of([RELU], opset=opset))


def test_unknown_domains_and_operators_become_marked_cells(tmp_path: Path) -> None:
    nodes = [node("NoSuch", ["x"], ["a"], "one"), helper.make_node("Relu", ["a"], ["y"], "two", domain="com.else")]
    messages = list(convert(saved(tmp_path, model_of(nodes))).script.refusals.values())
    assert ["no mapping for this operator" in message for message in messages] == [True, True]
    assert "com.else" in messages[1]


@pytest.mark.parametrize("size", [5000, 2**31, 2**62])  # squared, the first one is 100 MB
def test_sizes_that_overflow_make_no_array(size: int, tmp_path: Path) -> None:
    sizes = numpy_helper.from_array(np.array([size, size], np.int64), "s")
    for op in ("ConstantOfShape", "Expand"):
        inputs = ["s"] if op == "ConstantOfShape" else ["x", "s"]
        model = model_of([node(op, inputs, ["y"], "one")], [sizes], inputs=[value("x", 1, 1)], outputs=[value("y", None, None)])
        found = convert(saved(tmp_path, model))
        assert not found.folded
    found = convert(saved(tmp_path, model_of([RELU], inputs=[value("x", size, size)], outputs=[value("y", size, size)])))
    assert found.complete


def test_a_shape_whose_product_takes_long_is_one_message(tmp_path: Path) -> None:
    weight = onnx.TensorProto(name="w", data_type=onnx.TensorProto.FLOAT, dims=[1 << 62] * 300_000)
    begin = time.process_time()
    with pytest.raises(ConversionError, match="tensor 'w': expected at most 64 dimensions, found 300,000"):
        convert(saved(tmp_path, model_of([node("MatMul", ["x", "w"], ["y"])], [weight])))
    assert time.process_time() - begin < 5


def test_weights_that_nothing_uses_are_named(tmp_path: Path) -> None:
    found = convert(saved(tmp_path, model_of([RELU], [numpy_helper.from_array(np.ones(3, np.float32), "spare")])))
    assert found.model.unused == ("spare",)
    assert not found.script.parameters


@pytest.mark.long
def test_a_hundred_thousand_nodes(tmp_path: Path) -> None:
    count = 100_000
    nodes = [node("Relu" if place % 2 else "Neg", [f"v{place}" if place else "x"], [f"v{place + 1}"]) for place in range(count)]
    nodes[-1].output[0] = "y"
    path = saved(tmp_path, model_of(nodes))
    start = time.process_time()
    found = convert(path)
    assert found.complete
    assert len(found.emissions) == count
    assert time.process_time() - start < 120


@pytest.mark.parametrize(
    "op", ["Conv", "Gemm", "LSTM", "Resize", "Slice", "Split", "Concat", "Einsum", "Attention", "Gather", "TopK", "Pad"]
)
@pytest.mark.parametrize("inputs", [[], ["x"], ["x", "x"], ["x"] * 9, ["", "x"]])
def test_operators_with_inputs_that_onnx_does_not_allow(op: str, inputs: list[str], tmp_path: Path) -> None:
    found = convert(saved(tmp_path, model_of([node(op, inputs, ["y"], "one")])))
    ast.parse(found.script.text)
    assert all("'one'" in message for message in found.script.refusals.values())


@pytest.mark.parametrize(
    "op", ["Softmax", "Concat", "Gather", "Transpose", "Elu", "TopK", "Gemm", "LRN", "Flatten", "CumSum", "Selu"]
)
@pytest.mark.parametrize("opset", [7, 17])
def test_a_text_where_a_number_belongs_never_becomes_code(op: str, opset: int, tmp_path: Path) -> None:
    hostile = "__import__('os').system('touch hacked')"
    for name in ("axis", "alpha", "perm", "beta", "size", "k", "blocksize"):
        for given in (hostile, [hostile]):
            one = helper.make_node(op, ["x", "x"], ["y"], "one", **{name: given})
            found = convert(saved(tmp_path, model_of([one], opset=opset)))
            assert len(found.script.refusals) == 1
            code = ast.parse(found.script.text)
            assert not [each for each in ast.walk(code) if isinstance(each, ast.Name) and each.id == "__import__"]


def test_random_damage_is_one_message_or_a_script(tmp_path: Path) -> None:
    data = (Path(__file__).parents[1] / "data" / "converter" / "ops" / "Conv.onnx").read_bytes()
    rng = np.random.default_rng(0)
    path, messages = tmp_path / "model.onnx", []
    for _ in range(400):
        damaged = bytearray(data)
        for place in rng.integers(0, len(data), rng.integers(1, 6)):
            damaged[place] = rng.integers(0, 256)
        path.write_bytes(damaged)
        try:
            ast.parse(convert(path).script.text)
        except ConversionError as error:
            messages.append(str(error))
    assert messages
    assert all(text.startswith(str(path)) and "\n" not in text for text in messages)

"""What only MindSpore can show, as users see it: marked Cells, differences, split and safetensors weights. `make test-convert`
runs these; elsewhere they are skipped. MINDSCOPE_MINDSPORE is the interpreter with MindSpore."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

if not os.environ.get("MINDSCOPE_MINDSPORE"):
    pytest.skip("MINDSCOPE_MINDSPORE names no interpreter", allow_module_level=True)

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from app.conversion import checkpoint
from app.conversion.operators import MAPPINGS
from tests.app.commands.running import called

PYTHON = os.path.abspath(os.environ["MINDSCOPE_MINDSPORE"])
W = np.arange(16, dtype=np.float32).reshape(4, 4) / 16


def saved(path: Path, nodes: list[onnx.NodeProto], weights: dict[str, np.ndarray] | None = None) -> Path:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4]) for name in ("x", "y")]
    tensors = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("custom", 1)]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], tensors)
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def ran(directory: Path, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PYTHON, "-c", code], cwd=directory, capture_output=True, text=True, check=False)


def chain(*operators: str) -> list[onnx.NodeProto]:
    names = ["x", *(f"v{place}" for place in range(len(operators) - 1)), "y"]
    return [
        helper.make_node(op, names[place : place + 1], names[place + 1 : place + 2], f"node {place}",
                         domain="custom" if op.startswith("My") else "")
        for place, op in enumerate(operators)
    ]  # fmt: skip


def test_a_script_runs_up_to_the_first_of_two_unknown_operators(tmp_path: Path) -> None:
    model = saved(tmp_path / "odd.onnx", chain("Relu", "Neg", "MyFirst", "Relu", "MySecond"))
    done = called("convert", model, "--output", tmp_path / "out", "--check", "--mindspore", PYTHON)
    assert done.returncode == 3, done.stdout + done.stderr
    report = json.loads((tmp_path / "out" / "conversion_of_odd.json").read_text())
    messages = [node["message"] for node in report["nodes"] if node["state"] == "marked"]
    assert len(messages) == 2
    assert [(row["node"], row["beyond"]) for row in report["check"]["values"]] == [(0, False), (1, False)]
    assert report["check"]["error"] == f"NotImplementedError: {messages[0]}"
    code = """
import mindspore as ms, odd
ms.set_context(mode=ms.PYNATIVE_MODE)
network = odd.load()
try:
    network(ms.ops.ones((2, 4), ms.float32))
except NotImplementedError as error:
    print(error)
"""
    assert ran(tmp_path / "out", code).stdout.strip().splitlines()[-1] == messages[0]


def test_a_difference_beyond_tolerance_is_named_and_the_exit_code_is_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tanh = MAPPINGS["Tanh"]
    monkeypatch.setitem(MAPPINGS, "Tanh", lambda call: f"-{tanh(call)}")
    model = saved(tmp_path / "net.onnx", chain("Relu", "Tanh", "Neg"))
    done = called("convert", model, "--output", tmp_path / "out", "--check", "--mindspore", PYTHON)
    assert done.returncode == 1
    assert "first beyond tolerance: v1 of node 1" in done.stdout
    found = json.loads((tmp_path / "out" / "conversion_of_net.json").read_text())["check"]
    assert [row["beyond"] for row in found["values"]] == [False, True, True]
    assert found["first_beyond"]["node"] == 1


@pytest.mark.parametrize("safetensors", [False, True])
def test_weights_in_several_files_are_loaded(safetensors: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "SPLIT", 100)
    nodes = [helper.make_node("MatMul", [f"x{n}" if n else "x", f"w{n}"], [f"x{n + 1}" if n < 2 else "y"]) for n in range(3)]
    model = saved(tmp_path / "net.onnx", nodes, {f"w{n}": W + n for n in range(3)})
    options = ["--safetensors"] if safetensors else []
    done = called("convert", model, "--output", tmp_path / "out", "--check", "--mindspore", PYTHON, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "checked on the CPU: 3 values" in done.stdout
    found = sorted(path.name for path in (tmp_path / "out").glob("net*.*") if path.suffix != ".py")
    assert found == (["net.safetensors"] if safetensors else ["net_0.ckpt", "net_1.ckpt", "net_2.ckpt"])
    code = f"import mindspore as ms, net; print(net.load(*{found}).dense1.weight.asnumpy().tolist())"
    assert json.loads(ran(tmp_path / "out", code).stdout.strip().splitlines()[-1]) == W.T.tolist()


def test_a_constant_output_proves_nothing(tmp_path: Path) -> None:
    model = saved(tmp_path / "net.onnx", chain("Sign", "Abs"))
    done = called("convert", model, "--output", tmp_path / "out", "--check", "--mindspore", PYTHON)
    assert done.returncode == 0
    assert "is the same number everywhere, which proves nothing" in done.stdout


def test_every_node_has_the_difference_of_the_value_that_stands_for_it(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"]),
        helper.make_node("Add", ["product", "b"], ["sum"]),
        helper.make_node("Identity", ["sum"], ["same"]),
        helper.make_node("Relu", ["same"], ["y"]),
    ]
    model = saved(tmp_path / "net.onnx", nodes, {"w": W, "b": W[0]})
    done = called("convert", model, "--output", tmp_path / "out", "--check", "--mindspore", PYTHON)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "out" / "conversion_of_net.json").read_text())["check"]["values"]
    assert [(row["node"], row["value"]) for row in found] == [(0, "sum"), (1, "sum"), (2, "same"), (3, "y")]
    assert len({row["largest"] for row in found[:3]}) == 1

"""Files of weights hold what readers of `.ckpt` and `.safetensors` find there, in whatever order it was in memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("onnxruntime", reason="the packages of mindscope[convert] are not installed")
import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

from app.conversion import ConversionOptions, checkpoint, convert
from app.conversion.calls import CheckpointTensor
from app.conversion.output import weight_files, write_files
from app.conversion.refusals import ConversionError
from app.conversion.weights import Weight, weight_of
from parsers.weights.recognition import opened

ORDERS: list[Any] = [
    lambda array: array.T,
    lambda array: array[::-1],
    lambda array: np.moveaxis(array, 0, 1),
    lambda array: array[..., ::2],
    lambda array: array[:0],
    lambda array: array.reshape(-1)[::3],
    lambda array: np.broadcast_to(array[:1], array.shape),
]
SHAPES = [(1, 1), (3, 5), (300, 17), (17, 300), (2, 3, 5, 7), (1, 70_000), (70_000, 1), (513, 600)]


def written(array: NDArray[Any], path: Path, write: Any = checkpoint.write_checkpoint) -> NDArray[Any]:
    parameter = CheckpointTensor(str(array.dtype), array.shape, (), constant=array)
    with open(path, "wb") as file:
        write(file, {"w": parameter}, {})
    with opened(str(path)) as weights:
        return weights.read("w")


@pytest.mark.parametrize("order", range(len(ORDERS)))
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool"])
def test_arrays_of_any_order_in_memory_are_written_in_rows(
    order: int, shape: tuple[int, ...], dtype: str, tmp_path: Path
) -> None:
    array = ORDERS[order](np.random.default_rng(0).integers(0, 2000, shape).astype(dtype))
    found = written(array, tmp_path / "a.ckpt")
    np.testing.assert_array_equal(found.reshape(array.shape), array)


def test_a_part_is_smaller_than_the_array(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    array = np.arange(40 * 30, dtype=np.float32).reshape(30, 40).T
    for size in (1, 119, 120, 1000, 4799, 4800):
        monkeypatch.setattr(checkpoint, "PART", size)
        for number, write in enumerate((checkpoint.write_checkpoint, checkpoint.write_safetensors)):
            path = tmp_path / f"{size}.{('ckpt', 'safetensors')[number]}"
            np.testing.assert_array_equal(written(array, path, write).reshape(array.shape), array)


def external(tmp_path: Path, arrays: dict[str, NDArray[Any]]) -> Path:
    """Write a chain of Gemm nodes of which every second transposes its weight, with external data."""
    tensors, nodes = [], []
    with open(tmp_path / "model.data", "wb") as file:
        file.write(b"before")
        for number, (name, array) in enumerate(arrays.items()):
            tensor = TensorProto(name=name, dims=array.shape, data_type=1, data_location=TensorProto.EXTERNAL)
            facts = (("location", "model.data"), ("offset", str(file.tell())), ("length", str(array.nbytes)))
            for key, text in facts:
                tensor.external_data.add(key=key, value=text)
            file.write(array.tobytes())
            tensors.append(tensor)
            nodes.append(helper.make_node("Gemm", [f"x{number}", name], [f"x{number + 1}"], transB=number % 2))
    ends = [helper.make_tensor_value_info(name, 1, [2, 50]) for name in ("x0", f"x{len(arrays)}")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


@pytest.mark.parametrize("safetensors", [False, True])
@pytest.mark.parametrize("part", [999, 10_000, 1 << 20])
def test_external_data_arrives_in_the_file_of_weights(
    safetensors: bool, part: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(checkpoint, "PART", part)
    draw = np.random.default_rng(1)
    arrays = {f"w{number}": draw.normal(size=(50, 50)).astype(np.float32) for number in range(4)}
    found = convert(external(tmp_path, arrays), ConversionOptions(safetensors=safetensors))
    files = weight_files(found)
    write_files(str(tmp_path / "out"), files)
    sources = {name: parameter.sources[0] for name, parameter in found.script.parameters.items()}
    assert sorted(sources.values()) == sorted(arrays)
    with opened(str(tmp_path / "out" / next(iter(files)))) as weights:
        for name, source in sources.items():
            wanted = arrays[source] if source in ("w1", "w3") else arrays[source].T
            np.testing.assert_array_equal(weights.read(name).reshape(50, 50), wanted)


def test_external_data_that_shrinks_is_one_message_and_no_file(tmp_path: Path) -> None:
    path = external(tmp_path, {"w0": np.ones((50, 50), np.float32), "w1": np.ones((50, 50), np.float32)})
    found = convert(path)
    with open(tmp_path / "model.data", "r+b") as file:
        file.truncate(15_000)
    with pytest.raises(ConversionError, match=r"model\.data: expected 10,000 bytes of 'w1' at 10,006, found fewer"):
        write_files(str(tmp_path / "out"), weight_files(found))
    assert list((tmp_path / "out").iterdir()) == []


def test_a_weight_of_no_elements_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "w.data").write_bytes(b"")
    tensor = TensorProto(name="w", dims=[0, 3], data_type=1, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="w.data")
    weight: Weight = weight_of(tensor, str(tmp_path / "model.onnx"))
    assert weight.array().shape == (0, 3)
    assert b"".join(weight.parts(10)) == b""

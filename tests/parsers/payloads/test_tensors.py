"""Tensors of every dtype, from every field, against numpy and protobuf."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from parsers import FormatError, open_run
from parsers.events.messages import message_class
from parsers.payloads.decoding import decode
from parsers.payloads.values import TensorValue
from parsers.recording import EventWriter, Tensor
from parsers.recording.layouts import MINDSPORE_DTYPES, TENSORFLOW_DTYPES
from parsers.recording.wire import delimited, number
from tests.amounts import examples
from tests.parsers.payloads.reference import same

SHAPES = hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4)
FITS_FLOAT32 = ("bool", "int8", "int16", "uint8", "uint16", "float16", "float32")


def mindspore(**fields: Any) -> TensorValue:
    message = message_class("mindspore.TensorProto")(**fields)
    value = decode("events", "tensor", memoryview(message.SerializeToString()))
    assert isinstance(value, TensorValue)
    return value


def tensorboard(shape: tuple[int, ...] = (), **fields: Any) -> TensorValue:
    message = message_class("tensorflow.TensorProto")(**fields)
    message.tensor_shape.SetInParent()
    for size in shape:
        message.tensor_shape.dim.add(size=size)
    value = decode("tensorboard", "tensor", memoryview(message.SerializeToString()))
    assert isinstance(value, TensorValue)
    return value


@settings(max_examples=examples(15), deadline=None)
@given(st.data())
@pytest.mark.parametrize("layout", ["mindspore", "tensorboard"])
def test_what_the_writer_wrote_is_read(layout: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    dtypes = MINDSPORE_DTYPES if layout == "mindspore" else TENSORFLOW_DTYPES
    least = 0 if layout == "mindspore" else 1  # TensorBoard's tensors of rank 0 are scalars
    shapes = hnp.array_shapes(min_dims=least, max_dims=5, min_side=0, max_side=4)
    arrays = {name: data.draw(hnp.arrays(name, shapes), label=name) for name in dtypes}
    folder = tmp_path_factory.mktemp("run")
    name = "events.out.events.summary.1700000000.0.host_MS" if layout == "mindspore" else "events.out.tfevents.1700000000.host"
    with EventWriter(str(folder / name), layout) as writer:
        writer.add(3, {name: Tensor(array) for name, array in arrays.items()})
    run = open_run(folder)
    for name, array in arrays.items():
        value = run.tensor(name, 0)
        assert (value.dtype, value.shape) == (name, array.shape)
        assert not value.data.flags.writeable
        if layout == "tensorboard" or name in FITS_FLOAT32 or not array.size:
            assert (value.stored_as, value.data.dtype.name) == ("", name)
            assert same(value.data, array)
        else:
            assert value.stored_as == "float32"
            with np.errstate(over="ignore"):
                assert same(value.data, array.astype(np.float32))


@pytest.mark.parametrize(
    ("field", "number", "dtype", "values"),
    [
        ("float_data", 11, "float32", [1.5, -0.0, float("nan")]),
        ("float_data", 1, "bool", [1, 0, 1]),
        ("float_data", 6, "uint8", [255, 0, 7]),
        ("float_data", 10, "float16", [0.5, -65504, float("inf")]),
        ("int32_data", 4, "int32", [-(2**31), 2**31 - 1, 0]),
        ("int32_data", 1, "bool", [1, 0, 1]),
        ("int32_data", 3, "int16", [-32768, 32767, -1]),
        ("int64_data", 5, "int64", [-(2**63), 2**63 - 1, 2**53 + 1]),
        ("int64_data", 4, "int32", [-5, 2**31 - 1, 300]),
        ("double_data", 12, "float64", [1e-310, 1 / 3, -1e308]),
        ("double_data", 4, "int32", [-5, 2**31 - 1, 300]),
        ("uint64_data", 9, "uint64", [2**64 - 1, 0, 128]),
        ("uint64_data", 8, "uint32", [2**32 - 1, 0, 128]),
    ],
)
def test_every_field_of_mindspore(field: str, number: int, dtype: str, values: list[Any]) -> None:
    value = mindspore(dims=[3, 1], data_type=number, **{field: values})
    assert (value.dtype, value.stored_as) == (dtype, "")
    assert value.data.dtype.name == dtype
    assert same(value.data, np.array(values, dtype).reshape(3, 1))


@pytest.mark.parametrize("dtype", [*MINDSPORE_DTYPES, "complex64", "complex128"])
def test_raw_data_of_mindspore(dtype: str) -> None:
    array = np.arange(6).astype(dtype).reshape(2, 3)
    known = {**MINDSPORE_DTYPES, "complex64": 43, "complex128": 44}
    value = mindspore(dims=[2, 3], data_type=known[dtype], raw_data=array.tobytes())
    assert value.data.dtype == array.dtype
    assert same(value.data, array)


def test_bfloat16_is_widened() -> None:
    wanted = np.array([1.0, -2.5, 0.15625], np.float32)
    bits = (wanted.view(np.uint32) >> 16).astype(np.uint16)
    for value in (
        mindspore(dims=[3], data_type=46, raw_data=bits.tobytes()),
        mindspore(dims=[3], data_type=46, float_data=wanted.tolist()),
        mindspore(dims=[3], data_type=46, int32_data=bits.tolist()),
        tensorboard((3,), dtype=14, half_val=bits.tolist()),
        tensorboard((3,), dtype=14, tensor_content=bits.tobytes()),
    ):
        assert (value.dtype, value.stored_as, value.data.dtype) == ("bfloat16", "", np.float32)
        assert same(value.data, wanted)


def test_complex_in_pairs() -> None:
    wanted = np.array([1 + 2j, -0.5j])
    pairs = [1.0, 2.0, 0.0, -0.5]
    assert same(mindspore(dims=[2], data_type=43, float_data=pairs).data, wanted.astype("c8"))
    assert same(mindspore(dims=[2], data_type=44, double_data=pairs).data, wanted)
    narrowed = mindspore(dims=[2], data_type=44, float_data=pairs)
    assert (narrowed.stored_as, narrowed.data.dtype) == ("complex64", np.complex64)
    assert same(tensorboard((2,), dtype=8, scomplex_val=pairs).data, wanted.astype("c8"))
    assert same(tensorboard((2,), dtype=18, dcomplex_val=pairs).data, wanted)


@pytest.mark.parametrize(
    ("field", "number", "dtype", "values"),
    [
        ("float_val", 1, "float32", [1.5, float("nan")]), ("double_val", 2, "float64", [1 / 3, 1e300]),
        ("int_val", 3, "int32", [-7, 2**31 - 1]), ("int_val", 4, "uint8", [0, 255]), ("int_val", 5, "int16", [-1, 300]),
        ("int_val", 6, "int8", [-128, 127]), ("int_val", 17, "uint16", [65535, 1]), ("int64_val", 9, "int64", [-(2**63), 5]),
        ("bool_val", 10, "bool", [True, False]), ("uint32_val", 22, "uint32", [2**32 - 1, 1]),
        ("uint64_val", 23, "uint64", [2**64 - 1, 1]), ("int_val", 11, "int8", [-3, 3]),
    ],
)  # fmt: skip
def test_every_field_of_tensorboard(field: str, number: int, dtype: str, values: list[Any]) -> None:
    value = tensorboard((2,), dtype=number, **{field: values})
    assert value.data.dtype.name == dtype
    assert same(value.data, np.array(values, dtype))


def test_half_of_tensorboard() -> None:
    wanted = np.array([0.5, -65504, np.inf], np.float16)
    assert same(tensorboard((3,), dtype=19, half_val=wanted.view(np.uint16).tolist()).data, wanted)


def test_tensorboard_repeats_the_last_value() -> None:
    assert same(tensorboard((2, 3), dtype=1, float_val=[1, 2]).data, [[1, 2, 2], [2, 2, 2]])
    assert same(tensorboard((2, 3), dtype=1, float_val=[7]).data, np.full((2, 3), 7, "f4"))
    assert same(tensorboard((2,), dtype=3).data, [0, 0])
    with pytest.raises(FormatError, match="expected 10,000,000,000 values"):
        tensorboard((100_000, 100_000), dtype=1, float_val=[7])


def test_numbers_one_by_one_and_in_several_pieces() -> None:
    def floats(values: list[float]) -> bytes:
        return delimited(3, np.array(values, "<f4").tobytes())

    def single(value: float) -> bytes:
        return bytes([3 << 3 | 5]) + struct.pack("<f", value)

    head = delimited(1, b"\x05") + number(2, 11)  # packed dimensions
    data = head + single(1) + floats([2, 3]) + single(4) + single(5)
    reference = message_class("mindspore.TensorProto").FromString(data)
    value = decode("events", "tensor", memoryview(data))
    assert isinstance(value, TensorValue)
    assert same(value.data, np.array(reference.float_data, "f4"))
    assert value.shape == (5,)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=40), st.lists(st.integers(-(2**31), 2**31 - 1), max_size=40))
def test_whole_numbers_of_every_size(long: list[int], short: list[int]) -> None:
    assert mindspore(dims=[len(long)], data_type=5, int64_data=long).data.tolist() == long
    assert mindspore(dims=[len(short)], data_type=4, int32_data=short).data.tolist() == short


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1, 1, 1, 1, 1)])
def test_odd_shapes(shape: tuple[int, ...]) -> None:
    count = int(np.prod(shape))
    for dtype, code in MINDSPORE_DTYPES.items():
        value = mindspore(dims=shape, data_type=code, float_data=[1.0] * count)
        assert (value.shape, value.dtype) == (shape, dtype)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"dims": [2, 3], "float_data": [1, 2]}, r"expected 6 values for the shape \(2, 3\), found 2"),
        ({"dims": [100_000] * 2, "float_data": [1]}, "expected 10,000,000,000 values"),
        ({"dims": [2**40, 2**40], "float_data": [1]}, "expected dimensions"),
        ({"dims": [-1], "float_data": [1]}, "expected dimensions"),
        ({"dims": [0, 2**62]}, "expected dimensions"),
        ({"dims": [1] * 33, "float_data": [1]}, "at most 32 dimensions"),
        ({"dims": [4]}, "found none"),
        ({"dims": [2], "float_data": [1, 2], "double_data": [1, 2]}, "in one field"),
        ({"dims": [2], "raw_data": b"12345"}, "numbers of 4 bytes, found 5 bytes"),
        ({"dims": [2], "data_type": 43, "float_data": [1, 2, 3]}, "pairs"),
    ],
)
def test_dimensions_that_do_not_fit(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(FormatError, match=text):
        mindspore(**{"data_type": 11, **fields})


def test_undefined_dtype_is_shown_as_stored() -> None:
    assert mindspore(dims=[1], float_data=[2.5]).dtype == "undefined"
    assert mindspore(dims=[1], data_type=99, float_data=[2.5]).dtype == "DataType 99"


def test_a_large_tensor_takes_no_second_copy(tmp_path: Path) -> None:
    array = np.arange(300_000, dtype=np.float32).reshape(300, 1000)
    with EventWriter(str(tmp_path / "events.out.events.summary.1700000000.0.host_MS"), "mindspore") as writer:
        writer.add(1, {"w": Tensor(array)})
    run = open_run(tmp_path)
    assert run.unverified == 1
    value = run.tensor("w", 0)
    assert same(value.data, array)
    assert value.data.flags.aligned
    assert not value.data.flags.owndata
    assert run.unverified == 0

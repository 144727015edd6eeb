"""Weights of a model: where their bytes are, and reading one at a time.

A weight is in the file of the model or, as external data, in another file of its directory. Only external data is read late: a
model of several gigabytes is never in memory at once. Data types are those of NumPy, and `bfloat16` and the like by name.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from app.conversion.refusals import ConversionError

MOST_DIMENSIONS = 64
"""More than numpy's. The product of millions of sizes takes minutes."""
LARGEST = 1 << 40
"""Bytes of a tensor; more is damage."""
_NUMPY = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string", 9: "bool",
    10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16",
    17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz", 21: "uint4", 22: "int4",
    23: "float4_e2m1", 24: "float8_e8m0", 25: "uint2", 26: "int2",
}  # fmt: skip
_ITEM = {"bfloat16": 2, "string": 0}
Array = NDArray[Any]


def dtype_name(number: int) -> str:
    """Return the name of a type number of TensorProto, "" for none."""
    return _NUMPY.get(number, "")


def dtype_number(name: str) -> int:
    """Return the type number of TensorProto with a name."""
    return next(number for number, one in _NUMPY.items() if one == name)


@dataclass(frozen=True, slots=True)
class Weight:
    """A tensor of the model. `proto` keeps what the file has; `place` is (file, offset, length) of external data."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    proto: onnx.TensorProto
    place: tuple[str, int, int] | None = None

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Size in bytes as an array."""
        return self.size * item_size(self.dtype)

    def array(self) -> Array:
        """Read the values. bfloat16 is returned as uint16 with the same bits."""
        if self.place is not None:
            (data,) = self._external_parts(self.place[2])
            return data.view(storage_type(self.dtype)).reshape(self.shape)
        if self.dtype == "bfloat16" and self.proto.raw_data:
            return np.frombuffer(self.proto.raw_data, "<u2").reshape(self.shape)
        found: Array = onnx.numpy_helper.to_array(self.proto)
        return found.view("uint16") if self.dtype == "bfloat16" else found

    def parts(self, size: int) -> Iterator[memoryview]:
        """Read the bytes of the values in order, of external data `size` at a time; each part is overwritten by the next."""
        if self.place is None:
            yield from contiguous_bytes(self.array())
            return
        for part in self._external_parts(size):
            yield part.data

    def _external_parts(self, size: int) -> Iterator[Array]:
        assert self.place is not None
        path, offset, length = self.place
        data = np.empty(min(size, length), np.uint8)
        with open(path, "rb", buffering=0) as file:
            file.seek(offset)
            for start in range(0, max(length, 1), max(size, 1)):
                part = data[: length - start]
                if _filled(file, part) != part.size:
                    raise ConversionError(f"{path}: expected {length:,} bytes of {self.name!r} at {offset:,}, found fewer")
                yield part


def contiguous_bytes(array: Array) -> Iterator[memoryview]:
    """Yield the bytes of an array whose elements are in order; nothing for an empty one, which has no view of bytes."""
    if array.size:
        yield array.reshape(-1).data.cast("B")


def _filled(file: io.RawIOBase, data: Array) -> int:
    """Read into an array and return the bytes read; one read of the system has at most 2 GiB."""
    place = 0
    while place < data.size:
        count = file.readinto(data.data[place:])
        if not count:
            break
        place += count
    return place


def item_size(dtype: str) -> int:
    """Return the bytes of one element, 1 for types narrower than a byte."""
    return _ITEM[dtype] if dtype in _ITEM else np.dtype(dtype).itemsize if hasattr(np, dtype) else 1


def storage_type(dtype: str) -> np.dtype[Any]:
    """Return the NumPy type that holds the bits of a type."""
    return np.dtype("<u2" if dtype == "bfloat16" else dtype).newbyteorder("<")


def weight_of(proto: onnx.TensorProto, model_path: str) -> Weight:
    """Describe a tensor of a model and verify that its bytes are there; ConversionError if not."""
    name, shape = proto.name, tuple(proto.dims)
    dtype = dtype_name(proto.data_type)
    if not dtype:
        raise ConversionError(f"{model_path}: tensor {name!r}: expected a data type, found number {proto.data_type}")
    if len(shape) > MOST_DIMENSIONS:
        found = f"expected at most {MOST_DIMENSIONS} dimensions, found {len(shape):,}"
        raise ConversionError(f"{model_path}: tensor {name!r}: {found}")
    if any(size < 0 for size in shape) or math.prod(shape) * max(item_size(dtype), 1) > LARGEST:
        raise ConversionError(f"{model_path}: tensor {name!r}: expected a size below 1 TiB, found the shape {shape}")
    if proto.data_location == onnx.TensorProto.EXTERNAL:
        return Weight(name, dtype, shape, proto, _external(proto, dtype, shape, model_path))
    weight = Weight(name, dtype, shape, proto)
    stored = _stored(proto, weight)
    if stored != weight.size:
        raise ConversionError(
            f"{model_path}: tensor {name!r}: expected {weight.size:,} values for the shape {shape}, found {stored:,}"
        )
    return weight


def _stored(proto: onnx.TensorProto, weight: Weight) -> int:
    """Return the number of elements whose values the message has."""
    if weight.dtype in ("int4", "uint4", "int2", "uint2", "float4_e2m1"):
        return weight.size
    if proto.HasField("raw_data"):
        return len(proto.raw_data) // item_size(weight.dtype) if len(proto.raw_data) % item_size(weight.dtype) == 0 else -1
    if weight.dtype == "string":
        return len(proto.string_data)
    if weight.dtype.startswith("complex"):
        return (len(proto.float_data) + len(proto.double_data)) // 2
    fields = (proto.float_data, proto.int32_data, proto.int64_data, proto.double_data, proto.uint64_data)
    return next((len(field) for field in fields if field), 0)


def _external(proto: onnx.TensorProto, dtype: str, shape: tuple[int, ...], model_path: str) -> tuple[str, int, int]:
    """Return where external data is: a file in the directory of the model, or below it, that has all its bytes."""
    entries = {entry.key: entry.value for entry in proto.external_data}
    about = f"{model_path}: tensor {proto.name!r}"
    base = os.path.realpath(os.path.dirname(os.path.abspath(model_path)))
    location = entries.get("location", "")
    path = os.path.realpath(os.path.join(base, location))
    if not location or os.path.isabs(location) or "\0" in location or os.path.commonpath([base, path]) != base:
        raise ConversionError(f"{about}: expected external data in the directory of the model, found {location!r}")
    wanted = math.prod(shape) * item_size(dtype)
    try:
        offset, length = int(entries.get("offset") or 0), int(entries.get("length") or wanted)
    except ValueError:
        raise ConversionError(f"{about}: expected numbers as offset and length, found {entries}") from None
    if length != wanted or offset < 0:
        raise ConversionError(f"{about}: expected {wanted:,} bytes for the shape {shape}, found {length:,} at {offset:,}")
    if not os.path.isfile(path):
        raise ConversionError(f"{about}: expected external data in {location!r}, found no such file")
    if os.path.getsize(path) < offset + length:
        raise ConversionError(f"{about}: expected {offset + length:,} bytes in {location!r}, found {os.path.getsize(path):,}")
    return path, offset, length

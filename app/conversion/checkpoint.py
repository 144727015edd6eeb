"""Writes weights: MindSpore's checkpoint files, or safetensors. One tensor is in memory at a time.

A `.ckpt` is a message Checkpoint of MindSpore's checkpoint.proto: repeated Value (1) of tag (1) and TensorProto (2) with dims
(1), tensor_type (2) and tensor_content (3). MindSpore itself writes parts of large tensors as several values of one tag."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

import numpy as np

from app.conversion.calls import Array, StoredTensor
from app.conversion.refusals import ConversionError
from app.conversion.weights import Weight, item_size

SPLIT = 1_900_000_000
"""Bytes of tensors from which a checkpoint continues in a further file."""
PART = 64 << 20
"""Bytes of a tensor written at a time."""
_MINDSPORE = {
    "float32": "Float32", "float16": "Float16", "float64": "Float64", "bfloat16": "BFloat16", "int8": "Int8",
    "int16": "Int16", "int32": "Int32", "int64": "Int64", "uint8": "UInt8", "uint16": "UInt16", "uint32": "UInt32",
    "uint64": "UInt64", "bool": "Bool",
}  # fmt: skip
_SAFETENSORS = {
    "float32": "F32", "float16": "F16", "float64": "F64", "bfloat16": "BF16", "int8": "I8", "int16": "I16", "int32": "I32",
    "int64": "I64", "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64", "bool": "BOOL",
}  # fmt: skip


def size_of(parameter: StoredTensor) -> int:
    """Return the bytes of a parameter."""
    return math.prod(parameter.shape) * item_size(parameter.dtype)


def array_of(parameter: StoredTensor, weights: Mapping[str, Weight]) -> Array:
    """Return the values of a parameter, made of the weights it comes from."""
    if parameter.constant is not None:
        return parameter.constant
    arrays = [weights[name].array() for name in parameter.sources]
    found = arrays[0] if parameter.make is None else parameter.make(*arrays)
    if tuple(found.shape) != tuple(parameter.shape):
        raise ConversionError(f"weight {parameter.sources[0]!r}: expected the shape {parameter.shape}, found {found.shape}")
    return found


def files(parameters: Mapping[str, StoredTensor]) -> list[dict[str, StoredTensor]]:
    """Divide parameters into files of at most SPLIT bytes each, a larger tensor alone."""
    found: list[dict[str, StoredTensor]] = [{}]
    total = 0
    for name, parameter in parameters.items():
        size = size_of(parameter)
        if found[-1] and total + size > SPLIT:
            found.append({})
            total = 0
        found[-1][name] = parameter
        total += size
    return found


def write_checkpoint(file: IO[bytes], parameters: Mapping[str, StoredTensor], weights: Mapping[str, Weight]) -> None:
    """Write a `.ckpt`."""
    for name, parameter in parameters.items():
        length = size_of(parameter)
        description = b"".join(b"\x08" + _varint(size) for size in parameter.shape)
        description += _field(2, _MINDSPORE[parameter.dtype].encode())
        content = b"\x1a" + _varint(length)
        tag = _field(1, name.encode())
        tensor = b"\x12" + _varint(len(description) + len(content) + length)
        file.write(b"\x0a" + _varint(len(tag) + len(tensor) + len(description) + len(content) + length))
        file.write(tag + tensor + description + content)
        _write_values(file, array_of(parameter, weights))


def write_safetensors(file: IO[bytes], parameters: Mapping[str, StoredTensor], weights: Mapping[str, Weight]) -> None:
    """Write a `.safetensors`: the length of a header, the header, the tensors in its order."""
    header: dict[str, Any] = {}
    place = 0
    for name, parameter in parameters.items():
        size = size_of(parameter)
        header[name] = {
            "dtype": _SAFETENSORS[parameter.dtype],
            "shape": list(parameter.shape),
            "data_offsets": [place, place + size],
        }
        place += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for parameter in parameters.values():
        _write_values(file, array_of(parameter, weights))


def _write_values(file: IO[bytes], array: Array) -> None:
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    if array.flags.c_contiguous:
        file.write(array.reshape(-1).data.cast("B") if array.size else b"")
        return
    for part in _parts(array):
        file.write(part.reshape(-1).data.cast("B"))


def _parts(array: Array) -> Iterator[Array]:
    """Yield rows of an array in another order in memory, a part of the bytes at a time."""
    rows = max(PART // max(array[:1].nbytes, 1), 1)
    for start in range(0, len(array), rows):
        yield np.ascontiguousarray(array[start : start + rows])


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes((*found, number))


def _field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(data)) + data


Writer = Callable[[IO[bytes], Mapping[str, StoredTensor], Mapping[str, Weight]], None]

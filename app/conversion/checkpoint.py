"""Writes weights: MindSpore's checkpoint files, or safetensors. One tensor is in memory at a time.

A `.ckpt` is a message Checkpoint of MindSpore's checkpoint.proto: repeated Value (1) of tag (1) and TensorProto (2) with dims
(1), tensor_type (2) and tensor_content (3). MindSpore itself writes parts of large tensors as several values of one tag."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np

from app.conversion.calls import Array, CheckpointTensor
from app.conversion.refusals import ConversionError
from app.conversion.weights import Weight, contiguous_bytes, item_size

SPLIT = 1_900_000_000
"""Bytes of tensors from which a checkpoint continues in a further file."""
PART = 1 << 20
"""Bytes of a tensor read, put in order and written at a time: they stay in the processor's cache."""
LINE = 64
"""Bytes of a cache line."""
TILE = 4096
"""Elements that are transposed by one call of numpy. With fewer, the calls would take longer than the copying."""
_MINDSPORE = {
    "float32": "Float32", "float16": "Float16", "float64": "Float64", "bfloat16": "BFloat16", "int8": "Int8",
    "int16": "Int16", "int32": "Int32", "int64": "Int64", "uint8": "UInt8", "uint16": "UInt16", "uint32": "UInt32",
    "uint64": "UInt64", "bool": "Bool",
}  # fmt: skip
_SAFETENSORS = {
    "float32": "F32", "float16": "F16", "float64": "F64", "bfloat16": "BF16", "int8": "I8", "int16": "I16", "int32": "I32",
    "int64": "I64", "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64", "bool": "BOOL",
}  # fmt: skip


def size_of(parameter: CheckpointTensor) -> int:
    """Return the bytes of a parameter."""
    return math.prod(parameter.shape) * item_size(parameter.dtype)


def array_of(parameter: CheckpointTensor, weights: Mapping[str, Weight]) -> Array:
    """Return the values of a parameter, made of the weights it comes from."""
    if parameter.constant is not None:
        return parameter.constant
    arrays = [weights[name].array() for name in parameter.sources]
    found = arrays[0] if parameter.make is None else parameter.make(*arrays)
    if tuple(found.shape) != tuple(parameter.shape):
        raise ConversionError(f"weight {parameter.sources[0]!r}: expected the shape {parameter.shape}, found {found.shape}")
    return found


def files(parameters: Mapping[str, CheckpointTensor]) -> list[dict[str, CheckpointTensor]]:
    """Divide parameters into files of at most SPLIT bytes each, a larger tensor alone."""
    found: list[dict[str, CheckpointTensor]] = [{}]
    total = 0
    for name, parameter in parameters.items():
        size = size_of(parameter)
        if found[-1] and total + size > SPLIT:
            found.append({})
            total = 0
        found[-1][name] = parameter
        total += size
    return found


def write_checkpoint(file: IO[bytes], parameters: Mapping[str, CheckpointTensor], weights: Mapping[str, Weight]) -> None:
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
        _write_values(file, parameter, weights)


def write_safetensors(file: IO[bytes], parameters: Mapping[str, CheckpointTensor], weights: Mapping[str, Weight]) -> None:
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
        _write_values(file, parameter, weights)


def _write_values(file: IO[bytes], parameter: CheckpointTensor, weights: Mapping[str, Weight]) -> None:
    """Write the bytes of a parameter; one that is a weight as it is goes through memory in parts."""
    if parameter.constant is None and parameter.make is None and weights[parameter.sources[0]].shape == parameter.shape:
        for part in weights[parameter.sources[0]].parts(PART):
            file.write(part)
        return
    array = array_of(parameter, weights)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    for part in contiguous_bytes(array) if array.flags.c_contiguous else _ordered_parts(array):
        file.write(part)


def _ordered_parts(array: Array) -> Iterator[memoryview]:
    """Yield the bytes of an array that is in another order in memory; each part is overwritten by the next.

    A part is copied in tiles as wide as a line of the cache. Copied row by row, a transposed matrix would be read one element
    per line, which takes six times as long.
    """
    if array.ndim < 2:
        array = array[:, np.newaxis]
    rows = min(max(PART // max(array[:1].nbytes, 1), 1), len(array))
    buffer = np.empty((rows, *array.shape[1:]), array.dtype)
    width = max(LINE // array.itemsize, TILE // rows)
    for start in range(0, len(array), rows):
        source = array[start : start + rows]
        part = buffer[: len(source)]
        for column in range(0, array.shape[-1], width):
            part[..., column : column + width] = source[..., column : column + width]
        yield from contiguous_bytes(part)


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes((*found, number))


def _field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(data)) + data



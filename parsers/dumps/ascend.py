"""Reads the binary files of Ascend's asynchronous dump: `{type}.{operator}.{task}.{stream}.{time}`, without a suffix.

A file is the length of a header (uint64 LE), the header (protobuf DumpData: version 1, dump_time 2, output 3, input 4, buffer
5, op_name 6), then the raw bytes of all inputs, outputs, buffers and workspace, in this order. OpOutput: data_type 1, format 2,
shape 3, original_op 4, data 5, size 6, original_shape 7, sub_format 8. OpInput: data_type 1, format 2, shape 3, data 4, size 5,
original_shape 6, sub_format 7. OpBuffer: buffer_type 1, data 2, size 3. Shape: dim 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from parsers.dumps.formats import format_name
from parsers.errors import FormatError
from parsers.events.wire import DELIMITED, VARINT, WireError, varint
from parsers.files import RegularFile
from parsers.graphs.wire import places

LONGEST_HEADER = 16 << 20
_MOST_DIMENSIONS = 64
_MOST_VALUES = 1 << 60
DTYPES: Mapping[int, str] = {
    1: "float32", 2: "float16", 3: "int8", 4: "uint8", 5: "int16", 6: "uint16", 7: "int32", 8: "int64", 9: "uint32",
    10: "uint64",
    11: "bool", 12: "float64", 13: "string", 16: "complex64", 17: "complex128", 18: "qint8", 19: "qint16", 20: "qint32",
    21: "quint8", 22: "quint16", 27: "bfloat16", 28: "int4", 29: "uint1", 32: "complex32", 33: "hifloat8", 34: "float8_e5m2",
    35: "float8_e4m3fn", 36: "float8_e8m0", 39: "float4_e2m1",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TensorPart:
    """One tensor of a binary file: input or output, slot, type, layout, shapes on device and host, place in bytes."""

    io: str
    slot: int
    dtype: str
    format: str
    shape: tuple[int, ...]
    original: tuple[int, ...]
    offset: int
    size: int


@dataclass(slots=True)
class _AscendTensor:
    data_type: int = 0
    format: int = 255
    shape: tuple[int, ...] = ()
    original: tuple[int, ...] = ()
    size: int = 0


_FIELDS = {"input": (3, 5, 6), "output": (3, 6, 7)}
"""Numbers of the fields shape, size and original_shape."""


def read_parts(file: RegularFile) -> list[TensorPart]:
    """Return the tensors of a binary file, from its header alone; FormatError for anything else."""
    head = file.read(0, 8)
    if len(head) < 8:
        raise FormatError(f"truncated: expected the length of a header, found {len(head)} bytes")
    length = int.from_bytes(head, "little")
    if not 0 < length <= min(LONGEST_HEADER, max(file.size - 8, 0)):
        raise FormatError(f"expected a header of up to {max(file.size - 8, 0):,} bytes, found a length of {length:,}")
    try:
        inputs, outputs, others = _header(file.read(8, length))
    except (WireError, IndexError) as error:
        raise FormatError(f"wrong header: expected a message DumpData, found damage ({error})") from error
    found: list[TensorPart] = []
    at = 8 + length
    for io, tensors in (("input", inputs), ("output", outputs)):
        for slot, one in enumerate(tensors):
            dtype = DTYPES.get(one.data_type, f"type {one.data_type}")
            found.append(TensorPart(io, slot, dtype, format_name(one.format), one.shape, one.original, at, one.size))
            at += one.size
    if at + others != file.size:
        word = "truncated: " if at + others > file.size else ""
        raise FormatError(f"{word}the header promises {at + others:,} bytes, the file has {file.size:,}")
    return found


def _header(data: bytes) -> tuple[list[_AscendTensor], list[_AscendTensor], int]:
    """Return inputs, outputs and the bytes of buffers and workspace."""
    inputs: list[_AscendTensor] = []
    outputs: list[_AscendTensor] = []
    others = 0
    for key, start, stop in places(data, 0, len(data)):
        if key == 4 << 3 | DELIMITED:
            inputs.append(_tensor(data, start, stop, *_FIELDS["input"]))
        elif key == 3 << 3 | DELIMITED:
            outputs.append(_tensor(data, start, stop, *_FIELDS["output"]))
        elif key == 5 << 3 | DELIMITED:
            others += sum(varint(data, a)[0] for k, a, _ in places(data, start, stop) if k == 3 << 3 | VARINT)
    return inputs, outputs, others


def _tensor(data: bytes, start: int, stop: int, shape: int, size: int, original: int) -> _AscendTensor:
    found = _AscendTensor()
    for key, a, b in places(data, start, stop):
        if key == 1 << 3 | VARINT:
            found.data_type = varint(data, a)[0]
        elif key == 2 << 3 | VARINT:
            found.format = varint(data, a)[0]
        elif key == shape << 3 | DELIMITED:
            found.shape = _shape(data, a, b)
        elif key == size << 3 | VARINT:
            found.size = varint(data, a)[0]
        elif key == original << 3 | DELIMITED:
            found.original = _shape(data, a, b)
    return found


def _shape(data: bytes, start: int, stop: int) -> tuple[int, ...]:
    found: list[int] = []
    for key, a, b in places(data, start, stop):
        if key == 1 << 3 | VARINT:
            found.append(varint(data, a)[0])
        elif key == 1 << 3 | DELIMITED:
            while a < b:
                number, a = varint(data, a)
                found.append(number)
    if len(found) > _MOST_DIMENSIONS:
        raise FormatError(f"expected at most {_MOST_DIMENSIONS} dimensions of a tensor, found {len(found):,}")
    if math.prod(found) > _MOST_VALUES:
        raise FormatError(f"expected at most {_MOST_VALUES:,} values of a tensor, found the shape {tuple(found)}")
    return tuple(found)

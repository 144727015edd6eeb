"""Tensors: MindSpore's TensorProto and TensorFlow's, every dtype, from every field that may hold the values.

MindSpore writes every dtype as float32. What float32 holds exactly gets its own dtype back; the others stay as stored, and the
value says so. Packed numbers of fixed width are taken as they stand in the bytes.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.errors import FormatError
from parsers.events.wire import DELIMITED, FIXED32, FIXED64, VARINT
from parsers.model import Floats
from parsers.payloads.messages import Segments, collect, fields, fixed, repeated, whole
from parsers.payloads.values import TensorValue

MOST_DIMENSIONS = 32
MOST_VALUES = 1 << 40
MOST_FILLED = 1 << 24
"""Values a tensor may have that are not in the file because TensorFlow repeats the last one."""

MINDSPORE_DTYPES = {
    0: "undefined", 1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16", 8: "uint32",
    9: "uint64", 10: "float16", 11: "float32", 12: "float64", 43: "complex64", 44: "complex128", 46: "bfloat16",
}  # fmt: skip
TENSORFLOW_DTYPES = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 8: "complex64", 9: "int64", 10: "bool",
    11: "qint8", 12: "quint8", 13: "qint32", 14: "bfloat16", 15: "qint16", 16: "quint16", 17: "uint16", 18: "complex128",
    19: "float16", 22: "uint32", 23: "uint64",
}  # fmt: skip


class NumberField(NamedTuple):
    """A field of numbers: its number, the dtype it is written in, and the wire type of one number."""

    number: int
    dtype: str
    kind: int


DIMENSIONS, RAW = 1, 8
MINDSPORE_FIELDS = (
    NumberField(3, "<f4", FIXED32), NumberField(4, "<i4", VARINT), NumberField(5, "<i8", VARINT),
    NumberField(6, "<f8", FIXED64),
    NumberField(7, "<u8", VARINT),
)  # fmt: skip
CONTENT, STRINGS = 4, 8
_INT = NumberField(7, "<i4", VARINT)
_HALF = NumberField(13, "<i4", VARINT)
TENSORFLOW_FIELDS = {
    "float32": NumberField(5, "<f4", FIXED32), "float64": NumberField(6, "<f8", FIXED64),
    "int64": NumberField(10, "<i8", VARINT),
    "bool": NumberField(11, "<u8", VARINT), "uint32": NumberField(16, "<u4", VARINT), "uint64": NumberField(17, "<u8", VARINT),
    "complex64": NumberField(9, "<f4", FIXED32), "complex128": NumberField(12, "<f8", FIXED64), "float16": _HALF,
    "bfloat16": _HALF,
}  # fmt: skip


def mindspore_tensor(data: memoryview) -> TensorValue:
    """TensorProto of MindSpore."""
    many = {DIMENSIONS: VARINT, **{field.number: field.kind for field in MINDSPORE_FIELDS}}
    content = collect(data, {2: VARINT, RAW: DELIMITED}, many)
    number = whole(content[2][-1]) if 2 in content else 0
    dtype = MINDSPORE_DTYPES.get(number, f"DataType {number}")
    shape = _shape(repeated(content, DIMENSIONS, "<i8", VARINT)[: MOST_DIMENSIONS + 1].tolist())
    count = math.prod(shape)
    if RAW in content:
        return TensorValue(_shaped(_from_bytes(content[RAW][-1], dtype), shape), dtype)
    held = [field for field in MINDSPORE_FIELDS if any(map(len, content.get(field.number, [])))]
    if len(held) > 1:
        names = ", ".join(str(field.number) for field in held)
        raise FormatError(f"expected values in one field, found fields {names}")
    if not held:
        if count:
            raise FormatError(f"expected {count:,} values for the shape {shape}, found none")
        return TensorValue(_shaped(np.empty(0, _numpy(dtype) or "f4"), shape), dtype)
    stored = repeated(content, *held[0])
    array, stored_as = _converted(stored, dtype, bits=held[0].number == 4)
    return TensorValue(_shaped(array, shape), dtype, stored_as)


def tensorboard_tensor(data: memoryview) -> TensorValue:
    """TensorProto of TensorFlow."""
    many = {field.number: field.kind for field in (*TENSORFLOW_FIELDS.values(), _INT)}
    content = collect(data, {1: VARINT, 2: DELIMITED, CONTENT: DELIMITED}, many)
    number = whole(content[1][-1]) % 100 if 1 in content else 0  # 101 and on are references to the same
    dtype = TENSORFLOW_DTYPES.get(number)
    if dtype is None:
        raise FormatError(f"expected a tensor of numbers, found DataType {number}")
    shape = tensorboard_shape(content.get(2, []))
    if CONTENT in content and len(content[CONTENT][-1]):
        return TensorValue(_shaped(_from_bytes(content[CONTENT][-1], dtype), shape), dtype)
    field = TENSORFLOW_FIELDS.get(dtype, _INT)
    array, stored_as = _converted(repeated(content, *field), dtype, bits=field is _HALF)
    return TensorValue(_shaped(array, shape, fill=True), dtype, stored_as)


def real(array: NDArray[Any]) -> Floats:
    """The values as float64; complex ones are refused."""
    if array.dtype.kind == "c":
        raise FormatError(f"expected real numbers, found {array.dtype.name}")
    return array.astype(np.float64)


def tensorboard_shape(segments: Segments) -> tuple[int, ...]:
    """The dimensions in TensorShapeProto messages."""
    sizes: list[int] = []
    for segment in segments:
        for key, content in fields(segment):
            if key == 2 << 3 | DELIMITED:
                sizes.append(next((whole(c) for k, c in fields(content) if k == 1 << 3 | VARINT), 0))
            elif key == 3 << 3 | VARINT and whole(content):
                raise FormatError("expected a tensor of known rank")
    return _shape(sizes)


def _shape(sizes: list[int]) -> tuple[int, ...]:
    if len(sizes) > MOST_DIMENSIONS:
        raise FormatError(f"expected at most {MOST_DIMENSIONS} dimensions, found more")
    # numpy has no larger ones either, not even where another dimension is 0
    if any(size < 0 for size in sizes) or math.prod(size or 1 for size in sizes) > MOST_VALUES:
        raise FormatError(f"expected dimensions from 0 to {MOST_VALUES:,} values together, found {tuple(sizes)}")
    return tuple(sizes)


def _numpy(dtype: str) -> np.dtype[Any] | None:
    """The dtype in which values of this name are given; None where there is none of that name."""
    name = {"bfloat16": "float32", "qint32": "int32"}.get(dtype, dtype.removeprefix("q"))
    try:
        return np.dtype(name)
    except TypeError:
        return None


def _from_bytes(content: memoryview, dtype: str) -> NDArray[Any]:
    if dtype == "bfloat16":
        return _bfloat16(fixed([content], "<u2"))
    target = _numpy(dtype)
    if target is None:
        raise FormatError(f"expected bytes of a known dtype, found {dtype}")
    if target == np.bool_:
        truth: NDArray[np.bool_] = fixed([content], "|u1") != 0
        return truth
    return fixed([content], target.newbyteorder("<").str)


def _bfloat16(bits: NDArray[Any]) -> NDArray[Any]:
    return (bits.astype("<u2").astype(np.uint32) << np.uint32(16)).view(np.float32)


def _converted(stored: NDArray[Any], dtype: str, *, bits: bool) -> tuple[NDArray[Any], str]:
    """The values in the dtype they had, and "" or the dtype they are stored in if that cannot hold all of its values.

    bits says that half-precision values are stored as whole numbers with their bits.
    """
    target = _numpy(dtype)
    if bits and dtype == "bfloat16":
        return _bfloat16(stored), ""
    if bits and dtype == "float16":
        return stored.astype("<u2").view(np.float16), ""
    if target is None or target == stored.dtype:
        return stored, ""
    if target.kind == "c" and stored.dtype.kind == "f":
        if len(stored) % 2:
            raise FormatError(f"expected pairs of numbers for {dtype}, found {len(stored):,} numbers")
        pairs = stored.view(f"<c{2 * stored.dtype.itemsize}")
        return pairs, "" if pairs.dtype == target else pairs.dtype.name
    if _holds(stored.dtype, target):
        with np.errstate(invalid="ignore", over="ignore"):
            array = stored.astype(target)
        if np.array_equal(array, stored, equal_nan=target.kind == "f"):
            return array, ""
    return stored, stored.dtype.name


def _holds(stored: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Whether every value of the target can be stored without loss."""
    if stored.kind == "f" and target.kind in "iu":
        return 8 * target.itemsize - (target.kind == "i") <= np.finfo(stored).nmant + 1
    if stored.kind in "iu" and target.kind in "iu":
        return target.itemsize <= stored.itemsize
    return np.can_cast(target, stored, "safe")


def _shaped(array: NDArray[Any], shape: tuple[int, ...], *, fill: bool = False) -> NDArray[Any]:
    """The values in their shape; with fill the last one is repeated, as TensorFlow does."""
    count = math.prod(shape)
    if fill and len(array) < count <= MOST_FILLED:
        last = array[-1] if len(array) else np.zeros((), array.dtype)
        if len(array) <= 1:
            return np.broadcast_to(last, shape)
        array = np.concatenate((array, np.full(count - len(array), last)))
    if len(array) != count:
        raise FormatError(f"expected {count:,} values for the shape {shape}, found {len(array):,}")
    array = array.reshape(shape)
    array.flags.writeable = False
    return array

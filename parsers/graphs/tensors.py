"""Formats TensorProto of TensorFlow and of ONNX, and packed numbers, as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.errors import FormatError
from parsers.events.wire import DELIMITED, FIXED32, FIXED64, VARINT, WireError
from parsers.payloads.messages import collect, repeated

LISTED = 1000
"""Maximum numbers of a tensor that are written out."""
MOST_ITEMS = 100_000
"""Maximum items of a list that are written out."""
TENSORFLOW = (
    "", "Float32", "Float64", "Int32", "UInt8", "Int16", "Int8", "String", "Complex64", "Int64", "Bool", "QInt8", "QUInt8",
    "QInt32", "BFloat16", "QInt16", "QUInt16", "UInt16", "Complex128", "Float16", "Resource", "Variant", "UInt32", "UInt64",
    "Float8E5M2", "Float8E4M3FN",
)  # fmt: skip
ONNX = (
    "", "Float32", "UInt8", "Int8", "UInt16", "Int16", "Int32", "Int64", "String", "Bool", "Float16", "Float64", "UInt32",
    "UInt64", "Complex64", "Complex128", "BFloat16", "Float8E4M3FN", "Float8E4M3FNUZ", "Float8E5M2", "Float8E5M2FNUZ", "UInt4",
    "Int4", "Float4E2M1",
)  # fmt: skip
_RAW = {
    "Float16": "<f2", "Float32": "<f4", "Float64": "<f8", "Int8": "<i1", "Int16": "<i2", "Int32": "<i4", "Int64": "<i8",
    "UInt8": "<u1", "UInt16": "<u2", "UInt32": "<u4", "UInt64": "<u8", "Bool": "?", "Complex64": "<c8", "Complex128": "<c16",
}  # fmt: skip
# field -> numpy dtype and wire type of the numbers of a tensor
TENSORFLOW_NUMBERS: Mapping[int, tuple[str, int]] = {
    5: ("<f4", FIXED32), 6: ("<f8", FIXED64), 7: ("<i4", VARINT), 10: ("<i8", VARINT), 11: ("?", VARINT), 16: ("<u4", VARINT),
    17: ("<u8", VARINT),
}  # fmt: skip
ONNX_NUMBERS: Mapping[int, tuple[str, int]] = {
    4: ("<f4", FIXED32), 5: ("<i4", VARINT), 7: ("<i8", VARINT), 10: ("<f8", FIXED64), 11: ("<u8", VARINT)
}  # fmt: skip


def name_of(names: tuple[str, ...], value: int) -> str:
    """Return the name of a data type, `DT_77` for an unknown number."""
    return names[value] if 0 <= value < len(names) else f"DT_{value}"


def numbers_text(data: bytes, start: int, stop: int, fields: Mapping[int, tuple[str, int]], raw: int, dtype: str) -> str:
    """Format the first LISTED numbers of a tensor; "" if there are none. raw is the field with its bytes."""
    content = memoryview(data)[start:stop]
    try:
        found = collect(content, {raw: DELIMITED}, {field: kind for field, (_, kind) in fields.items()})
        field = next((field for field in fields if field in found), None)
        if field is not None:
            return listed(repeated(found, field, *fields[field]))
    except FormatError as error:
        raise WireError(str(error)) from error
    if raw in found and dtype in _RAW:
        octets, width = found[raw][-1], np.dtype(_RAW[dtype]).itemsize
        return listed(np.frombuffer(octets, _RAW[dtype], len(octets) // width))
    return ""


def listed(values: NDArray[Any]) -> str:
    """Format the first LISTED numbers in brackets."""
    shown = ", ".join(str(value) for value in values[:LISTED])
    return f"[{shown}{f', … ({len(values):,} values)' if len(values) > LISTED else ''}]"


def bytes_text(content: bytes) -> str:
    """Format bytes that hold text, in quotes."""
    return json.dumps(content.decode("utf-8", "backslashreplace"), ensure_ascii=False)

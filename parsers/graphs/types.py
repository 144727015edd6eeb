"""Formats types of MindSpore's anf_ir.proto: `Tensor[Float32]`, `Tuple[Int64, String]`, `DT_77` for an unknown number.

Numbers up to DT_SLICE (49) are those of MindSpore 2.10.
"""

from __future__ import annotations

from itertools import groupby

from parsers.events.wire import DELIMITED, VARINT, WireError, signed, varint
from parsers.graphs.wire import places

NAMES = (
    "Undefined", "Bool", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float16", "Float32",
    "Float64", "String", "Tensor", "Graph", "Bools", "Ints8", "Ints16", "Ints32", "Ints64", "UInts8", "UInts16", "UInts32",
    "UInts64", "Floats16", "Floats32", "Floats64", "Strings", "Tensors", "Graphs", "Tuple", "List", "Dict", "None", "SymInst",
    "Int", "UInt", "Float", "Type", "Any", "RefKey", "Ref", "Complex64", "Complex128", "Complex", "BFloat16", "BFloats16",
    "Int4", "Slice",
)  # fmt: skip
DEEPEST = 32
_DATA_TYPE, _TENSOR, _SEQUENCE = 1 << 3 | VARINT, 2 << 3 | DELIMITED, 3 << 3 | DELIMITED
_ELEMENT, _SHAPE = 1 << 3 | VARINT, 2 << 3 | DELIMITED
_DIM, _SIZE, _DIM_NAME = 1 << 3 | DELIMITED, 1 << 3 | VARINT, 2 << 3 | DELIMITED
_ELEMENTS = 1 << 3 | DELIMITED
TUPLE = 31


def type_name(number: int) -> str:
    """Return the name of a DataType."""
    return NAMES[number] if 0 <= number < len(NAMES) else f"DT_{number}"


def shape_text(dims: list[str]) -> str:
    """Format dimensions: `8x1x32x32`, `[]` for none."""
    return "x".join(dims) or "[]"


def output_of(data: bytes, pos: int, end: int, depth: int = 0) -> tuple[str, str]:
    """Return type and shape of a TypeProto: ("Tensor[Float32]", "8x10"); of a tuple those of its parts. WireError for damage.

    A scalar has no shape in the file, nor have the parts of a tuple, of whatever shape they are.
    """
    if depth > DEEPEST:
        raise WireError("types nested too deep")
    number, tensor, parts = -1, None, None
    for key, start, stop in places(data, pos, end):
        if key == _DATA_TYPE:
            number = signed(varint(data, start)[0])
        elif key == _TENSOR:
            tensor, parts = _tensor(data, start, stop, "" if depth else "[]"), None
        elif key == _SEQUENCE:
            elements = [(a, b) for inner, a, b in places(data, start, stop) if inner == _ELEMENTS]
            parts, tensor = [output_of(data, a, b, depth + 1) for a, b in elements], None
    if tensor is not None:
        return tensor
    if parts is not None:
        name = type_name(number if number >= 0 else TUPLE)
        known = any(shape for _, shape in parts)
        return f"{name}[{_runs([text for text, _ in parts])}]", _together(parts) if known else ""
    return (type_name(number), "") if number >= 0 else ("", "")


def parts_of(data: bytes, pos: int, end: int) -> list[tuple[str, str]]:
    """Return type and shape of each part of a TypeProto: of a tuple's parts, or of the value itself. WireError for damage."""
    for key, start, stop in places(data, pos, end):
        if key == _SEQUENCE:
            return [output_of(data, a, b, 1) for inner, a, b in places(data, start, stop) if inner == _ELEMENTS]
    return [output_of(data, pos, end)]


def _together(parts: list[tuple[str, str]]) -> str:
    return f"({_runs([shape or '?' for _, shape in parts])})"


def _runs(texts: list[str]) -> str:
    """Join texts with commas; four or more equal ones in a row become `4 * text`."""
    found = []
    for shown, same in groupby(texts):
        count = len(list(same))
        found += [f"{count} * {shown}"] if count >= 4 else [shown] * count
    return ", ".join(found)


def _tensor(data: bytes, pos: int, end: int, without: str) -> tuple[str, str]:
    number, dims = -1, list[str]()
    for key, start, stop in places(data, pos, end):
        if key == _ELEMENT:
            number = signed(varint(data, start)[0])
        elif key == _SHAPE:
            dims += [_dimension(data, a, b) for inner, a, b in places(data, start, stop) if inner == _DIM]
    return (f"Tensor[{type_name(number)}]" if number >= 0 else "Tensor"), "x".join(dims) or without


def _dimension(data: bytes, pos: int, end: int) -> str:
    size, name = "?", ""
    for key, start, stop in places(data, pos, end):
        if key == _SIZE:
            size = str(signed(varint(data, start)[0]))
        elif key == _DIM_NAME:
            name = data[start:stop].decode("utf-8", "backslashreplace")
    return name if size == "?" and name else size

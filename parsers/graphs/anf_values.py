"""Formats ValueProto of MindSpore's anf_ir.proto, the value of an attribute or constant, as text."""

from __future__ import annotations

import json
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.errors import FormatError
from parsers.events.wire import DELIMITED, FIXED32, FIXED64, VARINT, WireError, signed, varint
from parsers.graphs.types import DEEPEST, output_of, shape_text, type_name
from parsers.graphs.wire import places, text
from parsers.payloads.messages import Segments, collect, repeated

LISTED = 100_000
"""Maximum numbers of a tensor or list that are written out."""
_F32, _F64 = Struct("<f").unpack_from, Struct("<d").unpack_from
_LIST, _DICT = 32, 33
_DTYPE, _TENSOR, _GRAPH, _TYPE = 1, 8, 9, 20
_NAMED = {2: "bool", 3: "int", 4: "uint", 10: "bool", 11: "int", 12: "uint"}
# field -> (numpy dtype, wire type) of the numbers of a TensorProto
_NUMBERS = {3: ("<f4", FIXED32), 4: ("<i4", VARINT), 5: ("<i8", VARINT), 6: ("<f8", FIXED64), 7: ("<u8", VARINT)}
_RAW = {
    1: "?", 2: "<i1", 3: "<i2", 4: "<i4", 5: "<i8", 6: "<u1", 7: "<u2", 8: "<u4", 9: "<u8", 10: "<f2", 11: "<f4", 12: "<f8",
}  # fmt: skip


def value_text(data: bytes, pos: int, end: int, depth: int = 0) -> str:
    """Format a value: a string unchanged, others as `5`, `True`, `(1, 2)`, `["x", "w"]`. WireError for damage."""
    return _value(data, pos, end, depth)[0]


def _value(data: bytes, pos: int, end: int, depth: int) -> tuple[str, bool]:
    """Return the text and whether the value is a string."""
    if depth > DEEPEST:
        raise WireError("values nested too deep")
    dtype = 0
    parts: list[str] = []
    pairs: list[str] = []
    single: tuple[str, bool] | None = None
    for key, start, stop in places(data, pos, end):
        if parts and len(parts) > LISTED:
            parts[LISTED:] = ["…"]
            break
        number, kind = key >> 3, key & 7
        if key == _DTYPE << 3 | VARINT:
            dtype = signed(varint(data, start)[0])
        elif number == 18 and kind == DELIMITED:
            parts.append(_quoted(*_value(data, start, stop, depth + 1)))
        elif number == 19 and kind == DELIMITED:
            pairs.append(_pair(data, start, stop, depth + 1))
        elif number in (10, 11, 12, 13, 14):
            parts += _numbers(data, start, stop, number)
        elif number in (15, 16, 17) and kind == DELIMITED:
            if (one := _one(data, start, stop, number - 8, kind, depth)) is not None:
                parts.append(_quoted(*one))
        elif (one := _one(data, start, stop, number, kind, depth)) is not None:
            single = one
    if single is not None:
        return single
    if pairs or dtype == _DICT:
        return "{" + ", ".join(pairs) + "}", False
    if parts or dtype in (31, _LIST) or 16 <= dtype <= 30:
        if dtype == 31:
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})", False
        return f"[{', '.join(parts)}]", False
    return (type_name(dtype) if dtype else ""), False


def value_type(data: bytes, pos: int, end: int) -> tuple[str, str]:
    """Return type and shape of a value: those of its tensor, else its data type and no shape; WireError for damage."""
    name, shape = "", ""
    for key, start, stop in places(data, pos, end):
        if key == _DTYPE << 3 | VARINT and not shape:
            number = signed(varint(data, start)[0])
            name = type_name(number) if number else ""
        elif key == _TENSOR << 3 | DELIMITED:
            name, shape = tensor_text(data, start, stop, listed=False).split(" ", 1)
    return name, shape


def _one(data: bytes, start: int, stop: int, number: int, kind: int, depth: int) -> tuple[str, bool] | None:
    if number in (2, 3, 4) and kind == VARINT:
        return _whole(varint(data, start)[0], _NAMED[number]), False
    if number == 5 and kind == FIXED32:
        return str(np.float32(_F32(data, start)[0])), False
    if number == 6 and kind == FIXED64:
        return repr(_F64(data, start)[0]), False
    if kind != DELIMITED:
        return None
    if number == 7:
        return text(data, start, stop), True
    if number == _TENSOR:
        return tensor_text(data, start, stop), False
    if number == _GRAPH:
        names = [text(data, a, b) for key, a, b in places(data, start, stop) if key == 2 << 3 | DELIMITED]
        return f"graph {names[-1] if names else ''}".strip(), False
    if number == _TYPE:
        name, shape = output_of(data, start, stop, depth + 1)
        return f"{name} {shape}".strip(), False
    return None


def _quoted(shown: str, string: bool) -> str:
    return json.dumps(shown, ensure_ascii=False) if string else shown


def _whole(value: int, kind: str) -> str:
    if kind == "bool":
        return "True" if value else "False"
    return str(value if kind == "uint" else signed(value))


def _pair(data: bytes, pos: int, end: int, depth: int) -> str:
    name, shown = "", ""
    for key, start, stop in places(data, pos, end):
        if key == 1 << 3 | DELIMITED:
            name = text(data, start, stop)
        elif key == 2 << 3 | DELIMITED:
            shown = _quoted(*_value(data, start, stop, depth))
    return f"{json.dumps(name, ensure_ascii=False)}: {shown}"


def _numbers(data: bytes, start: int, stop: int, number: int) -> list[str]:
    """Return the numbers of a repeated field, packed or single."""
    if number >= 13:
        width, dtype = (4, "<f4") if number == 13 else (8, "<f8")
        whole = (stop - start) // width * width
        return [str(one) for one in np.frombuffer(data, dtype, min(whole // width, LISTED + 1), start)]
    found: list[str] = []
    while start < stop and len(found) <= LISTED:
        value, start = varint(data, start)
        found.append(_whole(value, _NAMED[number]))
    return found


def tensor_text(data: bytes, pos: int, end: int, *, listed: bool = True) -> str:
    """Format type and shape of a TensorProto and, if listed, its first LISTED numbers."""
    whole = memoryview(data)[pos:end]
    try:
        found = collect(whole, {2: VARINT, 8: DELIMITED}, {1: VARINT, **{n: kind for n, (_, kind) in _NUMBERS.items()}})
        if 2 not in found and (sent := collect(whole, {3: DELIMITED, 5: VARINT}, {4: VARINT})).keys() >= {3, 5}:
            number, dims, values = _sent(sent)
        else:
            number = varint(found[2][-1], 0)[0] if 2 in found else 0
            dims = repeated(found, 1, "<i8", VARINT)
            values = next((repeated(found, n, *_NUMBERS[n]) for n in _NUMBERS if n in found), None)
            if values is None and 8 in found:
                values = _raw(found[8][-1], number)
    except FormatError as error:
        raise WireError(str(error)) from error
    head = f"Tensor[{type_name(number)}] {shape_text([str(size) for size in dims])}"
    return head if values is None or not listed else f"{head} {_listed(values)}"


def _sent(found: dict[int, Segments]) -> tuple[int, NDArray[Any], NDArray[Any] | None]:
    """Return data type, dimensions and numbers of the debugger's TensorProto, whose field numbers differ."""
    number = varint(found[5][-1], 0)[0]
    return number, repeated(found, 4, "<i8", VARINT), _raw(found[3][-1], number)


def _raw(content: memoryview, number: int) -> NDArray[Any] | None:
    dtype = _RAW.get(number)
    return None if dtype is None else np.frombuffer(content, dtype, len(content) // np.dtype(dtype).itemsize)


def _listed(values: NDArray[Any]) -> str:
    shown = ", ".join(str(value) for value in values[:LISTED])
    rest = f", … ({len(values):,} values)" if len(values) > LISTED else ""
    return f"[{shown}{rest}]"

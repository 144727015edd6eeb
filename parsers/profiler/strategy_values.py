"""Formats values and types of MindSpore's anf_ir.proto in the JSON form of protobuf, as parallel_strategy_<r>.json has them.

The texts are those of `parsers.graphs.anf_values` and `parsers.graphs.types`, which read the binary form: a string unchanged,
others as `5`, `True`, `(1, 2)`, `["x", "w"]`; types as `Tensor[Float32]` with the shape `8x10`.
"""

from __future__ import annotations

import json
from typing import Any

from parsers.graphs.types import DEEPEST, NAMES, shape_text

LONGEST_VALUE = 4_000
"""Maximum characters of the text of one attribute; the rest of a longer one is left out."""
_SINGLE = ("boolVal", "intVal", "uintVal", "floatVal", "doubleVal")
_LISTS = ("boolVals", "intVals", "uintVals", "floatVals", "doubleVals", "strVals")
_TUPLES = ("DT_TUPLE", "DT_LIST")
_BY_DTYPE = {"DT_" + name.upper(): name for name in NAMES} | {
    "DT_BASE_INT": "Int", "DT_BASE_UINT": "UInt", "DT_BASE_FLOAT": "Float", "DT_ANYTHING": "Any", "DT_NONE": "None",
}  # fmt: skip


def type_named(dtype: Any) -> str:
    """Return the name of a DataType: Float32 for DT_FLOAT32; text without a known name unchanged, "" for anything else."""
    return _BY_DTYPE.get(dtype, dtype.removeprefix("DT_")) if isinstance(dtype, str) else ""


def value_text(value: Any) -> str:
    """Format a ValueProto; what it is not as JSON. At most LONGEST_VALUE characters."""
    found = _value(value, 0)[0]
    return found if len(found) <= LONGEST_VALUE else found[: LONGEST_VALUE - 1] + "…"


def _value(value: Any, depth: int) -> tuple[str, bool]:
    """Return the text and whether the value is a string."""
    if not isinstance(value, dict) or depth > DEEPEST:
        return (str(value) if isinstance(value, str | int | float) else "…"), isinstance(value, str)
    for name in _SINGLE:
        if name in value:
            return str(value[name]), False
    if "strVal" in value:
        return str(value["strVal"]), True
    if isinstance(value.get("values"), list):
        return _listed([_quoted(*_value(one, depth + 1)) for one in value["values"]], value.get("dtype")), False
    for name in _LISTS:
        if isinstance(value.get(name), list):
            return _listed([_quoted(str(one), name == "strVals") for one in value[name]], value.get("dtype")), False
    if "typeVal" in value:
        return " ".join(filter(None, output_of(value["typeVal"], depth + 1))), False
    if "tensorVal" in value:
        return " ".join(filter(None, _tensor(value["tensorVal"], "dims"))), False
    if "graph" in value or "dictVal" in value:
        return "graph" if "graph" in value else "{…}", False
    dtype = value.get("dtype")
    if dtype in _TUPLES:
        return _listed([], dtype), False
    return type_named(dtype), False


def _quoted(shown: str, string: bool) -> str:
    return json.dumps(shown, ensure_ascii=False) if string else shown


def _listed(parts: list[str], dtype: Any) -> str:
    if dtype == "DT_TUPLE":
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    return f"[{', '.join(parts)}]"


def output_of(told: Any, depth: int = 0) -> tuple[str, str]:
    """Return type and shape of a TypeProto: ("Tensor[Float32]", "8x10"); of a tuple those of its parts, "" for unknown."""
    if not isinstance(told, dict) or depth > DEEPEST:
        return "", ""
    if isinstance(told.get("tensorType"), dict):
        return _tensor(told["tensorType"], "shape", "" if depth else "[]")
    sequence = told.get("sequenceType")
    if isinstance(sequence, dict) and isinstance(sequence.get("elemTypes"), list):
        parts = [output_of(one, depth + 1) for one in sequence["elemTypes"]]
        shapes = [shape or "?" for _, shape in parts]
        known = any(shape for _, shape in parts)
        name = type_named(told.get("dataType")) or "Tuple"
        return f"{name}[{', '.join(text for text, _ in parts)}]", f"({', '.join(shapes)})" if known else ""
    return type_named(told.get("dataType")), ""


def _tensor(told: Any, key: str, without: str = "") -> tuple[str, str]:
    """Return type and shape of a tensor: of a TypeProto under `shape`, of a TensorProto under `dims`."""
    about = told if isinstance(told, dict) else {}
    element = type_named(about.get("elemType") or about.get("dataType"))
    name = f"Tensor[{element}]" if element else "Tensor"
    if key == "dims":
        dims = about.get("dims")
        return name, shape_text([str(size) for size in dims]) if isinstance(dims, list) else ""
    shape = about.get("shape")
    dims = shape.get("dim") if isinstance(shape, dict) else None
    if not isinstance(dims, list) or not dims:
        return name, without
    sizes = [one if isinstance(one, dict) else {} for one in dims]
    return name, shape_text([str(one.get("size") or one.get("name") or "?") for one in sizes])


def shards_of(value: Any) -> str | None:
    """Return a strategy as `2,1,1,1;1,1`: into how many shards each dimension of each input is cut; None if it is none."""
    if not isinstance(value, dict) or not isinstance(value.get("values"), list):
        return None
    inputs = []
    for one in value["values"]:
        dims = one.get("values", [] if one.get("dtype") in _TUPLES else None) if isinstance(one, dict) else None
        numbers = [_whole(dim) for dim in dims] if isinstance(dims, list) else [None]
        if None in numbers:
            return None
        inputs.append(",".join(map(str, numbers)))
    return ";".join(inputs) if inputs else None


def _whole(value: Any) -> int | None:
    """Return the whole number of a ValueProto, which JSON has as text beyond 32 bits; None for anything else."""
    told = value.get("intVal", value.get("uintVal")) if isinstance(value, dict) else None
    text = str(told) if isinstance(told, int | str) and not isinstance(told, bool) else ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else None

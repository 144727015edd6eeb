"""Recognises serialised graphs and writes them: GraphDef into the event file, ONNX and DOT as files of their own."""

from __future__ import annotations

import itertools
import os
from typing import Any, Callable

from .errors import RecordingError

KINDS = ("onnx", "graphdef", "dot")


def write_graph(directory: str, model: Any, kind: str, write: Callable[[bytes], None]) -> None:
    """Write a graph; write takes a serialised GraphDef. RecordingError for what is no graph."""
    found = kind or _kind(model)
    if found not in KINDS:
        raise RecordingError(f"graph: expected {', '.join(KINDS)}; found {found!r}")
    serialise = getattr(model, "SerializeToString", None)
    content = serialise() if callable(serialise) else model.encode() if isinstance(model, str) else model
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise RecordingError(f"graph: expected bytes, a message or a text, found {type(model).__name__}")
    if found == "graphdef":
        write(bytes(content))
    else:
        _save(directory, f"graph.{found}", bytes(content))


def _kind(model: Any) -> str:
    """Return the kind of a graph by its type, or by its first field: ModelProto of ONNX begins with its ir_version."""
    if isinstance(model, str):
        return "dot"
    name = type(model).__name__
    if name in ("ModelProto", "GraphDef"):
        return "onnx" if name == "ModelProto" else "graphdef"
    if isinstance(model, (bytes, bytearray, memoryview)):
        return "onnx" if bytes(model[:1]) == b"\x08" else "graphdef"
    raise RecordingError(f"graph: expected ModelProto, GraphDef, their bytes or a text of DOT, found {name}")


def _save(directory: str, name: str, content: bytes) -> None:
    """Save content under a name, or name_2, ...; the file is there wholly or not at all."""
    os.makedirs(directory, exist_ok=True)
    stem, ending = os.path.splitext(name)
    part = os.path.join(directory, f".{name}.{os.getpid()}")
    with open(part, "wb") as file:
        file.write(content)
    try:
        for count in itertools.count(1):
            target = os.path.join(directory, name if count == 1 else f"{stem}_{count}{ending}")
            try:
                os.link(part, target)  # unlike a rename, this replaces nothing
            except FileExistsError:
                continue
            return
    finally:
        os.unlink(part)

"""Reads the static plan of device memory: static_op_mem.csv, and memory_usage_summary and memory_usage_details before 2.3.

static_op_mem.csv is written by MindSpore 2.3 and later and by torch_npu for graphs that CANN compiles: a row for each block
with the nodes over which it lives, and a row TOTAL for the whole plan of a graph. memory_usage_summary_<rank>.json and
memory_usage_details_<rank>.json are written by MindSpore 1.2 to 2.2 on Ascend in graph mode: sizes in GiB, memory at each
node (at most about 2,000 of them), and the tensors in use at nodes. No file of these two is public; they are read by their
documented keys.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from parsers.errors import FormatError
from parsers.profile_frames import STATIC_MEMORY
from parsers.profiler.frame_parts import (
    FramePart,
    FrameReader,
    ProfileFileKind,
    ProfileInput,
    categorical,
    changed,
    frame_of,
    numbered,
)
from parsers.profiler.json_files import read_json
from parsers.profiler.lines import Complaints
from parsers.profiler.memory import checks
from parsers.profiler.tables import NONE, TableField, read_table

LAST_NODE = 4_294_967_295
"""Node Index End of blocks that live to the last node."""
TOTAL = "TOTAL"
GIB = 1 << 30
_FIELDS = (
    TableField("name", ("Op Name",), "text", required=True),
    TableField("model", ("Model Name",), "text"),
    TableField("graph", ("Graph ID",), "whole"),
    TableField("first", ("Node Index Start",), "whole"),
    TableField("last", ("Node Index End",), "whole"),
    TableField("size_bytes", ("Size",), "number", "kb", required=True),
)
_SUMMARY = {"capacity": "capacity", "peak_mem": "peak", "static_mem": "static"}
_COUNTS = {"allocations": "allocations", "deallocations": "releases"}
_POINTS = {"fp_start": "forward_start", "bp_end": "backward_end"}
_WHOLE, _TEXT = ("graph", "first", "last", "size_bytes", "count"), ("kind", "name", "type", "data_type", "shape", "format")


def static_blocks(source: ProfileInput) -> FramePart:
    """static_op_mem.csv: a row for each block, and one for the total of each graph."""
    table = read_table(source.path, _FIELDS, numbered=True)
    columns = table.columns
    rows = checks.CheckedRows(source.path, table.lines)
    columns["size_bytes"] = checks.sizes(rows, "column Size", columns["size_bytes"])
    first, last = columns["first"], columns["last"]
    columns["kind"] = changed(columns["name"], lambda name: "total" if name == TOTAL else "block")
    rows.report(
        (last != NONE) & (last < first),
        lambda row: f"expected a last node after node {first[row]}, found {last[row]}; the block is in use at no node",
    )
    last[last == LAST_NODE] = NONE
    frame = frame_of(STATIC_MEMORY, table.rows, columns, source.name)
    return FramePart(frame, (*table.problems, *rows.complaints.all()))


def summary(source: ProfileInput) -> FramePart:
    """memory_usage_summary_<rank>.json: capacity, peak, static memory, allocations and releases."""
    return _part(source, _summary_rows)


def details(source: ProfileInput) -> FramePart:
    """memory_usage_details_<rank>.json: by graph, memory at nodes, the tensors in use, and where forward and backward end."""
    return _part(source, _details_rows)


def _part(source: ProfileInput, rows_of: Any) -> FramePart:
    complaints = Complaints(source.path)
    rows: list[dict[str, Any]] = []
    try:
        found = read_json(source.path)
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}); what is in it is not shown.", "unreadable")
    except FormatError as error:
        complaints.add(f"Nothing is taken from the file: {error}.")
    else:
        if isinstance(found, dict):
            rows = list(rows_of(found, complaints))
        else:
            complaints.add(f"Expected an object, found {type(found).__name__}; nothing is taken from the file.")
    columns: dict[str, Any] = {name: np.array([row.get(name, NONE) for row in rows], np.int64) for name in _WHOLE}
    columns |= {name: categorical([row.get(name, "") for row in rows]) for name in _TEXT}
    return FramePart(frame_of(STATIC_MEMORY, len(rows), columns, source.name), complaints.all())


def _summary_rows(found: dict[str, Any], complaints: Complaints) -> Iterator[dict[str, Any]]:
    for key, kind in _SUMMARY.items():
        if key in found:
            yield {"kind": kind, "size_bytes": _size(found[key], key, complaints)}
    for key, kind in _COUNTS.items():
        if key in found:
            yield {"kind": kind, "count": _whole(found[key], key, complaints)}
    if not (_SUMMARY.keys() | _COUNTS.keys()) & found.keys():
        complaints.add(f"Expected {', '.join((*_SUMMARY, *_COUNTS))}, found {', '.join(map(str, found))[:200] or 'nothing'}.")


def _details_rows(found: dict[str, Any], complaints: Complaints) -> Iterator[dict[str, Any]]:
    for key, graph in found.items():
        where = f"Graph {str(key)[:20]}"
        if not isinstance(graph, dict):
            complaints.add(f"{where}: expected an object, found {type(graph).__name__}; it was skipped.")
            continue
        number = _whole(graph.get("graph_id", key), f"{where}, graph_id", complaints)
        for row in _graph_rows(graph, where, complaints):
            yield {"graph": number, **row}


def _graph_rows(graph: dict[str, Any], where: str, complaints: Complaints) -> Iterator[dict[str, Any]]:
    if "static_mem" in graph:
        yield {"kind": "static", "size_bytes": _size(graph["static_mem"], f"{where}, static_mem", complaints)}
    for key, kind in _POINTS.items():
        if graph.get(key) is not None:
            yield {"kind": kind, "first": _whole(graph[key], f"{where}, {key}", complaints)}
    lines = graph.get("lines")
    told = lines if isinstance(lines, list) else []
    nodes = _listed(graph.get("nodes"), f"{where}, nodes", complaints)
    for place, node in enumerate(nodes):
        at = f"{where}, node {place}"
        size = told[place] if place < len(told) else node.get("allocated")
        named = node.get("fullname") or node.get("name") or ""
        yield {
            "kind": "node", "name": str(named), "first": _whole(node.get("node_id", place), at, complaints),
            "size_bytes": _size(size, at, complaints),
        }  # fmt: skip
    seen: set[Any] = set()
    for tensor in _listed(_flat(graph.get("breakdowns")), f"{where}, breakdowns", complaints):
        mark = (str(tensor.get("tensor_id")), str(tensor.get("tensor_name")), str(tensor.get("life_start")))
        if mark not in seen:
            seen.add(mark)
            yield _tensor(tensor, f"{where}, tensor {mark[1][:60]}", complaints)


def _tensor(tensor: dict[str, Any], where: str, complaints: Complaints) -> dict[str, Any]:
    first, last = (_whole(tensor.get(f"life_{end}"), f"{where}, life_{end}", complaints) for end in ("start", "end"))
    if last != NONE and last < first:
        complaints.add(f"{where}: expected a last node after node {first}, found {last}; the block is in use at no node.")
    shape = tensor.get("shape")
    return {
        "kind": "block", "name": str(tensor.get("tensor_name") or ""), "first": first, "last": last,
        "size_bytes": _size(tensor.get("size"), f"{where}, size", complaints), "type": str(tensor.get("type") or ""),
        "data_type": str(tensor.get("data_type") or ""), "format": str(tensor.get("format") or ""),
        "shape": ",".join(map(str, shape)) if isinstance(shape, list) else str(shape or "").strip("()[] ").replace(" ", ""),
    }  # fmt: skip


def _flat(found: Any) -> Any:
    """Return the tensors of a breakdown: files have one list of them, or one for each node."""
    if not isinstance(found, list):
        return found
    return [one for part in found for one in (part if isinstance(part, list) else [part])]


def _listed(found: Any, where: str, complaints: Complaints) -> Iterator[dict[str, Any]]:
    if found is None:
        return
    if not isinstance(found, list):
        complaints.add(f"{where}: expected a list, found {type(found).__name__}; it was skipped.")
        return
    for one in found:
        if isinstance(one, dict):
            yield one
        else:
            complaints.add(f"{where}: expected objects, found {type(one).__name__}; it was skipped.")


def _size(value: Any, where: str, complaints: Complaints) -> int:
    """Convert GiB to bytes; NONE for what is no size, which is reported."""
    if value is None:
        return NONE
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2.0**31 or not math.isfinite(value):
        complaints.add(f"{where}: expected a size in GiB, found {str(value)[:60]!r}; it is unknown.")
        return NONE
    return round(value * GIB)


def _whole(value: Any, where: str, complaints: Complaints) -> int:
    """Return a number of a node or a count; NONE for another value, which is reported."""
    if value is None:
        return NONE
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        number = -2
    if isinstance(value, bool) or not -1 <= number < 2**62:
        complaints.add(f"{where}: expected a whole number, found {str(value)[:60]!r}; it is unknown.")
        return NONE
    return number


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

_STATIC_FILE = ProfileFileKind("static_op_mem", numbered("static_op_mem"))
_SUMMARY_FILE = ProfileFileKind("memory_summary", numbered("memory_usage_summary", "json"), device="Ascend")
_DETAILS_FILE = ProfileFileKind("memory_details", numbered("memory_usage_details", "json"), device="Ascend")
STATIC_OP_MEM = FrameReader(STATIC_MEMORY, _STATIC_FILE, static_blocks)
MEMORY_SUMMARY = FrameReader(STATIC_MEMORY, _SUMMARY_FILE, summary)
MEMORY_DETAILS = FrameReader(STATIC_MEMORY, _DETAILS_FILE, details)

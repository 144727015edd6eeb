"""Reads the sums of MindSpore's FLOPs parser (Ascend, `profiler/` before 2.3): flops_summary_<r>.json, flops_scope_<r>.json.

The summary has millions of operations per step, billions per second and percent of the units' peak, in older files only for
the cube unit. The scopes are links from a scope to those in it, from Total down; a name may be in several
scopes. FLOPs of operators are in flops_<r>.txt (`legacy_ascend`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from parsers.profile_frames import FLOPS, FLOPS_SCOPES
from parsers.profiler.frame_parts import FramePart, FrameReader, ProfileFileKind, ProfileInput, categorical, frame_of, numbered
from parsers.profiler.json_files import read_object
from parsers.profiler.lines import Complaints
from parsers.schema import Schema

MEGA, GIGA = 1e6, 1e9
_UNITS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "cube": (("cube_FLOPs", "FLOPs"), ("cube_FLOPS", "FLOPS"), ("cube_FLOPS_Utilization", "FLOPS_Utilization")),
    "vector": (("vec_FLOPs",), ("vec_FLOPS",), ("vec_FLOPS_Utilization",)),
}


def summary(source: ProfileInput) -> FramePart:
    """flops_summary_<r>.json: a row for each unit with numbers in the file."""
    complaints, found = read_object(source.path)
    columns: dict[str, list[Any]] = {"unit": [], "flops": [], "flops_per_s": [], "flops_use": []}
    for unit, keys in _UNITS.items():
        numbers = [_number(found, names, complaints) for names in keys]
        if not all(math.isnan(number) for number in numbers):
            columns["unit"].append(unit)
            for name, number, scale in zip(("flops", "flops_per_s", "flops_use"), numbers, (MEGA, GIGA, 0.01), strict=True):
                columns[name].append(number * scale)
    if found and not columns["unit"]:
        complaints.add(f"Expected a number under FLOPs or cube_FLOPs, found {', '.join(map(str, list(found)[:20]))}.")
    return _part(FLOPS, columns, source, complaints)


def scopes(source: ProfileInput) -> FramePart:
    """flops_scope_<r>.json: a row for each link from a scope to one in it."""
    complaints, found = read_object(source.path)
    data = found.get("data")
    links = data.get("links") if isinstance(data, dict) else None
    columns: dict[str, list[Any]] = {"parent": [], "scope": [], "flops": []}
    if found and not isinstance(links, list):
        complaints.add("Expected a list under data.links.")
    for number, link in enumerate(links if isinstance(links, list) else ()):
        parent, scope = (link.get("source"), link.get("target")) if isinstance(link, dict) else (None, None)
        value = _number(link, ("value",), complaints) if isinstance(link, dict) else math.nan
        if not isinstance(parent, str) or not isinstance(scope, str) or math.isnan(value):
            complaints.add(f"data.links[{number}]: expected source, target and value; it was skipped.")
            continue
        columns["parent"].append(parent)
        columns["scope"].append(scope)
        columns["flops"].append(value * MEGA)
    return _part(FLOPS_SCOPES, columns, source, complaints)


def _number(found: Mapping[str, Any], names: tuple[str, ...], complaints: Complaints) -> float:
    name = next((name for name in names if name in found), None)
    if name is None:
        return math.nan
    value = found[name]
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        complaints.add(f"{name}: expected a number, found {str(value)[:60]!r}.")
        return math.nan
    return number


def _part(schema: Schema, columns: dict[str, list[Any]], source: ProfileInput, complaints: Complaints) -> FramePart:
    rows = len(columns["flops"])
    made = {name: np.array(values, np.float64) if name.startswith("flops") else categorical(values)
            for name, values in columns.items()}  # fmt: skip
    return FramePart(frame_of(schema, rows, made, source.name), complaints.all())


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

_FLOPS_SUMMARY_FILE = ProfileFileKind("flops_summary", numbered("flops_summary", "json"))
_FLOPS_SCOPE_FILE = ProfileFileKind("flops_scope", numbered("flops_scope", "json"))
SUMMARY = FrameReader(FLOPS, _FLOPS_SUMMARY_FILE, summary)
SCOPES = FrameReader(FLOPS_SCOPES, _FLOPS_SCOPE_FILE, scopes)

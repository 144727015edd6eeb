"""Reads communication.json: what the time of communication operators consists of, by MindSpore, torch_npu and MindStudio.

{step: {p2p | collective: {operator@group: {"Communication Time Info": {...}, "Communication Bandwidth Info": {...}}}}}, with
times in milliseconds and begins in microseconds. "Total Op Info" sums the others up and is not read, nor is bandwidth.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from parsers.errors import FormatError
from parsers.profile_frames import COMMUNICATION
from parsers.profiler.frame_parts import FramePart, FrameReader, ProfileFileKind, ProfileInput, categorical, frame_of, numbered
from parsers.profiler.json_files import read_json
from parsers.profiler.lines import Complaints
from parsers.profiler.tables import NONE

MS = 1e6
TOTAL = "Total Op Info"
_STEP = re.compile(r"step(\d{1,18})")
_TIMES = {
    "duration_ns": "Elapse Time(ms)", "transit_ns": "Transit Time(ms)", "wait_ns": "Wait Time(ms)",
    "synchronisation_ns": "Synchronization Time(ms)", "idle_ns": "Idle Time(ms)",
}  # fmt: skip


def operators(source: ProfileInput) -> FramePart:
    """communication.json: a row for each communication operator."""
    complaints = Complaints(source.path)
    rows = list(_rows(source, complaints))
    columns: dict[str, Any] = {name: categorical([row[name] for row in rows]) for name in ("kind", "name", "group")}
    columns |= {name: np.array([row[name] for row in rows], np.int64) for name in ("step", "start_ns")}
    columns |= {name: np.array([row[name] for row in rows], np.float64) for name in _TIMES}
    return FramePart(frame_of(COMMUNICATION, len(rows), columns, source.name), complaints.all())


def step_of(text: str) -> int:
    """Return the number in step50; NONE for other texts."""
    match = _STEP.fullmatch(text)
    return int(match[1]) if match is not None else NONE


def _rows(source: ProfileInput, complaints: Complaints) -> Iterator[dict[str, Any]]:
    try:
        found = read_json(source.path)
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}); what is in it is not shown.", "unreadable")
        return
    except FormatError as error:
        complaints.add(f"Nothing is taken from the file: {error}.")
        return
    for step, kinds in _items(found, "The file", complaints):
        for kind, listed in _items(kinds, step[:60], complaints):
            for name, entry in _items(listed, f"{step[:60]}.{kind[:60]}", complaints):
                if name == TOTAL:
                    continue
                times = entry.get("Communication Time Info") if isinstance(entry, dict) else None
                row = _row(times, f"{step[:60]}.{kind[:60]}.{name[:60]}", complaints)
                if row is not None:
                    operator, _, group = name.partition("@")
                    yield {"step": step_of(step), "kind": kind, "name": operator, "group": group, **row}


def _items(found: Any, where: str, complaints: Complaints) -> Iterator[tuple[str, Any]]:
    if isinstance(found, dict):
        yield from found.items()
    else:
        complaints.add(f"{where}: expected an object, found {type(found).__name__}.")


def _row(times: Any, where: str, complaints: Complaints) -> dict[str, Any] | None:
    if not isinstance(times, dict) or math.isnan(_number(times.get("Elapse Time(ms)"))):
        complaints.add(f"{where}: expected Elapse Time(ms), a number; it was skipped.")
        return None
    row: dict[str, Any] = {name: _number(times.get(key)) * MS for name, key in _TIMES.items()}
    return row | {"start_ns": begin_ns(_number(times.get("Start Timestamp(us)")))}


def begin_ns(microseconds: float) -> int:
    """Convert a begin in microseconds without rounding it to a float of nanoseconds; NONE for NaN and beyond 2^53."""
    if not abs(microseconds) < 2.0**53:
        return NONE
    fraction, whole = math.modf(microseconds)
    return int(whole) * 1_000 + round(fraction * 1_000)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return number if abs(number) < 2.0**53 else math.nan


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

_COMMUNICATION_FILE = ProfileFileKind("communication", numbered("communication", "json"))
OPERATORS_OF_COMMUNICATION = FrameReader(COMMUNICATION, _COMMUNICATION_FILE, operators)

"""Traces made of tables, where a profile has none: kernels of `kernel_details.csv` by stream, collectives of
`communication.json` by group.

Nothing of the host is in them: no calls, no steps, no arrows. What has no begin is left out. What else is wrong in the files
is reported where their frames are read.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from parsers.deferred import pandas as pd
from parsers.files import RegularFile
from parsers.model import NOTE, Problem
from parsers.profiler.ascend_output import kernels
from parsers.profiler.communication import operators
from parsers.profiler.frame_parts import ProfileInput, numbered
from parsers.profiler.trace import building
from parsers.profiler.trace.building import FoundCounters, FoundFlows, FoundOperators, FoundSlices
from parsers.profiler.trace.columns import COMPLETE, Kind, Trace, Track
from parsers.profiler.trace.files import TABLES

KERNELS, COLLECTIVES = TABLES
_PATTERNS = {KERNELS: numbered("kernel_details"), COLLECTIVES: numbered("communication", "json")}
_OF_COMMUNICATION = frozenset({"HCCL", "COMMUNICATION"})
_DEVICE, _GROUPS = "Device (no host)", "Communication (no host)"
_LEFT_OUT = frozenset({"file", "start_ns", "duration_ns"})


def kind_of(path: str) -> str:
    """Return which of the kinds a file is by its name; "" for none."""
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.fullmatch(os.path.basename(path))), "")


def read(path: str) -> Trace:
    """Read a table as a trace: a track for each stream or group. OSError if the file cannot be read."""
    frame = _frame(path)
    start = frame["start_ns"].to_numpy(np.int64)
    duration = frame["duration_ns" if "duration_ns" in frame else "elapse_ns"].to_numpy(np.float64)
    rows = np.flatnonzero((start >= 0) & (duration >= 0))
    keys, of = _keys(frame.iloc[rows], kind_of(path))
    names, name = _coded(frame["name"].iloc[rows])
    column = "core" if "core" in frame else "kind"
    categories, category = _coded(frame[column].iloc[rows])
    slices = FoundSlices(
        of, start[rows], np.rint(duration[rows]).astype(np.int64), name, category,
        np.full(len(rows), COMPLETE, np.uint8), rows.astype(np.int64),
    )  # fmt: skip
    none, longs = np.empty(0, np.int32), np.empty(0, np.int64)
    flows = FoundFlows(none, longs, longs, np.empty(0, np.uint8), np.empty(0, np.bool_), none)
    counters = FoundCounters(none, none, longs, np.empty(0, np.float64))
    made, _ = building.build(FoundOperators(
        path, keys, names, categories, [], [], slices, flows, counters, clock=None if len(rows) else "epoch",
    ))  # fmt: skip
    text = "The profile has no trace: its timeline is made of this file, without anything of the host."
    return replace(made, problems=(Problem(path, 0, 0, NOTE, text),)) if len(rows) else made


def arguments(trace: Trace, row: int) -> dict[str, Any]:
    """Return what a row of the table has. OSError if the file cannot be read any more, LookupError if it has changed."""
    frame, place = _frame(trace.path), int(trace.slices.event[row])
    name = trace.names[int(trace.slices.name[row])]
    if place >= len(frame) or str(frame["name"].iloc[place]) != name:
        raise LookupError(f"expected {name!r} in row {place:,}: the file has changed")
    values = frame.iloc[place].to_dict()
    return {
        str(key): value.item() if isinstance(value, np.generic) else value for key, value in values.items()
        if key not in _LEFT_OUT and not (pd.isna(value) or value == "" or (isinstance(value, int | np.integer) and value == -1))
    }  # fmt: skip


def _frame(path: str) -> pd.DataFrame:
    with RegularFile(path):
        pass  # of a missing file the readers say so in a problem
    source = ProfileInput(path, os.path.basename(path), {})
    return (kernels if kind_of(path) == KERNELS else operators)(source).frame


def _keys(frame: pd.DataFrame, kind: str) -> tuple[list[Track], np.ndarray[Any, np.dtype[np.int32]]]:
    """Return the tracks of a table, and the number of that of each row."""
    if kind == COLLECTIVES:
        texts, of = _coded(frame["group"])
        return [_track(_GROUPS, f"Group {text}".strip(), text, "communication", (1, at)) for at, text in enumerate(texts)], of
    stream = frame["stream"].to_numpy(np.int64)
    sent = (stream < 0) & frame["core"].isin(_OF_COMMUNICATION).to_numpy()
    found, places = np.unique(np.where(sent, -2, stream), return_inverse=True)
    tracks = []
    for at, number in enumerate(found.tolist()):
        if number == -2:
            tracks.append(_track(_GROUPS, "Communication", "", "communication", (1, -1)))
        else:
            title = f"Stream {number}" if number >= 0 else "Unknown stream"
            tracks.append(_track(_DEVICE, title, str(number), "device_stream", (0, at)))
    return tracks, places.reshape(-1).astype(np.int32)


def _track(process: str, thread: str, number: str, kind: Kind, order: tuple[int, int]) -> Track:
    return Track(process, thread, "", number, kind, order)


def _coded(column: pd.Series[str]) -> tuple[list[str], np.ndarray[Any, np.dtype[np.int32]]]:
    codes, values = pd.factorize(column.astype(str))
    return [str(value) for value in values], codes.astype(np.int32)

"""The columns of a snapshot as frames, and which device its entries belong to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.memory_snapshot_frames import SNAPSHOT_FRAME_SCHEMAS
from parsers.memory_snapshots.columns import UNKNOWN, SnapshotColumns
from parsers.memory_snapshots.objects import OpenDict, OpenList, TakenRows
from parsers.model import Ints, Problem

_LATEST = (1 << 63) // 1_000 - 1
_LONGEST_VALUE = 1_000
_MOST_DEVICES = 1_000
_PIECE = 1 << 16


def frames_of(path: str, found: Any, columns: SnapshotColumns) -> tuple[dict[str, pd.DataFrame], list[Problem]]:
    """Return the frames by name, and what contradicts the format. The arrays of the columns become those of the frames."""
    device, problems = _devices(path, found, len(columns.action))
    if columns.strange:
        text = f"{columns.strange:,} values are of another type than the format has: they are unknown."
        problems.append(Problem(path, 0, 0, "bad_value", text))
    made = {
        "snapshot_events": _events(columns, device),
        "snapshot_segments": _segments(columns),
        "snapshot_blocks": _blocks(columns),
        "snapshot_frames": _lines(columns),
        "snapshot_annotations": _annotations(columns),
        "snapshot_settings": _settings(found),
        "snapshot_exhaustions": _exhaustions(columns),
    }
    return {name: SNAPSHOT_FRAME_SCHEMAS[name].check(frame) for name, frame in made.items()}, problems


def _devices(path: str, found: Any, rows: int) -> tuple[NDArray[np.int16], list[Problem]]:
    """Return the device of each entry: the place of its list within device_traces."""
    device = np.full(rows, UNKNOWN, np.int16)
    lists = found.get("device_traces") if type(found) is OpenDict else None
    for number, entries in enumerate(lists[:_MOST_DEVICES] if type(lists) is OpenList else ()):
        for part in entries if type(entries) is OpenList else ():
            if type(part) is TakenRows and part.kind == "event":
                device[part.begin : part.end] = number
    lost = int(np.count_nonzero(device < 0))
    text = f"{lost:,} entries are in no list of a device: their device is unknown."
    return device, [Problem(path, 0, 0, "bad_message", text)] if lost else []


def _device_numbers(values: Ints) -> NDArray[np.int16]:
    return np.where((values >= 0) & (values < _MOST_DEVICES), values, UNKNOWN).astype(np.int16)


def _category(codes: Any, names: Any) -> pd.Categorical:
    index = pd.Index(list(names), dtype="str" if all(type(name) is str for name in names) else "int64")
    return pd.Categorical.from_codes(np.frombuffer(codes, np.dtype(codes.typecode)) if len(codes) else [], categories=index)


def _array(values: Any) -> NDArray[Any]:
    return np.frombuffer(values, np.dtype(values.typecode)) if len(values) else np.zeros(0, np.dtype(values.typecode))


def _in_ns(times: Ints) -> Ints:
    """Return times in nanoseconds, in the memory of those in microseconds; -1 for those that no clock shows."""
    for begin in range(0, len(times), _PIECE):
        some = times[begin : begin + _PIECE]
        unknown = (some < 0) | (some > _LATEST)
        some *= 1_000
        some[unknown] = UNKNOWN
    return times


def _events(columns: SnapshotColumns, device: NDArray[np.int16]) -> pd.DataFrame:
    made = {
        "action": _category(columns.action, columns.actions.known),
        "device": device,
        "address": _array(columns.address),
        "size_bytes": _array(columns.size),
        "stream": _category(columns.stream, columns.streams.known),
        "time_ns": _in_ns(_array(columns.time)),
        "stack": _array(columns.stack),
    }
    return pd.DataFrame(made, copy=False)


def _exhaustions(columns: SnapshotColumns) -> pd.DataFrame:
    events, free = list(columns.device_free), list(columns.device_free.values())
    return pd.DataFrame({"event": np.array(events, np.int64), "device_free_bytes": np.array(free, np.int64)})


def _texts(values: list[str]) -> pd.Categorical:
    codes, known = pd.factorize(np.array([*values, ""], object))
    return pd.Categorical.from_codes(codes[:-1], categories=pd.Index(known, dtype="str"))


def _segments(columns: SnapshotColumns) -> pd.DataFrame:
    rows = columns.segments

    def numbers(name: str, kind: Any = np.int64) -> NDArray[Any]:
        return np.array([row[name] for row in rows], np.int64).astype(kind)

    streams = numbers("stream")
    codes, known = pd.factorize(streams)
    made = {
        "device": _device_numbers(numbers("device")),
        "address": numbers("address"),
        "total_bytes": numbers("total_size"),
        "allocated_bytes": numbers("allocated_size"),
        "active_bytes": numbers("active_size"),
        "requested_bytes": numbers("requested_size"),
        "stream": pd.Categorical.from_codes(codes, categories=pd.Index(known, dtype="int64")),
        "kind": _texts([row["kind"] for row in rows]),
        "pool": _texts([row["pool"] for row in rows]),
        "expandable": numbers("expandable", np.int8),
        "stack": numbers("stack", np.int32),
    }
    return pd.DataFrame(made, copy=False)


def _blocks(columns: SnapshotColumns) -> pd.DataFrame:
    found = {name: _array(values) for name, values in columns.blocks.items()}
    segment = np.full(len(found["size"]), UNKNOWN, np.int32)
    for number, row in enumerate(columns.segments):
        rows = np.concatenate([np.arange(begin, end) for begin, end in row["blocks"]] or [np.zeros(0, np.int64)])
        segment[rows] = number
        if len(rows) and (found["address"][rows] < 0).all() and row["address"] >= 0:  # as torch wrote before it had addresses
            sizes = np.maximum(found["size"][rows], 0)
            found["address"][rows] = row["address"] + np.cumsum(sizes) - sizes
    states = pd.Index(list(columns.states.known), dtype="str")
    made = {
        "segment": segment,
        "address": found["address"],
        "size_bytes": found["size"],
        "requested_bytes": found["requested"],
        "state": pd.Categorical.from_codes(found["state"], categories=states),
        "stack": found["stack"].astype(np.int32),
    }
    return pd.DataFrame(made, copy=False)


def _lines(columns: SnapshotColumns) -> pd.DataFrame:
    keys = list(columns.stacks)
    sizes = np.array([len(key) // 4 for key in keys], np.int64)
    lines = np.frombuffer(b"".join(keys), np.int32)
    known = list(columns.lines)
    names, sources = _texts([line[0] for line in known]), _texts([line[1] for line in known])
    begins = np.cumsum(sizes) - sizes
    made = {
        "stack": np.repeat(np.arange(len(keys), dtype=np.int32), sizes),
        "depth": (np.arange(len(lines)) - np.repeat(begins, sizes)).astype(np.int32),
        "name": names.take(lines),
        "source": sources.take(lines),
        "line": np.array([line[2] for line in known], np.int64)[lines],
    }
    return pd.DataFrame(made, copy=False)


def _annotations(columns: SnapshotColumns) -> pd.DataFrame:
    rows = columns.annotations
    times = _in_ns(np.array([row[3] for row in rows], np.int64))
    made = {
        "name": _texts([row[0] for row in rows]),
        "stage": _texts([row[1] for row in rows]),
        "device": _device_numbers(np.array([row[2] for row in rows], np.int64)),
        "time_ns": times,
    }
    return pd.DataFrame(made, copy=False)


def _settings(found: Any) -> pd.DataFrame:
    settings = found.get("allocator_settings") if type(found) is OpenDict else None
    names: list[str] = []
    values: list[str] = []
    for name, value in settings.items() if type(settings) is OpenDict else ():
        within = value.items() if type(value) is OpenDict else ()
        pairs = [(f"{name}.{key}", one) for key, one in within] or [(name, value)]
        for key, one in pairs:
            if type(one) in (str, int, float, bool) or one is None:
                names.append(key)
                values.append(str(one)[:_LONGEST_VALUE])
    return pd.DataFrame({"name": _texts(names), "value": _texts(values)})

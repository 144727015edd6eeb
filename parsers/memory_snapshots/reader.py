"""Reads a memory snapshot into frames: entries of the allocator, segments, blocks, stacks, annotations and settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from parsers.deferred import pandas as pd
from parsers.files import RegularFile
from parsers.memory_snapshot_frames import SNAPSHOT_FRAME_SCHEMAS
from parsers.memory_snapshots.columns import SnapshotColumns
from parsers.memory_snapshots.machine import Machine
from parsers.memory_snapshots.objects import Ended, OpenDict, OpenList
from parsers.memory_snapshots.tables import frames_of
from parsers.memory_snapshots.window import Window
from parsers.model import Problem

HEAD = 4096


@dataclass(frozen=True, slots=True, eq=False)
class MemorySnapshot:
    """The frames of a snapshot by the names in `parsers.memory_snapshot_frames`, and the damage found.

    devices are those that anything is known of. timed: entries have times; else there is only their order.
    """

    path: str
    frames: dict[str, pd.DataFrame]
    problems: tuple[Problem, ...]

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self.frames[name]

    @property
    def timed(self) -> bool:
        """Return whether entries have times."""
        return bool((self.frames["snapshot_events"]["time_ns"].to_numpy() >= 0).any())

    @property
    def devices(self) -> tuple[int, ...]:
        """Return the numbers of the devices that have entries or segments."""
        names = ("snapshot_events", "snapshot_segments")
        known = np.concatenate([pd.unique(self.frames[name]["device"]) for name in names])
        return tuple(sorted({int(one) for one in known if one >= 0}))


def is_memory_snapshot(head: bytes) -> bool:
    """Return whether the first up to 4,096 bytes of a file are those of a snapshot: a pickle of protocol 2 to 5 that names
    segments, or the list of segments that older versions wrote."""
    return head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05") and _names_segments(head[:HEAD])


def _names_segments(head: bytes) -> bool:
    return b"segments" in head or all(key in head for key in (b"segment_type", b"total_size", b"blocks"))


def read_memory_snapshot(path: str) -> MemorySnapshot:
    """Read a snapshot. Never raises for damage or a missing file: what was read before the damage is returned."""
    columns = SnapshotColumns()
    found: Any = None
    try:
        with RegularFile(path) as file:
            size = file.size
            if not size:
                return _empty(path, Problem(path, 0, 0, "empty_file", "The file is empty."))
            found, ended = Machine(Window(file), columns).run()
    except OSError as error:
        return _empty(path, Problem(path, 0, 0, "unreadable", f"The file cannot be read: {error.strerror or error}."))
    problems = [] if ended is None else [_problem(path, size, ended, len(columns.action))]
    frames, more = frames_of(path, found, columns)
    if not isinstance(found, OpenDict | OpenList) or not (columns.segments or len(columns.action) or _known(found)):
        text = "Expected segments or device_traces of a memory snapshot, found neither."
        problems.append(Problem(path, 0, 0, "bad_message", text))
    return MemorySnapshot(path, frames, (*problems, *more))


def _known(found: OpenDict | OpenList) -> bool:
    return "segments" in found or "device_traces" in found


def _problem(path: str, size: int, ended: Ended, entries: int) -> Problem:
    text = f"Byte {ended.offset:,}: {ended.text}. {entries:,} entries before it are shown."
    return Problem(path, ended.offset, max(size - ended.offset, 0), ended.kind, text)


def _empty(path: str, problem: Problem) -> MemorySnapshot:
    return MemorySnapshot(path, {name: schema.empty() for name, schema in SNAPSHOT_FRAME_SCHEMAS.items()}, (problem,))

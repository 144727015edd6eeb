"""The schemas of the frames of a memory snapshot of torch or torch_npu. Numbers that the file does not have are -1."""

from __future__ import annotations

from parsers.schema import Column, Schema

_DEVICE = Column("device", "int16", "", "number of the device on its machine; -1 for unknown")
_STACK = Column("stack", "int32", "", "stack in snapshot_frames; -1 for none")
_ADDRESS = Column("address", "int64", "", "address on the device; -1 for unknown")
_STREAM = Column("stream", "category", "", "stream: a number, or the address of one; -1 for unknown")
_TIME = Column("time_ns", "int64", "ns", "time since 1970; -1 for unknown")
_REQUESTED = Column("requested_bytes", "int64", "B", "what was asked for; -1 for unknown")

SNAPSHOT_EVENTS = Schema(
    "snapshot_events",
    "What the allocator did, in the order of each device's recording. The oldest entries may have been overwritten.",
    (
        Column(
            "action", "category", "",
            "alloc, free_requested, free_completed, segment_alloc, segment_free, segment_map, segment_unmap, oom, snapshot; "
            "others as the file names them; empty for unknown",
        ),
        _DEVICE,
        _ADDRESS,
        Column("size_bytes", "int64", "B", "what was asked for, without rounding; -1 for unknown"),
        _STREAM,
        _TIME,
        _STACK,
    ),
)  # fmt: skip

SNAPSHOT_SEGMENTS = Schema(
    "snapshot_segments",
    "Memory that the allocator held of a device when the snapshot was taken.",
    (
        _DEVICE,
        _ADDRESS,
        Column("total_bytes", "int64", "B", "size; -1 for unknown"),
        Column("allocated_bytes", "int64", "B", "in use; -1 for unknown"),
        Column("active_bytes", "int64", "B", "in use or waiting for another stream; -1 for unknown"),
        _REQUESTED,
        _STREAM,
        Column("kind", "category", "", "small or large: which requests it serves; empty for unknown"),
        Column("pool", "category", "", "identity of the private pool, as in 0,0; empty for unknown"),
        Column("expandable", "int8", "", "1 if it grows in place, 0 if not; -1 for unknown"),
        _STACK,
    ),
)

SNAPSHOT_BLOCKS = Schema(
    "snapshot_blocks",
    "Blocks of the segments, by address within each segment.",
    (
        Column("segment", "int32", "", "row of its segment in snapshot_segments; -1 for unknown"),
        _ADDRESS,
        Column("size_bytes", "int64", "B", "size, rounded by the allocator; -1 for unknown"),
        _REQUESTED,
        Column("state", "category", "", "active_allocated, active_awaiting_free, active_pending_free or inactive; or empty"),
        _STACK,
    ),
)

SNAPSHOT_FRAMES = Schema(
    "snapshot_frames",
    "The lines of each different stack, innermost first.",
    (
        Column("stack", "int32", "", "number of the stack, from 0"),
        Column("depth", "int32", "", "place in the stack, 0 for the innermost"),
        Column("name", "category", "", "function"),
        Column("source", "category", "", "file as the writer had it; ?? for frames of C++"),
        Column("line", "int64", "", "line; 0 for frames of C++; -1 for unknown"),
    ),
)

SNAPSHOT_ANNOTATIONS = Schema(
    "snapshot_annotations",
    "Marks of the program within the recording, in the order of the file.",
    (
        Column("name", "category", "", "what begins or ends, such as ProfilerStep#3"),
        Column("stage", "category", "", "START or END"),
        _DEVICE,
        _TIME,
    ),
)

SNAPSHOT_SETTINGS = Schema(
    "snapshot_settings",
    "Settings of the allocator, in the order of the file.",
    (
        Column("name", "category", "", "name; of settings within others both names, joined by a dot"),
        Column("value", "category", "", "value as text"),
    ),
)

SNAPSHOT_EXHAUSTIONS = Schema(
    "snapshot_exhaustions",
    "What the device had left when a request failed.",
    (
        Column("event", "int64", "", "row in snapshot_events"),
        Column("device_free_bytes", "int64", "B", "memory of the device that nobody had taken; -1 for unknown"),
    ),
)

SNAPSHOT_FRAME_SCHEMAS = {
    schema.name: schema
    for schema in (
        SNAPSHOT_EVENTS, SNAPSHOT_SEGMENTS, SNAPSHOT_BLOCKS, SNAPSHOT_FRAMES, SNAPSHOT_ANNOTATIONS, SNAPSHOT_SETTINGS,
        SNAPSHOT_EXHAUSTIONS,
    )
}  # fmt: skip
"""Name of a frame -> its schema."""

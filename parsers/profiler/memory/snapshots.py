"""Frames of device memory from a memory snapshot of torch or torch_npu, all from one reading of the file."""

from __future__ import annotations

import re

from parsers.analysis.profiles.memory_snapshots import profile
from parsers.analysis.profiles.memory_snapshots.lifetimes import lifetimes
from parsers.memory_snapshots import read_memory_snapshot
from parsers.profile_frames import MEMORY, OPERATOR_MEMORY, STEP_TIMES
from parsers.profiler.frame_parts import FramePart, FrameReader, ProfileFileKind, ProfileInput, joined
from parsers.schema import Schema

MEMORY_SNAPSHOT = ProfileFileKind(
    "memory_snapshot", re.compile(r"memory_snapshot\.(?:pickle|pkl)"), shown="memory_snapshot.pickle"
)
"""Snapshots of other names are found by their content (`parsers.snapshot_heads`)."""


def read_all(source: ProfileInput) -> dict[str, FramePart]:
    """Return memory, operator_memory and step_times of all devices of a snapshot."""
    found = read_memory_snapshot(source.path)
    memory, blocks = [MEMORY.empty()], [OPERATOR_MEMORY.empty()]
    for device in found.devices:
        lives = lifetimes(found.frames, device)
        memory.append(profile.memory(found.frames, device, source.name, lives))
        blocks.append(profile.operator_memory(found.frames, device, source.name, lives))
    frames = {
        MEMORY.name: joined(MEMORY, memory), OPERATOR_MEMORY.name: joined(OPERATOR_MEMORY, blocks),
        STEP_TIMES.name: profile.step_times(found.frames, source.name),
    }  # fmt: skip
    return {name: FramePart(frame, found.problems) for name, frame in frames.items()}


def _reader(schema: Schema) -> FrameReader:
    return FrameReader(schema, MEMORY_SNAPSHOT, lambda source: read_all(source)[schema.name], together=read_all)


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

READERS: tuple[FrameReader, ...] = tuple(map(_reader, (MEMORY, OPERATOR_MEMORY, STEP_TIMES)))

"""Allocated, active and reserved bytes of a device after each entry of its recording."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parsers.analysis.profiles.memory_snapshots.lifetimes import Frames, Lifetimes, blocks_of_device, of_device
from parsers.model import Ints

_TAKES, _GIVES = ("segment_alloc", "segment_map"), ("segment_free", "segment_unmap")
_MOST_BYTES = 1 << 61
"""Sizes are cut so that no sum exceeds this, whatever a damaged file says."""


class Totals(NamedTuple):
    """Bytes after each entry of a device, and before its first one (`start`: allocated, active, reserved)."""

    allocated: Ints
    active: Ints
    reserved: Ints
    start: tuple[int, int, int]


def totals(frames: Frames, device: int, found: Lifetimes, *, requested: bool = False) -> Totals:
    """Return the totals of a device. They end at what the snapshot holds, so what is older than the recording is in them.

    requested: count what was asked for instead of the sizes of blocks. Where the entries contradict the snapshot, so that a
    total would fall below 0, it is raised to 0 there.
    """
    events, blocks = of_device(frames, device), blocks_of_device(frames, device)
    segments = frames["snapshot_segments"]
    number = len(events)
    most = _MOST_BYTES // (number + len(blocks) + len(segments) + 1)
    sizes = np.clip(found.requested_bytes if requested else found.size, 0, most)
    gone = np.where(found.requested >= 0, found.requested, found.completed)
    in_use = blocks["requested_bytes" if requested else "size_bytes"].clip(0, most).to_numpy()
    states = blocks["state"]
    allocated = int(in_use[(states == "active_allocated").to_numpy()].sum())
    active = int(in_use[states.astype("str").str.startswith("active").to_numpy(np.bool_)].sum())
    reserved = int(segments["total_bytes"][(segments["device"] == device).to_numpy()].clip(0, most).sum())
    action, size = events["action"], np.clip(events["size_bytes"].to_numpy(), 0, most)
    held = np.where(action.isin(_TAKES), size, np.where(action.isin(_GIVES), -size, 0))
    changes = (_changes(number, found.allocated, gone, sizes), _changes(number, found.allocated, found.completed, sizes), held)
    ends = (allocated, active, reserved)
    (one, first), (two, second), (three, third) = (_ending(*pair) for pair in zip(changes, ends, strict=True))
    return Totals(one, two, three, (first, second, third))


def _changes(number: int, came: Ints, went: Ints, sizes: Ints) -> Ints:
    change = np.zeros(number, np.int64)
    np.add.at(change, came[came >= 0], sizes[came >= 0])
    np.subtract.at(change, went[went >= 0], sizes[went >= 0])
    return change


def _ending(change: Ints, end: int) -> tuple[Ints, int]:
    """Return the sums after each change, so that the last one is `end` or more, and what there was before."""
    sums = np.cumsum(change)
    start = end - int(sums[-1]) if len(sums) else end
    start = max(start, -int(sums.min(initial=0)), 0)
    return sums + start, start

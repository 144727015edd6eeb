"""Moments at which a request failed because memory was exhausted (entries `oom`), and what memory looked like then."""

from __future__ import annotations

import numpy as np

from parsers.analysis.profiles.memory.blocks import FIRST, NEVER, AllocatedBlocks
from parsers.analysis.profiles.memory.pool import pool_at
from parsers.analysis.profiles.memory_snapshots.lifetimes import NONE, Frames, Lifetimes, lifetimes, of_device
from parsers.analysis.profiles.memory_snapshots.profile import operator_memory
from parsers.analysis.profiles.memory_snapshots.segments import extent_at
from parsers.analysis.profiles.memory_snapshots.totals import totals
from parsers.deferred import pandas as pd

MOST = 100
"""Moments of which the holes are looked at; there is one for each failed request."""


def exhaustions(frames: Frames, device: int, found: Lifetimes | None = None) -> pd.DataFrame:
    """Return a row for each failed request of a device in order: at most MOST, the first ones.

    entry: number among those of the device; time_ns; size_bytes asked for; device_free_bytes that nobody had; allocated_bytes,
    active_bytes and reserved_bytes; unused_bytes = reserved - active; largest_free_bytes: the largest hole between blocks of
    any stream and pool, so a request below it may have failed for its stream; stack. -1 for unknown.
    """
    lives = lifetimes(frames, device) if found is None else found
    events = of_device(frames, device)
    entries = np.flatnonzero((events["action"] == "oom").to_numpy())[:MOST]
    sums = totals(frames, device, lives)
    free = frames["snapshot_exhaustions"].set_index("event")["device_free_bytes"]
    numbers = np.flatnonzero((frames["snapshot_events"]["device"] == device).to_numpy())[entries]
    blocks, rows = _by_entry(lives), operator_memory(frames, device, found=lives)
    holes = [pool_at(rows, blocks, int(entry), extent_at(frames, device, int(entry))) for entry in entries]
    return pd.DataFrame(
        {
            "entry": entries,
            "time_ns": events["time_ns"].to_numpy()[entries],
            "size_bytes": events["size_bytes"].to_numpy()[entries],
            "device_free_bytes": free.reindex(numbers).fillna(NONE).to_numpy(np.int64),
            "allocated_bytes": sums.allocated[entries],
            "active_bytes": sums.active[entries],
            "reserved_bytes": sums.reserved[entries],
            "unused_bytes": sums.reserved[entries] - sums.active[entries],
            "largest_free_bytes": np.array([NONE if hole is None else hole.largest for hole in holes], np.int64),
            "stack": events["stack"].to_numpy()[entries],
        }
    )


def _by_entry(lives: Lifetimes) -> AllocatedBlocks:
    """Return the blocks by the numbers of the entries between which they were in use."""
    start = np.where(lives.allocated < 0, FIRST, lives.allocated)
    end = np.where(lives.completed < 0, NEVER, lives.completed)
    return AllocatedBlocks(np.arange(len(lives)), start, end, np.maximum(lives.size, 0))

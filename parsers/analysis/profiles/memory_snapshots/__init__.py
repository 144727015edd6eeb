"""Analyses of memory snapshots of torch: lifetimes of blocks, curves, segments, and moments at which memory was exhausted.

All functions are pure, and take the frames of `parsers.memory_snapshot_frames` by name. `operator_memory`, `memory` and
`step_times` make the frames of those names of a profile, so that `parsers.analysis.profiles.memory` answers the rest: what was
alive at a moment by stack and by size, the pool, leaks.
"""

from __future__ import annotations

from parsers.analysis.profiles.memory_snapshots.exhaustion import exhaustions
from parsers.analysis.profiles.memory_snapshots.lifetimes import Lifetimes, lifetimes, older, rounded
from parsers.analysis.profiles.memory_snapshots.profile import memory, operator_memory, step_times
from parsers.analysis.profiles.memory_snapshots.segments import extent_at, fragmentation, largest_requests, segment_use
from parsers.analysis.profiles.memory_snapshots.totals import Totals, totals

__all__ = [
    "Lifetimes", "Totals", "exhaustions", "extent_at", "fragmentation", "largest_requests", "lifetimes", "memory", "older",
    "operator_memory", "rounded", "segment_use", "step_times", "totals",
]  # fmt: skip

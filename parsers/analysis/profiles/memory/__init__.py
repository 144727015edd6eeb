"""Analyses of device memory: curves, what was alive at a moment, the pool, leaks, the static plan, and differences.

All functions are pure, and take the frames `memory`, `operator_memory`, `static_memory` and `module_memory` of a profile. A
database may hold several devices: choose the rows of one (column device) first.
"""

from __future__ import annotations

from parsers.analysis.profiles.memory.alive import (
    BEFORE,
    GROUPINGS,
    Explained,
    alive,
    changed,
    changes,
    counted,
    explain,
    grouped,
)
from parsers.analysis.profiles.memory.blocks import AllocatedBlocks, blocks_of, levels, levels_at
from parsers.analysis.profiles.memory.curves import BytesOverTime, Peak, components, curve, peak, step_minima, value_at
from parsers.analysis.profiles.memory.difference import difference, peaks
from parsers.analysis.profiles.memory.extremes import Extremes, extremes
from parsers.analysis.profiles.memory.growth import STEP_FRAMES, MemoryGrowth, growth, step_spans
from parsers.analysis.profiles.memory.leaks import Leak, leak
from parsers.analysis.profiles.memory.modules import large_components
from parsers.analysis.profiles.memory.plan import MemoryPlan, in_use_at, plan
from parsers.analysis.profiles.memory.pool import Extent, Pool, extent, pool_at
from parsers.analysis.profiles.memory.recording import MemoryChoices, MemoryRecording, highest, minima_of_steps, recording, top

__all__ = [
    "BEFORE",
    "GROUPINGS",
    "STEP_FRAMES",
    "AllocatedBlocks",
    "BytesOverTime",
    "Explained",
    "Extent",
    "Extremes",
    "Leak",
    "MemoryChoices",
    "MemoryGrowth",
    "MemoryPlan",
    "MemoryRecording",
    "Peak",
    "Pool",
    "alive",
    "blocks_of",
    "changed",
    "changes",
    "components",
    "counted",
    "curve",
    "difference",
    "explain",
    "extent",
    "extremes",
    "grouped",
    "growth",
    "highest",
    "in_use_at",
    "large_components",
    "leak",
    "levels",
    "levels_at",
    "minima_of_steps",
    "peak",
    "peaks",
    "plan",
    "pool_at",
    "recording",
    "step_minima",
    "step_spans",
    "top",
    "value_at",
]  # fmt: skip

"""Simulated memory of the device of each rank of a job: peaks, pools, and its capacity. Knows no rule of the product.

Written from the manual before its author read the rule. An effect is the share of the device's memory that the process of one
rank needs at its peak. What a process needs is what it allocates, the pieces its pool cannot use, and what lies beside pools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from parsers.cluster_frames import RANKS
from parsers.profiler.frame_parts import frame_of

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Plan:
    """A job. needed: share of the capacity that the ranks need at most; full: the rank that needs another share, and which.

    pieces: share of the pool that is in pieces; beside: what a process holds beside its pool (GiB); whole: the pool is reserved
    when training begins, all but `beside` and `left` GiB of the device; process, capacity: whether files tell.
    """

    seed: int
    ranks: int
    capacity_gib: int
    needed: float
    full: tuple[int, float] | None = None
    pieces: float = 0.05
    beside: float = 1.5
    whole: bool = False
    left: float = 0.5
    process: bool = True
    capacity: bool = True


@dataclass(frozen=True, slots=True)
class Peaks:
    """Bytes of a rank at its peak: allocated, reserved by its pool, held by the process; and those of the device."""

    allocated: int
    reserved: int
    process: int
    capacity: int


def simulate(plan: Plan) -> list[Peaks]:
    """Return the peaks of all ranks."""
    chance = np.random.default_rng(plan.seed)
    found = []
    for rank in range(plan.ranks):
        share = plan.needed * chance.uniform(0.97, 1.0)
        if plan.full and plan.full[0] == rank:
            share = plan.full[1]
        process = share * plan.capacity_gib
        reserved = max(process - plan.beside, 0.1)
        allocated = reserved * (1 - plan.pieces)
        if plan.whole:
            reserved = plan.capacity_gib - plan.beside - plan.left
            process = reserved + plan.beside
        found.append(Peaks(*(int(one * GIB) for one in (allocated, reserved, process, plan.capacity_gib))))
    return found


def ranks_frame(plan: Plan, peaks: list[Peaks]) -> pd.DataFrame:
    """Return the peaks as the frame of ranks that readers make of files."""
    columns = {
        "rank": list(range(plan.ranks)), "host": [f"node{rank // 8}" for rank in range(plan.ranks)],
        "peak_allocated_bytes": [one.allocated for one in peaks], "peak_reserved_bytes": [one.reserved for one in peaks],
        "peak_process_bytes": [one.process if plan.process else -1 for one in peaks],
        "capacity_bytes": [one.capacity if plan.capacity else -1 for one in peaks],
    }  # fmt: skip
    return frame_of(RANKS, plan.ranks, columns, "made")


def healthy(seed: int, **told: object) -> Plan:
    """Return a job whose ranks need 20 to 88 % of their devices."""
    chance = np.random.default_rng([seed, 51])
    plan = Plan(int(chance.integers(2**31)), int(chance.choice([1, 4, 8, 16])), int(chance.choice([24, 32, 64, 80])),
                float(chance.uniform(0.2, 0.88)))  # fmt: skip
    return replace(plan, **told)  # type: ignore[arg-type]


def near(seed: int, share: float) -> Plan:
    """Return a job of which one rank needs `share` of its device."""
    plan = healthy(seed, process=seed % 3 > 0)
    return replace(plan, full=(seed % plan.ranks, share), beside=plan.beside if plan.process else 0.3)


EFFECTS: Mapping[str, tuple[float, ...]] = {"memory": (0.9, 0.96, 0.98, 1.0)}
FAULTS: Mapping[str, Callable[[int, float], Plan]] = {"memory": near}
HEALTHY: Mapping[str, Callable[[int], Plan]] = {
    "room": healthy,
    "pieces": lambda seed: healthy(seed, pieces=0.3),
    "large_libraries": lambda seed: healthy(seed, beside=4.0),
    "pools_only": lambda seed: healthy(seed, process=False),
    "pool_reserved_at_start": lambda seed: healthy(seed, whole=True),
    "no_capacity": lambda seed: healthy(seed, needed=0.99, capacity=False),
}
"""Healthy jobs have room for 12 % of a device or more. Those without a capacity cannot be judged."""

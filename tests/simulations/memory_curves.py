"""Allocated memory of simulated trainings, step by step, with and without a leak. Knows no rule of the product."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MIB = 1 << 20
STEP_NS = 50_000_000
RECORDS = 30
"""Records of a step."""


class Recording(NamedTuple):
    """Times in ns and allocated bytes of each record, and starts and ends of the steps in ns."""

    time: NDArray[np.int64]
    value: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


Floor = Callable[[np.random.Generator, int], NDArray[np.float64]]


def steady(draw: np.random.Generator, steps: int) -> NDArray[np.float64]:
    return draw.normal(0, 2, steps)


def collected(draw: np.random.Generator, steps: int) -> NDArray[np.float64]:
    """Cycles of Python objects hold tensors until the garbage collector runs, every 4 to 9 steps."""
    every = int(draw.integers(4, 10))
    return (np.arange(steps) + draw.integers(every)) % every * draw.uniform(2, 20) + draw.normal(0, 1, steps)


def warm_up(draw: np.random.Generator, steps: int) -> NDArray[np.float64]:
    """The optimizer's states and workspaces are allocated in the first one to three steps."""
    level = np.full(steps, draw.uniform(200, 1500))
    first = int(draw.integers(1, 4))
    level[:first] *= np.linspace(0, 0.9, first)
    return level + draw.normal(0, 1, steps)


def filling_cache(draw: np.random.Generator, steps: int) -> NDArray[np.float64]:
    """A cache fills within the first third of the recording and is full from there on."""
    return draw.uniform(20, 200) * np.minimum(np.arange(steps) / (steps / 3), 1) + draw.normal(0, 1, steps)


def lengths(draw: np.random.Generator, steps: int) -> NDArray[np.float64]:
    """Batches of unequal length: what a step keeps for the next one differs."""
    return draw.lognormal(3, 0.6, steps)


def wandering(draw: np.random.Generator, steps: int) -> NDArray[np.float64]:
    """What is cached at the end of a step depends on that of the step before, around a level."""
    level = np.zeros(steps)
    for step in range(1, steps):
        level[step] = 0.6 * level[step - 1] + draw.normal(0, 4)
    return level


def evaluated(draw: np.random.Generator, steps: int) -> NDArray[np.float64]:
    """An evaluation in the middle holds more, and releases it."""
    level = draw.normal(0, 2, steps)
    first = int(draw.integers(steps // 4, steps // 2))
    level[first:first + steps // 5] += draw.uniform(50, 400)
    return level


KINDS: tuple[Floor, ...] = (steady, collected, warm_up, filling_cache, lengths, wandering, evaluated)
HEALTHY: Mapping[str, Floor] = {one.__name__: one for one in KINDS}
LEAKS: Mapping[str, float] = {"small": 0.5, "medium": 4.0, "large": 40.0}
"""MiB that each step does not release, beside 2 to 20 GiB."""


def simulate(kind: str, seed: int, *, leak_mib: float = 0) -> Recording:
    """Return a recording of 12 to 60 steps; `leak_mib` of every step stay for ever."""
    draw = np.random.default_rng(seed)
    steps = int(draw.integers(12, 61))
    floor = draw.uniform(2048, 20480) + HEALTHY[kind](draw, steps) + leak_mib * np.arange(steps)
    rise = np.concatenate((np.linspace(0, 1, RECORDS // 2), np.linspace(1, 0, RECORDS - RECORDS // 2)))
    value = floor[:, None] + rise * draw.uniform(300, 4000) + np.abs(draw.normal(0, 0.3, (steps, RECORDS)))
    time = np.arange(steps * RECORDS, dtype=np.int64) * (STEP_NS // RECORDS)
    starts = time[::RECORDS].copy()
    return Recording(time, np.rint(value.ravel() * MIB).astype(np.int64), starts, starts + STEP_NS // RECORDS * RECORDS)

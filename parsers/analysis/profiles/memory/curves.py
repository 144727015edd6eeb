"""Curves of device memory by component: allocated, reserved and active bytes, their peaks, and their minima within steps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parsers.deferred import pandas as pd
from parsers.model import Ints
from parsers.profiler.memory.checks import MOST_COMPONENTS

MEASURES = ("allocated", "reserved", "active")


class BytesOverTime(NamedTuple):
    """A step function: bytes from each time (ns) on until the next one. Times grow; two may be equal, then the last counts."""

    time: Ints
    value: Ints


class Peak(NamedTuple):
    """The first moment (ns) at which a component has the most memory allocated, with all measures then, in bytes; -1: unknown.

    unused is reserved - allocated: memory that the pool holds in reserve. It is no fragmentation.
    """

    time: int
    allocated: int
    reserved: int
    active: int
    unused: int


def components(memory: pd.DataFrame) -> tuple[str, ...]:
    """Return the components with rows, MOST_COMPONENTS at most; sums of others (PTA+GE) come first."""
    names = [str(name) for name in memory["component"].unique() if name]
    return tuple(sorted(names, key=lambda name: -name.count("+"))[:MOST_COMPONENTS])


def curve(memory: pd.DataFrame, component: str, measure: str = "allocated") -> BytesOverTime:
    """Return a measure of MEASURES of one component over time, without rows in which it is unknown."""
    value = memory[f"{measure}_bytes"].to_numpy()
    rows = np.flatnonzero((memory["component"] == component).to_numpy() & (value >= 0))
    return BytesOverTime(memory["time_ns"].to_numpy()[rows], value[rows])


def value_at(series: BytesOverTime, time: int) -> int:
    """Return the bytes at a moment; -1 before the first record."""
    place = int(np.searchsorted(series.time, time, side="right"))
    return int(series.value[place - 1]) if place else -1


def peak(memory: pd.DataFrame, component: str) -> Peak | None:
    """Return the peak of allocated memory, of reserved memory where nothing else is known; None without rows."""
    rows = np.flatnonzero((memory["component"] == component).to_numpy())
    for measure in MEASURES:
        values = memory[f"{measure}_bytes"].to_numpy()[rows]
        if len(values) and values.max() >= 0:
            row = int(rows[np.argmax(values)])
            allocated, reserved, active = (int(memory[f"{name}_bytes"].to_numpy()[row]) for name in MEASURES)
            unused = reserved - allocated if min(allocated, reserved) >= 0 else -1
            return Peak(int(memory["time_ns"].to_numpy()[row]), allocated, reserved, active, unused)
    return None


def step_minima(series: BytesOverTime, starts: Ints, ends: Ints) -> Ints:
    """Return the least bytes within each step [start, end), with the value that holds when it begins; -1 for unknown."""
    first = np.searchsorted(series.time, starts, side="right") - 1
    last = np.searchsorted(series.time, ends, side="left")
    found = [
        int(series.value[max(one, 0) : end].min()) if end > max(one, 0) else -1
        for one, end in zip(first.tolist(), last.tolist(), strict=True)
    ]
    return np.array(found, np.int64)

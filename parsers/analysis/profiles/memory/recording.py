"""The memory of one component of a profile: its curves and blocks, prepared once so that each question costs what it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from parsers.analysis.profiles.memory.alive import GROUPINGS, counted
from parsers.analysis.profiles.memory.blocks import AllocatedBlocks, blocks_of, levels
from parsers.analysis.profiles.memory.curves import BytesOverTime, components, curve, peak, step_minima
from parsers.analysis.profiles.memory.pool import Extent, extent
from parsers.deferred import pandas as pd
from parsers.model import Ints

CLOCKS = ("ns", "event")
"""Clocks of files: nanoseconds, or the number of the event."""
MEASURES = ("allocated", "reserved", "active")
WHOLE = ("APP", "device")
"""Components that are no part of the pools: what the process holds, and what the whole device does."""
_NOTHING = BytesOverTime(np.zeros(0, np.int64), np.zeros(0, np.int64))


class MemoryChoices(NamedTuple):
    """What can be chosen, the default first: clocks, devices, components of the chosen clock and device, and groupings: those
    for which any block has a text."""

    clocks: tuple[str, ...]
    devices: tuple[int, ...]
    components: tuple[str, ...]
    groupings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemoryRecording:
    """The memory of one component over time, by a clock of CLOCKS.

    origin is the first moment of the profile, end the last one. measures are those recorded of the component; a curve made of
    blocks has allocated only. process is what the process holds. blocks are those that the curve of allocated memory counts,
    pool is the extent of their addresses, None without any.
    """

    component: str
    device: int
    clock: str
    origin: int
    end: int
    measures: dict[str, BytesOverTime]
    process: BytesOverTime
    blocks: AllocatedBlocks
    recorded: bool
    offer: MemoryChoices
    pool: Extent | None = None

    @property
    def main(self) -> str:
        """The measure by which moments are chosen."""
        return next(iter(self.measures), "allocated")

    @property
    def series(self) -> BytesOverTime:
        """The curve of the main measure."""
        return self.measures.get(self.main, _NOTHING)

    def size(self) -> int:
        """Return the bytes that the arrays take; measures share their times."""
        arrays = {id(array): array.nbytes for one in (*self.measures.values(), self.process) for array in one}
        return sum(arrays.values()) + sum(one.nbytes for one in (self.blocks.rows, self.blocks.start, self.blocks.end,
                                                                 self.blocks.size))  # fmt: skip


def recording(
    memory: pd.DataFrame, operator_memory: pd.DataFrame, *, clock: str = "", device: int = -1, component: str = ""
) -> MemoryRecording | None:
    """Prepare one component of a profile; None if it has neither a curve nor blocks. Unknown names mean the defaults."""
    clocks = _clocks(memory, operator_memory)
    if not clocks:
        return None
    clock = clock if clock in clocks else clocks[0]
    devices = _devices(memory, operator_memory)
    device = device if device in devices else devices[0]
    rows, blocks = _of_device(memory, device), _rows_of_device(operator_memory, device)
    own = operator_memory if blocks is None else operator_memory.iloc[blocks]
    named = _components(rows, own, clock)
    component = component if component in named else named[0]
    found = _curves(rows, component) if clock == "ns" else {}
    if clock == "ns" and "allocated" in found:
        alive = counted(rows, own, component)
    else:
        alive = blocks_of(own, clock=clock, component=component or None)
    recorded = bool(found)
    if not found:
        found = {"allocated": BytesOverTime(*levels(alive))}
    if blocks is not None:
        alive = AllocatedBlocks(blocks[alive.rows], alive.start, alive.end, alive.size)
    process = curve(rows, "APP", "reserved") if clock == "ns" and component != "APP" else _NOTHING
    origin, end = _ends(rows, own, clock)
    offer = MemoryChoices(clocks, devices, named, tuple(by for by in GROUPINGS if _told(operator_memory, alive.rows, by)))
    return MemoryRecording(component, device, clock, origin, end, found, process, alive, recorded, offer,
                           extent(operator_memory, alive))  # fmt: skip


def _told(operator_memory: pd.DataFrame, rows: Ints, by: str) -> bool:
    """Return whether any of the rows has a text in a column of GROUPINGS; of components two."""
    if by == "size":
        return True
    texts: Any = operator_memory[by].array
    used = np.bincount(texts.codes[rows], minlength=len(texts.categories)) > 0
    named = np.array([bool(text) for text in texts.categories], np.bool_)
    return int(np.count_nonzero(used & named)) > (1 if by == "component" else 0)


def _clocks(memory: pd.DataFrame, operator_memory: pd.DataFrame) -> tuple[str, ...]:
    timed = len(memory) or any((operator_memory[name] >= 0).any() for name in ("allocated_ns", "released_ns"))
    counted_ = (operator_memory["allocated_event"] >= 0).any()
    return tuple(clock for clock, there in zip(CLOCKS, (timed, counted_), strict=True) if there)


def _devices(memory: pd.DataFrame, operator_memory: pd.DataFrame) -> tuple[int, ...]:
    """Return the numbers of all devices; -1 alone if none is known."""
    known = np.union1d(memory["device"].unique(), operator_memory["device"].unique()).astype(np.int64)
    return tuple(known[known >= 0].tolist()) or (-1,)


def _of_device(memory: pd.DataFrame, device: int) -> pd.DataFrame:
    mine = ((memory["device"] == device) | (memory["device"] < 0)).to_numpy()
    return memory if mine.all() else memory[mine]


def _rows_of_device(operator_memory: pd.DataFrame, device: int) -> Ints | None:
    """Return the rows of a device, None for all."""
    mine = ((operator_memory["device"] == device) | (operator_memory["device"] < 0)).to_numpy()
    return None if mine.all() else np.flatnonzero(mine)


def _components(memory: pd.DataFrame, operator_memory: pd.DataFrame, clock: str) -> tuple[str, ...]:
    """Return the components of pools, the sum or the largest one first; without any those of the whole process or device."""
    if clock == "event" or not len(memory):
        named = [str(name) for name in operator_memory["component"].unique() if name]
        return ("", *named) if len(named) > 1 else tuple(named) or ("",)
    listed = components(memory)
    pools = [name for name in listed if name not in WHOLE]
    if pools and "+" not in pools[0]:
        tops = {name: peak(memory, name) for name in pools}
        pools.sort(key=lambda name: -max(found[1:4]) if (found := tops[name]) else 0)
    return (*pools, *(name for name in listed if name in WHOLE)) if pools or listed else ("",)


def _curves(memory: pd.DataFrame, component: str) -> dict[str, BytesOverTime]:
    """Return the measures that the component has, with one array of times where all rows have all of them."""
    found: dict[str, BytesOverTime] = {}
    for measure in MEASURES:
        series = curve(memory, component, measure)
        if not len(series.time):
            continue
        alike = next((one.time for one in found.values() if np.array_equal(one.time, series.time)), series.time)
        found[measure] = BytesOverTime(alike, series.value)
    return found


def _ends(memory: pd.DataFrame, operator_memory: pd.DataFrame, clock: str) -> tuple[int, int]:
    """Return the first and last moment of the curves of all components, so that offsets mean the same in each; without curves
    those of the blocks."""
    if clock == "ns" and len(memory):
        times = [memory["time_ns"].to_numpy()]
    else:
        names = ("allocated_event", "released_event") if clock == "event" else ("allocated_ns", "released_ns")
        times = [operator_memory[name].to_numpy() for name in names]
    known = [some for one in times if len(some := one[one >= 0])]
    return min((int(one.min()) for one in known), default=0), max((int(one.max()) for one in known), default=0)


def highest(series: BytesOverTime, begin: int, width: int) -> int:
    """Return the first moment at which the curve is highest within a pixel column that begins at a time."""
    first = int(np.searchsorted(series.time, begin, side="right"))
    last = int(np.searchsorted(series.time, begin + max(width, 0), side="left"))
    if last <= first:
        return begin
    place = first + int(np.argmax(series.value[first:last]))
    held = int(series.value[first - 1]) if first else -1
    return int(series.time[place]) if int(series.value[place]) > held else begin


def top(series: BytesOverTime) -> int:
    """Return the first moment at which the curve is highest."""
    return int(series.time[int(np.argmax(series.value))]) if len(series.time) else 0


def minima_of_steps(found: MemoryRecording, starts: Ints, ends: Ints) -> Ints:
    """Return the least bytes allocated within each step [start, end) (ns); -1 for those that begin outside of the curve.

    Empty if the component has no curve by nanoseconds.
    """
    series = found.measures.get("allocated")
    if series is None or found.clock != "ns":
        return np.zeros(0, np.int64)
    if not len(series.time):
        return np.full(len(starts), -1, np.int64)
    uncovered = (starts < series.time[0]) | (starts > series.time[-1])
    return np.where(uncovered, -1, step_minima(series, starts, ends))

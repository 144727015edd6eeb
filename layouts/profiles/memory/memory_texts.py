"""Sizes, times and offsets of the memory page as text."""

from __future__ import annotations

from parsers.analysis.profiles.memory.blocks import FIRST, NEVER

from layouts.kit import units as fmt
from layouts.kit.tables import Cell

_TIMES = (("s", 10**9), ("ms", 10**6), ("µs", 10**3))


def exact(value: int) -> str:
    """Format bytes in full: 10,782,146,560 B."""
    return f"{fmt.count(value)} B"


def size(value: int) -> Cell:
    """Return the cell of a table with a size, 0 for a negative one; its tip has all bytes."""
    return Cell(fmt.size(max(value, 0)), props={"title": exact(value)})


def time_unit(span: int, clock: str) -> tuple[str, int]:
    """Return (unit, ns of the unit) for an axis over this many ns; events have no unit."""
    if clock == "event":
        return "", 1
    return next(((unit, scale) for unit, scale in _TIMES if span >= 2 * scale), ("ns", 1))


def offset(time: int, clock: str, digits: int = 6) -> str:
    """Format a time after the first record: 312.416 ms; of the memory tracker the number of the event."""
    if clock == "event":
        return fmt.count(time)
    unit, scale = next(((unit, scale) for unit, scale in _TIMES if abs(time) >= scale), ("ns", 1))
    return f"{fmt.number(time / scale, digits)} {unit}" if time else "0 s"


def moment(time: int, origin: int, clock: str, digits: int = 6) -> str:
    """Format an absolute moment as its offset; a dash for before and after the recording."""
    return "–" if time in (FIRST, NEVER) else offset(time - origin, clock, digits)


def percent(part: float, whole: float) -> str:
    """Format a part of a whole in percent; a dash for a part of nothing."""
    return fmt.percent(part / whole if whole else None)

"""Sizes, times and offsets of the memory page as text."""

from __future__ import annotations

from parsers.analysis.memory.blocks import FIRST, NEVER

from layouts.kit import units as fmt

_UNITS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
_TIMES = (("s", 10**9), ("ms", 10**6), ("µs", 10**3))


def size(value: int) -> str:
    """Format bytes to 4 significant digits: 10.04 GiB, 89.25 MiB, 512 B."""
    unit, scale = size_unit(abs(value))
    return f"{fmt.number(value / scale) if scale > 1 else fmt.count(value)} {unit}"


def signed(value: int) -> str:
    """Format a difference of bytes, with its sign."""
    return f"+{size(value)}" if value > 0 else size(value)


def exact(value: int) -> str:
    """Format bytes in full: 10,782,146,560 B."""
    return f"{fmt.count(value)} B"


def size_unit(value: int) -> tuple[str, int]:
    """Return (unit, bytes of the unit) in which a size reads well."""
    return next(((unit, scale) for unit, scale in _UNITS if value >= scale), ("B", 1))


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
    """Format a share: 43 %, 0.21 %, < 0.01 %."""
    if not whole:
        return "–"
    share = 100.0 * part / whole
    return "< 0.01 %" if 0.0 < share < 0.01 else f"{fmt.number(share, 2 if share < 100.0 else 3)} %"

"""Ticks in minutes, hours and days for an axis of durations, which plotly does not provide."""

from __future__ import annotations

import math
from typing import Any

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_STEPS = (
    1, 2, 5, 10, 15, 30, _MINUTE, 2 * _MINUTE, 5 * _MINUTE, 10 * _MINUTE, 15 * _MINUTE, 30 * _MINUTE, _HOUR, 2 * _HOUR,
    3 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY, 2 * _DAY, 7 * _DAY, 14 * _DAY, 28 * _DAY, 91 * _DAY, 364 * _DAY,
)  # fmt: skip
_TICKS = 6


def time_ticks(low: float, high: float) -> dict[str, Any]:
    """Return axis properties for seconds from low to high: about 6 ticks at whole minutes, hours or days.

    Below 90 seconds these are plotly's own ticks with the unit after the number.
    """
    span = high - low
    if not math.isfinite(span) or span < 90 or span > 1e10:
        return {"tickformat": "~g", "ticksuffix": " s"}
    step = next((step for step in _STEPS if span / step <= _TICKS), _STEPS[-1] * math.ceil(span / _STEPS[-1] / _TICKS))
    first = math.ceil(low / step)
    values = [number * step for number in range(first, math.floor(high / step) + 1)]
    return {"tickmode": "array", "tickvals": values, "ticktext": [_text(value, step) for value in values]}


def _text(seconds: int, step: int) -> str:
    """Format a tick in the units that its step needs: 0, 30 m, 1 h 30 m, 2 d 12 h."""
    if seconds < 0:
        return "-" + _text(-seconds, step)
    if seconds == 0:
        return "0"
    parts = []
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m"), (1, "s")):
        whole, seconds = divmod(seconds, size)
        if whole:
            parts.append(f"{whole} {unit}")
        if size <= step:
            break
    return " ".join(parts)

"""Rectangles with given areas, as square as possible: Bruls, Huizing and van Wijk, "Squarified treemaps" (2000)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Area(NamedTuple):
    """A rectangle by its upper left corner and size."""

    x: float
    y: float
    width: float
    height: float


def squarified(amounts: Sequence[float], area: Area) -> list[Area]:
    """Return a rectangle for each amount, in the same order, that together fill an area. Amounts are positive, largest first.

    Each row lies along the shorter side of the remaining area, and grows while its worst aspect ratio does not get worse.
    """
    total = float(sum(amounts))
    if total <= 0 or area.width <= 0 or area.height <= 0:
        return [Area(area.x, area.y, 0.0, 0.0) for _ in amounts]
    scale = area.width * area.height / total
    sizes = [amount * scale for amount in amounts]
    found: list[Area] = []
    begin = 0
    while begin < len(sizes):
        side = min(area.width, area.height)
        end, row = begin + 1, sizes[begin]
        while end < len(sizes):
            longer = row + sizes[end]
            if _worst(sizes[begin], sizes[end], longer, side) > _worst(sizes[begin], sizes[end - 1], row, side):
                break
            end, row = end + 1, longer
        thick = area.width if end == len(sizes) and side == area.height else area.height if end == len(sizes) else row / side
        found += _row(sizes[begin:end], row, area, thick)
        across = area.width >= area.height
        if across:
            area = Area(area.x + thick, area.y, max(0.0, area.width - thick), area.height)
        else:
            area = Area(area.x, area.y + thick, area.width, max(0.0, area.height - thick))
        begin = end
    return found


def _worst(largest: float, smallest: float, row: float, side: float) -> float:
    """Return the worst aspect ratio in a row, from its largest and smallest rectangle and the sum."""
    return max(side * side * largest / (row * row), row * row / (side * side * smallest)) if smallest > 0 else float("inf")


def _row(sizes: Sequence[float], row: float, area: Area, thick: float) -> list[Area]:
    """Return the rectangles of a row, along the shorter side of an area."""
    down = area.width >= area.height
    at, found = 0.0, []
    for size in sizes:
        part = size / row * (area.height if down else area.width)
        found.append(Area(area.x, area.y + at, thick, part) if down else Area(area.x + at, area.y, part, thick))
        at += part
    return found

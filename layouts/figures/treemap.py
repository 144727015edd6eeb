"""Rectangles whose areas are as given amounts, near to squares: Bruls, Huizing and van Wijk, "Squarified treemaps" (2000)."""

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
    """A rectangle for each amount, in the same order, which together fill an area. Amounts are positive, the largest first.

    Rows are put along the shorter side of what is left as long as that makes the worst of their rectangles no longer.
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
    """The greatest ratio of sides in a row of which the largest and smallest rectangle and the sum are known."""
    return max(side * side * largest / (row * row), row * row / (side * side * smallest)) if smallest > 0 else float("inf")


def _row(sizes: Sequence[float], row: float, area: Area, thick: float) -> list[Area]:
    """Rectangles side by side along the shorter side of an area."""
    down = area.width >= area.height
    at, found = 0.0, []
    for size in sizes:
        part = size / row * (area.height if down else area.width)
        found.append(Area(area.x, area.y + at, thick, part) if down else Area(area.x + at, area.y, part, thick))
        at += part
    return found

"""How much of a slice the slices within it cover together, for many slices that cross each other.

Few are looked at one by one. For many, slices are taken in order of their ends, and each moment keeps the last row that covers
it: what covers a slice then is the time with a later row than its own. The rows of moments are kept in a segment tree whose
nodes know their lowest and second lowest row ("Segment tree beats", Ji 2016), so that a slice costs some logarithm of their
number, although it may change the row of any number of moments.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parsers.profiler.trace.running import covered

EACH = 4096
"""Slices to look at for each row on average, up to which rows are looked at one by one: their arrays are quick."""
_NEVER = 1 << 62


def covers(rows: list[int], start: NDArray[np.int64], duration: NDArray[np.int64]) -> dict[int, int]:
    """How much all slices within each of some rows cover of it (ns); rows that none is in are left out.

    Slices are in order of start, the longest first. One of 0 ns takes 1 ns: it covers nothing, but is within a row that ends
    1 ns later.
    """
    if not rows:
        return {}
    end = start + np.maximum(duration, 1)
    of = np.array(rows, np.int64)
    first = _next_within(end.tolist())[of]
    last = np.searchsorted(start, end[of])
    some = first < last
    of, first, last = of[some], first[some], last[some]
    if int((last - first).sum()) > EACH * len(start):
        return _together(of, start, duration, end)
    found = {}
    for row, begin, stop in zip(of.tolist(), first.tolist(), last.tolist(), strict=True):
        inner = np.arange(begin, stop)
        inner = inner[end[inner] <= end[row]]
        found[row] = covered(start[inner], start[inner] + duration[inner])
    return found


def _next_within(ends: list[int]) -> NDArray[np.int64]:
    """The next row that ends no later than each one; the number of rows if there is none."""
    found = np.full(len(ends), len(ends), np.int64)
    waiting: list[int] = []
    for row, end in enumerate(ends):
        while waiting and ends[waiting[-1]] >= end:
            found[waiting.pop()] = row
        waiting.append(row)
    return found


def _together(
    rows: NDArray[np.int64], start: NDArray[np.int64], duration: NDArray[np.int64], end: NDArray[np.int64]
) -> dict[int, int]:
    """As `covers`, for rows that have something within, in one pass over all slices."""
    edges = np.unique(np.concatenate([start, start + duration]))
    latest = LatestRows(np.diff(edges).tolist(), len(start))
    left, right = np.searchsorted(edges, start).tolist(), np.searchsorted(edges, start + duration).tolist()
    asked = set(rows.tolist())
    order = np.argsort(end, kind="stable")
    same_end = np.append(np.flatnonzero(np.diff(end[order])) + 1, len(order)).tolist()
    found, begin = {}, 0
    for stop in same_end:
        together = order[begin:stop].tolist()
        for row in together:
            latest.cover(left[row], right[row], row)
        for row in together:
            if row in asked:
                found[row] = latest.after(row)
        begin = stop
    return found


class LatestRows:
    """The latest row that covers each of some parts of time, and how much time has a later one than a given row."""

    def __init__(self, widths: list[int], rows: int) -> None:
        """widths: of the parts (ns), none of which is covered yet."""
        self._size = 1 << max(len(widths) - 1, 0).bit_length()
        missing = self._size - len(widths)
        self._low = [-1] * (2 * self._size)
        self._second = [_NEVER] * (2 * self._size)
        self._mass = [0] * self._size + widths + [0] * missing
        self._low[2 * self._size - missing :] = [_NEVER] * missing
        for node in range(self._size - 1, 0, -1):
            self._pull(node)
        self._sums = [0] * (rows + 1)
        self.steps = 0

    def cover(self, left: int, right: int, row: int) -> None:
        """Let a row cover the parts from `left` to before `right`, where no later one does."""
        if left < right:
            self._cover(1, 0, self._size, left, right, row)

    def after(self, row: int) -> int:
        """Return the time (ns) that a later row covers."""
        return self._until(len(self._sums) - 1) - self._until(row + 1)

    def _cover(self, node: int, first: int, last: int, left: int, right: int, row: int) -> None:
        self.steps += 1
        before = self._low[node]
        if right <= first or last <= left or before >= row:
            return
        if left <= first and last <= right and row < self._second[node]:
            if before >= 0:
                self._add(before, -self._mass[node])
            self._add(row, self._mass[node])
            self._low[node] = row
            return
        middle = (first + last) // 2
        for child in (2 * node, 2 * node + 1):
            self._low[child] = max(self._low[child], before)
        self._cover(2 * node, first, middle, left, right, row)
        self._cover(2 * node + 1, middle, last, left, right, row)
        self._pull(node)

    def _pull(self, node: int) -> None:
        one, other = 2 * node, 2 * node + 1
        if self._low[one] > self._low[other]:
            one, other = other, one
        self._low[node] = self._low[one]
        if self._low[one] == self._low[other]:
            self._mass[node] = self._mass[one] + self._mass[other]
            self._second[node] = min(self._second[one], self._second[other])
        else:
            self._mass[node] = self._mass[one]
            self._second[node] = min(self._second[one], self._low[other])

    def _add(self, row: int, mass: int) -> None:
        place = row + 1
        while place < len(self._sums):
            self._sums[place] += mass
            place += place & -place

    def _until(self, place: int) -> int:
        total = 0
        while place:
            total += self._sums[place]
            place &= place - 1
        return total

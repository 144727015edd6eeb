"""What slices within crossing slices cover, looked at one by one and together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from parsers.profiler.trace import coverage, lanes
from tests.amounts import examples

Longs = NDArray[np.int64]


def ordered(start: Longs, duration: Longs) -> tuple[Longs, Longs]:
    order = np.lexsort((-duration, start))
    return start[order], duration[order]


def plain(row: int, start: Longs, duration: Longs) -> int:
    """The moments of a row that any later row within it has, counted one by one."""
    end = start + np.maximum(duration, 1)
    moments: set[int] = set()
    for other in range(row + 1, len(start)):
        if start[other] < end[row] and end[other] <= end[row]:
            moments |= set(range(start[other], start[other] + duration[other]))
    return len(moments)


def crossing(count: int) -> tuple[Longs, Longs]:
    """Slices of which each crosses all others, around as many short ones that all of them contain."""
    wide, short = np.arange(count), 10 * count + 20 * np.arange(count)
    start = np.concatenate([wide, short])
    duration = np.concatenate([np.full(count, 40 * count), np.full(count, 10)])
    return ordered(start, duration)


@pytest.mark.parametrize("each", [-1, 1 << 40])
def test_what_covers_a_row_is_that_of_counting_moments(each: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "EACH", each)
    for seed in range(examples(40)):
        chance = np.random.default_rng(seed)
        count = int(chance.integers(1, 40))
        start, duration = ordered(chance.integers(0, 60, count), chance.integers(0, 30, count))
        found = coverage.covers(list(range(count)), start, duration)
        for row in range(count):
            assert found.get(row, 0) == plain(row, start, duration)
    assert coverage.covers([], np.empty(0, np.int64), np.empty(0, np.int64)) == {}


def test_many_crossing_slices_cost_little_more_than_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[coverage.LatestRows] = []

    class Counted(coverage.LatestRows):
        def __init__(self, widths: list[int], rows: int) -> None:
            super().__init__(widths, rows)
            made.append(self)

    monkeypatch.setattr(coverage, "LatestRows", Counted)
    monkeypatch.setattr(coverage, "EACH", 16)
    steps = []
    for count in (500, 1_000, 2_000):
        start, duration = crossing(count)
        _, own = lanes.assign(np.zeros(2 * count, np.int32), start, duration)
        assert own[duration > 10].tolist() == [40 * count - 10 * count] * count
        steps.append(made.pop().steps)
    assert not made
    assert all(later < 2.5 * before for before, later in pairwise(steps))

"""Climbs to the rows around a row, compared with climbing one row at a time; and chains as long as a file can make them."""

from __future__ import annotations

import time
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from parsers.profiler.kineto.around import levels, nearest, outlasting

LONG = 200_000
CHAINS = st.lists(st.integers(0, 1 << 30), max_size=40).map(
    lambda numbers: [number % (place + 1) - 1 for place, number in enumerate(numbers)]
)
"""For each row one before it, or -1."""


def climbed(around: list[int], row: int) -> list[int]:
    found = []
    while row >= 0:
        found.append(row)
        row = around[row]
    return found


@given(CHAINS, st.randoms(use_true_random=False))
def test_the_nearest_chosen_row_is_the_first_that_a_climb_meets(around: list[int], random: Random) -> None:
    chosen = [random.random() < 0.3 for _ in around]
    found = nearest(np.array(around, np.int32), np.array(chosen, np.bool_)).tolist()
    assert found == [next((one for one in climbed(around, row) if chosen[one]), -1) for row in range(len(around))]


@given(CHAINS)
def test_levels_are_the_lengths_of_climbs(around: list[int]) -> None:
    found = [rows.tolist() for rows in levels(np.array(around, np.int32))]
    depths = [len(climbed(around, row)) - 1 for row in range(len(around))]
    assert found == [[row for row, one in enumerate(depths) if one == depth] for depth in range(1, max(depths, default=0) + 1)]


@given(CHAINS, st.lists(st.tuples(st.integers(-1, 39), st.integers(0, 90)), max_size=20))
def test_the_first_row_that_lasts_long_enough(around: list[int], asked: list[tuple[int, int]]) -> None:
    ends = [100 - 2 * len(climbed(around, row)) for row in range(len(around))]
    asked = [(at, least) for at, least in asked if at < len(around)]
    at, least = np.array(asked, np.int64).reshape(-1, 2).T
    found = outlasting(np.array(around, np.int64), np.array(ends, np.int64), at, least).tolist()
    assert found == [next((one for one in climbed(around, row) if ends[one] >= end), -1) for row, end in asked]


def test_a_chain_of_all_rows_takes_no_longer_than_its_length() -> None:
    around = np.arange(-1, LONG - 1, dtype=np.int32)
    begun = time.process_time()
    assert nearest(around, np.arange(LONG) == 7)[-1] == 7
    assert len(levels(around)) == LONG - 1
    ends = np.arange(LONG, 0, -1)
    assert (outlasting(around.astype(np.int64), ends, np.full(LONG, LONG - 1), ends) == np.arange(LONG)).all()
    assert time.process_time() - begun < 10

"""Who came last to an operation, compared with counting by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.analysis.jobs.lateness import ENDS_TOGETHER, waits
from parsers.cluster_frames import COLLECTIVES, GROUPS
from parsers.profiler.frame_parts import frame_of

KINDS = (*ENDS_TOGETHER[:2], "send")
SIZES = {"two": 2, "three": 3, "": 2}
Row = tuple[str, str, str, int, int, int, float]
"""Group, name, kind, step, rank, begin, elapse."""
ELAPSES = st.sampled_from([1.0, 2.5, 2.5, 7.0, 1e9, math.nan])
STEPS = st.sampled_from([0, 1, -1, 1 << 40])
ROWS = st.lists(
    st.tuples(
        st.sampled_from([*SIZES, "unknown"]), st.sampled_from(["a", "b"]), st.sampled_from(KINDS), STEPS,
        st.integers(0, 2), st.integers(0, 1 << 60), ELAPSES,
    ),
    max_size=40,
)  # fmt: skip


def by_hand(rows: list[Row]) -> tuple[list[float], list[float]]:
    """Return waits and lateness row by row; of several operations of a rank the n-th goes with the n-th of the others."""
    numbers: dict[int, int] = {}
    seen: dict[tuple[object, ...], int] = {}
    for at in sorted(range(len(rows)), key=lambda at: rows[at][5]):
        group, name, kind, step, rank, _, elapse = rows[at]
        if kind in ENDS_TOGETHER and math.isfinite(elapse):
            key = (group, name, step, rank)
            numbers[at] = seen.get(key, 0)
            seen[key] = numbers[at] + 1
    own, late = [math.nan] * len(rows), [math.nan] * len(rows)
    operations: dict[tuple[object, ...], list[int]] = {}
    for at, number in numbers.items():
        group, name, _, step, *_ = rows[at]
        operations.setdefault((group, name, step, number), []).append(at)
    for (group, *_), places in operations.items():
        if group == "" or len(places) != SIZES.get(str(group), 0):
            continue
        places.sort(key=lambda at: rows[at][6])
        for at in places:
            own[at], late[at] = rows[at][6] - rows[places[0]][6], 0.0
        late[places[0]] = rows[places[1]][6] - rows[places[0]][6]
    return own, late


@given(ROWS)
def test_waits_and_lateness_are_those_counted_by_hand(rows: list[Row]) -> None:
    distinct = [(*row[:5], at * 10 + row[5] % 10, row[6]) for at, row in enumerate(rows)]  # no two begin together
    group, name, kind, step, rank, start, elapse = map(list, zip(*distinct, strict=True)) if rows else ([] for _ in range(7))
    columns = {"group": group, "name": name, "kind": kind, "step": step, "rank": rank, "start_ns": start, "elapse_ns": elapse}
    collectives = frame_of(COLLECTIVES, len(rows), columns, "file")
    groups = frame_of(GROUPS, len(SIZES), {"group": list(SIZES), "size": list(SIZES.values())}, "file")
    found = waits(collectives, groups)
    for values, wanted in zip(found, by_hand(distinct), strict=True):
        assert np.array_equal(values, np.array(wanted, np.float64), equal_nan=True)


@pytest.mark.parametrize("seconds", [(3.0, 1.0), (1.0, 3.0)])
def test_the_rank_with_the_least_time_came_last(seconds: tuple[float, float]) -> None:
    columns = {"group": ["two"] * 2, "name": ["a"] * 2, "kind": ["allreduce"] * 2, "step": [1, 1], "rank": [0, 1],
               "start_ns": [5, 5], "elapse_ns": list(seconds)}  # fmt: skip
    groups = frame_of(GROUPS, 1, {"group": ["two"], "size": [2]}, "file")
    own, late = waits(frame_of(COLLECTIVES, 2, columns, "file"), groups)
    assert own.tolist() == [value - 1.0 for value in seconds]
    assert late.tolist() == [2.0 if value == 1.0 else 0.0 for value in seconds]

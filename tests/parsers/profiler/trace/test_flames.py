"""Flame graphs against the stack of every nanosecond."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from parsers.profiler.trace import flames
from parsers.profiler.trace.columns import Trace
from tests.writers.traces import Row, trace


def stacks(frame: pd.DataFrame) -> dict[tuple[str, ...], tuple[int, int, int]]:
    found: list[tuple[str, ...]] = []
    for parent, name in zip(frame["parent"], frame["name"], strict=True):
        found.append((*found[parent], name) if parent >= 0 else (name,))
    sums = zip(frame["count"].tolist(), frame["total_ns"].tolist(), frame["self_ns"].tolist(), strict=True)
    return dict(zip(found, sums, strict=True))


def test_empty() -> None:
    assert flames.flame(trace({}), 0, 10).empty
    assert flames.flame(trace({"a": [(0, 5, "x")]}), 5, 10).empty
    assert flames.flame(trace({"a": [(0, 5, "x")]}), 3, 3).empty


def test_stacks_of_two_tracks() -> None:
    rows = [(0, 100, "main"), (10, 20, "f"), (12, 5, "g"), (40, 50, "f"), (50, 10, "main")]
    made = trace({"a": rows, "b": [(0, 30, "main")], "c": [(0, 9, "other")]})
    frame = flames.flame(made, 5, 60, [0, 1])
    assert stacks(frame) == {
        ("main",): (2, 55 + 25, 55 - 40 + 25), ("main", "f"): (2, 40, 25), ("main", "f", "main"): (1, 10, 10),
        ("main", "f", "g"): (1, 5, 5),
    }  # fmt: skip
    assert frame["name"].tolist() == ["main", "f", "main", "g"]
    assert frame["level"].tolist() == [0, 1, 2, 2]


@st.composite
def nested(draw: st.DrawFn) -> Trace:
    """Calls that lie within each other, never across an end."""

    def calls(begin: int, end: int, depth: int) -> list[Row]:
        rows: list[Row] = []
        cuts = sorted(draw(st.lists(st.integers(begin, end), max_size=6 if depth else 8, unique=True)))
        for start, stop in zip(cuts[::2], cuts[1::2], strict=False):
            rows.append((start, stop - start, draw(st.sampled_from("abc"))))
            if depth < 3:
                rows += [row for row in calls(start, stop, depth + 1) if row[:2] != (start, stop - start)]
        return rows

    return trace({name: calls(0, 120, 0) for name in draw(st.sets(st.sampled_from(["t", "u"])))})


@given(nested(), st.integers(-5, 125), st.integers(-5, 125))
def test_self_time_is_the_number_of_ns_with_that_stack(made: Trace, t0: int, t1: int) -> None:
    own: Counter[tuple[str, ...]] = Counter()
    slices = made.slices
    for track in made.tracks:
        for ns in range(t0, t1):
            rows = range(track.first, track.last)
            stack = [row for row in rows if slices.start[row] <= ns < slices.start[row] + slices.duration[row]]
            if stack:
                own[tuple(made.names[slices.name[row]] for row in stack)] += 1
    found = stacks(flames.flame(made, t0, t1))
    assert {stack: self for stack, (_, _, self) in found.items() if self} == dict(own)
    for stack, (_, total, _) in found.items():
        assert total == sum(ns for other, ns in own.items() if other[: len(stack)] == stack)


def test_many_calls_of_one_stack_are_one_row() -> None:
    made = trace({"a": [(start, 7, "x") for start in range(0, 10_000, 10)]})
    frame = flames.flame(made, 0, made.end)
    assert frame[["count", "total_ns", "self_ns"]].values.tolist() == [[1000, 7000, 7000]]
    assert frame["parent"].dtype == np.int64

"""Traces and paths against a plain walk over the edges."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from parsers.analysis.graphs import network
from parsers.analysis.graphs.tracing import ancestors, descendants, path
from tests.parsers.analysis.graphs.made import frames

PAIRS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30)


def walk(pairs: list[tuple[int, int]], row: int) -> dict[int, int]:
    """Distance of all that is reached, by a queue."""
    found, waiting = {row: 0}, deque([row])
    while waiting:
        now = waiting.popleft()
        for begin, end in pairs:
            if begin == now and end not in found:
                found[end] = found[now] + 1
                waiting.append(end)
    return found


@given(PAIRS, st.integers(0, 11), st.integers(0, 11), st.integers(0, 4))
def test_traces_are_those_of_a_plain_walk(pairs: list[tuple[int, int]], row: int, other: int, depth: int) -> None:
    net = network(*frames([(f"n{number}", "A") for number in range(12)], pairs))
    for trace, edges in ((descendants, pairs), (ancestors, [(end, begin) for begin, end in pairs])):
        every = walk(edges, row)
        wanted = {one: far for one, far in every.items() if not depth or far <= depth}
        found = trace(net, row, depth)
        assert dict(zip(found.rows.tolist(), found.depth.tolist(), strict=True)) == wanted
        assert found.rows[0] == row
        assert (np.diff(found.depth) >= 0).all()
        assert found.cut is (len(wanted) < len(every))
    found_path = path(net, row, other)
    forth, back = walk(pairs, row), walk(pairs, other)
    if other not in forth and row not in back:
        assert found_path is None
        return
    assert found_path is not None
    rows = found_path.rows.tolist()
    assert {rows[0], rows[-1]} == {row, other}
    assert all(step in pairs for step in pairwise(rows))
    assert len(rows) - 1 == (forth[other] if other in forth else back[row])

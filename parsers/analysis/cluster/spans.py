"""Intervals of time as (begins, ends), whole ns: joined, and cut into a partition that says what ran when."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parsers.model import Ints

Spans = tuple[Ints, Ints]
"""Begins and ends of intervals, in any order."""
NO_SPANS: Spans = (np.empty(0, np.int64), np.empty(0, np.int64))


def joined(begins: Ints, ends: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the union of intervals as intervals in order that do not touch: begins, ends, how many each was made of.

    Intervals that do not end after they begin are left out.
    """
    kept = ends > begins
    begins, ends = begins[kept], ends[kept]
    if not len(begins):
        return (*NO_SPANS, np.empty(0, np.int64))
    order = np.argsort(begins, kind="stable")
    begins, ends = begins[order], np.maximum.accumulate(ends[order])
    first = np.flatnonzero(np.r_[True, begins[1:] > ends[:-1]])
    last = np.r_[first[1:], len(begins)] - 1
    return begins[first], ends[last], last - first + 1


def partition(spans: Sequence[Spans]) -> tuple[Ints, Ints]:
    """Cut the time from the first begin to the last end where any interval of some sets begins or ends.

    Return the edges (n + 1, none without intervals), and for each of the n parts between them a number with bit k set where an
    interval of the k-th set runs.
    """
    sets = [joined(*one)[:2] for one in spans]
    edges = np.sort(np.concatenate([np.empty(0, np.int64), *(end for one in sets for end in one)]))
    edges = edges[np.diff(edges, prepend=edges[:1] - 1) > 0]  # np.unique hashes, which takes eight times as long
    runs = np.zeros(max(len(edges) - 1, 0), np.int64)
    for bit, (begins, ends) in enumerate(sets):
        change = np.zeros(len(edges), np.int64)
        change[np.searchsorted(edges, begins)] += 1
        change[np.searchsorted(edges, ends)] -= 1
        runs |= np.cumsum(change[:-1]) << bit
    return edges, runs

"""The slices of an operator, and the operator of a slice: files name the same operator in several ways.

A trace has the full name of an operator (Default/network/conv1-Conv2d/Conv2D-op4), or the last part of it; tables of operators
and computation graphs have both, but MindSpore may number the operators of a graph and those of a profile differently.
Names of collectives may end in their group (hcom_allReduce__271_0_1@4711).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.search import TraceNames, rows

_NUMBER = re.compile(r"-op[0-9]+$")
_GROUP = re.compile(r"@[^@/]*$")
_MOST = 100_000
"""Slices of a name among which the one nearest to a time is looked for."""


def unnumbered(name: str) -> str:
    """Return a name without the number of the operator."""
    return _NUMBER.sub("", name)


def same(name: str, others: Iterable[str]) -> str | None:
    """Return the one of other names that means the same operator in the most exact way, or None.

    Two full names must have the same scopes; a full name and the last part of one need not.
    """
    best: tuple[int, str] | None = None
    for other in others:
        rank = _alike(name, other)
        if rank is not None and (best is None or rank < best[0]):
            best = rank, other
            if not rank:
                break
    return best[1] if best else None


def _alike(name: str, other: str) -> int | None:
    """How exactly two names are the same: 0 (equal) to 3, None if they are not."""
    if name == other:
        return 0
    name, other = _GROUP.sub("", name), _GROUP.sub("", other)
    if not ("/" in name and "/" in other):
        name, other = name.rpartition("/")[2], other.rpartition("/")[2]
        if name == other:
            return 1
        return 3 if unnumbered(name) == unnumbered(other) and name != unnumbered(name) else None
    return 2 if unnumbered(name) == unnumbered(other) else None


def slices_of(trace: Trace, names: TraceNames, operator: str) -> NDArray[np.int64]:
    """Return the rows of the slices of an operator in order of time, by the most exact form of its name that there is."""
    last = unnumbered(_GROUP.sub("", operator).rpartition("/")[2])
    if not last:
        return np.zeros(0, np.int64)
    ranks: dict[int, list[int]] = {}
    for index in names.containing(last).tolist():
        rank = _alike(operator, trace.names[index])
        if rank is not None:
            ranks.setdefault(rank, []).append(index)
    if not ranks:
        return np.zeros(0, np.int64)
    return rows(trace, np.array(ranks[min(ranks)], np.int64), limit=_MOST)


def nearest(trace: Trace, found: NDArray[np.int64], time_ns: int) -> int:
    """Return the row whose slice starts nearest to a time (ns since the origin of the trace).

    A time that is not within the trace is one of another clock: the first row is returned.
    """
    if not 0 <= time_ns <= trace.end:
        return int(found[0])
    return int(found[np.argmin(np.abs(trace.slices.start[found] - time_ns))])

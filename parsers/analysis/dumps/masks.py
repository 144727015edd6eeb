"""Masks: -Inf that is meant, as that of attention, since a softmax takes it and makes finite values of it.

A tensor is one if all its values that are not finite are -Inf, and a softmax with finite outputs took it in the same iteration,
or an operator made another mask of it. Files do not say which output is which input, so tensors with equal statistics are the
same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.dumps.operators import Ran
from parsers.dumps.store import StatisticsTable

_TAKES = re.compile("softmax|attention", re.IGNORECASE)
"""Types of operators of whose inputs -Inf stands for a weight of 0."""
Mask = NDArray[np.bool_]
Equal = tuple[float, ...]


def masks(iterations: Iterable[Sequence[Ran]], statistics: StatisticsTable, bad: Mask) -> Mask:
    """Return which rows are masks, of the operators of each iteration in the order they ran; bad rows have NaN or Inf."""
    nan, plus, minus = (statistics.column(name) for name in ("nan", "positive_inf", "negative_inf"))
    only = bad & (nan == 0) & (plus == 0) & (minus > 0)
    found = np.zeros(len(bad), np.bool_)
    if not only.any():
        return found
    columns = [statistics.column(name) for name in ("negative_inf", "count", "max", "l2")]

    def equal(row: int) -> Equal:
        return tuple(float(column[row]) for column in columns)

    known: set[Equal] = set()
    for operators in iterations:
        taken: set[Equal] = set()
        for ran in reversed(operators):
            wrong = [row for row in ran.outputs if bad[row]]
            meant = all(only[row] and equal(row) in taken for row in wrong) if wrong else _TAKES.search(ran.type) is not None
            if ran.outputs and meant:
                rows = [*wrong, *(row for row in ran.inputs if only[row])]
                found[rows] = True
                taken.update(equal(row) for row in rows)
        known |= taken
        only[[row for ran in operators for row in (*ran.inputs, *ran.outputs)]] = False
    # What is left are files of parameters and constants, which belong to no operator.
    left = np.flatnonzero(only)
    found[left] = [equal(row) in known for row in left.tolist()]
    return found

"""Groups of the rows of large frames by the values of categories, and medians of such groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import Ints

Floats = NDArray[np.float64]
_BITS = 63
"""Bits of a positive whole number of 64 bits."""


@dataclass(frozen=True, slots=True)
class RowGrouping:
    """Rows in groups, numbered in order of first appearance. of: the group of each row. first: each group's first row."""

    of: Ints
    first: Ints


def grouping(frame: pd.DataFrame, keys: Sequence[str], rows: Ints | None = None) -> RowGrouping:
    """Return the groups of rows with equal values in columns of categories; rows: places of those that count, None for all."""
    code = np.zeros(len(frame) if rows is None else len(rows), np.int64)
    size = 1
    for key in keys:
        column = frame[key].cat
        width = len(column.categories) + 1
        if size * width >= 2**_BITS:
            code, uniques = pd.factorize(code)
            size = len(uniques) + 1
        codes = column.codes.to_numpy()
        code = code * width + ((codes if rows is None else codes[rows]).astype(np.int64) + 1)
        size *= width
    of, uniques = pd.factorize(code)
    of = of.astype(np.int64)
    first = np.full(len(uniques), len(of), np.int64)
    first[of[::-1]] = np.arange(len(of) - 1, -1, -1)  # the last one written is the first row
    return RowGrouping(of, first if rows is None else rows[first])


def medians(values: Ints, groups: RowGrouping) -> Floats:
    """Return the median of each group of whole numbers that are at least 0."""
    count = len(groups.first)
    if not count:
        return np.empty(0)
    size = np.bincount(groups.of, minlength=count)
    start = np.cumsum(size) - size
    bits = int(values.max()).bit_length()
    if bits + count.bit_length() <= _BITS:
        # Sorting plain numbers is several times as fast as finding an order by two keys.
        ordered = np.sort((groups.of << bits) | values) & ((1 << bits) - 1)
    else:
        ordered = values[np.lexsort((values, groups.of))]
    return np.asarray((ordered[start + (size - 1) // 2].astype(np.float64) + ordered[start + size // 2]) / 2)

"""Codes and places of numbers, computed once for each distinct number: ids in the tables of a database are repeated often."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]


def mapped(numbers: Longs, code: Callable[[int], int]) -> NDArray[np.int32]:
    """Map numbers to codes, calling `code` once for each distinct number, in order of appearance."""
    return mapped_rows([numbers], code)


def mapped2(first: Longs, second: Longs, code: Callable[[int, int], int]) -> NDArray[np.int32]:
    """Map pairs of numbers to codes, as `mapped` does."""
    return mapped_rows([first, second], code)


def mapped3(first: Longs, second: Longs, third: Longs, code: Callable[[int, int, int], int]) -> NDArray[np.int32]:
    """Map triples of numbers to codes, as `mapped` does."""
    return mapped_rows([first, second, third], code)


def mapped_rows(columns: Sequence[Longs], code: Callable[..., int]) -> NDArray[np.int32]:
    """Map the rows of columns to codes, as `mapped` does."""
    if not len(columns[0]):
        return np.empty(0, np.int32)
    rows = columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
    distinct, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    codes = np.zeros(len(distinct), np.int32)
    for place in np.argsort(first).tolist():
        key: Iterable[int] = [int(distinct[place])] if len(columns) == 1 else distinct[place].tolist()
        codes[place] = code(*key)
    return codes[np.asarray(which).reshape(-1)]


def places(known: Longs, asked: Longs) -> Longs:
    """Return the first place of each number in `known`, -1 for those that are not there."""
    order = np.argsort(known, kind="stable")
    return place_in(known[order], order, asked)


def place_in(known: Longs, order: Longs, asked: Longs) -> Longs:
    """Return `order` at the first place of each number in the ascending `known`, -1 for those that are not there."""
    if not len(known):
        return np.full(len(asked), -1, np.int64)
    place = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return np.where(known[place] == asked, order[place], -1)

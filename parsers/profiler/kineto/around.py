"""Climbs from rows to the rows around them, in as many rounds as the depth has binary digits.

`around` gives the row around each row, -1 for none; a chain of them ends. A file may nest every event in the one before.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from parsers.model import Ints

Rows = NDArray[np.int32]


def nearest(around: Rows, chosen: NDArray[np.bool_]) -> Rows:
    """Return the innermost chosen row around each row, itself included; -1 for none."""
    at = _ended(around)
    fixed = np.append(chosen, True)
    at[fixed] = np.flatnonzero(fixed)
    while not np.array_equal(further := at[at], at):
        at = further
    return _open(at)


def levels(around: Rows) -> list[Rows]:
    """Return the rows within another one, those of the second level first, then those of the third ..."""
    at = _ended(around)
    depth = np.append((around >= 0).astype(np.int32), np.int32(0))
    while (at < len(around)).any():
        depth += depth[at]
        at = at[at]
    depth = depth[:-1]
    order = np.argsort(depth, kind="stable").astype(np.int32)
    bounds = np.searchsorted(depth[order], np.arange(1, int(depth.max(initial=0)) + 2)).tolist()
    return [order[first:last] for first, last in pairwise(bounds)]


def outlasting(around: Ints, ends: Ints, at: Ints, least: Ints) -> Ints:
    """Return the first row from `at` outwards that ends at `least` or later; -1 for none.

    No row ends after the one around it.
    """
    links = [_ended(around.astype(np.int32))]
    while (links[-1] < len(around)).any():
        links.append(links[-1][links[-1]])
    end = np.append(ends, np.iinfo(np.int64).max)
    place = np.where(at < 0, len(around), at).astype(np.int32)
    for link in reversed(links):
        further = link[place]
        place = np.where((end[place] < least) & (end[further] < least), further, place)
    return _open(np.append(np.where(end[place] < least, links[0][place], place), np.int32(len(around)))).astype(np.int64)


def _ended(around: Rows) -> Rows:
    """Return the rows around with a row behind the last one, which stands for none and is around itself."""
    return np.append(np.where(around < 0, np.int32(len(around)), around), np.int32(len(around)))


def _open(at: Rows) -> Rows:
    found: Rows = np.where(at[:-1] == at[-1], np.int32(-1), at[:-1])
    return found

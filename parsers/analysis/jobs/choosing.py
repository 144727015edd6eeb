"""Finds the rows of a job's frames that are of a group, a kind of operation and a step, among millions of rows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import Ints

KINDS = (
    "batchsendrecv", "sendrecv", "allreduce", "reducescatter", "allgather", "alltoallv", "alltoall", "broadcast", "scatter",
    "gather", "reduce", "barrier", "send", "receive", "recv",
)  # fmt: skip
"""Kinds of operations; of two that begin alike the longer one comes first."""
_KIND = re.compile("|".join(KINDS))


def kind_of(name: str) -> str:
    """Return the kind of an operation by its name: allreduce of hcom_allReduce__271_0_1; "" for none."""
    return _kind_of_stem(name.rstrip("_0123456789"))  # no kind ends in these, and a job has 100,000 names of some stems


@lru_cache(maxsize=1 << 10)
def _kind_of_stem(stem: str) -> str:
    match = _KIND.search(stem.lower().replace("_", ""))
    return match[0] if match is not None else ""


def of_kind(name: str, kind: str) -> bool:
    """Return whether a type of operation in a file of links, or the name of an operation, is of a kind of operations.

    Files of links call reduce-scatter `reduce`.
    """
    return kind_of(name) == kind or (name == "reduce" and kind == "reducescatter")


def coded(column: pd.Series[Any], wanted: Iterable[str]) -> NDArray[np.bool_]:
    """Return for each row of a column of categories whether it is one of the wanted texts."""
    categories = column.cat.categories.to_numpy(object)
    marked = np.append(np.isin(categories, list(wanted)), False)
    found: NDArray[np.bool_] = marked[column.cat.codes.to_numpy()]
    return found


def compact(values: NDArray[Any]) -> tuple[Ints, int]:
    """Return a number for each whole number, from 0 in their order, and how many different ones there are.

    Numbers of a small range, as codes and ranks are, take a table; others a hash.
    """
    if not len(values):
        return np.empty(0, np.int64), 0
    low, high = int(values.min()), int(values.max())
    if high - low > max(_TABLE, 4 * len(values)):
        codes, known = pd.factorize(values, sort=True)
        return codes.astype(np.int64), len(known)
    shifted = values.astype(np.int64) - low
    seen = np.zeros(high - low + 1, np.bool_)
    seen[shifted] = True
    number = np.cumsum(seen) - 1
    return number[shifted], int(number[-1]) + 1


_TABLE = 1 << 20


def distinct(values: NDArray[Any]) -> Ints:
    """Return the different ones of whole numbers, in order."""
    if not len(values):
        return np.empty(0, np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low > max(_TABLE, 4 * len(values)):
        return np.unique(values).astype(np.int64)
    seen = np.zeros(high - low + 1, np.bool_)
    seen[values.astype(np.int64) - low] = True
    return np.flatnonzero(seen) + low


def places_in(known: Ints, values: NDArray[Any]) -> Ints:
    """Return the place of each value among known ones, which are in order; -1 for a negative one and one that is not there."""
    last = int(known[-1]) if len(known) else -1
    if last < 0:
        return np.full(values.shape, -1, np.int64)
    if last > max(_TABLE, 4 * values.size):
        spots = np.minimum(np.searchsorted(known, values), len(known) - 1)
        return np.where((known[spots] == values) & (values >= 0), spots, -1)
    table = np.full(last + 2, -1, np.int64)
    own = known >= 0
    table[known[own]] = np.flatnonzero(own)
    found: Ints = table[np.where((values >= 0) & (values <= last), values, last + 1)]
    return found


def numbered(*keys: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return a number for each row of these columns, from 0, and the first row of each number."""
    key, span = np.zeros(len(keys[0]), np.int64), 1
    if not len(key):
        return key, key
    most = max(_TABLE, 4 * len(key))
    for column in keys:
        low, width = int(column.min()), int(column.max()) - int(column.min()) + 1
        if width > most:
            column, width = compact(column)
            low = 0
        if span * width > most:  # only then are the numbers made dense
            key, span = compact(key)
        key = key * width + (column.astype(np.int64) - low if low else column)
        span *= width
    key, count = compact(key)
    first = np.zeros(count, np.int64)
    first[key[::-1]] = np.arange(len(key))[::-1]
    return key, first


def rows_of(frame: pd.DataFrame, *, group: str = "", kind: str = "", step: int | None = None) -> Ints:
    """Return the rows of a group, a kind of operation and a step; "" and None for all (schemas COLLECTIVES and PACKETS)."""
    chosen = np.ones(len(frame), np.bool_)
    if group:
        chosen &= coded(frame["group"], (group,))
    if kind:
        chosen &= coded(frame["name"], [name for name in frame["name"].cat.categories if kind_of(name) == kind])
    if step is not None:
        chosen &= frame["step"].to_numpy() == step
    return np.flatnonzero(chosen)


def links_of_kind(links: pd.DataFrame, *, group: str, kind: str, step: int | None, of: str) -> Ints:
    """Return the rows of one class of links (schema LINKS): where a file has no such class, its single operations.

    Of single operations the kind is found in their names.
    """
    classes = coded(links["class"], (of,))
    single = coded(links["class"], ("single",))
    inside = coded(links["group"], (group,)) if group else np.ones(len(links), np.bool_)
    if step is not None:
        inside &= links["step"].to_numpy() == step
    if kind:
        names = links["name"].cat.categories.tolist()
        wanted = [name for name in names if of_kind(name, kind)]
        inside &= coded(links["name"], wanted)
    found = np.flatnonzero(inside & classes)
    return found if len(found) else np.flatnonzero(inside & single)

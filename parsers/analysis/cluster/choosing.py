"""Finds the rows of a job's frames that are of a group, a kind of operation and a step, among millions of rows."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
    match = _KIND.search(name.lower().replace("_", ""))
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


def numbered(keys: Ints) -> tuple[Ints, Ints]:
    """Return a number for each key, from 0 in the order in which they appear, and the first row of each."""
    codes, known = pd.factorize(keys)
    first = np.full(len(known), -1, np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return codes.astype(np.int64), first


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

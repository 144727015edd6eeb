"""Who came last to an operation, and for how long each rank waited: from elapse times alone, so clocks may differ.

An operation that ends in all ranks together (within 52 us in real profiles) began for each rank when it came. The rank with the
least elapse came last; what the others took longer was waiting.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import Floats

ENDS_TOGETHER = ("allreduce", "reducescatter", "allgather", "alltoall", "alltoallv", "barrier")
"""Kinds of operations that end in all ranks together; not so broadcast, scatter and operations between two ranks."""


def waits(collectives: pd.DataFrame, groups: pd.DataFrame) -> tuple[Floats, Floats]:
    """Return for each row of collectives what its rank waited, and the lateness it caused, both in ns.

    wait = elapse - least elapse of the group; lateness = second least - least elapse for the rank that came last, 0 for others.
    NaN for kinds that do not end together, and for operations that not every rank of the group has. Takes schemas COLLECTIVES
    and GROUPS.
    """
    rows = len(collectives)
    own, late = np.full(rows, np.nan), np.full(rows, np.nan)
    names = collectives["group"].cat.categories
    sizes = groups.set_index(groups["group"].astype("str"))["size"].reindex(names).fillna(0).to_numpy(np.int64)
    sizes = np.where(np.asarray(names == "", bool), 0, sizes)
    kinds = collectives["kind"].cat
    usable = np.isin(kinds.categories.to_numpy(object), ENDS_TOGETHER)
    elapse = collectives["elapse_ns"].to_numpy()
    chosen = np.flatnonzero(np.append(usable, False)[kinds.codes.to_numpy()] & np.isfinite(elapse))
    if not len(chosen):
        return own, late
    key = _keys(collectives, chosen)
    least = elapse[chosen]
    order = np.lexsort((least, key))
    key, at = key[order], chosen[order]
    begins = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    counts = np.diff(np.r_[begins, len(key)])
    wanted = sizes[collectives["group"].cat.codes.to_numpy()[at[begins]]]
    whole = (counts == wanted) & (counts > 1)
    spread = np.repeat(begins, counts)
    complete = np.repeat(whole, counts)
    least = elapse[at]
    own[at] = np.where(complete, least - least[spread], np.nan)
    caused = np.where(complete, 0.0, np.nan)
    firsts = begins[whole]
    caused[firsts] = least[firsts + 1] - least[firsts]
    late[at] = caused
    return own, late


def _keys(collectives: pd.DataFrame, chosen: NDArray[Any]) -> NDArray[np.int64]:
    """Return a number for each operation: of one group, name and step; the n-th of a rank goes with the n-th of the others."""
    key: NDArray[np.int64] = np.zeros(len(chosen), np.int64)
    for name in ("group", "name"):
        codes = collectives[name].cat.codes.to_numpy()[chosen].astype(np.int64)
        key = pd.factorize(key * (len(collectives[name].cat.categories) + 1) + codes)[0].astype(np.int64)
    steps, known = pd.factorize(collectives["step"].to_numpy()[chosen])
    key = key * max(len(known), 1) + steps
    ranks, found = pd.factorize(collectives["rank"].to_numpy()[chosen])
    start = collectives["start_ns"].to_numpy()[chosen]
    both = key * max(len(found), 1) + ranks
    order = np.lexsort((start, both))
    same = both[order]
    begins = np.flatnonzero(np.r_[True, same[1:] != same[:-1]])
    number = np.empty(len(same), np.int64)
    number[order] = np.arange(len(same)) - np.repeat(begins, np.diff(np.r_[begins, len(same)]))
    apart: NDArray[np.int64] = key * (int(number.max()) + 1) + number
    return apart


def idle_explained(collectives: pd.DataFrame) -> NDArray[np.bool_]:
    """Return for each row whether its idle time means anything.

    It does not where bytes moved and yet neither transit nor waiting was recorded: then small tasks were not recorded at all.
    """
    nothing = (collectives["transit_ns"] == 0.0) & (collectives["wait_ns"] == 0.0) & (collectives["size_bytes"] > 0)
    return ~nothing.to_numpy(np.bool_) & collectives["idle_ns"].notna().to_numpy(np.bool_)

"""Who came last to an operation, and for how long each rank waited: from elapse times alone, so clocks may differ.

An operation that ends in all ranks together (within 52 us in real profiles) began for each rank when it came. The rank with the
least elapse came last; what the others took longer was waiting.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.choosing import numbered
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

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
    key, first = _operations(collectives, chosen)
    counts = np.bincount(key)
    wanted = sizes[collectives["group"].cat.codes.to_numpy()[chosen[first]]]
    whole = (counts == wanted) & (counts > 1)
    took = elapse[chosen]
    least = _least(key, took, len(counts))
    last = np.empty(len(counts), np.int64)  # the row of the rank that came last, any of several
    shortest = np.flatnonzero(took == least[key])
    last[key[shortest]] = shortest
    others = took.copy()
    others[last] = np.inf
    second = _least(key, others, len(counts))
    own[chosen] = np.where(whole[key], took - least[key], np.nan)
    late[chosen] = np.where(whole[key], 0.0, np.nan)
    late[chosen[last[whole]]] = second[whole] - least[whole]
    return own, late


def _least(key: Ints, values: Floats, number: int) -> Floats:
    """Return the least value of each key; keys are below number."""
    found = np.full(number, np.inf)
    np.minimum.at(found, key, values)
    return found


def _operations(collectives: pd.DataFrame, chosen: Ints) -> tuple[Ints, Ints]:
    """Return a number for each operation, and the first of the chosen rows of each number.

    An operation is of one group, name and step; where a rank has several, its n-th goes with the n-th of the others.
    """
    codes = [collectives[name].cat.codes.to_numpy()[chosen] for name in ("group", "name")]
    key, first = numbered(*codes, collectives["step"].to_numpy()[chosen])
    of_rank, firsts = numbered(key, collectives["rank"].to_numpy()[chosen])
    if len(firsts) == len(chosen):  # the usual case: a rank has each operation once
        return key, first
    order = np.lexsort((collectives["start_ns"].to_numpy()[chosen], of_rank))
    same = of_rank[order]
    begins = np.flatnonzero(np.r_[True, same[1:] != same[:-1]])
    number = np.empty(len(same), np.int64)
    number[order] = np.arange(len(same)) - np.repeat(begins, np.diff(np.r_[begins, len(same)]))
    return numbered(key, number)


def idle_explained(collectives: pd.DataFrame) -> NDArray[np.bool_]:
    """Return for each row whether its idle time means anything.

    It does not where bytes moved and yet neither transit nor waiting was recorded: then small tasks were not recorded at all.
    """
    nothing = (collectives["transit_ns"] == 0.0) & (collectives["wait_ns"] == 0.0) & (collectives["size_bytes"] > 0)
    return ~nothing.to_numpy(np.bool_) & collectives["idle_ns"].notna().to_numpy(np.bool_)

"""Which ranks do the same work: those of one stage, and the replicas of the model that go through all stages.

A stage is what groups of ranks with the same work connect; a replica is what the groups of one model connect. The groups that
a job lists tell both, so no order of the dimensions is assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from parsers.analysis.jobs.stages import chains
from parsers.deferred import pandas as pd
from parsers.model import Ints
from parsers.profiler.groups import ranks_of

ALIKE = ("dp", "tp", "cp", "ep", "sp", "dp_cp", "tp_cp", "tp_dp", "dp_ep", "tp_ep")
"""Kinds of groups whose ranks do the same work. pp, mp, embd and default_group carry the shape of the pipeline."""
OF_A_MODEL = ("tp", "sp", "cp", "tp_cp", "pp", "mp")
"""Kinds of groups whose ranks hold one replica of the model together."""


def alike(groups: pd.DataFrame) -> list[str]:
    """Return the groups whose ranks do the same work (schema GROUPS).

    Where no kind is known these are groups of collective operations that hold at most one rank of each pipeline chain.
    """
    kinds = groups["kind"].astype("str")
    if kinds.ne("").any():
        return [str(group) for group in groups.loc[kinds.isin(ALIKE) & (groups["size"] > 1), "group"]]
    chosen = groups[groups["sections"].astype("str").eq("collective") & (groups["size"] > 1)]
    chain_of = {rank: number for number, own in enumerate(chains(groups, ranks_of)) for rank in own}
    found = []
    for group, text in zip(chosen["group"].astype("str"), chosen["ranks"].astype("str"), strict=True):
        own = [chain_of[rank] for rank in ranks_of(text) if rank in chain_of]
        if len(set(own)) == len(own):
            found.append(group)
    return found


def stage_of(ranks: Ints, groups: pd.DataFrame) -> Ints:
    """Return a number for each rank that is equal for ranks of one stage; -1 for a rank of no group of `alike`."""
    judged = set(alike(groups))
    chosen = groups[groups["group"].astype("str").isin(judged)]
    return _connected(ranks, (ranks_of(text) for text in chosen["ranks"].astype("str").unique()))


def replica_of(ranks: Ints, groups: pd.DataFrame, dp: Ints | None = None) -> Ints:
    """Return the number of the replica of each rank, by their first ranks; -1 where it is not known, or is a single rank.

    dp are places in the data dimension, -1 for unknown; they count where no groups of a model are listed.
    """
    kinds = groups["kind"].astype("str")
    texts = groups.loc[kinds.isin(OF_A_MODEL), "ranks"].astype("str").unique()
    found = _connected(ranks, (ranks_of(text) for text in texts))
    if (found < 0).any():
        unknown = np.full(len(ranks), -1, np.int64)
        found = unknown if dp is None or (dp < 0).any() else np.unique(dp, return_inverse=True)[1].astype(np.int64)
    number = dict(zip(ranks.tolist(), found.tolist(), strict=True))
    for text in groups.loc[kinds.eq("dp"), "ranks"].astype("str").unique():
        own = [number[rank] for rank in ranks_of(text) if rank in number]
        if len(set(own)) < len(own):
            return np.full(len(ranks), -1, np.int64)
    counts = np.bincount(found[found >= 0], minlength=1)
    return np.where((found >= 0) & (counts[found] > 1), found, -1)


def _connected(ranks: Ints, groups: Iterable[Sequence[int]]) -> Ints:
    """Return the number of the connected set of each rank, by their first ranks; -1 for a rank in no group."""
    above = {rank: rank for rank in ranks.tolist()}
    touched: set[int] = set()

    def top(rank: int) -> int:
        while above[rank] != rank:
            above[rank] = rank = above[above[rank]]
        return rank

    for members in groups:
        own = [rank for rank in members if rank in above]
        touched.update(own if len(members) > 1 else ())
        for rank in own[1:]:
            first, second = sorted((top(own[0]), top(rank)))
            above[second] = first
    numbers: dict[int, int] = {}
    for rank in sorted(touched):
        numbers.setdefault(top(rank), len(numbers))
    return np.array([numbers[top(rank)] if rank in touched else -1 for rank in ranks.tolist()], np.int64)

"""Which ranks are a stage of the pipeline."""

from __future__ import annotations

from typing import Any

from parsers.deferred import pandas as pd

Ranks = tuple[int, ...]


def chains(groups: pd.DataFrame, ranks_of: Any) -> list[Ranks]:
    """Return the pipeline chains: ranks of the groups that are for the pipeline, first stage first.

    These are the groups of kind pp; where no kind is known, those that do nothing but send and receive.
    """
    kinds, sections = groups["kind"].astype("str"), groups["sections"].astype("str")
    named = kinds.eq("pp")
    chosen = groups[named] if named.any() else groups[kinds.eq("") & sections.eq("p2p")]
    found = {ranks_of(text) for text in chosen["ranks"].astype("str")}
    return sorted(ranks for ranks in found if len(ranks) > 1)


def stages(groups: pd.DataFrame, ranks_of: Any) -> list[Ranks]:
    """Return the ranks of each stage, the first stage first; nothing without a pipeline (schema GROUPS).

    A stage is a connected set of groups that hold at most one rank of each pipeline chain. ranks_of reads the texts of ranks.
    """
    known = chains(groups, ranks_of)
    chain_of = {rank: number for number, ranks in enumerate(known) for rank in ranks}
    if not known:
        return []
    above = {rank: rank for rank in chain_of}

    def top(rank: int) -> int:
        while above[rank] != rank:
            above[rank] = rank = above[above[rank]]
        return rank

    for text in groups["ranks"].astype("str").unique():
        ranks = [rank for rank in ranks_of(text) if rank in chain_of]
        if len({chain_of[rank] for rank in ranks}) == len(ranks):
            for rank in ranks[1:]:
                above[top(rank)] = top(ranks[0])
    found: dict[int, list[int]] = {}
    for rank in sorted(chain_of):
        found.setdefault(top(rank), []).append(rank)
    place = {rank: number for ranks in known for number, rank in enumerate(ranks)}
    return sorted((tuple(ranks) for ranks in found.values()), key=lambda ranks: (place[ranks[0]], ranks))

"""How evenly the tokens of a mixture of experts are spread over the ranks that hold the experts.

No file that profilers document has numbers of tokens. Two stand in for them: the rows that grouped matrix multiplications of a
rank take (kernel_details with input shapes), which are tokens of its experts; and else the bytes that it sends in all-to-all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

EXPERTS = re.compile(r"(?:^|_)(?:ep|exp|expert)(?:_|$)")
"""Kinds of groups whose ranks share experts."""
UNEVEN = 1.1
"""A load above this multiple of the mean of its group is uneven: that of 1,500 tokens differs by 5 % by chance."""
ALL_TO_ALL = ("alltoall", "alltoallv")


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """What each rank has to do for its experts: source is tokens (rows of grouped matrix multiplications) or bytes (that it
    sends in all-to-all, per step).

    group is the group that each rank is in, as a number into `groups`; -1 for none. share is the value over the mean of the
    ranks of its group.
    """

    source: str
    ranks: Ints
    values: Floats
    group: Ints
    groups: tuple[str, ...]
    share: Floats


def exchanges(collectives: pd.DataFrame) -> pd.Series[bool]:
    """Return which operations are all-to-all (schema COLLECTIVES)."""
    return collectives["kind"].isin(ALL_TO_ALL)


def loads(collectives: pd.DataFrame, groups: pd.DataFrame, ranks: pd.DataFrame | None) -> Load | None:
    """Return the load of the ranks that hold experts (schemas COLLECTIVES, GROUPS, RANKS); None if no file tells of experts."""
    if ranks is not None:
        known = ranks[ranks["expert_rows"] >= 0]
        if len(known):
            numbers, values = known["rank"].to_numpy(), known["expert_rows"].to_numpy(np.float64)
            return _load("tokens", numbers, values, _members(collectives, groups))
    rows = collectives[exchanges(collectives) & (collectives["size_bytes"] > 0)]
    if rows.empty:
        return None
    members = _members(collectives, groups)
    sums = rows.groupby("rank")["size_bytes"].sum() / rows.groupby("rank")["step"].nunique()
    return _load("bytes", sums.index.to_numpy(np.int64), sums.to_numpy(np.float64), members)


def _members(collectives: pd.DataFrame, groups: pd.DataFrame) -> dict[int, str]:
    """Return the group of experts of each rank: of a kind for experts, else the one in which it exchanges most bytes."""
    kinds = groups["kind"].astype("str")
    named = {str(group) for group in groups.loc[[EXPERTS.search(kind) is not None for kind in kinds], "group"]}
    rows = collectives[collectives["group"].isin(named) if named else exchanges(collectives)]
    sums = rows.groupby(["rank", "group"], observed=True)["size_bytes"].sum().reset_index()
    found: dict[int, tuple[float, str]] = {}
    for rank, name, size in zip(*(sums[column].tolist() for column in ("rank", "group", "size_bytes")), strict=True):
        found[rank] = max(found.get(rank, (-1.0, "")), (float(size), str(name)))
    return {rank: name for rank, (_, name) in found.items()}


def _load(source: str, ranks: Ints, values: Floats, members: dict[int, str]) -> Load:
    groups = tuple(dict.fromkeys(members[rank] for rank in ranks.tolist() if rank in members))
    place = {name: number for number, name in enumerate(groups)}
    group = np.array([place[members[rank]] if rank in members else -1 for rank in ranks.tolist()], np.int64)
    share = np.full(len(ranks), np.nan)
    for number in np.unique(group).tolist():
        mine = group == number
        mean = float(values[mine].mean())
        share[mine] = values[mine] / mean if mean > 0.0 else np.nan
    return Load(source, ranks, values, group, groups, share)

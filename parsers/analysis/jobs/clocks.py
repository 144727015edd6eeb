"""By how much the clocks of ranks differ, from operations that end in all ranks of a group together.

In real profiles they end within 52 us. The end of an operation by the clock of one rank, minus its end by that of another, is
the difference of their clocks. Ranks that share no group are compared over ranks that both share one with; ranks without such
a chain cannot be compared.
"""

from __future__ import annotations

import numpy as np

from parsers.analysis.jobs.lateness import ENDS_TOGETHER
from parsers.deferred import pandas as pd

COLUMNS = ("rank", "part", "offset_ns", "spread_ns", "operations")


def clock_offsets(collectives: pd.DataFrame) -> pd.DataFrame:
    """Return for each rank by how much its clock is ahead of the lowest rank that it can be compared with.

    Takes schema COLLECTIVES. Columns: rank; part, a number for each set of ranks that can be compared with each other;
    offset_ns (int64); spread_ns, the median distance of single operations from it, which adds up over a chain of groups;
    operations, how many were compared. Operations without a begin or of kinds that do not end together do not count.
    """
    shared = _in_groups(collectives)
    edges: dict[int, list[tuple[int, float, float, int]]] = {}
    for first, rank, offset, spread, number in shared.itertuples(index=False):
        edges.setdefault(first, []).append((rank, offset, spread, number))
        edges.setdefault(rank, []).append((first, -offset, spread, number))
    rows: dict[int, tuple[int, float, float, int]] = {}
    part = -1
    for start in sorted(edges):
        if start in rows:
            continue
        part += 1
        rows[start] = part, 0.0, 0.0, max(number for *_, number in edges[start])
        waiting = [start]
        for one in waiting:  # grows while it is walked over: in the order of distance
            _, ahead, wide, _ = rows[one]
            for rank, offset, spread, number in edges[one]:
                if rank not in rows:
                    rows[rank] = part, ahead + offset, wide + spread, number
                    waiting.append(rank)
    columns = [np.array(column) for column in zip(*rows.values(), strict=True)] or [np.empty(0)] * 4
    found = pd.DataFrame({"rank": np.array(list(rows), np.int64), **dict(zip(COLUMNS[1:], columns, strict=True))})
    found["offset_ns"] = np.rint(found["offset_ns"].to_numpy(np.float64)).astype(np.int64)
    kinds = {"part": "int64", "spread_ns": "float64", "operations": "int64"}
    return found.astype(kinds).sort_values("rank", ignore_index=True)


def _in_groups(collectives: pd.DataFrame) -> pd.DataFrame:
    """Return (first rank, rank, offset in ns, spread in ns, operations) of each rank of a group beside its first rank."""
    beside = ends_beside(collectives)
    if beside.empty:
        return pd.DataFrame({name: np.empty(0) for name in ("first", "rank", "offset", "spread", "number")})
    pairs = beside.groupby(["first", "rank"])["offset"]
    middle = pairs.transform("median")
    beside["far"] = (beside["offset"] - middle).abs()
    found = beside.groupby(["first", "rank"]).agg(offset=("offset", "median"), spread=("far", "median"), number=("far", "size"))
    return found.reset_index()


def ends_beside(collectives: pd.DataFrame) -> pd.DataFrame:
    """Return (first, rank, offset): by how many ns each operation of a group ends later in a rank than in its first rank.

    Takes schema COLLECTIVES; offsets are whole numbers, as float64.
    """
    kinds = collectives["kind"].cat
    usable = np.append(np.isin(kinds.categories.to_numpy(object), ENDS_TOGETHER), False)[kinds.codes.to_numpy()]
    usable &= (collectives["start_ns"].to_numpy() >= 0) & np.isfinite(collectives["elapse_ns"].to_numpy())
    usable &= collectives["group"].cat.codes.to_numpy() >= 0
    rows = collectives[usable]
    if rows.empty:
        return pd.DataFrame({"first": np.empty(0, np.int64), "rank": np.empty(0, np.int64), "offset": np.empty(0)})
    ends = pd.DataFrame({
        "group": rows["group"].cat.codes.to_numpy(), "name": rows["name"].cat.codes.to_numpy(),
        "step": rows["step"].to_numpy(), "rank": rows["rank"].to_numpy(), "start": rows["start_ns"].to_numpy(),
        "end": rows["start_ns"].to_numpy() + np.rint(rows["elapse_ns"].to_numpy()).astype(np.int64),
    })  # fmt: skip
    ends = ends.sort_values("start", kind="stable", ignore_index=True)
    operation = ["group", "name", "step"]
    ends["time"] = ends.groupby([*operation, "rank"]).cumcount()
    ends["first"] = ends.groupby("group")["rank"].transform("min")
    own = ends[ends["rank"] == ends["first"]].set_index([*operation, "time"])["end"]
    beside = ends[ends["rank"] != ends["first"]].join(own.rename("against"), on=[*operation, "time"], how="inner")
    beside["offset"] = (beside["end"] - beside["against"]).astype(np.float64)
    return beside[["first", "rank", "offset"]].reset_index(drop=True)

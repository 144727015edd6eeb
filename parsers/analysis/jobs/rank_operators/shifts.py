"""Moves the ranks of each stage so that their common collectives end together.

A collective ends in all ranks of its group at nearly the same moment, so the median distance of its ends is how far two clocks
are apart (`parsers.analysis.jobs.clocks`). The distance that remains after the shift is reported: less than that means nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parsers.analysis.jobs.choosing import kind_of
from parsers.analysis.jobs.clocks import clock_offsets, ends_beside
from parsers.analysis.jobs.rank_operators.operators import COMPUTING, Operators, name_of
from parsers.deferred import pandas as pd

COLUMNS = ("rank", "stage", "part", "shift_ns", "operations", "residual_ns", "worst_ns")
_TEXTS = ("group", "name", "kind")
_USED = ("step", *_TEXTS, "rank", "start_ns", "elapse_ns")
_PLAIN = dict.fromkeys(_USED, "int64") | dict.fromkeys(_TEXTS, "str") | {"elapse_ns": "float64"}


def shifts(collectives: pd.DataFrame, stages: Sequence[Sequence[int]]) -> pd.DataFrame:
    """Return by how much each rank is to be moved to agree with the lowest one of its stage that it can be compared with.

    Takes schema COLLECTIVES. stages are the ranks of each stage; ranks in none of them are a stage of their own, -1, and so are
    all without a pipeline. Stages are not moved against each other. Columns: rank, stage; part, a number for each set of ranks
    of a stage that can be compared; shift_ns to add to the times of the rank; operations, how many of its group's first rank it
    was compared with; residual_ns and worst_ns, the median and largest distance of their ends after the shift, NaN for the
    first ranks of groups. Ranks without a common collective have no row.
    """
    stage_of = {rank: number for number, ranks in enumerate(stages) for rank in ranks}
    stage = collectives["rank"].map(lambda rank: stage_of.get(rank, -1)).to_numpy(np.int64)
    found = []
    for number in sorted(set(stage.tolist())):
        rows = collectives[stage == number]
        offsets = clock_offsets(rows)
        if not len(offsets):
            continue
        found.append(_residuals(rows, offsets).assign(stage=number))
    if not found:
        kinds = dict.fromkeys(COLUMNS, "int64") | {"residual_ns": "float64", "worst_ns": "float64"}
        return pd.DataFrame({name: np.empty(0, kind) for name, kind in kinds.items()})
    return pd.concat(found, ignore_index=True)[list(COLUMNS)].sort_values("rank", ignore_index=True)


def _residuals(rows: pd.DataFrame, offsets: pd.DataFrame) -> pd.DataFrame:
    ahead = offsets.set_index("rank")["offset_ns"]
    beside = ends_beside(rows)
    left = (beside["offset"] - (beside["rank"].map(ahead) - beside["first"].map(ahead))).abs()
    own = left.groupby(beside["rank"].to_numpy())
    table = pd.DataFrame({"operations": own.size(), "residual_ns": own.median(), "worst_ns": own.max()})
    found = offsets[["rank", "part"]].copy()
    found["shift_ns"] = -offsets["offset_ns"].to_numpy()
    found = found.join(table, on="rank")
    found["operations"] = found["operations"].fillna(offsets["operations"]).astype("int64")
    return found


def ends_of(collectives: pd.DataFrame | None, ranks: Sequence[Operators]) -> pd.DataFrame:
    """Return what `shifts` takes: the communication of the job, and of ranks that it lacks that of their kernels."""
    parts = [] if collectives is None else [collectives[list(_USED)].astype(_PLAIN)]
    for rank in ranks:
        rows = np.flatnonzero(rank.category >= COMPUTING) if not rank.told else np.empty(0, np.int64)
        if len(rows):
            names = [name_of(key) for key in rank.keys]
            name = np.array(names, object)[rank.key[rows]]
            kind = np.array([kind_of(one) for one in names], object)[rank.key[rows]]
            elapse = (rank.end[rows] - rank.start[rows]).astype(np.float64)
            made = {"step": rank.step[rows], "group": "", "name": name, "kind": kind, "rank": rank.rank}
            parts.append(pd.DataFrame(made | {"start_ns": rank.start[rows], "elapse_ns": elapse}).astype(_PLAIN))
    found = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({name: [] for name in _USED}).astype(_PLAIN)
    return found.astype(dict.fromkeys(_TEXTS, "category"))


_FAR_NS = 60_000_000_000


def to_one_zero(ranks: Sequence[Operators], together: Sequence[int]) -> list[int]:
    """Return ns to add to the times of each rank so that clocks that count from different zeros lie on one axis; 0s if they do.

    They do not if all ranks take more than a minute beyond three times the longest one: then each set of ranks that stay
    `together` (a number for each rank) begins where the first set does.
    """
    some = [(rank, number) for rank, number in zip(ranks, together, strict=True) if len(rank)]
    if not some:
        return [0] * len(ranks)
    spans = [(int(rank.start[0]), int(rank.end.max())) for rank, _ in some]
    first = min(begin for begin, _ in spans)
    longest = max(end - begin for begin, end in spans)
    if max(end for _, end in spans) - first <= 3 * longest + _FAR_NS:
        return [0] * len(ranks)
    begins: dict[int, int] = {}
    for (begin, _), (_, number) in zip(spans, some, strict=True):
        begins[number] = min(begin, begins.get(number, begin))
    return [first - begins.get(number, first) for number in together]

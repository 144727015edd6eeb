"""How long a rank of a pipeline waits for its neighbours.

What files call bubble is found by names of send and receive operations and is 0 wherever batchSendRecv is used. Here it is the
exposed time of all operations between two ranks: what they take while the rank computes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.analysis.profiles.busy import covered
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

LEAST_SHARE = 0.1
"""Share of a step from which a bubble is named."""


@dataclass(frozen=True, slots=True)
class Bubble:
    """What the ranks of one stage wait for other stages: per step in ns, as a share of the step; the rank that waits longest.

    stage is -1 where no file tells it. exact: files tell the bubble itself, else it is at most this long. steps: how many.
    """

    stage: int
    rank: int
    waited_ns: float
    share: float
    exact: bool
    steps: int


def bubbles(steps: pd.DataFrame, *, least: float = LEAST_SHARE) -> list[Bubble]:
    """Return the stages whose ranks wait at least this share of a step for other stages, the longest first.

    Takes schema CLUSTER_STEPS. Time and share of a stage are means over its ranks and steps (`share_of`).
    """
    rows = steps[(steps["kind"].astype("str") == "rank") & steps["own_bubble_ns"].notna() & (steps["total_ns"] > 0.0)]
    if rows.empty:
        return []
    sums = rows.groupby(["pp", "rank"])[["own_bubble_ns", "total_ns"]].mean()
    sums["share"] = sums["own_bubble_ns"] / sums["total_ns"]
    number = int(rows["step"].nunique())
    sources = rows["bubble_source"].astype("str")
    found = []
    for stage, own in sums.groupby("pp"):
        share = share_of(own["own_bubble_ns"].to_numpy(), own["total_ns"].to_numpy())
        if share < least:
            continue
        longest = own.index[int(own["share"].to_numpy().argmax())]
        per_step = float(own["own_bubble_ns"].mean())
        exact_here = bool(sources[rows["pp"] == stage].ne("at most").all())
        found.append(Bubble(int(str(stage)), int(longest[1]), per_step, share, exact_here, number))
    return sorted(found, key=lambda one: -one.share)


def without_pipeline(rows: pd.DataFrame) -> bool:
    """Return whether nothing tells of a pipeline: fewer than two stages are known, and no rank waits for another one."""
    known = rows["pp"][rows["pp"] >= 0]
    return known.nunique() < 2 and not bool((rows["own_bubble_ns"] > 0.0).any())


def share_of(waited: Floats, total: Floats) -> float:
    """Return the share of steps that ranks wait: all their waiting over the length of all their steps (ns)."""
    return float(np.sum(waited) / np.sum(total))


def at_most(exposed: Floats, between_two: Floats) -> Floats:
    """Return the most a bubble can be without knowing when things ran: the least of exposed time and sum of p2p elapse (ns)."""
    return np.minimum(exposed, between_two)


def exact(p2p: tuple[Ints, Ints], computing: tuple[Ints, Ints]) -> int:
    """Return the time in which something of p2p ran and nothing of computing; both are (begins, ends) in ns, in any order."""
    (begins, ends), (other_begins, other_ends) = _whole(p2p), _whole(computing)
    together = covered(np.concatenate((begins, other_begins)), np.concatenate((ends, other_ends)))
    return together - covered(other_begins, other_ends)


def _whole(intervals: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Leave out intervals that end before they begin."""
    kept = intervals[1] > intervals[0]
    return intervals[0][kept], intervals[1][kept]


def in_theory(stages: int, micro_batches: int, chunks: int = 1) -> float:
    """Return the share of a step that equal stages wait: (p - 1) / (v m + p - 1); 0 for one stage.

    chunks (v) is 1 for 1F1B and GPipe, above 1 for the interleaved schedule (Narayanan et al. 2021, section 2.2).
    """
    if stages < 2 or micro_batches < 1:
        return 0.0
    return (stages - 1) / (chunks * micro_batches + stages - 1)

"""How long each rank of a pipeline computed, sent and waited in a step, and what share of it is its bubble."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from parsers.analysis.jobs.pipeline import BANDS, BETWEEN_TWO, COMPUTING, HIDDEN, RankBands
from parsers.analysis.jobs.warm_up import without_warm_up
from parsers.deferred import pandas as pd

EXACT, AT_MOST, RECEIVE = "exposed p2p", "at most", "receive"
"""Sources of a bubble: begins and ends of operations and kernels; an upper bound from sums; what a legacy file has."""
_OF_FRAME = {"exact": EXACT, "at most": AT_MOST, "receive": RECEIVE}


@dataclass(frozen=True, slots=True)
class RankTimes:
    """Times of a rank in a step, or their mean over all steps, in ns.

    bands are by name of BANDS, and HIDDEN; total_ns is the step, bubble_ns what it waits for other stages, both NaN for
    unknown; source is EXACT, AT_MOST, RECEIVE or "" for an unknown bubble. computing_ns and idle_ns are those of the bands,
    idle with what the step has before and after them, or as files have them where it is not known when the rank computed; NaN
    for unknown. steps is how many were counted.
    """

    rank: int
    stage: int
    bands: Mapping[str, float]
    total_ns: float
    bubble_ns: float
    source: str
    computing_ns: float
    idle_ns: float
    steps: int

    @property
    def share(self) -> float:
        """The bubble as a share of the step; NaN for unknown."""
        return self.bubble_ns / self.total_ns if self.total_ns > 0.0 else np.nan


def rank_times(
    ranks: Iterable[int], bands: Mapping[int, RankBands], cluster_steps: pd.DataFrame, stages: Mapping[int, int],
    step: int | None,
) -> list[RankTimes]:  # fmt: skip
    """Return the times of each rank in a step (None: mean over its steps but a warm-up), in the order given.

    The bubble is that of cluster_steps (schema CLUSTER_STEPS), which knows legacy files and bounds; where it is a bound or
    missing, and begins and ends are known after all, it is the time of the bands between two ranks.
    """
    own = cluster_steps[cluster_steps["kind"].astype("str") == "rank"]
    own = without_warm_up(own) if step is None else own[own["step"] == step]
    names = ["total_ns", "own_bubble_ns", "computing_ns", "free_ns"]
    means = own.groupby("rank")[names].mean()
    sources = own.groupby("rank")["bubble_source"].agg(lambda column: _one_source(set(column.astype("str"))))
    known = {rank: (*row, sources[rank]) for rank, row in zip(means.index.tolist(), means.to_numpy().tolist(), strict=True)}
    return [_of(rank, bands.get(rank), known.get(rank, _UNKNOWN), stages.get(rank, -1), step) for rank in ranks]


def _one_source(found: set[str]) -> str:
    """Return the weakest source of several steps."""
    if "" in found:
        return ""
    return next((name for name in ("at most", "exact", "receive") if name in found), "")


_Told = tuple[float, float, float, float, str]
"""Total, bubble, computing and free time (ns) of a rank, and the source of the bubble, as cluster_steps has them."""
_UNKNOWN: _Told = (np.nan, np.nan, np.nan, np.nan, "")


def _of(rank: int, one: RankBands | None, told: _Told, stage: int, step: int | None) -> RankTimes:
    total, bubble, computing, idle, source = told
    source = _OF_FRAME.get(source, "")
    windows = [] if one is None else one.numbered if step is None else [w for w in [one.window(step)] if w]
    times = dict.fromkeys((*BANDS, HIDDEN), 0.0)
    if one is not None and windows:
        times = {name: float(each.mean()) for name, each in one.times_in(windows).items()}
        if one.computes and one.communicates:
            computing, idle = sum(times[name] for name in COMPUTING), times["idle"]
            recorded = float(np.mean([end - begin for begin, end in windows]))
            total = total if np.isfinite(total) else recorded
            idle += max(total - recorded, 0.0)  # A step may begin before its first operation, and end after its last one.
            if source in (AT_MOST, ""):
                bubble, source = sum(times[name] for name in BETWEEN_TWO), EXACT
    bubble = bubble if source else np.nan
    return RankTimes(rank, stage, times, total, bubble, source, computing, idle, len(windows))


def table(times: Iterable[RankTimes]) -> pd.DataFrame:
    """Return the times as a table: rank, stage, source, and columns in ns; bubble_share is a share."""
    rows = [
        {"stage": one.stage, "rank": one.rank, "total_ns": one.total_ns}
        | {f"{name}_ns": time for name, time in one.bands.items()}
        | {"bubble_ns": one.bubble_ns, "bubble_share": one.share, "bubble_source": one.source, "steps": one.steps}
        for one in times
    ]
    names = ["stage", "rank", "total_ns", *(f"{name}_ns" for name in (*BANDS, HIDDEN))]
    return pd.DataFrame(rows, columns=[*names, "bubble_ns", "bubble_share", "bubble_source", "steps"])

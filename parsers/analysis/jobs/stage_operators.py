"""Which operators make one stage of a pipeline compute longer than another: the kernels of a rank of each, by type and shapes.

Ranks of one stage do the same work, so one rank stands for its stage: the one whose computing is nearest the mean of the stage.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from parsers.analysis.profiles.busy import COMMUNICATION, COPY, HOST
from parsers.deferred import pandas as pd

MOST_ROWS = 10
"""Operators that are listed."""
LEAST_PART = 0.5
"""A dimension of shapes is named if operators with it make this part of the difference ..."""
ELSEWHERE = 0.1
"""... and take at most this part of their time in the other stage."""
_NUMBER = re.compile(r"\d+")
_KEYS = ["type", "input_shapes"]


@dataclass(frozen=True, slots=True)
class TwoStages:
    """The stages that compute longest and shortest, with the ranks of each, those nearest its mean first."""

    longest: int
    shortest: int
    of_longest: tuple[int, ...]
    of_shortest: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class StageOperators:
    """What a rank of the longest stage computes more than one of the shortest, in ns per step.

    rows are the operators with the largest differences: type, input_shapes, count and other_count (executions in a step),
    own_ns, other_ns, more_ns. more_ns is the sum over all operators, of which those with the number `dimension` in a shape
    ("" for none that stands out) make dimension_ns.
    """

    rank: int
    other: int
    rows: pd.DataFrame
    more_ns: float
    dimension: str
    dimension_ns: float


def stage_means(steps: pd.DataFrame) -> pd.DataFrame:
    """Return what each stage computes in a mean step, from cluster_steps: stage, ranks, computing_ns, free_ns, total_ns.

    Without rows where no file tells stages or computing.
    """
    rows = _known(steps)
    means = {name: (name, "mean") for name in ("computing_ns", "free_ns", "total_ns")}
    found = rows.groupby("pp", sort=True).agg(ranks=("rank", "nunique"), **means).reset_index()
    return found.rename(columns={"pp": "stage"})


def two_stages(steps: pd.DataFrame) -> TwoStages | None:
    """Return the two stages to compare; None if fewer than two are known."""
    means = stage_means(steps)
    if len(means) < 2:
        return None
    took, names = means["computing_ns"].to_numpy(np.float64), means["stage"].tolist()
    longest, shortest = int(np.argmax(took)), int(np.argmin(took))
    if longest == shortest:
        return None
    of = [_nearest(steps, names[place], took[place]) for place in (longest, shortest)]
    return TwoStages(int(names[longest]), int(names[shortest]), of[0], of[1])


def _known(steps: pd.DataFrame) -> pd.DataFrame:
    return steps[(steps["kind"].astype("str") == "rank") & (steps["computing_ns"] > 0.0) & (steps["pp"] >= 0)]


def _nearest(steps: pd.DataFrame, stage: int, mean: float) -> tuple[int, ...]:
    rows = _known(steps)
    own = rows[rows["pp"] == stage].groupby("rank")["computing_ns"].mean()
    return tuple(int(str(rank)) for rank in (own - mean).abs().sort_values(kind="stable").index)


def stage_operators(
    ranks: tuple[int, int], kernels: tuple[pd.DataFrame, pd.DataFrame], without: int | None
) -> StageOperators | None:
    """Compare the kernels (schema KERNELS) of a rank of the longest stage with those of one of the shortest, in that order.

    without is a step that does not count, None for none. None if the kernels of either have no durations.
    """
    own, other = (_by_operator(one, without) for one in kernels)
    if own.empty or other.empty:
        return None
    named = other.rename(columns={"time": "other_ns", "count": "other_count"})
    both = own.rename(columns={"time": "own_ns"}).join(named, how="outer").fillna(0.0).reset_index()
    both["more_ns"] = both["own_ns"] - both["other_ns"]
    dimension, made = _dimension(both)
    rows = both.sort_values("more_ns", ascending=False, kind="stable").head(MOST_ROWS)
    rows = rows[rows["more_ns"] > 0.0][[*_KEYS, "count", "other_count", "own_ns", "other_ns", "more_ns"]]
    return StageOperators(*ranks, rows.reset_index(drop=True), float(both["more_ns"].sum()), dimension, made)


def _by_operator(kernels: pd.DataFrame, without: int | None) -> pd.DataFrame:
    """Return time and executions in a step of what computes on the device, by type and shapes of inputs."""
    known = ~kernels["core"].astype("str").isin((HOST, COPY, *COMMUNICATION)) & (kernels["duration_ns"] >= 0)
    if without is not None:
        known &= kernels["step"] != without
    rows = kernels[known.to_numpy()]
    steps = max(int(rows["step"].nunique()), 1)
    found = rows.groupby(_KEYS, observed=True)["duration_ns"].agg(["sum", "count"]) / steps
    found.index = pd.MultiIndex.from_tuples([(str(one), str(shapes)) for one, shapes in found.index], names=_KEYS)
    return found.rename(columns={"sum": "time"})


def _dimension(both: pd.DataFrame) -> tuple[str, float]:
    """Return the number in shapes that makes most of the difference and is rare in the other stage, and that part in ns."""
    sums: dict[str, list[float]] = {}
    for shapes, own, other in both[["input_shapes", "own_ns", "other_ns"]].itertuples(index=False):
        for number in set(_NUMBER.findall(shapes)):
            one = sums.setdefault(number, [0.0, 0.0])
            one[0] += own
            one[1] += other
    more = float(both["more_ns"].sum())
    named = {number: own - other for number, (own, other) in sums.items() if other <= ELSEWHERE * own}
    best = max(named, key=lambda number: named[number], default="")
    if not best or not named[best] >= LEAST_PART * more:
        return "", math.nan
    return best, named[best]

"""Times of ranks by step as tables: computing, idle, and what others wait for a rank."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.robust import median_of_others
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

_PARTS = {"total": "total_ns", "computing": "computing_ns", "free": "free_ns", "bubble": "own_bubble_ns"}
_MOST_OF = 0.5
"""A rank with fewer than this part of the steps that others have is not compared."""


@dataclass(frozen=True, slots=True, eq=False)
class RankTable:
    """Rows are ranks, columns the steps that all of them have; times in ns. free has the idle time before the first task;
    bubble what a rank waits for other stages, NaN where the files do not tell.

    late is what groups wait for a rank alone, summed over the operations of a step; came_last to how many of its operations it
    came last. late_in has a row for each rank in a group: member is the row of the rank, group the name of the group. dp are
    places in the data dimension, -1 for unknown.
    """

    ranks: Ints
    steps: Ints
    total: Floats
    computing: Floats
    free: Floats
    bubble: Floats
    late: Floats
    came_last: Floats
    operations: Floats
    dp: Ints
    member: Ints
    group: NDArray[Any]
    late_in: Floats

    def excess(self, name: str, stage: Ints) -> Floats:
        """Return by how much a rank is above the median of the other ranks of its stage; NaN without others."""
        values: Floats = getattr(self, name)
        found = np.full(values.shape, np.nan)
        for number in np.unique(stage[stage >= 0]).tolist():
            rows = np.flatnonzero(stage == number)
            found[rows] = values[rows] - median_of_others(values[rows])
        return found

    def waiting(self, row: int, chosen: NDArray[np.bool_]) -> tuple[str, float]:
        """Return the group that waits longest for a rank in the chosen steps, and how long in each of them, in ns."""
        pairs = np.flatnonzero(self.member == row)
        means = self.late_in[pairs][:, chosen].mean(axis=1)
        first = int(np.argmax(means))
        return str(self.group[pairs[first]]), float(means[first])


def rank_table(collectives: pd.DataFrame, steps: pd.DataFrame, judged: Collection[str]) -> RankTable | None:
    """Return the table of the ranks in the judged groups; None where no two ranks and a step of them are known.

    collectives is of schema COLLECTIVES, steps of CLUSTER_STEPS.
    """
    if not len(judged) or not len(collectives) or not len(steps):
        return None
    lateness = collectives["lateness_ns"].to_numpy()
    codes = collectives["group"].cat.codes.to_numpy()
    names = collectives["group"].cat.categories
    rows = np.flatnonzero(np.append(names.isin(list(judged)), False)[codes] & np.isfinite(lateness))
    parts = steps[(steps["kind"].astype("str") == "rank").to_numpy() & (steps["total_ns"] > 0.0).to_numpy()]
    parts = parts.drop_duplicates(["rank", "step"])
    ranks, numbers = _common(parts[parts["rank"].isin(np.unique(collectives["rank"].to_numpy()[rows]))])
    if len(ranks) < 2 or not len(numbers):
        return None
    grids = {name: _grid(parts, ranks, numbers, parts[column].to_numpy(np.float64)) for name, column in _PARTS.items()}
    chosen = collectives.iloc[rows]
    own = lateness[rows]
    late = _summed(chosen, ranks, numbers, own)
    came_last = _summed(chosen, ranks, numbers, (own > 0.0).astype(np.float64))
    operations = _summed(chosen, ranks, numbers, np.ones(len(rows)))
    inside, row, column = _cells(chosen, ranks, numbers)
    pairs, pair = np.unique(codes[rows][inside].astype(np.int64) * len(ranks) + row[inside], return_inverse=True)
    late_in = np.bincount(pair * len(numbers) + column[inside], own[inside], len(pairs) * len(numbers))
    if "preparing_ns" in parts:  # a host that begins a step late leaves the device idle before its first task
        grids["free"] += np.nan_to_num(_grid(parts, ranks, numbers, parts["preparing_ns"].to_numpy(np.float64)))
    first = parts.drop_duplicates("rank").set_index("rank")
    dp = first["dp"].reindex(ranks, fill_value=-1).to_numpy(np.int64) if "dp" in first else np.full(len(ranks), -1, np.int64)
    return RankTable(
        ranks, numbers, grids["total"], grids["computing"], grids["free"], grids["bubble"], late, came_last, operations, dp,
        pairs % len(ranks), names.to_numpy(object)[pairs // len(ranks)], late_in.astype(np.float64).reshape(-1, len(numbers)),
    )  # fmt: skip


def _common(parts: pd.DataFrame) -> tuple[Ints, Ints]:
    """Return the ranks that are compared and the steps that all of them have; a rank with few steps is left out."""
    counts = parts.groupby("rank")["step"].size()
    if counts.empty:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    kept = counts.index[counts.to_numpy() >= _MOST_OF * counts.max()]
    own = parts[parts["rank"].isin(kept)]
    having = own.groupby("step")["rank"].size()
    return np.sort(kept.to_numpy(np.int64)), np.sort(having.index[having.to_numpy() == len(kept)].to_numpy(np.int64))


def _cells(frame: pd.DataFrame, ranks: Ints, numbers: Ints) -> tuple[NDArray[Any], Ints, Ints]:
    rank, step = frame["rank"].to_numpy(), frame["step"].to_numpy()
    row, column = np.searchsorted(ranks, rank), np.searchsorted(numbers, step)
    row, column = np.minimum(row, len(ranks) - 1), np.minimum(column, len(numbers) - 1)
    return (ranks[row] == rank) & (numbers[column] == step), row, column


def _grid(frame: pd.DataFrame, ranks: Ints, numbers: Ints, values: Floats) -> Floats:
    found = np.full((len(ranks), len(numbers)), np.nan)
    inside, row, column = _cells(frame, ranks, numbers)
    found[row[inside], column[inside]] = values[inside]
    return found


def _summed(frame: pd.DataFrame, ranks: Ints, numbers: Ints, values: Floats) -> Floats:
    inside, row, column = _cells(frame, ranks, numbers)
    shape = len(ranks), len(numbers)
    cells = row[inside] * len(numbers) + column[inside]
    return np.bincount(cells, values[inside], shape[0] * shape[1]).astype(np.float64).reshape(shape)

"""What the steps of all ranks are made of, as tables of ranks x steps.

A bar of a rank stacks parts that add up to the step: `computing` that overlaps no communication, `overlapped`, `exposed`
communication without the bubble, `bubble`, `free`; and `preparing`, which lies before the step. Legacy files of data-parallel
jobs have `interval`, `forward_backward` and `tail` instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.warm_up import first_differs
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

METRICS = (
    "total", "computing", "exposed", "overlapped", "communication", "free", "bubble", "preparing", "interval",
    "forward_backward", "tail",
)  # fmt: skip
"""Times of a step that can be compared between ranks, in ns."""
PARTS = ("computing", "overlapped", "exposed", "bubble", "free", "preparing")
LEGACY = ("interval", "forward_backward", "tail")
"""Parts in the order in which a bar stacks them."""
_COLUMNS = {name: "own_bubble_ns" if name == "bubble" else f"{name}_ns" for name in METRICS}


@dataclass(frozen=True, slots=True, eq=False)
class RankSteps:
    """Times of ranks x steps in ns by metric; NaN for unknown.

    steps are the numbers of the steps, -1 for one that was not marked; session is the place of the session that each is of.
    chosen is the place of the session whose steps are meant where several have one of a number, and that the mean is of; None
    if the steps of all sessions are different ones.
    """

    ranks: Ints
    steps: Ints
    session: Ints
    values: Mapping[str, Floats]
    chosen: int | None = None

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that some rank has a value of, in the order of METRICS."""
        return tuple(name for name in METRICS if bool(np.isfinite(self.values[name]).any()))

    def place(self, step: int) -> int | None:
        """Return the column of a step by its number; of several the first, None for none."""
        found = np.flatnonzero((self.steps == step) & self._own())
        return int(found[0]) if len(found) else None

    def at(self, name: str, step: int | None = None) -> Floats:
        """Return the times of all ranks in one step, or for None their mean over the steps but a warm-up; NaN for unknown.

        A step that nobody has is the mean, too.
        """
        return self.of(self.values[name], step)

    def of(self, values: Floats, step: int | None = None) -> Floats:
        """Return values of ranks x steps in one step, or their mean, as `at`."""
        place = None if step is None else self.place(step)
        if place is not None:
            return values[:, place]
        own = self._own()
        first = np.flatnonzero(own)[:1]
        if len(first) and self._warms_up(own):
            own[first] = False
        return mean(values if own.all() else values[:, own], 1)

    def _warms_up(self, own: NDArray[np.bool_]) -> bool:
        return bool((self.steps[own] >= 0).all()) and first_differs(mean(self.values["total"][:, own], 0))

    def _own(self) -> NDArray[np.bool_]:
        return np.ones(len(self.steps), np.bool_) if self.chosen is None else self.session == self.chosen

    def stacked(self, step: int | None = None) -> tuple[tuple[str, ...], Floats]:
        """Return the names of the parts that the ranks have, and their times, shape (ranks, parts); 0 for unknown."""
        known = {name: np.nan_to_num(self.at(name, step)) for name in (*PARTS, *LEGACY)}
        if not (known["computing"].any() or known["exposed"].any()) and known["forward_backward"].any():
            return LEGACY, np.column_stack([known[name] for name in LEGACY])
        known["computing"] = np.maximum(known["computing"] - known["overlapped"], 0.0)
        known["bubble"] = np.minimum(known["bubble"], known["exposed"])
        known["exposed"] = known["exposed"] - known["bubble"]
        names = tuple(name for name in PARTS if known[name].any()) or ("computing",)
        return names, np.column_stack([known[name] for name in names])


def rank_steps(frames: Sequence[pd.DataFrame], chosen: int | None = None) -> RankSteps:
    """Return the steps of all ranks of a job (schema CLUSTER_STEPS), and of other sessions of it, in their order.

    chosen is the place of the chosen session, None if the steps of all are different ones. Of a step that a rank has twice the
    first one counts.
    """
    parts = []
    for session, frame in enumerate(frames):
        rows = frame[(frame["kind"] == "rank").to_numpy()]
        rows = rows[~rows.duplicated(["rank", "step"]).to_numpy()]
        parts.append((session, rows, np.unique(rows["step"].to_numpy())))
    ranks = np.unique(np.concatenate([np.empty(0, np.int64), *(rows["rank"].to_numpy() for _, rows, _ in parts)]))
    starts = np.cumsum([0, *(len(steps) for _, _, steps in parts)])
    values = {name: np.full((len(ranks), int(starts[-1])), np.nan) for name in METRICS}
    for (_, rows, steps), start in zip(parts, starts.tolist(), strict=False):
        at = np.searchsorted(ranks, rows["rank"].to_numpy()), start + np.searchsorted(steps, rows["step"].to_numpy())
        for name, column in _COLUMNS.items():
            values[name][at] = rows[column].to_numpy()
    numbers = np.concatenate([np.empty(0, np.int64), *(steps for _, _, steps in parts)])
    sessions = np.concatenate([np.empty(0, np.int64), *(np.full(len(steps), one, np.int64) for one, _, steps in parts)])
    return RankSteps(ranks, numbers, sessions, values, chosen)


def mean(values: Floats, axis: int) -> Floats:
    """Return the mean of the known values along an axis; NaN where none is known."""
    known = np.isfinite(values)
    number = known.sum(axis=axis)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where(known, values, 0.0).sum(axis=axis) / np.where(number > 0, number, np.nan)
    return found


def by_row(values: Floats, row: Ints, rows: int, *, highest: bool = False) -> Floats:
    """Return the mean of the known values of the ranks of each row, or the highest; NaN where none is known.

    values has a row (or a number) for each rank; row is where it belongs, -1 for nowhere.
    """
    table = values.reshape(len(values), -1)
    found = np.full((rows, table.shape[1]), -np.inf if highest else 0.0)
    known = np.isfinite(table) & (row >= 0)[:, None]
    number = np.zeros_like(found)
    at = np.maximum(row, 0)
    np.add.at(number, at, known.astype(np.float64))
    if highest:
        np.maximum.at(found, at, np.where(known, table, -np.inf))
    else:
        np.add.at(found, at, np.where(known, table, 0.0))
        found /= np.where(number > 0.0, number, 1.0)
    found[number == 0.0] = np.nan
    shaped: Floats = found.reshape((rows, *values.shape[1:]))
    return shaped

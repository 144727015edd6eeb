"""Final values: the last and the best value of a series, and estimates over the series of a group.

Values are never smoothed. The last value is that of the last step after restarts are resolved (`segments.resolved`), finite or
not: every list, table and chart takes it from here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.seeds import Estimate, improvement, interquartile_mean
from parsers.analysis.curves.segments import resolved
from parsers.model import Floats, Series


class LastValue(NamedTuple):
    """The last value of a series and its step, and the last finite one and its step; NaN and -1 if there is none."""

    value: float
    step: int
    finite: float
    finite_step: int


@dataclass(frozen=True, slots=True)
class Final:
    """Last and best value of a run and their steps; NaN and -1 if there is none.

    finite is the last value that is finite. points is the number of values with restarts resolved.
    """

    last: float
    last_step: int
    finite: float
    finite_step: int
    best: float
    best_step: int
    points: int

    @property
    def ended(self) -> LastValue:
        """Return the last value."""
        return LastValue(self.last, self.last_step, self.finite, self.finite_step)


def last_value(series: Series) -> LastValue:
    """Return the last value of a series that is not empty, recorded or resolved."""
    # Whatever came before, the value written last is superseded by none, and all that are not superseded have lower steps.
    value, step = float(series.value[-1]), int(series.step[-1])
    if math.isfinite(value):
        return LastValue(value, step, value, step)
    kept = resolved(series)
    finite = np.flatnonzero(np.isfinite(kept.value))
    if not finite.size:
        return LastValue(value, step, math.nan, -1)
    return LastValue(value, step, float(kept.value[finite[-1]]), int(kept.step[finite[-1]]))


def final(series: Series, direction: str) -> Final:
    """Return the final values of one series; direction is "min", "max" or "" as in `parsers.lineage.table.better`."""
    step, value = (kept := resolved(series)).step, kept.value
    best, at = math.nan, -1
    if direction and (finite := np.isfinite(value)).any():
        if direction == "min":
            place = int((value if finite.all() else np.where(finite, value, np.inf)).argmin())
        else:
            place = int((value if finite.all() else np.where(finite, value, -np.inf)).argmax())
        best, at = float(value[place]), int(step[place])
    return Final(*last_value(kept), best, at, step.size)


def estimates(
    finals: Sequence[Final], under: Sequence[Final], direction: str, *, itself: bool = False
) -> tuple[Estimate, Estimate, float, Estimate | None]:
    """Return estimates of the last and of the best value of a group, and how it compares with the baseline `under`.

    These are the difference of last values, NaN without a baseline, and the estimated probability of being better, None for a
    baseline of one run, a tag of which neither direction is better, or the baseline itself. Where one direction is better, no
    run is left out: a last value that is not finite counts as worse than all others.
    """
    last, best = _lasts(finals), np.array([one.best for one in finals])
    theirs = _lasts(under)
    wins = None
    if len(under) > 1 and direction and not itself:
        wins = improvement(*_ranked(last, theirs, direction), direction)
    typical = _typical(last, direction)
    minus = typical.value - _typical(theirs, direction).value if under else math.nan
    return typical, interquartile_mean(best), minus, wins


def _typical(values: Floats, direction: str) -> Estimate:
    """Return the interquartile mean in which values that are not finite are the worst; NaN if they are more than a quarter.

    Up to a quarter they are cut off as the worst values are, and their size is of no account.
    """
    finite = values[np.isfinite(values)]
    lost = values.size - finite.size
    if not direction or not lost or not finite.size:
        return interquartile_mean(values)
    if lost > values.size // 4:
        return Estimate(math.nan, math.nan, math.nan, finite.size)
    worst = finite.max() if direction == "min" else finite.min()
    return interquartile_mean(np.concatenate((finite, np.full(lost, worst))))._replace(n=finite.size)


def _ranked(values: Floats, others: Floats, direction: str) -> tuple[Floats, Floats]:
    """Return the values of two groups as their common ranks; what is not finite comes last, and ties with its like."""
    both = np.concatenate((values, others))
    worst = np.inf if direction == "min" else -np.inf
    ranks = np.unique(np.where(np.isfinite(both), both, worst), return_inverse=True)[1].astype(np.float64)
    return ranks[: values.size], ranks[values.size :]


def _lasts(finals: Sequence[Final]) -> Floats:
    return np.array([one.last for one in finals])

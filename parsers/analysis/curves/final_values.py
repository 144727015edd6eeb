"""Final values: the last and the best value of a series, and estimates over the series of a group.

Values are never smoothed. Only the last value that was written for a step counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parsers.analysis.curves.groups import newest
from parsers.analysis.curves.seeds import Estimate, improvement, interquartile_mean
from parsers.model import Floats, Series


@dataclass(frozen=True, slots=True)
class Final:
    """Last and best value of a run and their steps; NaN and -1 if there is none. points is the number of values."""

    last: float
    last_step: int
    best: float
    best_step: int
    points: int


def final(series: Series, direction: str) -> Final:
    """Return the final values of one series; direction is "min", "max" or "" as in `parsers.lineage.table.better`."""
    keep = newest(series.step)
    step, value = series.step[keep], series.value[keep]
    finite = np.flatnonzero(np.isfinite(value))
    best, at = math.nan, -1
    if direction and finite.size:
        place = finite[value[finite].argmin() if direction == "min" else value[finite].argmax()]
        best, at = float(value[place]), int(step[place])
    return Final(float(value[-1]), int(step[-1]), best, at, series.step.size)


def estimates(
    finals: Sequence[Final], under: Sequence[Final], direction: str, *, itself: bool = False
) -> tuple[Estimate, Estimate, float, Estimate | None]:
    """Return estimates of the last and of the best value of a group, and how it compares with the baseline `under`.

    These are the difference of last values, NaN without a baseline, and the estimated probability of being better, None for a
    baseline of one run, a tag of which neither direction is better, or the baseline itself.
    """
    last, best = _lasts(finals), np.array([one.best for one in finals])
    wins = None
    if len(under) > 1 and direction and not itself:
        wins = improvement(last, _lasts(under), direction)
    minus = interquartile_mean(last).value - interquartile_mean(_lasts(under)).value if under else math.nan
    return interquartile_mean(last), interquartile_mean(best), minus, wins


def _lasts(finals: Sequence[Final]) -> Floats:
    return np.array([one.last for one in finals])

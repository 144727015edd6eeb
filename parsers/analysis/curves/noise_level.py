"""Measures the noise of a curve relative to its level, so that runs with different batch sizes can be compared."""

from __future__ import annotations

import math

import numpy as np

from parsers.model import Floats

_NORMAL = 0.6745
"""Median absolute deviation of normal noise over its standard deviation."""


def noise_level(value: Floats, fewest: int) -> float | None:
    """Return the standard deviation of the noise between neighbouring points as a fraction of the level.

    Only finite values of the second half count, where a loss no longer falls steeply. The deviation of each point from the mean
    of its neighbours, whose variance is 1.5 times that of independent noise, hardly sees the trend; its median ignores spikes.
    None if fewer than `fewest` values are finite, or if the level is 0.
    """
    finite = value[np.isfinite(value)]
    if finite.size < max(fewest, 3):
        return None
    late = finite[finite.size // 2 :] if finite.size >= 6 else finite
    level = abs(float(np.median(late)))
    away = np.abs(late[1:-1] - (late[:-2] + late[2:]) / 2.0)
    return float(np.median(away)) / (_NORMAL * math.sqrt(1.5)) / level if level > 0.0 else None


def expected_noise(noise: float, batch: float, other_batch: float) -> float:
    """Return the noise of a run with batch size `batch`, given that of a run with `other_batch`.

    The standard error of a mean of n independent samples falls with 1/sqrt(n).
    """
    return noise * math.sqrt(other_batch / batch)

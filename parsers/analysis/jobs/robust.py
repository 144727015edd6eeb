"""How far a value lies from those of its peers, not moved by a few that are far off."""

from __future__ import annotations

import functools
import math

import numpy as np

from parsers.model import Floats

NORMAL = 1.4826
"""Standard deviation of normal values / median distance from their median."""


def z_scores(values: Floats, least: float) -> Floats:
    """Return (value - median) / max(1.4826 * median distance, least * median) for each value; NaN stays NaN.

    least is the smallest relative spread that is believed: equal peers would else make every noise an outlier.
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return np.full(len(values), np.nan)
    middle = float(np.median(known))
    spread = max(NORMAL * float(np.median(np.abs(known - middle))), least * abs(middle))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values == middle, 0.0, (values - middle) / spread)


def median_of_others(values: Floats) -> Floats:
    """Return for each value the median of the others in its column; shape (ranks, steps), NaN for a single rank.

    A median that includes the value itself would show half of what one of two ranks has too much.
    """
    count = len(values)
    if count < 2:
        return np.full(values.shape, np.nan)
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.broadcast_to(np.arange(count)[:, None], order.shape), axis=0)
    low, high = (count - 2) // 2, (count - 1) // 2
    found = [np.take_along_axis(ordered, middle + (place <= middle), axis=0) for middle in (low, high)]
    middle_value: Floats = (found[0] + found[1]) / 2.0
    return middle_value


def middle_mean(values: Floats) -> tuple[Floats, Floats]:
    """Return the mean of each row without its lowest and highest value, and the variance of that mean (Yuen 1974).

    The variance is that of the values with the lowest and highest drawn in to their neighbours, n / (n - 2)^2 times; its
    degrees of freedom are n - 3. Rows of fewer than four values have no variance: NaN.
    """
    count = values.shape[1]
    if count < 4:
        return values.mean(axis=1), np.full(len(values), np.nan)
    ordered = np.sort(values, axis=1)
    mean = ordered[:, 1:-1].mean(axis=1)
    ordered[:, 0], ordered[:, -1] = ordered[:, 1], ordered[:, -2]
    return mean, ordered.var(axis=1, ddof=1) * count / (count - 2) ** 2


@functools.lru_cache(maxsize=256)
def t_limit(level: float, freedom: int) -> float:
    """Return the t that chance exceeds with this probability, of Student's distribution with whole degrees of freedom."""
    low, high = 0.0, 1.0
    while _beyond(high, freedom) > level and high < 1e9:
        high *= 2.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _beyond(middle, freedom) > level else (low, middle)
    return high


def _beyond(t: float, freedom: int) -> float:
    """Return the probability of more than t >= 0 (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term, total = (cosine, 0.0) if odd else (1.0, 0.0)
    for power in range(1 if odd else 0, freedom - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    within = 2.0 / math.pi * (angle + sine * total) if odd else sine * total
    return max((1.0 - within) / 2.0, 0.0)

"""Tells a curve that settled, as exponentials and powers do, from one that stopped on its way.

Noise hides where a settling curve levels off, so that a kink fits it by chance. It stopped only if a kink explains its levels
better than any course that settles does, by more than the noise of the levels allows.
"""

from __future__ import annotations

import math

import numpy as np

from parsers.model import Floats

_RATES = tuple(float(rate) for rate in np.geomspace(0.5, 60.0, 16))
"""e-folds of an exponential over the levels; every other of the larger ones is the steepness of a logistic curve."""
_POWERS = tuple((steep, exponent) for steep in (3.0, 10.0, 30.0, 100.0, 300.0) for exponent in (0.3, 0.6, 0.9, 1.3, 2.0))
"""(steepness, exponent) of a power."""
_MIDDLES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
"""Where a logistic curve is half way."""
_SURE = 14.0
"""By so many mean squares of what the kink leaves it must explain more."""
_FELL = 10.0
"""A curve fell if that explains so many mean squares of what it leaves."""
_MOST_TOGETHER = 8
"""Levels that may be alike because noise is correlated."""


def settles(level: Floats, first: int) -> bool:
    """Return whether a course that settles explains levels as well as one that stays the same from `first` on.

    Up to there it may have any slope and curvature, in two ways: over the whole of it, or over the part before it only.
    """
    for begin in {0, max(0, 2 * first - level.size)}:
        part, at = level[begin:], first - begin
        if at < 4 or part.size - at < 4:
            continue
        kinked = _kinked(part, at)
        left = float(kinked @ kinked)
        spread = left / (part.size - 4) * _together(kinked)
        settled = _settled(part)[1]
        if float(settled @ settled) - left <= _SURE * spread:
            return True
    return False


def improved(level: Floats) -> bool:
    """Return whether a curve, of which less is better, fell and settled, by more than the noise of its levels would have it."""
    explained, left = _settled(level)
    return explained > _FELL * float(left @ left) / (level.size - 3) * _together(left)


def _kinked(part: Floats, at: int) -> Floats:
    """Return what a parabola up to a place and the constant it ends in leave."""
    best: Floats | None = None
    step = max(1, part.size // 64)
    for place in range(max(4, at - 4 * step), min(part.size - 4, at + 4 * step) + 1, step):
        x = np.minimum(np.arange(part.size) - place, 0.0) / part.size
        basis, _ = np.linalg.qr(np.stack((np.ones_like(x), x, x * x), axis=1))
        left = part - basis @ (basis.T @ part)
        if best is None or float(left @ left) < float(best @ best):
            best = left
    return best if best is not None else part - part.mean()


def _settled(part: Floats) -> tuple[float, Floats]:
    """Return (the sum of squares that the best falling and settling course explains, what it leaves)."""
    x = np.linspace(0.0, 1.0, part.size)[:, None]
    rates, powers = np.array(_RATES), np.array(_POWERS).T
    steepness, middles = (one.ravel() for one in np.meshgrid(rates[4::2], np.array(_MIDDLES)))
    logistic = 1.0 / (1.0 + np.exp(np.clip(steepness * (x - middles), -50.0, 50.0)))
    shapes = np.concatenate((np.exp(-rates * x), (1.0 + powers[0] * x) ** -powers[1], logistic), axis=1)
    shapes -= shapes.mean(axis=0)
    left = part - part.mean()
    power = (shapes * shapes).sum(axis=0)
    size = np.where(power > 0.0, np.maximum(left @ shapes, 0.0) / np.maximum(power, np.finfo(float).tiny), 0.0)
    best = int((size * size * power).argmax())
    return float(size[best] ** 2 * power[best]), left - size[best] * shapes[:, best]


def _together(left: Floats) -> float:
    """Return how many neighbouring values tell as much as one independent one: 1 for white noise."""
    power = float(left @ left)
    if not power > 0.0:
        return 1.0
    total = 1.0
    for lag in range(1, min(_MOST_TOGETHER, left.size // 4) + 1):
        alike = float(left[lag:] @ left[:-lag]) / power
        if alike < 2.0 / math.sqrt(left.size):
            break
        total += 2.0 * alike
    return total

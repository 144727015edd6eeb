"""A smooth curve through scattered points, with a 95 % band, and what it says: rises, falls, has a peak or a best region.

Cubic B-splines on equal knots with a penalty on second differences (Eilers and Marx, Statistical Science 11, 1996). Its weight
is chosen by generalised cross-validation; as it grows, the curve becomes the least-squares line. The band is the Bayesian one
of Wahba (1983) and Nychka (1988), which covers the curve itself, bias included, at 95 % of the places on average. Many points
are first reduced to the means of bins.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.student import student
from parsers.analysis.lineage.strengths import spearman
from parsers.model import Floats

GRID = 81
"""Places at which a curve is returned."""
_SEGMENTS = 12
"""Maximum pieces between knots."""
_BINS = 200
_PENALTIES = 10.0 ** np.arange(-3.0, 7.5, 0.5)
_STRAIGHT = 1e9
_LINEAR = 2.3
"""Up to these degrees of freedom a curve is a straight line to the eye."""
_SURE = 2.0
"""A peak stands out by this many standard errors over both ends."""
_ROUNDS_TO_NONE = 0.005
"""A smaller rho is shown as 0.00."""
_FEWEST = 5
"""Minimum number of different places for anything but a line."""


class Fit(NamedTuple):
    """A curve at GRID equal places x: its value y, the ends of its 95 % band, and its degrees of freedom (2: a line)."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats
    freedom: float

    @property
    def straight(self) -> bool:
        """Whether the curve is a straight line."""
        return self.freedom <= _LINEAR


class Best(NamedTuple):
    """Where a curve is best, the ends of the region that may be as good, and whether it is the lowest or highest place."""

    x: float
    low: float
    high: float
    end: int


def fitted(x: Floats, y: Floats) -> Fit | None:
    """Fit a curve to points of shape (n,); None with fewer than 3 finite points, or all at one place or too far apart."""
    finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[finite], y[finite]
    if len(x) < 3 or x.min() == x.max():
        return None
    begin, span = float(x.min()), float(x.max() / 2.0 - x.min() / 2.0)
    middle, unit = float(y.mean()), float(np.abs(y - y.mean()).max())
    if not (math.isfinite(span) and span > 0.0 and math.isfinite(unit) and math.isfinite(middle)):
        return None
    unit = unit or 1.0
    place, weight, mean, within = _binned((x / 2.0 - begin / 2.0) / span, (y - middle) / unit)
    segments = min(_SEGMENTS, max(1, len(place) - 1))
    basis = _basis(place, segments)
    gram, right = basis.T @ (basis * weight[:, None]), basis.T @ (weight * mean)
    penalty = np.diff(np.eye(segments + 3), 2, axis=0)
    penalty = penalty.T @ penalty
    n = len(x)
    best: tuple[float, Floats, Floats, float, float] | None = None
    for strength in _PENALTIES if len(place) >= _FEWEST else ():
        best = _better_of(best, gram, right, penalty, float(strength), (basis, weight, mean, within, n))
    best = _better_of(best, gram, right, penalty, _STRAIGHT, (basis, weight, mean, within, n))
    assert best is not None
    _, inverse, parameters, freedom, error = best
    grid = np.linspace(0.0, 1.0, GRID)
    at = _basis(grid, segments)
    deviation = np.sqrt(np.maximum(0.0, np.einsum("ij,jk,ik->i", at, inverse, at)) * error)
    half = student(max(1, round(n - freedom))) * deviation
    curve = at @ parameters
    level = middle + unit * curve
    return Fit(begin * (1.0 - grid) + float(x.max()) * grid, level, level - unit * half, level + unit * half, freedom)


def _better_of(
    best: tuple[float, Floats, Floats, float, float] | None, gram: Floats, right: Floats, penalty: Floats, strength: float,
    data: tuple[Floats, Floats, Floats, float, int],
) -> tuple[float, Floats, Floats, float, float]:  # fmt: skip
    """Return (score, inverse, parameters, degrees of freedom, variance) of this strength of the penalty, or the best so far."""
    basis, weight, mean, within, n = data
    inverse = np.asarray(np.linalg.inv(gram + strength * penalty), np.float64)
    parameters = inverse @ right
    freedom = float(np.trace(inverse @ gram))
    left = mean - basis @ parameters
    squares = float(weight @ (left * left)) + within
    # A little dearer than plain cross-validation, which wiggles.
    score = squares / max(1e-9, n - 1.4 * freedom) ** 2 if n > 1.4 * freedom else math.inf
    if best is not None and best[0] <= score:
        return best
    return score, inverse, parameters, freedom, squares / max(1.0, n - freedom)


def _binned(x: Floats, y: Floats) -> tuple[Floats, Floats, Floats, float]:
    """(places, numbers of points, means, sum of squares within them) of equal places, or of bins where there are many."""
    places, codes = np.unique(x, return_inverse=True)
    if len(places) > _BINS:
        codes = np.minimum((x * _BINS).astype(np.int64), _BINS - 1)
        codes = np.unique(codes, return_inverse=True)[1]
        places = np.bincount(codes, weights=x) / np.bincount(codes)
    weight = np.bincount(codes).astype(np.float64)
    mean = np.bincount(codes, weights=y) / weight
    left = y - mean[codes]
    return places, weight, mean, float(left @ left)


def _basis(x: Floats, segments: int) -> Floats:
    """Cubic B-splines on equal knots over [0, 1] at x; shape (places, segments + 3)."""
    at = x[:, None] * segments - np.arange(-3, segments)[None, :]
    t = np.abs(at - 2.0)
    inner, outer = (4.0 - 6.0 * t * t + 3.0 * t**3) / 6.0, (2.0 - t) ** 3 / 6.0
    return np.where(t < 1.0, inner, np.where(t < 2.0, outer, 0.0))


def shape(x: Floats, y: Floats, fit: Fit | None) -> str:
    """Return what points and their curve say together: "up", "down", "peak", "valley", or "" where they say nothing clear.

    "up" and "down" are the sign of Spearman's rho, if it is not shown as 0.00, and that of the curve from one end to the other,
    which must agree.
    """
    if fit is None:
        return ""
    for name, sign in (("peak", 1.0), ("valley", -1.0)):
        at = int((sign * fit.y).argmax())
        ends = [sign * (fit.y[at] - fit.y[end]) for end in (0, -1)]
        errors = [math.hypot(_error(fit, at), _error(fit, end)) for end in (0, -1)]
        if all(over > _SURE * error and over > 0.0 for over, error in zip(ends, errors, strict=True)):
            return name
    rho = spearman(x, y)
    rise = float(np.sign(fit.y[-1] - fit.y[0]))
    return "" if not rho.sign or rho.value < _ROUNDS_TO_NONE or rho.sign != rise else "up" if rho.sign > 0 else "down"


def _error(fit: Fit, at: int) -> float:
    return float(fit.high[at] - fit.low[at]) / 3.92


def best_region(fit: Fit, wanted: str) -> Best | None:
    """Return where a curve is best, by "min" or "max"; None where no place is clearly worse, so that all may be as good."""
    y, bound = (fit.y, fit.high) if wanted == "min" else (-fit.y, -fit.low)
    at = int(y.argmin())
    good = y <= bound[at]
    if good.all():
        return None
    first, last = at, at
    while first > 0 and good[first - 1]:
        first -= 1
    while last < len(y) - 1 and good[last + 1]:
        last += 1
    end = -1 if at == 0 else 1 if at == len(y) - 1 else 0
    return Best(float(fit.x[at]), float(fit.x[first]), float(fit.x[last]), end)

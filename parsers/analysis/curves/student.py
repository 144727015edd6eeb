"""Quantiles of Student's t for any level and any number of degrees of freedom, whole or not, as Welch's test needs them."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_MOST_TERMS = 10_000
_ENOUGH = 1e-15
"""Relative change from which on the continued fraction counts as converged."""
_TINY = 1e-300
_LARGE = 1e7
"""From so many degrees of freedom on the normal quantile differs by less than 1e-6."""


@lru_cache(maxsize=1024)
def student(freedom: float) -> float:
    """Return the 97.5 % quantile of Student's t, which two-sided intervals of 95 % take; ValueError for freedom <= 0."""
    return upper_quantile(0.025, freedom)


def upper_tail(t: float, freedom: float) -> float:
    """Return the probability that Student's t with freedom > 0 degrees of freedom exceeds t >= 0.

    Half the regularised incomplete beta function at freedom / (freedom + t^2) (Abramowitz and Stegun 26.7.1).
    """
    square = t * t
    return 0.5 * _beta_share(freedom / (freedom + square), square / (freedom + square), freedom / 2.0)


def upper_quantile(alpha: float, freedom: float) -> float:
    """Return what t exceeds with the probability alpha, 0 < alpha < 0.5.

    Newton's method on the logarithms of t and of its tail, between which the curve is concave, so that it converges from any
    place. ValueError for other alpha, or freedom that is not positive.
    """
    if not 0.0 < alpha < 0.5 or not freedom > 0.0:
        raise ValueError(f"expected 0 < alpha < 0.5 and freedom > 0, found {alpha} and {freedom}")
    t = -NormalDist().inv_cdf(alpha)
    if freedom >= _LARGE:
        return t
    scale = math.lgamma((freedom + 1.0) / 2.0) - math.lgamma(freedom / 2.0) - 0.5 * math.log(freedom * math.pi)
    for _ in range(100):
        tail = upper_tail(t, freedom)
        density = math.exp(scale - (freedom + 1.0) / 2.0 * math.log1p(t * t / freedom))
        change = math.log(tail / alpha) * tail / (t * density)
        t *= math.exp(change)
        if abs(change) < 1e-13:
            break
    return t


def _beta_share(x: float, rest: float, a: float) -> float:
    """Return the regularised incomplete beta function I_x(a, 1/2); rest is 1 - x, exact where x is near 1."""
    if x <= 0.0 or rest <= 0.0:
        return 0.0 if x <= 0.0 else 1.0
    front = math.exp(math.lgamma(a + 0.5) - math.lgamma(a) - math.lgamma(0.5) + a * math.log(x) + 0.5 * math.log(rest))
    if x < (a + 1.0) / (a + 2.5):
        return front * _fraction(x, a, 0.5) / a
    return 1.0 - front * _fraction(rest, 0.5, a) / 0.5


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method."""
    c, d = 1.0, 1.0 / _apart(1.0 - (a + b) * x / (a + 1.0))
    found = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for term in (even, odd):
            d = 1.0 / _apart(1.0 + term * d)
            c = _apart(1.0 + term / c)
            found *= c * d
        if abs(c * d - 1.0) < _ENOUGH:
            break
    return found


def _apart(value: float) -> float:
    """Return a value that may be divided by."""
    return value if abs(value) >= _TINY else _TINY

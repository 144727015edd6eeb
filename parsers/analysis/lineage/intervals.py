"""95 % confidence intervals of strengths, which have no sign: of |r|, and of the share that categories explain.

A strength cannot be below zero, so near zero an interval taken from one with two equal tails covers up to 97.5 %. Here the
ends are those noncentralities L >= 0 at which what was measured still lies within the middle 95 % of its own distribution, as
always when a test is inverted (Neyman 1937); but of the 5 % outside, none lies below while L is small, and half of it from
there on, quickly: below(L) = 2.5 % (1 - (L0 / L)^2) where L > L0 = 2.7 sqrt(d), d the degrees of freedom. 2.7 is the square
of the normal distribution's 95 % point, where the interval of a measured zero ends. So coverage is 95 % at every L.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

_OUTSIDE = 0.05
_LEAST = 2.7
_TINY = 1e-300
_ROUNDS = 60
_PART = 1e-9
"""Relative precision of the ends."""
_LARGEST = 1e7
"""Maximum noncentrality: beyond it a strength is 1 to four digits in up to a thousand runs."""


def correlation(size: float, error: Callable[[float], float]) -> tuple[float, float]:
    """Return the interval of the strength |rho| for a measured |r| = size < 1, if atanh r is normal about atanh rho.

    error(rho) is its standard error at a strength, so that the noncentrality is (atanh rho / error)^2.
    """
    z = math.atanh(size)

    def noncentrality(rho: float) -> float:
        return (math.atanh(rho) / error(rho)) ** 2

    def up_to(rho: float) -> float:
        one = error(rho) * math.sqrt(2)
        return (math.erfc((math.atanh(rho) - z) / one) - math.erfc((math.atanh(rho) + z) / one)) / 2

    return _ends(up_to, noncentrality, _LEAST, 1.0 - 2**-52)


def explained(share: float, groups: int, n: int) -> tuple[float, float]:
    """Return the interval of the share of variance (0 to 1) that groups explain of n values, normal about their group means.

    share is the eta^2 measured: F = share (n - k) / ((1 - share) (k - 1)) has a noncentral F distribution of noncentrality
    L, which stands for the share L / (L + n). NaN where n <= k or k < 2.
    """
    first, second = groups - 1, n - groups
    if first < 1 or second < 1:
        return float("nan"), float("nan")
    if share >= 1.0:
        return 1.0, 1.0
    most = min(_LARGEST, 16.0 * (share / (1.0 - share) + 1.0) * (n + 32.0))
    low, high = _ends(lambda at: beta_cdf(share, first / 2, second / 2, at), lambda at: at, _LEAST * math.sqrt(first), most)
    return low / (low + n), high / (high + n) if high < _LARGEST else 1.0


def _ends(
    up_to: Callable[[float], float], noncentrality: Callable[[float], float], least: float, most: float
) -> tuple[float, float]:
    """Parameters from 0 to most between which a measurement is likely enough; up_to(p) is the chance at p of one as small."""

    def below(at: float) -> float:
        distance = noncentrality(at)
        return _OUTSIDE / 2 * (1.0 - (least / distance) ** 2) if distance > least else 0.0

    first = _root(lambda at: least - noncentrality(at), 0.0, most)
    return (
        _root(lambda at: up_to(at) - below(at) - (1.0 - _OUTSIDE), 0.0, most),
        _root(lambda at: up_to(at) - below(at), first, most),
    )


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Find where a falling function crosses zero between low and high, or return the nearer end."""
    if falling(low) <= 0.0:
        return low
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0.0 else (low, middle)
        if high - low <= _PART * high:
            break
    return high


def beta_cdf(x: float, a: float, b: float, noncentrality: float) -> float:
    """Chance of at most x in a noncentral beta distribution, 0 <= x < 1: that of eta^2 where F is noncentral.

    The sum of I_x(a + j, b) over j, weighted as Poisson's distribution of mean L / 2 (Abramowitz and Stegun 26.6.20), where
    its weights are not negligible; I_x(a, b) = I_x(a + 1, b) + x^a (1 - x)^b / (a B(a, b)) gives each from the next.
    """
    if x <= 0.0:
        return 0.0
    mean = noncentrality / 2
    reach = 8.0 * math.sqrt(mean) + 24.0
    first, last = max(0, int(mean - reach)), int(mean + reach)
    j = np.arange(first, last + 1, dtype=np.float64)
    steps = a + j
    log_terms = _log_term(x, a + first, b) + np.concatenate([[0.0], np.cumsum(np.log(x * (steps[:-1] + b) / (steps[:-1] + 1)))])
    tails = np.cumsum(np.exp(log_terms)[::-1])[::-1] + _incomplete_beta(x, a + last + 1, b)
    if not mean:
        return min(1.0, float(tails[0]))
    start = first * math.log(mean) - mean - math.lgamma(first + 1)
    weights = np.exp(start + np.concatenate([[0.0], np.cumsum(math.log(mean) - np.log(j[1:]))]))
    return min(1.0, float(weights @ tails))


def _log_term(x: float, a: float, b: float) -> float:
    """log of x^a (1 - x)^b / (a B(a, b))."""
    beta = math.lgamma(a + b) - math.lgamma(a + 1) - math.lgamma(b)
    return beta + a * math.log(x) + b * math.log1p(-x)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """I_x(a, b), the regularised incomplete beta function, by its continued fraction (Abramowitz and Stegun 26.5.8)."""
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _incomplete_beta(1.0 - x, b, a)
    c, d = 1.0, 1.0 / _not_zero(1.0 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        before = fraction
        for part in (even, odd):
            d = 1.0 / _not_zero(1.0 + part * d)
            c = _not_zero(1.0 + part / c)
            fraction *= c * d
        if abs(fraction - before) <= 1e-13 * abs(fraction):
            break
    return math.exp(_log_term(x, a, b)) * fraction


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY

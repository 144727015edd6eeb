"""Strength of association of numbers or categories with other numbers, 0 to 1, with 95 % intervals. Never cause.

|r| is Pearson's, as MindInsight ranks its parameters; at least three runs are needed. Its interval takes Fisher's z,
atanh |r| with a standard error of 1 / sqrt(n - 3). Spearman's rho is r of the ranks, equal values sharing their mean rank; the
standard error of its z is sqrt((1 + rho^2 / 2) / (n - 3)) of Bonett and Wright (Psychometrika 65, 2000), taken at the rho that
is tested, not at the one measured. Of ten and more pairs of normal numbers the intervals cover a true strength up to 0.9 in 94
to 97 of 100 samples; beyond, that of Spearman's covers less (0.98: 87 to 92).

Categories: the square root of epsilon^2 = 1 - (1 - eta^2) (n - 1) / (n - k), the share of the variance that k categories
explain less what they explain by chance (Kelley 1935). eta is the correlation ratio; its interval comes from the noncentral F
distribution. Two categories may be taken as 0 and 1, for which |r| is eta.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from parsers.analysis.lineage.intervals import correlation, explained
from parsers.model import Floats, Ints

FEWEST = 3
"""Minimum runs."""
_NAN = float("nan")


class Strength(NamedTuple):
    """A strength from 0 to 1, the ends of its 95 % interval (NaN where n is too small), and the sign of the relation."""

    value: float
    low: float
    high: float
    sign: int


NONE = Strength(_NAN, _NAN, _NAN, 0)


def pearson(x: Floats, y: Floats) -> Strength:
    """|Pearson r| of two arrays of shape (n,) without NaN; NaN where one of them does not vary or n < 3."""
    return _strength(_r(x, y), len(x), lambda _rho: 1.0)


def spearman(x: Floats, y: Floats) -> Strength:
    """|Spearman rho| of two arrays of shape (n,) without NaN; NaN where one of them does not vary or n < 3."""
    return _strength(_r(ranks(x), ranks(y)), len(x), lambda rho: 1.0 + rho * rho / 2.0)


def association(codes: Ints, y: Floats) -> Strength:
    """The square root of epsilon^2 of categories 0 to k-1 and numbers of shape (n,), with the interval of eta.

    NaN where y does not vary, or n <= k.
    """
    n, counts = len(y), np.bincount(codes)
    groups = int(np.count_nonzero(counts))
    y = _scaled(y)
    total = float(y @ y)
    if n <= groups or not total:
        return NONE
    sums = np.bincount(codes, weights=y)
    between = min(1.0, float((sums[counts > 0] ** 2 / counts[counts > 0]).sum()) / total)
    low, high = explained(between, groups, n)
    value = np.sqrt(max(0.0, 1.0 - (1.0 - between) * (n - 1) / (n - groups)))
    return Strength(float(value), float(np.sqrt(low)), float(np.sqrt(high)), 0)


def ranks(values: Floats) -> Floats:
    """Ranks from 1 on; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = counts.cumsum()
    return np.asarray(((ends - counts + 1 + ends) / 2.0)[inverse], np.float64)


def _scaled(values: Floats) -> Floats:
    """Deviations from the mean, the greatest of them 1: squares of values near the limits of float64 stay numbers."""
    span = float(np.abs(values).max(initial=0.0))
    shifted = values / span if span else values
    shifted = shifted - shifted.mean() if len(values) else shifted
    most = float(np.abs(shifted).max(initial=0.0))
    return shifted / most if most else shifted


def _r(x: Floats, y: Floats) -> float:
    if len(x) < FEWEST or x.min() == x.max() or y.min() == y.max():
        return _NAN
    a, b = _scaled(x), _scaled(y)
    below = float(np.sqrt((a @ a) * (b @ b)))
    return min(1.0, max(-1.0, float(a @ b) / below)) if below else _NAN


def _strength(r: float, n: int, variance: Callable[[float], float]) -> Strength:
    """variance is that of z times n - 3, at a strength."""
    if r != r:
        return NONE
    sign, size = int(np.sign(r)), abs(r)
    if n <= FEWEST:
        return Strength(size, _NAN, _NAN, sign)
    if size >= 1.0:
        return Strength(1.0, 1.0, 1.0, sign)
    low, high = correlation(size, lambda rho: math.sqrt(variance(rho) / (n - FEWEST)))
    return Strength(size, low, high, sign)

"""Summarises a group of curves: mean or median over a common axis, with a band and the number of runs at each point.

A curve is (x, y), x strictly ascending, y NaN where there is no finite value. Between two neighbouring points a run has the
value on the line between them; before its first and after its last point, beside a value that is not finite, and in a gap of
missing points it has none, and n is one less there.

Intervals are of each place by itself, at 95 %:

- Mean of fewer than 5 runs: Student's t, exact for normal values. Of 5 to 400: the mean of the ends of Student's interval and
  of those of the studentised bootstrap (Efron 1981; Hall, Annals of Statistics 16, 1988), as t covers too little where values
  are skewed (92 % of exponential ones with n = 20) and the bootstrap where they have long tails (91 % of Laplace's). Together
  they cover 93 to 97 % of normal, uniform, Laplace's and moderately lognormal values (sigma up to 0.5) and, from n = 10 on, of
  exponential ones. Of lognormal values with sigma 1 they cover 87.5 to 90.1 % with 5 to 15 runs, 91 % with 20 and 93.5 % with
  100. A percentile bootstrap covers 83 % of normal values with n = 5 and is not used. Of more than 400 runs: t.
- Median: order statistics with the interpolation of Hettmansperger and Sheather (Statistics & Probability Letters 4, 1986);
  with 5 runs their range, which covers 93.75 %; with fewer there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.curves.seeds import FEW
from parsers.model import Floats, Ints

LINES = ("mean", "median", "worst")
"""Kinds of lines; "worst" is the median in which runs without a finite value count as worse than all others."""
BANDS = ("range", "std", "interval", "none")
RESAMPLES = 399
_CELLS = 1 << 21
"""Maximum values in memory at a time."""
_ROWS = 512
_WIDE = 3.0
"""An interval this many times longer than both neighbours is a gap; at an end, unless its neighbours grow alike."""
_MOST_RESAMPLED = 400
"""With more runs Student's interval is as good and needs no memory for draws."""
_FARTHEST = 3.0
"""A studentised quantile is capped at this multiple of Student's."""

Curve = tuple[Floats, Floats]
_Ends = tuple[Floats, Floats]


class Summary(NamedTuple):
    """Arrays of equal length over x: the line, the ends of the band (NaN for none), and the number of runs."""

    x: Floats
    line: Floats
    low: Floats
    high: Floats
    n: Ints


def curve(x: Floats, y: Floats) -> Curve:
    """Build a curve from points in any order: of several with one x the last is used, points without a finite x are dropped."""
    if x.size > 1 and bool((x[1:] > x[:-1]).all()) and bool(np.isfinite(x[[0, -1]]).all()):
        return x, np.where(np.isfinite(y), y, np.nan)
    placed = np.flatnonzero(np.isfinite(x))
    placed = placed[np.argsort(x[placed], kind="stable")]
    x, y = x[placed], y[placed]
    last = np.append(x[1:] > x[:-1], True) if x.size else np.empty(0, bool)
    return x[last], np.where(np.isfinite(y[last]), y[last], np.nan)


def grid(curves: Sequence[Curve], *, most: int, window: tuple[float, float] | None = None) -> Floats:
    """Return where to evaluate curves: at every x of any curve, or at even distances if they share too few.

    Every x counts up to `most` of them, or up to twice as many as the longest curve has; else there are `most` from end to end.
    window is the range on screen; the nearest x beyond each end is in too.
    """
    parts = [x for x, _ in curves if x.size]
    if not parts:
        return np.empty(0)
    if all(x.size == parts[0].size and np.array_equal(x, parts[0]) for x in parts[1:]):
        return _within(parts[0], window)
    parts = [_within(x, window) for x in parts]
    every = np.sort(np.concatenate(parts))
    every = every[np.append(True, every[1:] > every[:-1])] if every.size else every
    if every.size <= max(most, 2 * max(x.size for x in parts)):
        return every
    low, high = (every[0], every[-1]) if window is None else (max(every[0], window[0]), min(every[-1], window[1]))
    return np.linspace(low, high, most) if low < high else every[:most]


def _within(x: Floats, window: tuple[float, float] | None) -> Floats:
    if window is None:
        return x
    first, last = np.searchsorted(x, window[0], "left"), np.searchsorted(x, window[1], "right")
    return x[max(int(first) - 1, 0) : int(last) + 1]


def aligned(curves: Sequence[Curve], places: Floats, *, bridge: bool = False) -> Floats:
    """Return the values of k curves at ascending places (m,), shape (k, m); NaN where a curve has none.

    bridge: interpolate across gaps, as for times, where a pause omits nothing.
    """
    values = np.full((len(curves), places.size), np.nan)
    for row, (x, y) in zip(values, curves, strict=True):
        if x.size == places.size and np.array_equal(x, places):
            row[:] = y
        elif x.size:
            _put(row, x, y, places, bridge)
    return values


def _put(row: Floats, x: Floats, y: Floats, places: Floats, bridge: bool) -> None:
    at = np.searchsorted(x, places, "right") - 1
    inside = np.flatnonzero(at >= 0)
    at = at[inside]
    exact = x[at] == places[inside]
    row[inside[exact]] = y[at[exact]]
    if x.size < 2:
        return
    between = ~exact & (at < x.size - 1)
    inside, at = inside[between], at[between]
    if not bridge:
        whole = ~_gaps(x)[at]
        inside, at = inside[whole], at[whole]
    share = (places[inside] - x[at]) / (x[at + 1] - x[at])
    row[inside] = y[at] * (1.0 - share) + y[at + 1] * share


def _gaps(x: Floats) -> NDArray[np.bool_]:
    """Return which intervals are so much longer than their neighbours that points are missing."""
    wide = x[1:] - x[:-1]
    if wide.size < 3:
        return np.zeros(wide.size, bool)
    before, after = np.append(0.0, wide[:-1]), np.append(wide[1:], 0.0)
    found = np.asarray(wide > _WIDE * np.maximum(before, after))
    # Steps 1, 10, 100, 1,000 go on as they began: neither the first nor the last interval lacks points.
    for end, near, next_one in ((0, 1, 2), (-1, -2, -3)):
        found[end] &= wide[end] > _WIDE * wide[near] * max(1.0, wide[near] / wide[next_one])
    return found


def diverged(curves: Sequence[Curve], places: Floats) -> NDArray[np.bool_]:
    """Return which of k curves are not finite at ascending places (m,) at their last point up to there; shape (k, m)."""
    found = np.zeros((len(curves), places.size), bool)
    for row, (x, y) in zip(found, curves, strict=True):
        at = np.searchsorted(x, places, "right") - 1
        inside = at >= 0
        row[inside] = np.isnan(y[at[inside]])
    return found


def summarised(
    curves: Sequence[Curve], places: Floats, *, line: str = "mean", band: str = "none", bridge: bool = False,
    wanted: str = "",
) -> Summary:  # fmt: skip
    """Mean or median of curves at ascending places (m,), with a band: the "range" from lowest to highest, one sample standard
    deviation ("std") to either side of the line, or the 95 % "interval" of the line. In the unit of the curves. bridge as of
    `aligned`. wanted is "min" or "max", whichever is better: of the line "worst", curves that are `diverged` count as worse
    than all others, and where these are half of all, there is no line. Without it they do not count, as of "median".
    """
    if line not in LINES:
        raise ValueError(f"line: expected one of {', '.join(LINES)}, found {line!r}")
    if band not in BANDS:
        raise ValueError(f"band: expected one of {', '.join(BANDS)}, found {band!r}")
    width = max(1, _CELLS // max(1, len(curves)))
    parts = []
    for first in range(0, places.size, width):
        part = places[first : first + width]
        values = aligned(curves, part, bridge=bridge)
        if line == "worst" and wanted:
            values[diverged(curves, part)] = np.inf if wanted == "min" else -np.inf
        parts.append(_summary(values, part, line, band))
    if not parts:
        return Summary(places, places, places, places, np.empty(0, np.int64))
    return Summary(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def minus(one: Summary, line: Floats, low: Floats | None = None, high: Floats | None = None) -> Summary:
    """The difference to another line at the same places. low and high are the ends of that line's own interval: then both
    bands are intervals of 95 % and so is the one of the difference (Zou and Donner, Statistics in Medicine 27, 2008).
    """
    middle = one.line - line
    if low is None or high is None:
        return one._replace(line=middle, low=one.low - line, high=one.high - line)
    below = np.hypot(one.line - one.low, high - line)
    above = np.hypot(one.high - one.line, line - low)
    return one._replace(line=middle, low=middle - below, high=middle + above)


# At places, values of shape (k, m) -------------------------------------------------------------------------------------


def _summary(values: Floats, places: Floats, line: str, band: str) -> Summary:
    n, finite = (~np.isnan(values)).sum(axis=0), np.isfinite(values).sum(axis=0)
    full = bool((n == len(values)).all()) and len(values) > 0
    if not full or line != "mean":
        # Sorting puts NaN last.
        values = np.sort(values, axis=0)
    centre = _each(values, n, _mean if line == "mean" else _median)[0]
    with np.errstate(invalid="ignore"):  # of runs that count as infinitely bad
        low, high = _band(values, n, centre, line, band)

    if (finite < n).any():
        centre, low, high = (np.where(np.isfinite(one), one, np.nan) for one in (centre, low, high))
    return Summary(places, centre, low, high, finite)


def _band(values: Floats, n: Ints, centre: Floats, line: str, band: str) -> _Ends:
    if band == "range":
        low, high = _each(values, n, lambda part: (part.min(axis=0), part.max(axis=0)))
        return low, high
    if band == "std":
        spread = _each(values, n, _deviation)[0]
        return centre - spread, centre + spread
    if band == "interval":
        low, high = _each(values, n, _mean_interval if line == "mean" else _median_interval)
        return low, high
    return np.full_like(centre, np.nan), np.full_like(centre, np.nan)


def _each(values: Floats, n: Ints, statistic: Callable[[Floats], tuple[Floats, ...]]) -> tuple[Floats, ...]:
    """Compute a statistic of the first n values of every column; NaN where n is 0."""
    counts = np.unique(n)
    if counts.size == 1 and counts[0] > 0:
        return statistic(values[: counts[0]])
    results: tuple[Floats, ...] = ()
    for count in counts[counts > 0].tolist():
        mine = np.flatnonzero(n == count)
        found = statistic(values[:count, mine])
        results = results or tuple(np.full(n.size, np.nan) for _ in found)
        for result, part in zip(results, found, strict=True):
            result[mine] = part
    return results or (np.full(n.size, np.nan), np.full(n.size, np.nan))


def _mean(values: Floats) -> tuple[Floats, ...]:
    mean = values.mean(axis=0)
    if not np.isfinite(mean).all():  # the sum overflows, which the mean does not
        mean = (values / len(values)).sum(axis=0)
    return (mean,)


def _median(values: Floats) -> tuple[Floats, ...]:
    k = len(values)
    return (values[k // 2] if k % 2 else values[k // 2 - 1] / 2.0 + values[k // 2] / 2.0,)


def _deviation(values: Floats) -> tuple[Floats, ...]:
    return (values.std(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1], np.nan),)


def _mean_interval(values: Floats) -> _Ends:
    n = len(values)
    if n < 2:
        return np.full(values.shape[1], np.nan), np.full(values.shape[1], np.nan)
    (mean,) = _mean(values)
    deviation = values.std(axis=0)
    error = deviation / math.sqrt(n - 1)
    from parsers.analysis.curves.student import student  # with the module statistics; few charts have intervals

    quantile = student(n - 1)
    below = above = np.full(values.shape[1], quantile)
    if FEW <= n <= _MOST_RESAMPLED:
        below, above = _studentised((values - mean) / np.where(deviation > 0.0, deviation, 1.0))
        most = _FARTHEST * quantile
        below, above = (quantile + np.clip(below, 0.0, most)) / 2.0, (quantile + np.clip(above, 0.0, most)) / 2.0
    return mean - below * error, mean + above * error


def _studentised(values: Floats) -> _Ends:
    """Return how many standard errors the mean of columns (n, m) of mean 0 and deviation 1 may be too high, and too low."""
    n, m = values.shape
    # The same draws for every column, so that a band is as smooth as the curves; single precision, as they are draws.
    chosen = np.random.default_rng(n).integers(0, n, (RESAMPLES, n)) + np.arange(RESAMPLES)[:, None] * n
    counts = np.bincount(chosen.ravel(), minlength=RESAMPLES * n).reshape(RESAMPLES, n)
    draws = np.ascontiguousarray(counts.T, np.float32) / np.float32(n)
    scale = np.float32(math.sqrt(n - 1))
    ends = np.empty((2, m))
    tail = round(0.025 * (RESAMPLES + 1)) - 1
    for first in range(0, m, _ROWS):
        part = np.ascontiguousarray(values[:, first : first + _ROWS].T, np.float32)
        mean = part @ draws
        variance = np.square(part) @ draws
        variance -= np.square(mean)
        # A sample of equal values has no studentised mean; such samples are few and count as 0.
        np.maximum(variance, np.float32(1e-6), out=variance)
        t = mean * scale / np.sqrt(variance)
        t.sort(axis=1)
        ends[:, first : first + _ROWS] = t[:, RESAMPLES - 1 - tail], -t[:, tail]
    return ends[0], ends[1]


def _median_interval(values: Floats) -> _Ends:
    n = len(values)
    if n < FEW:
        return np.full(values.shape[1], np.nan), np.full(values.shape[1], np.nan)
    covered, place = _rank(n)
    if place == 0:
        return values[0], values[-1]
    here, inner = covered
    share = (here - 0.95) / (here - inner)
    weight = (n - place) * share / (place + (n - 2 * place) * share)
    low = values[place - 1] * (1.0 - weight) + values[place] * weight
    high = values[n - place] * (1.0 - weight) + values[n - place - 1] * weight
    return low, high


def _rank(n: int) -> tuple[tuple[float, float], int]:
    """The coverage of the order statistics (place, n + 1 - place) and of the next ones inside, place from 1 on the innermost
    that covers 95 %; place 0 where not even the outermost do."""
    total, tail, covered, place = 2**n, 1, 1.0, 0
    while True:
        inner = 1.0 - 2 * tail / total
        if inner < 0.95:
            return (covered, inner), place
        covered, place = inner, place + 1
        tail += math.comb(n, place)

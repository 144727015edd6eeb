"""Spikes: every distance of every point. The slow reference of `parsers.analysis.curves.insights.spikes`, which leaves out
what cannot change a result."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.insights.levels import SIGMA, medians
from parsers.analysis.curves.insights.rules import LEAST, RULES
from parsers.model import Floats, Ints

MOST = 20
"""Maximum spikes reported per curve, the largest ones."""
_WIDE = 8
"""Points in a median of the second pass."""
_SURER = 1.2
"""Factor on the limit of the second pass, as longer deviations may be waves of the noise."""
_AROUND = 10
"""Blocks on either side in which the noise is measured."""
_CHANGED = 2.0
"""If the noise of the two sides differs by more than this factor, it has changed; otherwise both sides are used."""
_BACK = 0.5
"""Minimum fraction of its height by which a spike returns."""
_SAMPLE = 200_000
_TAIL_RANK = 30
"""The tail begins at the distance of this rank, or at the thousandth part."""
_STEEPER = 1.25
"""Safety factor on the weight of a tail, which is estimated from few points."""
_UNKNOWN_TAIL = 1.7
"""Factor on the limit of short curves, whose tail cannot be estimated."""
_TIES = 0.05
"""From this share of equal neighbours on the values of a curve are counts, such as the accuracy of a batch."""
_COUNTS = 1.3
"""Factor on the limit of such curves."""
_MEAN_DEVIATION = 1.2533
"""Standard deviation of normal noise over its mean absolute deviation."""
_STEP = 5.0
"""The tail is measured from there to this many times as many points."""
_PART = 1 << 20
"""Points processed at a time."""
_OVERLAP = 1 << 10


class Spike(NamedTuple):
    """first, last and peak are indices; height the signed distance from the curve, sigma the same in deviations."""

    first: int
    last: int
    peak: int
    height: float
    sigma: float
    limit: float


def spikes(value: Floats) -> list[Spike]:
    """Return the spikes of an array without NaN, in order; long arrays are processed in parts to limit memory."""
    found: list[Spike] = []
    for first in range(0, max(1, value.size - _OVERLAP), _PART):
        begin = max(0, first - _OVERLAP)
        part = _spikes(value[begin : first + _PART + _OVERLAP], value.size)
        found += [one._replace(first=one.first + begin, last=one.last + begin, peak=one.peak + begin) for one in part]
    return sorted(_joined(found)[:MOST])


def _spikes(value: Floats, points: int) -> list[Spike]:
    """Those of one part of so many points."""
    counts = np.count_nonzero(value[1:] == value[:-1]) > _TIES * value.size
    found = _pass(value, 17 if value.size >= 1000 else 9 if value.size >= 200 else 5, points, counts=bool(counts))
    if value.size >= 1000:
        whole = value.size // _WIDE
        wide = _pass(medians(value[: whole * _WIDE].reshape(whole, _WIDE)), 9, points // _WIDE, counts=bool(counts))
        surer = [spike._replace(limit=_SURER * spike.limit) for spike in wide]
        found += _pass(value, 7, points, counts=bool(counts))
        found += [_in_points(spike, value) for spike in surer if spike.sigma >= LEAST * spike.limit]
    return found


def _in_points(spike: Spike, value: Floats) -> Spike:
    first, last = spike.first * _WIDE, (spike.last + 1) * _WIDE - 1
    part = value[first : last + 1]
    peak = first + int(part.argmax() if spike.height > 0 else part.argmin())
    return spike._replace(first=first, last=last, peak=peak)


def _joined(every: list[Spike]) -> list[Spike]:
    """Merge the spikes of several passes; of overlapping ones the most significant is kept."""
    kept: list[Spike] = []
    for one in sorted(every, key=lambda spike: spike.sigma / spike.limit, reverse=True):
        if not any(one.first - _WIDE <= other.last and other.first - _WIDE <= one.last for other in kept):
            kept.append(one)
    return kept


def _pass(value: Floats, size: int, points: int, *, counts: bool) -> list[Spike]:
    """Spikes over blocks of so many points: of a few points, or of noise that is correlated, in small ones."""
    if value.size < 4 * size:
        return []
    sigma, height, limit = _distances(value, size, points, counts=counts)
    at = np.flatnonzero(sigma >= LEAST * limit)
    if not at.size or at.size > max(value.size // 200, 3 * size):
        return []
    cuts = np.flatnonzero(np.diff(at) > 2 * size) + 1
    groups = [_spike(group, sigma, height, limit) for group in np.split(at, cuts)]
    # Frequent spikes are a property of the curve.
    return groups if len(groups) <= max(value.size // 1000, 5) else []


def _spike(at: Ints, sigma: Floats, height: Floats, limit: float) -> Spike:
    peak = int(at[sigma[at].argmax()])
    return Spike(int(at[0]), int(at[-1]), peak, float(height[peak]), float(sigma[peak]), limit)


def _distances(value: Floats, size: int, points: int, *, counts: bool) -> tuple[Floats, Floats, float]:
    """(distance in deviations, 0 for a point that is on no one side of the curve; signed distance; limit).

    counts: the values are counts of few samples, equal as often as not: the median of their distances is a matter of chance,
    and their tails are heavier on one side.
    """
    blocks = -(-value.size // size)
    padded = np.pad(value, (0, blocks * size - value.size), mode="reflect").reshape(blocks, size)
    middle = medians(padded)
    before, after = np.roll(middle, 1), np.roll(middle, -1)
    # At the ends it is unknown whether the curve returns.
    before[0], after[-1] = middle[0], middle[-1]
    up, down = padded - before[:, None], padded - after[:, None]
    low, high = np.minimum(up, down), np.maximum(up, down)
    sided = (low > _BACK * high) & (low > 0) | (high < _BACK * low) & (high < 0)
    # The mean of both cancels a linear trend.
    height = (up + down) / 2.0
    # What a jump of the curve does to the points beside it says nothing about the noise.
    noise = np.where(sided, np.abs(height), np.minimum(np.abs(up), np.abs(down)))
    scale = _scale(medians(np.abs(height)))
    if counts:
        scale = np.where(scale > 0.0, np.maximum(scale, _scale(np.abs(height).mean(axis=1)) * (_MEAN_DEVIATION / SIGMA)), 0.0)
    sided[[0, -1]] = False
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        sigma = np.where(sided, np.abs(height) / scale[:, None], 0.0).ravel()
        every = max(1, blocks * size // _SAMPLE)
        tail = noise[1:-1:every] / scale[1:-1:every, None]
    sigma[~np.isfinite(sigma)] = 0.0
    limit = _limit(tail[np.isfinite(tail)], points)
    return sigma[: value.size], height.ravel()[: value.size], limit * _COUNTS if counts else limit


def _scale(spread: Floats) -> Floats:
    """Robust deviation around each block; where the noise changes at once, that of the noisier side."""
    around = min(_AROUND, max(1, spread.size // 4))
    padded = np.pad(spread, around, mode="edge")
    one_side = medians(np.lib.stride_tricks.sliding_window_view(padded, around + 1))
    before, after = one_side[: spread.size], one_side[around : around + spread.size]
    both = medians(np.lib.stride_tricks.sliding_window_view(padded, 2 * around + 1))
    larger = np.maximum(before, after)
    return SIGMA * np.where(larger > _CHANGED * np.minimum(before, after), larger, both)


def _largest(points: int) -> float:
    """Return what normal noise of this many points exceeds in one of fifty curves."""
    return NormalDist().inv_cdf(1.0 - 0.01 / points)


def _limit(sample: Floats, points: int) -> float:
    """From which on a distance is a spike: that of the rule, of heavier tails what they reach in one of hundreds of curves.

    The tail is the power law through two quantiles of the distances, relative to those of normal noise.
    """
    # RULES has the limit of 100,000 points; of fewer the largest of normal noise is smaller.
    least = RULES["spike"].limit * min(1.0, _largest(points) / _largest(100_000))
    if not sample.size:
        return least
    # Far enough in that a spike or two do not count.
    rank = max(_TAIL_RANK, sample.size // 1000)
    share = rank / sample.size
    if share * _STEP > 0.2:
        return least * _UNKNOWN_TAIL
    ordered = np.partition(sample, (sample.size - rank, sample.size - int(rank * _STEP)))
    tail, usual = float(ordered[sample.size - rank]), float(ordered[sample.size - int(rank * _STEP)])
    if usual <= 0.0:
        return least
    normal = NormalDist().inv_cdf(1.0 - share / 2.0)
    ratio = normal / NormalDist().inv_cdf(1.0 - share * _STEP / 2.0)
    heavier = min(max(1.0, tail / usual / ratio / (1.0 + 0.4 / rank**0.5)), 10.0)
    steps = _STEEPER * np.log(share * points / 0.002) / np.log(_STEP)
    return float(least * max(1.0, tail / normal) * heavier**steps)

"""Looks at single spikes again, nearer than the passes over a whole curve can.

A spike must stand out of the points right beside it, so that a steep and curved beginning is none; of the noise of as many
points at an end of the curve as elsewhere; and where all values are positive, of that of their logarithms, too: noise that goes
with the level, as that of norms and of losses of small batches, is skewed, and its large values are usual.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.insights.levels import SIGMA
from parsers.analysis.curves.insights.rules import LEAST
from parsers.analysis.curves.insights.spikes import Spike, least_limit
from parsers.model import Floats

_BLOCKS = 24
"""Blocks from which the noise is measured."""
_BESIDE = 5
"""Points on either side, but for one next to the spike, of which it stands out."""
_NEAR = 0.6
"""Part of the limit by which it stands out of them,"""
_AROUND = 0.85
"""of the noise around it,"""
_LOGARITHM = 0.9
"""and of that of logarithms, where the limit is that of normal noise: they hardly have heavier tails."""
_ALIKE = 0.1
"""Logarithms are looked at unless they are less symmetrical, by more than this, than the values."""
_WIDE = 8
"""From this many points on, a spike is also looked for in medians of this many points; one of the two has to confirm it."""


class _Place(NamedTuple):
    """Indices of a spike in a part of a curve."""

    first: int
    last: int
    peak: int


def confirmed(value: Floats, found: list[Spike]) -> list[Spike]:
    """Return those spikes of an array without NaN that are spikes also by the points around them; sigma says by how much."""
    if not found:
        return []
    positive = bool(value.min() > 0.0)
    kept = [one._replace(sigma=min(one.sigma, one.limit * _share(value, one, positive=positive))) for one in found]
    return [one for one in kept if one.sigma >= LEAST * one.limit]


def _share(value: Floats, one: Spike, *, positive: bool) -> float:
    """Return by how much of what it must a spike stands out of what is around it."""
    size = 17 if value.size >= 1000 else 9 if value.size >= 200 else 5
    if one.last - one.first + 1 < _WIDE:
        return _share_of(value, _Place(one.first, one.last, one.peak), one, size, value.size, positive=positive)
    narrow = _share_of(value, _Place(one.peak, one.peak, one.peak), one, size, value.size, positive=positive)
    begin = max(0, one.first - _BLOCKS * 9 * _WIDE // 2) // _WIDE * _WIDE
    part = value[begin : begin + _BLOCKS * 9 * _WIDE]
    wide = np.median(part[: part.size // _WIDE * _WIDE].reshape(-1, _WIDE), axis=1)
    first, last = (one.first - begin) // _WIDE, min((one.last - begin) // _WIDE, wide.size - 1)
    peak = first + int(np.argmax(wide[first : last + 1] * np.sign(one.height)))
    return max(narrow, _share_of(wide, _Place(first, last, peak), one, 9, value.size // _WIDE, positive=positive))


def _share_of(value: Floats, place: _Place, one: Spike, size: int, points: int, *, positive: bool) -> float:
    """Return the least share of the limits by which it stands out, in blocks of `size`, as it must among so many points."""
    reach = _BLOCKS * size
    begin = max(0, min(place.first - reach // 2, value.size - reach))
    part = value[begin : begin + reach]
    if part.size < 3 * size:
        return np.inf
    place = _Place(*(at - begin for at in place))
    found = _stands_out(part, place, size)
    share = min(found.around / (_AROUND * one.limit), found.beside / (_NEAR * one.limit))
    if positive and (scaled := _stands_out(np.log(part), place, size)).skew < found.skew + _ALIKE:
        share = min(share, scaled.around / (_LOGARITHM * least_limit(points)))
    return share


class _Height(NamedTuple):
    """Deviations by which a spike stands out of the blocks on either side, and of the points right beside it.

    skew: by how much the noise is not symmetrical, as the logarithm of the ratio of its outer quantiles.
    """

    around: float
    beside: float
    skew: float


def _stands_out(part: Floats, place: _Place, size: int) -> _Height:
    count = part.size // size
    rows = part[: count * size].reshape(count, size)
    middle = np.median(rows, axis=1)
    away = (rows[1:-1] - (middle[:-2] + middle[2:])[:, None] / 2.0).ravel()
    noise = SIGMA * float(np.median(np.abs(away)))
    low, half, high = np.quantile(away, (0.03, 0.5, 0.97)).tolist()
    if not (noise > 0.0 and high > half > low):
        return _Height(np.inf, np.inf, np.inf)
    far, close = (_height(part, place, *span) for span in ((1, size), (2, 1 + _BESIDE)))
    return _Height(abs(far) / noise, abs(close) / noise, abs(float(np.log((high - half) / (half - low)))))


def _height(part: Floats, place: _Place, begin: int, end: int) -> float:
    """Return the distance of the peak from the medians of the points `begin` to `end` before and after the spike."""
    before = part[max(0, place.first - end) : max(0, place.first - begin + 1)]
    after = part[place.last + begin : place.last + end + 1]
    sides = [float(np.median(side)) for side in (before, after) if side.size]
    return float(part[place.peak]) - sum(sides) / len(sides) if sides else 0.0

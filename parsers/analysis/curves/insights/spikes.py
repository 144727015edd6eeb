"""Spikes: values far from the curve both before and after, on the same side.

What a trend, a jump of the level or a restart does is far from one side only, so it is none. Distances are to the medians of
the neighbouring blocks and are measured in the median of such distances around (a robust standard deviation), so they take the
noise as it is there, correlated or growing. Two passes: over the points, and over the medians of eight for spikes that last.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.curves.insights.levels import SIGMA
from parsers.analysis.curves.insights.networks import medians_of_columns
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
_EVERY = 16
"""Of a long sample every 16th value tells where about its largest ones begin."""
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
_ROUNDING = 1e-9
"""Margin of a bound, as a fraction of it."""
_CHUNK = 1 << 16
"""Points of which distances are computed at a time, so that they stay in the cache."""
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
        wide = _pass(_wide(value[: whole * _WIDE].reshape(whole, _WIDE)), 9, points // _WIDE, counts=bool(counts))
        surer = [spike._replace(limit=_SURER * spike.limit) for spike in wide]
        found += _pass(value, 7, points, counts=bool(counts))
        found += [_in_points(spike, value) for spike in surer if spike.sigma >= LEAST * spike.limit]
    return found


def _wide(rows: Floats) -> Floats:
    """Return the medians of rows, the lower of two middle values."""
    step = _CHUNK // _WIDE
    return np.concatenate([medians_of_columns(rows[at : at + step].T) for at in range(0, len(rows), step)])


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
    far = _far_points(_Blocks(value, size, counts=counts), points)
    at = far.place
    if not at.size or at.size > max(value.size // 200, 3 * size):
        return []
    cuts = np.flatnonzero(np.diff(at) > 2 * size) + 1
    groups = [_spike(far, group) for group in np.split(np.arange(at.size), cuts)]
    # Frequent spikes are a property of the curve.
    return groups if len(groups) <= max(value.size // 1000, 5) else []


class _Far(NamedTuple):
    """Points far from the curve. place: their indices; sigma: distance in deviations; height: signed; limit: of a spike."""

    place: Ints
    sigma: Floats
    height: Floats
    limit: float


def _spike(far: _Far, group: Ints) -> Spike:
    peak = int(group[far.sigma[group].argmax()])
    first, last, at = (int(far.place[one]) for one in (group[0], group[-1], peak))
    return Spike(first, last, at, float(far.height[peak]), float(far.sigma[peak]), far.limit)


class _Blocks:
    """A curve in blocks, with the medians beside each and the deviation around each.

    counts: the values are counts of few samples, equal as often as not: the median of their distances is a matter of chance,
    and their tails are heavier on one side.
    """

    def __init__(self, value: Floats, size: int, *, counts: bool) -> None:
        self.size, self.points, self.counts = size, value.size, counts
        whole = value.size // size
        self.rows = value[: whole * size].reshape(whole, size)
        self.number = -(-value.size // size)
        # Points that fill no block are one together with the points before the end, backwards.
        rest = value[whole * size :]
        self.last = np.concatenate((rest, value[-2 : rest.size - size - 2 : -1]))[None] if rest.size else self.rows[:0]
        self.before, self.after, self.spread, self.farthest = (np.empty(self.number) for _ in range(4))
        self.mean = np.empty(self.number if counts else 0)
        step = max(1, _CHUNK // size)
        for at in range(0, self.number, step):
            self._measure(at, min(at + step, self.number))
        self.around = min(_AROUND, max(1, self.number // 4))
        # The end values stand for those beyond the ends.
        self.spreads = np.pad(self.spread, self.around, mode="edge")
        self.means = np.pad(self.mean, self.around, mode="edge") if counts else self.mean

    def _measure(self, at: int, stop: int) -> None:
        """Find the medians beside some blocks, and the median, the mean (of counts) and the largest of their distances."""
        begin, end = max(0, at - 1), min(self.number, stop + 1)
        columns = self._columns(slice(begin, end))
        middle = medians_of_columns(columns)
        # At the ends it is unknown whether the curve returns.
        middle = np.concatenate((middle[: at == begin], middle, middle[middle.size - (stop == end) :]))
        part = slice(at, stop)
        self.before[part], self.after[part] = middle[:-2], middle[2:]
        columns = columns[:, at - begin : stop - begin]
        away = _height(columns - middle[:-2], columns - middle[2:])
        np.abs(away, out=away)
        away.max(axis=0, out=self.farthest[part])
        self.spread[part] = medians_of_columns(away)
        if self.counts:
            self.mean[part] = np.ascontiguousarray(away.T).mean(axis=1)

    def _columns(self, part: Ints | slice) -> Floats:
        """Return the points of some blocks in ascending order, a block per column: numpy is slow with short rows."""
        if isinstance(part, slice):
            inside, last = self.rows[part], part.stop > len(self.rows)
        else:
            inside, last = self.rows[part[part < len(self.rows)]], bool(part.size and part[-1] == len(self.rows))
        return np.ascontiguousarray((np.concatenate((inside, self.last)) if last else inside).T)

    def sides(self, part: Ints | slice) -> tuple[Floats, Floats]:
        """Return the distances of the points of some blocks, a block per column, from the medians before and after them."""
        columns = self._columns(part)
        return columns - self.before[part], columns - self.after[part]

    def scale(self, part: Ints | slice) -> Floats:
        """Return the robust deviation around some blocks."""
        found = _scale(self.spreads, part, self.around)
        if not self.counts:
            return found
        wider = _scale(self.means, part, self.around) * (_MEAN_DEVIATION / SIGMA)
        return np.where(found > 0.0, np.maximum(found, wider), 0.0)

    def lower_scale(self, part: Ints) -> Floats:
        """Return a closer bound of the deviation around some blocks: that of the quieter side.

        The median of a side and the block itself is at most that of 6 of 11: of the 21 of both sides no fewer than 11 are at
        least the lesser of the two.
        """
        if self.around < _AROUND:
            return np.zeros(part.size)
        beside = np.stack([self.spreads[at : at + self.number][part] for at in range(2 * self.around + 1)])
        before, after = map(medians_of_columns, (beside[: self.around + 1], beside[self.around :]))
        return SIGMA * np.minimum(before, after)

    def least_scale(self) -> Floats:
        """Return a lower bound of the deviation around each block, which costs a fraction of it."""
        if self.around < _AROUND:
            return np.zeros(self.number)
        one, two, three = self.spreads[:-2], self.spreads[1:-1], self.spreads[2:]
        # Of three neighbours two are at least their median. So of 21 values, seven threes, 14 are at least the least of these
        # medians, and of 11, three threes and two more, 6: the median of all is no less.
        least = np.maximum(np.minimum(one, two), np.minimum(np.maximum(one, two), three))
        wanted = 2 * self.around - 1
        width = 1
        while 2 * width <= wanted:
            least = np.minimum(least[:-width], least[width:])
            width *= 2
        return SIGMA * np.minimum(least[: self.number], least[wanted - width : wanted - width + self.number])


def _far_points(blocks: _Blocks, points: int) -> _Far:
    """Find the points whose distance is one of a spike by the limit of the curve's own tail."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # No limit is lower than this one, and most curves have no point beyond it: they need no tail.
        far = _beyond(blocks, least_limit(points) * (_COUNTS if blocks.counts else 1.0))
        if not far.place.size:
            return far
        limit = _limit(_tail(blocks), points) * (_COUNTS if blocks.counts else 1.0)
    found = far.sigma >= LEAST * limit
    return _Far(far.place[found], far.sigma[found], far.height[found], limit)


def _beyond(blocks: _Blocks, limit: float) -> _Far:
    """Find the points whose distance is one of a spike by this limit; only blocks that may have some are looked at."""
    # Written so that blocks without a bound, NaN, are among them.
    least = LEAST * limit * (1.0 - _ROUNDING)
    part = np.flatnonzero(~(blocks.farthest < least * blocks.least_scale()))
    part = part[~(blocks.farthest[part] < least * blocks.lower_scale(part))]
    up, down = blocks.sides(part)
    height, sided = _height(up, down), _sided(up, down)
    sided[:, (part == 0) | (part == blocks.number - 1)] = False
    sigma = np.where(sided, np.abs(height) / blocks.scale(part), 0.0).T
    sigma[~np.isfinite(sigma)] = 0.0
    found = sigma >= LEAST * limit
    place = (part[:, None] * blocks.size + np.arange(blocks.size))[found]
    inside = place < blocks.points
    return _Far(place[inside], sigma[found][inside], height.T[found][inside], limit)


def _tail(blocks: _Blocks) -> Floats:
    """Return the finite ones of the distances of some 200,000 points, in deviations around them."""
    every = max(1, blocks.number * blocks.size // _SAMPLE)
    step = max(1, _CHUNK // blocks.size) * every
    parts = [slice(at, min(at + step, blocks.number - 1), every) for at in range(1, blocks.number - 1, step)]
    tail = np.concatenate([(_noise(*blocks.sides(part)) / blocks.scale(part)).ravel() for part in parts])
    finite = np.isfinite(tail)
    return tail if finite.all() else tail[finite]


def _height(up: Floats, down: Floats) -> Floats:
    """Return the signed distances from the curve; the mean of both sides cancels a linear trend."""
    found = up + down
    found /= 2.0
    return found


def _sided(up: Floats, down: Floats) -> NDArray[np.bool_]:
    """Return which points are on one side of the curve."""
    low, high = np.minimum(up, down), np.maximum(up, down)
    found: NDArray[np.bool_] = (low > _BACK * high) & (low > 0) | (high < _BACK * low) & (high < 0)
    return found


def _noise(up: Floats, down: Floats) -> Floats:
    """Return distances of points; what a jump of the curve does to those beside it says nothing about the noise."""
    noise: Floats = np.where(_sided(up, down), np.abs(_height(up, down)), np.minimum(np.abs(up), np.abs(down)))
    return noise


def _scale(spreads: Floats, part: Ints | slice, around: int) -> Floats:
    """Robust deviation around some blocks; where the noise changes at once, that of the noisier side.

    spreads has as many values more at either end as blocks on one side count.
    """
    number = spreads.size - 2 * around
    beside = np.stack([spreads[at : at + number][part] for at in range(2 * around + 1)])
    before, after, both = map(medians_of_columns, (beside[: around + 1], beside[around:], beside))
    larger = np.maximum(before, after)
    return SIGMA * np.where(larger > _CHANGED * np.minimum(before, after), larger, both)


def _largest(points: int) -> float:
    """Return what normal noise of this many points exceeds in one of fifty curves."""
    return NormalDist().inv_cdf(1.0 - 0.01 / points)


def least_limit(points: int) -> float:
    """Return from which on a distance is a spike where the noise is normal, in its deviations."""
    # RULES has the limit of 100,000 points; of fewer the largest of normal noise is smaller.
    return RULES["spike"].limit * min(1.0, _largest(max(points, 1)) / _largest(100_000))


def _largest_of(sample: Floats, count: int) -> Floats:
    """Return the largest values in any order; most of a long sample is left out first, by what some of it tells."""
    some = sample[::_EVERY]
    expected = 2 * -(-count // _EVERY)
    if sample.size > _CHUNK and expected < some.size:
        candidates = sample[np.flatnonzero(sample >= np.partition(some, some.size - expected)[some.size - expected])]
        sample = candidates if candidates.size >= count else sample
    return np.partition(sample, sample.size - count)[sample.size - count :]


def _limit(sample: Floats, points: int) -> float:
    """From which on a distance is a spike: that of the rule, of heavier tails what they reach in one of hundreds of curves.

    The tail is the power law through two quantiles of the distances, relative to those of normal noise.
    """
    least = least_limit(points)
    if not sample.size:
        return least
    # Far enough in that a spike or two do not count.
    rank = max(_TAIL_RANK, sample.size // 1000)
    share = rank / sample.size
    if share * _STEP > 0.2:
        return least * _UNKNOWN_TAIL
    larger = _largest_of(sample, int(rank * _STEP))
    tail, usual = float(np.partition(larger, larger.size - rank)[larger.size - rank]), float(larger.min())
    if usual <= 0.0:
        return least
    normal = NormalDist().inv_cdf(1.0 - share / 2.0)
    ratio = normal / NormalDist().inv_cdf(1.0 - share * _STEP / 2.0)
    heavier = min(max(1.0, tail / usual / ratio / (1.0 + 0.4 / rank**0.5)), 10.0)
    steps = _STEEPER * np.log(share * points / 0.002) / np.log(_STEP)
    return float(least * max(1.0, tail / normal) * heavier**steps)

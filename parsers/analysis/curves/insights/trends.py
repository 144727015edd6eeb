"""Finds where a curve stops improving: it turns back and stays there (divergence), or stays level (plateau).

Both use the levels of a curve (`levels`), where less is better. The beginning is the breakpoint at which two pieces, one before
and one after it, fit the levels best.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.insights.levels import SIGMA, Levels, running
from parsers.analysis.curves.insights.rules import LEAST, RULES
from parsers.analysis.curves.insights.settling import improved, settles
from parsers.model import Floats, Ints

_SMOOTH = 5
"""Levels in a running median."""
_SURE = 8.0
"""A change must exceed this many standard deviations of a level."""
_HABIT = 1.5
"""A curve that has recovered from a setback before diverges only if it goes back this many times as far."""
_STAYS = 0.7
"""Fraction of the setback that a diverged curve keeps to its end."""
_FAR = 10.0
"""A curve that has gone back by this multiple of what it fell keeps it, however much higher its peak is."""
_WALK_LAG = 16
_WALKS = 3.0
"""A curve that walks at random goes, up or down, by less than this many standard deviations of such a walk."""
_RISEN = 0.2
"""A curve that has regained this fraction of what it fell, for good, has begun to diverge before."""
_ONCE = 2.0
"""A setback that was made up for is one if it goes back this many times as far as any other."""
_BUMP_WALKS = 4.0
"""Minimum height of such a setback in standard deviations of a random walk of its length."""
_MADE_UP = 0.25
"""A setback is over once less than this fraction of what it fell is lost."""
_AT_END = 4
"""Minimum points of a setback at the end of a curve that goes on, _AT_NAN of one that becomes NaN."""
_AT_NAN = 1
_ENDS = 0.05
"""Maximum share of the points in it."""
_CALM = 2.0
"""Deviations of the points within which a value is as before."""
_LEVEL = 3.0
"""Maximum slope of a plateau in standard errors."""
_APART = 5.0
"""Maximum difference of its first and last eighth, in usual steps from one eighth to the next."""
_SLIGHT = 0.01
"""Or maximum difference as a fraction of the curve's total change."""
_BEST = 0.05
"""A curve has converged once it is within this fraction of its total change from the best value."""
_ABRUPT = 0.35
"""A curve that levels off has converged; one that stops had at least this fraction of its mean speed just before."""
_AT_ONCE = 0.75
"""A fall is made at once if a quarter of the levels before a plateau make this share of it."""
_WINDOW = 0.25
"""Maximum fraction of the curve on either side to which the two pieces are fitted."""
_CANDIDATES = 24


class TrendTurn(NamedTuple):
    """first: index of the level from which on. before, after: levels there and at the end. share: what was measured."""

    first: int
    before: float
    after: float
    share: float


def divergence(known: Levels, *, falls: bool) -> TrendTurn | None:
    """Where a curve of which less is better goes up for good. falls: its name does not say so, its beginning must."""
    level, smooth = known.level, running(known.level, _SMOOTH)
    if level.size < 2 * _WALK_LAG + 1:
        return None
    tail = max(3, level.size // 100)
    end = float(np.median(level[-tail:]))
    lowest = np.minimum.accumulate(smooth)
    best = int(level.size - 1 - smooth[::-1].argmin())
    low = float(smooth[best])
    start = float(np.median(level[:3]))
    way, back = start - low, end - low
    if falls and (known.noise <= 0.0 or best < level.size // 20 or way <= _SURE * known.noise):
        return None
    if falls and end < start + way / 2.0:
        return None
    scatter = float(np.median(np.abs(level - smooth)))
    least = max(way, abs(low) * 0.1, 6.0 * scatter, np.finfo(float).tiny)
    share = back / least
    if share < LEAST * RULES["divergence"].limit or back < _SURE * max(known.noise, scatter):
        return None
    if back < _WALKS * _walk(level) * (level.size - best) ** 0.5:
        return None
    earlier = float((smooth[: best + 1] - lowest[: best + 1]).max())
    # Beyond some multiple of what it fell, how far it went is no matter.
    most = _FAR * least
    if back < _HABIT * earlier or min(float(smooth[best:].max()) - low, most) > min(back, most) / _STAYS:
        return None
    # An exponential is at a fifth of its last value only at the end: what it regained counts, however far it goes.
    below = np.flatnonzero(smooth[best:] - low < _RISEN * min(back, least))
    risen = min(best + (int(below[-1]) + 1 if below.size else 0), level.size - 1)
    # A falling curve turns after the fault began, and a level one anywhere before.
    return TrendTurn(max(best, _onset(level, risen)), low, end, share)


class Setback(NamedTuple):
    """first, last: indices of points. before, peak: levels. sigma: height in deviations of the noise. share: of the way."""

    first: int
    last: int
    before: float
    peak: float
    sigma: float
    share: float


def setback(known: Levels, *, falls: bool) -> Setback | None:
    """Find where a curve of which less is better goes back once, by a large part of what it fell, however it goes on."""
    level, smooth = known.level, running(known.level, 3)
    if level.size < 2 * _WALK_LAG + 1:
        return None
    lowest = np.minimum.accumulate(smooth)
    way, rise = float(np.median(level[:3])) - lowest, smooth - lowest
    scatter = float(np.median(np.abs(level - running(level, _SMOOTH))))
    noise = max(known.noise, scatter, np.finfo(float).tiny)
    least = np.maximum(np.maximum(way, 0.1 * np.abs(lowest)), 6.0 * scatter)
    over = (rise >= RULES["divergence"].limit * least) & (rise >= _SURE * noise)
    if falls:
        over &= (way > _SURE * noise) & (rise >= 1.5 * way) & (known.noise > 0.0)
    if not over.any():
        return None
    peak = int(np.where(over, rise, -np.inf).argmax())
    below = np.flatnonzero(rise[:peak] < _RISEN * min(float(rise[peak]), float(least[peak])))
    risen = int(below[-1]) + 1 if below.size else peak
    best = risen - int(smooth[: risen + 1][::-1].argmin())
    if best < level.size // 20:  # a learning rate that is warmed up makes a hump of the beginning
        return None
    first = max(best, _onset(level, risen))
    back = np.flatnonzero(rise[peak:] < _MADE_UP * least[peak])
    last = peak + int(back[0]) if back.size else level.size - 1
    others = np.concatenate((rise[:first], rise[last + 1 :]))
    if others.size and rise[peak] < _ONCE * float(others.max()):
        return None
    if rise[peak] < _BUMP_WALKS * _walk(level) * (last - first + 1) ** 0.5:
        return None
    share = float(rise[peak] / least[peak])
    return Setback(int(known.first[first]), int(known.first[last]), float(lowest[peak]), float(smooth[peak]),
                   float(rise[peak]) / noise, share)  # fmt: skip


def ending(value: Floats, known: Levels, deviation: float, *, falls: bool, stops: bool) -> Setback | None:
    """Find a setback in the last points of a curve, too few of them to change its last levels.

    deviation: that of the points about their level. stops: no finite value follows.
    """
    smooth = running(known.level, _SMOOTH)
    best = int(smooth.size - 1 - smooth[::-1].argmin())
    low = float(smooth[best])
    way = float(np.median(known.level[:3])) - low
    least = max(way, 0.1 * abs(low), 6.0 * deviation)
    if deviation <= 0.0 or (falls and (way <= _SURE * deviation or best < smooth.size // 20)):
        return None
    half = low + max(RULES["divergence"].limit * least, _SURE * deviation / 2.0, 1.5 * way if falls else 0.0)
    fewest = _AT_NAN if stops else _AT_END
    if float(value[-fewest:].min()) <= half:
        return None
    came = int(known.first[int((smooth <= low + least / 4.0).argmax())])
    under = np.concatenate(([came], came + np.flatnonzero(value[came:] <= half)))
    length = value.size - 1 - int(under[-1])
    longest = int(np.diff(under).max(initial=1)) - 1
    if not max(fewest, 2 * longest) <= length <= max(_AT_END, _ENDS * value.size):
        return None
    tail = value[-length:]
    middle = float(np.median(tail))
    if middle - low < max(_SURE * deviation, _WALKS * _walk(known.level) * float(smooth.size - best) ** 0.5):
        return None
    begin = max(0, int(under[-1]) - value.size // 4)
    base = smooth[begin // known.size : max(int(under[-1]) // known.size, begin // known.size + 1)]
    calm = np.flatnonzero(value[begin : int(under[-1]) + 1] <= float(base.min()) + _CALM * deviation)
    first = begin + int(calm[-1]) + 1 if calm.size else int(under[-1]) + 1
    return Setback(min(first, value.size - 1), value.size - 1, low, middle, (middle - low) / deviation, (middle - low) / least)


def _walk(level: Floats) -> float:
    """Standard deviation of the step of a random walk: what second differences over many levels have beyond those over one.

    Of noise s and a walk of steps w their variance over k levels is 6 s^2 + 2 k w^2; of a smooth trend they are small.
    """
    near, far = (float(np.median(np.abs(level[2 * k :] - 2.0 * level[k:-k] + level[: -2 * k]))) for k in (1, _WALK_LAG))
    return SIGMA * math.sqrt(max(0.0, far * far - near * near) / (2.0 * (_WALK_LAG - 1)))


def _onset(level: Floats, risen: int) -> int:
    """The first level, before one that has risen clearly, that the trend so far does not explain."""
    reach = max(12, int(_WINDOW * level.size))
    last = risen
    for _ in range(6):
        before = level[max(0, last - reach) : last]
        left, ahead = _trend(before, risen - last + 1)
        spread = max(SIGMA * float(np.median(np.abs(left))), np.finfo(float).tiny)
        rises = np.concatenate((left, level[last : risen + 1] - ahead)) > 3.0 * spread
        calm = np.flatnonzero(~rises)
        found = max(0, last - reach) + int(calm[-1]) + 1 if calm.size else last
        if found >= last:
            return min(found, risen)
        last = found
    return last


def _trend(part: Floats, ahead: int) -> tuple[Floats, Floats]:
    """(what a line through these levels leaves, the line over so many levels ahead), robust."""
    if part.size < 6:
        middle = float(np.median(part)) if part.size else 0.0
        return part - middle, np.full(ahead, middle)
    third = part.size // 3
    first, last = float(np.median(part[:third])), float(np.median(part[-third:]))
    slope = (last - first) / (part.size - third)
    x = np.arange(part.size)
    level = float(np.median(part - slope * x))
    beyond: Floats = slope * np.arange(part.size, part.size + ahead, dtype=np.float64) + level
    return part - slope * x - level, beyond


def plateau(known: Levels, points: int, *, best: float | None) -> TrendTurn | None:
    """Find since when a curve, where less is better, has not improved. best: the lowest possible value, if known."""
    level = known.level
    if level.size < 40:
        return None
    limit = LEAST * RULES["plateau"].limit
    part = level[-int(np.ceil(level.size * limit)) :]
    end = float(np.median(part))
    start = float(np.median(level[:3]))
    way = start - end
    if known.noise <= 0.0 or (best is not None and way > 0 and end - best < _BEST * way):
        return None
    if not _flat(part, way, known.noise):
        return None
    first = 0 if _flat(level, way, known.noise) else _kink(level, 3, level.size - part.size)
    while level.size - first > part.size and not _flat(level[first:], way, known.noise):
        first += max(1, (level.size - first) // 16)
    share = 1.0 - first * known.size / points
    # What a random walk gained by chance it does not stop gaining.
    if first and way < _WALKS * _walk(level) * float(level.size) ** 0.5:
        return None
    if first and _stepped(level, first):
        return None
    if share < limit or (first and _speed(level, first) < _ABRUPT * way / first) or (not first and _gains(level)):
        return None
    if settles(level, first) if first else improved(level):
        return None
    return TrendTurn(first, float(np.median(level[first:])), end, share)


def _gains(level: Floats) -> bool:
    """Whether a curve that changes too little to be sure became better by more than it scatters, all the same."""
    eighth = level.size // 8
    scatter = SIGMA * float(np.median(np.abs(level - np.median(level))))
    return float(np.median(level[:eighth]) - np.median(level[-eighth:])) > scatter


def _stepped(level: Floats, first: int) -> bool:
    """Whether it became better at once, as where a learning rate is cut, and has settled since: it did not stop on its way."""
    begin = max(0, first - max(8, level.size // 10))
    part = running(level[begin : first + max(3, (first - begin) // 8)], 3)
    wide = max(2, (first - begin) // 4)
    falls = part[:-wide] - part[wide:]
    return part.size > 2 * wide and float(falls.max()) >= _AT_ONCE * float(part[:wide].mean() - part[-wide:].mean()) > 0.0


def _speed(level: Floats, first: int) -> float:
    """How much better, per level, the levels became in the tenth of the run before the plateau."""
    begin = max(0, first - max(4, level.size // 10))
    near = max(1, (first - begin) // 4)
    return float(np.median(level[begin : begin + near]) - np.median(level[first:])) / (first - begin)


def _flat(part: Floats, way: float, noise: float) -> bool:
    """Return whether a line through these levels neither falls nor rises significantly.

    The line goes through medians of eighths: their scatter about it says how sure it is, correlated noise or not.
    """
    eighths = np.array([np.median(piece) for piece in np.array_split(part, 8)])
    x = np.arange(8) - 3.5
    slope = float(x @ eighths) / 42.0
    left = eighths - eighths.mean() - slope * x
    steps = np.abs(np.diff(eighths))
    if abs(float(eighths[0] - eighths[-1])) > max(_APART * float(np.median(steps)), _SLIGHT * abs(way), noise):
        return False
    error = max((float(left @ left) / 6.0) ** 0.5, noise * (8.0 / part.size) ** 0.5) / 42.0**0.5
    return abs(slope) <= _LEVEL * error or abs(7.0 * slope) <= _SLIGHT * abs(way)


def _kink(level: Floats, low: int, high: int) -> int:
    """The place in [low, high] at which a parabola ends and a constant that goes on to the last level begins.

    Found again with the parabola over a part before what was found first.
    """
    first = 0
    for _ in range(3):
        step = max(1, (high - low) // _CANDIDATES)
        best = _best(level, np.arange(low, high + 1, step), first)
        best = _best(level, np.arange(max(low, best - step), min(high, best + step) + 1), first)
        reach = max(8, int(_WINDOW * level.size))
        first = max(0, best - reach)
        low, high = max(low, best - reach // 2, first + 3), min(high, best + reach // 2)
    return best


def _best(level: Floats, places: Ints, low: int) -> int:
    """Return the place (the first of several) that leaves least to explain.

    That is the sum of squares that a parabola from `low` to the place, and the constant it ends in, leave of the levels from
    `low` on.
    """
    part = level[low:]
    x = np.minimum(np.arange(part.size) - (places[:, None] - low), 0.0) / part.size
    basis, _ = np.linalg.qr(np.stack((np.ones_like(x), x, x * x), axis=2))
    left = part - (basis @ (part @ basis)[:, :, None])[:, :, 0]
    return int(places[np.argmin((left * left).sum(axis=1))])

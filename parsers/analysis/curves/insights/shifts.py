"""Finds lasting shifts of the level: the curve jumps within a few points and goes on from there.

Lines through two neighbouring windows of levels (`levels`) are compared, at three widths: how far apart they are where they
meet, beyond what they are farther out. It is measured in the usual distance of such lines around, so that correlated noise and
random walks, whose lines never meet, have no shifts.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.insights.levels import SIGMA, Levels, medians, noisy, running
from parsers.analysis.curves.insights.recurrence import wave
from parsers.analysis.curves.insights.rules import LEAST, RULES
from parsers.model import Floats

_POINTS = 24
"""Minimum number of points in the narrowest windows."""
_BESIDE = 15
"""Points on either side of a jump in which it must be made."""
_WIDER = (1, 4, 12)
"""Widths of the windows, in narrowest ones."""
_MOST = 8
"""A window is at most the curve over this."""
_SURE = (5.0, 5.5, 6.0)
"""Robust standard deviations of a difference that a shift must exceed; wider windows have fewer independent neighbours."""
_AROUND = 8
"""Windows on either side in which the usual difference is measured."""
_CANDIDATES = 6
_OTHERS = 2
"""A curve with this many other jumps in the same direction jumps as a matter of course ..."""
_ALIKE = 0.6
"""... if they are of at least this share of the height,"""
_AS_CLEAR = 0.2
_LEAST_ALIKE = 0.1
_CLEAR = 6.0
"""or of the smaller share and this many robust deviations of the differences around,"""
_PIECE = 32
"""as measured in pieces of this many levels."""
_LASTS = 0.1
"""Share of the curve for which a shift must last."""
_KEEPS = 0.5
"""Share of its height that it must keep."""
_BACK = 0.7
"""A jump in the other direction, shortly before and of this share of the height, makes a bump of it."""
_NEAR = 3
_ABOVE = 2.0
"""Times the height of what recurs around it from which on a jump is another one."""
_ABRUPT = 0.4
"""Share of its height that the levels right beside a shift must show."""
_ROUNDING = 1e-5
"""Noise below this share of the range of the levels is none."""
_SAMPLED = 64
"""Blocks from which the noise of the points is estimated."""


class LevelShift(NamedTuple):
    """first: index of the first point on the new level; height: signed; sigma: the height in deviations of the points."""

    first: int
    before: float
    after: float
    sigma: float


def shift(value: Floats, known: Levels, *, sign: int) -> LevelShift | None:
    """Return the largest lasting shift of an array without NaN. sign: 1 for shifts up only, -1 for down, 0 for both."""
    noise = deviation(value, known)
    level = running(known.level, 5)
    # What has no noise is a schedule, and rounding is no noise.
    if level.size < 40 or min(noise, known.noise) <= _ROUNDING * float(np.ptp(level)) or not noisy(value):
        return None
    found = _lasting(level, known.size, noise, sign)
    recurring = wave(known.level, _apart_by(_NEAR, found)) if found else None
    if recurring is None:
        return _first(value, known, level, noise, found)
    without = running(known.level - recurring, 5)
    beside = _first(value, known, without, noise, _lasting(without, known.size, noise, sign))
    # A wave beside a far higher jump is not removed completely.
    return beside or _first(value, known, level, noise, [one for one in found if _exceeds(one, recurring)])


def _apart_by(near: int, found: list[_Jump]) -> dict[int, float]:
    """Return (level -> height) of jumps, of those within some levels of each other the highest: the same at other widths."""
    kept: dict[int, float] = {}
    for one in sorted(found, key=lambda one: -abs(one.height)):
        if not any(abs(one.at - at) <= near for at in kept):
            kept[one.at] = one.height
    return kept


def _exceeds(jump: _Jump, recurring: Floats) -> bool:
    """Return whether a jump is far higher than what recurs around it."""
    reach = max(1, recurring.size // _MOST)
    return abs(jump.height) >= _ABOVE * float(np.ptp(recurring[max(0, jump.at - reach) : jump.at + reach]))


def _first(value: Floats, known: Levels, level: Floats, noise: float, found: list[_Jump]) -> LevelShift | None:
    """Return the largest of the jumps of levels, or the one that it makes up for, unless the curve jumps all the time."""
    if not found:
        return None
    beside = max(3, -(-_BESIDE // known.size))
    # Of a shift and the one back, which may be as high and as clear, the first is the fault.
    largest = max(found)
    opposite = (one for one in found if -one.height / largest.height >= _ALIKE and one.sigma >= _AS_CLEAR * largest.sigma)
    earliest = min((largest, *opposite), key=lambda one: one.at)
    if any(_habitual(level, one.at, one.height, beside) for one in {largest, earliest}):
        return None
    _, height, at, width = earliest
    before = float(np.median(level[max(0, at - width) : at]))
    return LevelShift(_place(value, known, at, height), before, before + height, abs(height) / noise)


def _lasting(level: Floats, size: int, noise: float, sign: int) -> list[_Jump]:
    """Return the jumps of levels of `size` points that are made within a few points and last."""
    narrow = max(5, -(-_POINTS // size))
    widths = sorted({min(narrow * times, level.size // _MOST) for times in _WIDER})
    found = [one for width, sure in zip(widths, _SURE, strict=False) for one in _jumps(level, width, sure, noise, sign)]
    beside = max(3, -(-_BESIDE // size))
    return [one for one in found if _abrupt(level, one, beside) and _lasts(level, one)]


def deviation(value: Floats, known: Levels) -> float:
    """Return the robust standard deviation of the points about their level."""
    blocks = value.size // known.size
    if known.size < 4:
        return known.noise * math.sqrt(known.size)
    every = max(1, blocks // _SAMPLED)
    away = np.abs(value[: blocks * known.size].reshape(blocks, known.size)[::every] - known.level[:blocks:every, None])
    return SIGMA * float(np.median(away))


class _Jump(NamedTuple):
    """sigma: the height in usual distances. at: index of the first level after the jump. width: levels in a window."""

    sigma: float
    height: float
    at: int
    width: int


def _jumps(level: Floats, width: int, sure: float, noise: float, sign: int) -> list[_Jump]:
    """Return the significant jumps between windows of a width."""
    apart = _apart(level, width)
    # At this distance neither of two neighbouring windows reaches across the jump.
    far = width + 2
    if apart.size < 3 * far:
        return []
    earlier = np.concatenate((apart[far : 2 * far], apart[:-far]))
    later = np.concatenate((apart[far:], apart[-2 * far : -far]))
    up, down = apart - np.maximum(earlier, later), apart - np.minimum(earlier, later)
    height = np.where(up > 0, up, np.where(down < 0, down, 0.0))
    rest = height.clip(0.0) if sign > 0 else -height.clip(None, 0.0) if sign < 0 else np.abs(height)
    least = LEAST * RULES["shift"].limit * noise
    found: list[_Jump] = []
    for _ in range(_CANDIDATES):
        at = int(rest.argmax())
        if rest[at] < least:
            break
        before, after = apart[max(0, at - _AROUND * width) : max(0, at - width)], apart[at + width : at + _AROUND * width]
        usual = _usual(np.concatenate((before, after)))
        if rest[at] >= sure * usual > 0.0:
            found.append(_Jump(float(rest[at]) / usual / sure, float(height[at]), at + width, width))
        rest[max(0, at - far) : at + far + 1] = 0.0
    return found


def _usual(apart: Floats) -> float:
    """Robust deviation of distances, the larger of two: by their median, and by the tenth that is largest."""
    size = np.sort(np.abs(apart))
    return max(SIGMA * float(size[size.size // 2]), float(size[size.size * 9 // 10]) / 1.645) if size.size else np.inf


def _abrupt(level: Floats, jump: _Jump, width: int) -> bool:
    """Return whether the few levels on either side make up for the jump: a kink of the trend is none."""
    before, after = level[max(0, jump.at - width) : jump.at], level[jump.at : jump.at + width]
    return (float(np.median(after)) - float(np.median(before))) / jump.height >= _ABRUPT


def _apart(level: Floats, width: int) -> Floats:
    """How far apart the lines through the `width` levels before and after each place are there."""
    centred = level - np.median(level)
    x = np.arange(level.size, dtype=np.float64)
    sums, moments = (np.concatenate(([0.0], np.cumsum(one))) for one in (centred, centred * x))
    total = sums[width:] - sums[:-width]
    middle = x[: total.size] + (width - 1) / 2.0
    rise = (moments[width:] - moments[:-width] - middle * total) * (6.0 / (width * width - 1.0))
    end, begin = total / width + rise, total / width - rise
    found: Floats = begin[width:] - end[:-width]
    return found


def _habitual(level: Floats, at: int, height: float, width: int) -> bool:
    """Return whether the curve jumps in this direction as a matter of course, as at warm restarts, or jumps back."""
    sums = np.concatenate(([0.0], np.cumsum(level - np.median(level))))
    mean = (sums[width:] - sums[:-width]) / width
    rise = (mean[width:] - mean[:-width]) * np.sign(height)
    most = _ALIKE * abs(height)
    reach = max(width + 1, int(_LASTS * level.size))
    if rise[max(0, at - width - reach) : max(1, at - 2 * width)].min() <= -_BACK * abs(height):
        return True
    piece = min(_PIECE, rise.size)
    pieces = np.abs(rise[: rise.size // piece * piece]).reshape(-1, piece)
    # The levels of counts are equal as often as not, and their median difference is 0.
    usual = SIGMA * medians(pieces)
    usual = np.where(usual > 0.0, usual, SIGMA * pieces.mean(axis=1))
    usual = np.append(usual, usual[-1:]).repeat(piece)[: rise.size]
    clear = rise >= np.clip(_CLEAR * usual, _LEAST_ALIKE * abs(height), most)
    clear[max(0, at - 3 * width) : at + width + 1] = False
    places = np.flatnonzero(clear)
    return bool(places.size > 0 and np.count_nonzero(np.diff(places) > 1) + 1 >= _OTHERS)


def _lasts(level: Floats, jump: _Jump) -> bool:
    """Return whether the curve, some time after a jump, is where it would not have come as it went before."""
    after = level[jump.at : jump.at + max(jump.width, int(np.ceil(_LASTS * level.size)))]
    if after.size < _LASTS * level.size / 2:
        return False
    before = level[max(0, jump.at - max(jump.width, level.size // _MOST)) : jump.at]
    third = max(1, before.size // 3)
    slope = float(np.median(before[-third:]) - np.median(before[:third])) / (before.size - third)
    late = after[after.size // 2 :]
    expected = float(np.median(before)) + slope * (before.size / 2.0 + after.size * 0.75)
    return (float(np.median(late)) - expected) / jump.height >= _KEEPS


def _place(value: Floats, known: Levels, at: int, height: float) -> int:
    """The point, of those near a jump, from which on the new level fits better than the old one."""
    first, last = max(0, (at - 2) * known.size), min(value.size, (at + 2) * known.size)
    middle = float(known.level[max(0, at - 2)]) + height / 2.0
    # Points on the old level count down, those on the new one up: the least of the running sum.
    side = np.where((value[first:last] > middle) == (height > 0), 1.0, -1.0)
    total = np.concatenate(([0.0], np.cumsum(side)))
    return min(first + int(total.argmin()), value.size - 1)

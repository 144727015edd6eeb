"""Finds curves that swing up and down at one rate about their course, as with a learning rate that is too large.

What a cubic leaves of a part of the curve is divided by its own local size, so that swings which grow count alike, and the
periodogram of that says how much of it is at one rate. A sawtooth, as of epochs and warm restarts, is at one rate too: it rises
much more steeply than it falls, or the other way round, and is none.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.insights.rules import LEAST, RULES
from parsers.model import Floats

_MOST = 2048
"""Maximum points of which a periodogram is taken."""
_PARTS = (0.2, 0.35, 0.5, 0.65)
"""Where the part of the curve that is looked at begins."""
_PERIODS = (4, 8)
"""Minimum periods in a part, of few points and of many; what takes longer may be the course of the curve."""
_PERIOD_POINTS = 20
_CHANCE = 1e-4
"""Maximum probability that white noise would do the same."""
_STANDS_OUT = 8.0
"""Power at the rate over that at the rates on either side."""
_CLEAR = 60.0
"""Power at the rate over that of a bin of correlated noise there. Correlated noise in a part of four periods reaches 45."""
_SHORT = 6.5
"""Points in a period below which the curve itself, not its wave, is looked at for a sawtooth."""
_IN_TURN = 5.5
"""Swings of fewer points come from what is recorded in turn, such as the batches of a step, unless they grow by the factor"""
_GROWS = 2.0
_UNEVEN = 0.6
"""A curve whose slope is more skewed than this is a sawtooth, whose slope is skewed by about 2."""
_LARGE = 0.04
"""Minimum height of a swing as a fraction of the range of the curve's course."""
_SETTLES = 0.6
"""Swings that shrink to less than this fraction settle by themselves."""
SCHEDULE = re.compile(r"(^|[^a-z])lr([^a-z]|$)|learning.?rate|momentum|epoch|weight.?decay|beta", re.IGNORECASE)
"""Names of curves that somebody planned."""


class Swings(NamedTuple):
    """first: index of the point from which on. height, earlier: of a swing at the end and at the beginning, peak to peak.

    share: of the variance about the course, at this rate. periods: how many.
    """

    first: int
    height: float
    earlier: float
    share: float
    periods: int


def swings(value: Floats) -> Swings | None:
    """Return the swings of an array without NaN."""
    found = [one for begin, size in _pieces(value.size) if (one := _swings(value, begin, size)) is not None]
    clear = max((one.share for one in found), default=0.0)
    # The longest part that shows them says where they begin.
    return next((one for one in found if one.share >= min(clear, RULES["oscillation"].limit)), None)


def _pieces(points: int) -> list[tuple[int, int]]:
    """(first point, points in a level) of the parts that are looked at: coarse ones, and the last points as they are."""
    size = -(-points // _MOST)
    pieces = [(int(part * points), size) for part in _PARTS]
    return [*pieces, (points - _MOST, 1)] if size > 1 else pieces


class _Rate(NamedTuple):
    """at: periods in the part. share: of the variance. wave: what is at this rate and its multiples."""

    share: float
    at: int
    wave: Floats


def _swings(value: Floats, begin: int, size: int) -> Swings | None:
    whole = (value.size - begin) // size
    if whole < 4 * _PERIODS[0]:
        return None
    level = value[value.size - whole * size :].reshape(whole, size).mean(axis=1)
    left = level - _cubic(level)
    local = np.sqrt(_mean(left * left, max(8, whole // 4)))
    if not local.min() > 0.0:
        return None
    found = [one for by in (np.ones(whole), local) if (one := _rate(left / by, by)) is not None]
    if not found:
        return None
    share, at, wave = max(found, key=lambda one: one.share)
    swing = np.sqrt(_mean(wave**2, max(8, math.ceil(whole / at)))) * (2.0 * math.sqrt(2.0))
    quarter = whole // 4
    height, earlier = float(swing[-quarter:].mean()), float(swing[:quarter].mean())
    if height < _SETTLES * earlier or height < _LARGE * float(np.ptp(_mean(level, max(3, whole // 8)))):
        return None
    if whole < _IN_TURN * at and height < _GROWS * earlier:
        return None
    first = int((swing >= height / 2.0).argmax())
    return Swings(value.size - (whole - first) * size, height, earlier, share, round(at * (whole - first) / whole))


def _rate(left: Floats, by: Floats) -> _Rate | None:
    """Return the rate that explains most, if that is enough and the wave is none of chance and no sawtooth."""
    spectrum = np.fft.rfft(left)
    power = np.abs(spectrum) ** 2
    least = min(max(_PERIODS[0], left.size // _PERIOD_POINTS), _PERIODS[1])
    at = least + int(power[least:].argmax())
    near = max(1, at // 25)
    share = float(power[max(0, at - near) : at + near + 1].sum() / power[1:].sum())
    if share < LEAST * RULES["oscillation"].limit or _by_chance(share, 2 * near + 1, power.size - 1) > _CHANCE:
        return None
    wave = _wave(spectrum, at, near, left.size) * by
    # With few points in a period, the wave has hardly any multiples of the rate.
    slope = np.diff(left if left.size < _SHORT * at else wave)
    spread = float((slope**2).mean()) ** 1.5
    if not spread > 0.0:  # so small that it is no wave in these numbers
        return None
    if not _stands_out(power, at, near) or _over_memory(power, at, near, left.size) < _CLEAR:
        return None
    if abs(float((slope**3).mean()) / spread) > _UNEVEN:
        return None
    return _Rate(share, at, wave)


def _by_chance(share: float, bins: int, of: int) -> float:
    """Return an upper bound of the chance that `bins` neighbouring bins of `of` hold this share of the power of white noise.

    The share of a given run of bins is beta distributed.
    """
    if share >= 1.0 or bins >= of:
        return 0.0 if share >= 1.0 else 1.0
    logs = (math.lgamma(of) - math.lgamma(j + 1) - math.lgamma(of - j) + j * math.log(share) + (of - 1 - j) * math.log1p(-share)
            for j in range(bins))  # fmt: skip
    return of * sum(math.exp(one) for one in logs)


def _over_memory(power: Floats, at: int, near: int, size: int) -> float:
    """Return the power at a rate over what noise of which each value keeps a share of the one before has in a bin there.

    That share follows from the rest of the spectrum (first autocorrelation, Wiener and Khinchin).
    """
    turn = np.cos(2.0 * math.pi * np.arange(power.size) / size)
    rest = np.ones(power.size, bool)
    rest[0] = rest[max(0, at - near) : at + near + 1] = False
    total = float(power[rest].sum())
    if not total > 0.0:
        return math.inf
    memory = max(float(power[rest] @ turn[rest]) / total, 0.0)
    relative = power * (1.0 - 2.0 * memory * turn + memory * memory)
    return float(relative[max(1, at - near) : at + near + 1].sum() / relative[rest].mean())


def _cubic(level: Floats) -> Floats:
    x = np.linspace(-1.0, 1.0, level.size)
    basis, _ = np.linalg.qr(np.stack([x**power for power in range(4)], axis=1))
    found: Floats = basis @ (basis.T @ level)
    return found


def _mean(values: Floats, width: int) -> Floats:
    """Return the running mean over `width` values; at both ends over those there are."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    at = np.arange(values.size)
    low, high = np.maximum(at - width // 2, 0), np.minimum(at + width // 2 + 1, values.size)
    found: Floats = (sums[high] - sums[low]) / (high - low)
    return found


def _stands_out(power: Floats, at: int, near: int) -> bool:
    """Return whether neither slower nor faster rates beside it have nearly the power, as those of correlated noise have."""
    peak = float(power[at - near : at + near + 1].max())
    slower, faster = power[max(2, at // 2) : at - near - 1], power[at + near + 2 : 2 * at]
    return all(side.size == 0 or peak >= _STANDS_OUT * float(side.mean()) for side in (slower, faster))


def _wave(spectrum: np.ndarray[tuple[int], np.dtype[np.complex128]], at: int, near: int, size: int) -> Floats:
    """The part of it at the rate and at its multiples."""
    kept = np.zeros_like(spectrum)
    for times in range(1, 6):
        low, high = times * (at - near), times * (at + near) + 1
        if low < spectrum.size:
            kept[low:high] = spectrum[low:high]
    return np.asarray(np.fft.irfft(kept, size), np.float64)

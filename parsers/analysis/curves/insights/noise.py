"""Finds where the noise of a curve grows for good: the same course, but values farther and farther from it.

The noise is measured in blocks by second differences, which hardly see the course. That of counts and rewards grows with
their level as a matter of course, and that of a loss falls with it: what counts is the growth beside the place where it begins,
and it must have grown both relative to the level and absolutely.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.insights.levels import medians, noisy, running
from parsers.analysis.curves.insights.rules import LEAST, RULES
from parsers.model import Floats

_BLOCKS = 64
_POINTS = 5
"""Minimum points in a block."""
_SIDE = 4
"""Minimum blocks before and after."""
_NORMAL = 1.2533
"""Standard deviation of normal noise over its mean absolute deviation."""
_SURE = 4.0
"""Standard errors by which the logarithm of the noise must have grown."""
_HABIT = 1.15
"""The noise at the end is this many times that of any stretch before it grew."""
_OTHERWISE = 1.6
"""The noise of a falling curve may grow relative to its level, or fall with it, by itself: it must grow so much both ways."""
_TIES = 0.1
"""From this share of equal neighbours on the values are counts or rounded, whose noise depends on where they are."""
_ABOVE = 1.5
"""A level of more than this many times the noise is one that the noise may go with."""


class NoiseGrowth(NamedTuple):
    """first: index of the point from which on. before, after: standard deviation of the noise. times: by how much it grew."""

    first: int
    before: float
    after: float
    times: float


def growth(value: Floats) -> NoiseGrowth | None:
    """Return where the noise of an array without NaN grew."""
    if np.count_nonzero(value[1:] == value[:-1]) > _TIES * value.size or not noisy(value):
        return None
    size = max(_POINTS, -(-value.size // _BLOCKS))
    count = (value.size - 2) // size
    if count < 2 * _SIDE:
        return None
    noise = _away(value, count, size) * (_NORMAL / math.sqrt(1.5))
    if not noise.min() > 0.0 or not _may_grow(np.log(noise)):
        return None
    level = np.abs(running(medians(value[1 : 1 + count * size].reshape(count, size)), 5))
    kinds = [np.log(noise)]
    if np.count_nonzero(level > _ABOVE * noise) > 0.9 * count:
        kinds.append(np.log(noise) - np.log(np.maximum(level, noise)))
    # The course itself shows in the blocks of a steep beginning.
    places = {_split(of, begin) for of in kinds for begin in (0, count // 4)}
    found = [one for at in sorted(places) if (one := _grown(kinds, at)) is not None]
    if not found:
        return None
    times, at = max(found)
    after = float(np.exp(np.median(kinds[0][-_late(count, at) :])))
    return NoiseGrowth(at * size + 1, float(np.exp(np.median(kinds[0][at - _early(at) : at]))), after, times)


def _away(value: Floats, count: int, size: int) -> Floats:
    """Return of each block the mean distance of its points from the mean of their neighbours."""
    found = np.empty(count)
    for block in range(count):
        part = value[block * size : (block + 1) * size + 2]
        away = part[:-2] + part[2:]
        away /= 2.0
        np.subtract(part[1:-1], away, out=away)
        found[block] = np.abs(away, out=away).mean()
    return found


def _early(at: int) -> int:
    """Blocks before the place that it is compared with."""
    return max(_SIDE, at // 4)


def _late(count: int, at: int) -> int:
    """Blocks at the end, or right after the place, that are compared."""
    return max(_SIDE, (count - at) // 3)


def _grown(kinds: list[Floats], at: int) -> tuple[float, int] | None:
    """Return (growth, the place) if it is enough and sure by these logarithms of the noise, absolute and relative to the level.

    The one that was steadier before the place says by how much; by the other one it must have grown, too.
    """
    steadiest, *others = sorted(kinds, key=lambda of: float(of[:at].std()))
    rise, error = _rise(steadiest, at)
    if rise < max(math.log(LEAST * RULES["noisier"].limit), _SURE * error):
        return None
    if any(more < max(math.log(_OTHERWISE), _SURE * unsure) for more, unsure in (_rise(of, at) for of in others)):
        return None
    late = _late(steadiest.size, at)
    if float(np.median(steadiest[-late:])) < float(running(steadiest[:at], 5).max()) + math.log(_HABIT):
        return None
    return math.exp(rise), at


def _may_grow(of: Floats) -> bool:
    """Return False if the absolute noise rises enough at no place, as it must, whatever that relative to the level does."""
    least = min(math.log(LEAST * RULES["noisier"].limit), math.log(_OTHERWISE))
    for at in range(_SIDE, of.size - _SIDE + 1):
        late = _late(of.size, at)
        after = max(float(of[at : at + late].mean()), float(of[of.size - late :].mean()))
        if not after - float(of[at - _early(at) : at].mean()) < least:
            return True
    return False


def _rise(of: Floats, at: int) -> tuple[float, float]:
    """(How much higher than before the place it is right after it or at the end, the standard error of that)."""
    before, after, late = of[at - _early(at) : at], of[at:], _late(of.size, at)
    left = np.concatenate([part - part.mean() for part in (before, after[:late], after[-late:])])
    rise = max(float(part.mean()) for part in (after[:late], after[-late:])) - float(before.mean())
    return rise, float(left.std()) * math.sqrt(1.0 / before.size + 1.0 / late)


def _split(values: Floats, begin: int) -> int:
    """Return the place of a rise, from begin on, at which two constants, one before and one after it, leave least."""
    values = values[begin:]
    places = np.arange(min(_SIDE, values.size - _SIDE), values.size - _SIDE + 1)
    sums = np.cumsum(values)
    apart = (sums[-1] - sums[places - 1]) / (values.size - places) - sums[places - 1] / places
    return begin + int(places[np.argmax(np.maximum(apart, 0.0) ** 2 * places * (values.size - places))])

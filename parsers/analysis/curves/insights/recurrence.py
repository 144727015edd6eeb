"""Tells a jump of the level that recurs, as where a learning rate or an epoch begins anew, from one that lasts.

Models of the levels are compared: a course and one step; the course and a wave, whose every period begins with such a jump and
runs down from it. They have as many coefficients, so the better fit decides. Of one jump alone `warm_restarts` judges.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.insights.levels import scatter
from parsers.analysis.curves.insights.warm_restarts import restart
from parsers.model import Floats

_RATES = (4.0, 12.0, 40.0, 130.0)
"""Exponentials of a course that may be any smooth curve fall by this many e-folds over the run."""
_MOST_PERIODS = 24
"""Periods before the jump."""
_FEWEST_LEVELS = 4
"""In a period."""
_MISPLACED = (-2, -1, 0, 1, 2)
"""Levels by which a jump may be misplaced."""

_MADE = 0.5
"""Part of the height of the jump that a wave must make."""

_MORE = 0.45
"""What a wave explains beyond a step, over what it leaves, at least: a wave that leaves more is not what the curve does,"""
_NO_MORE = 1.4
"""unless it leaves hardly more than the noise of the levels."""
_ROUNDING = 1e-9
"""Keeps columns that are nearly alike from having huge coefficients."""


class _Wave(NamedTuple):
    """What a model with a wave explains beyond one with a step, what it leaves, and the wave."""

    beyond: float
    left: float
    shape: Floats


def wave(level: Floats, jumps: dict[int, float]) -> Floats | None:
    """Return what recurs at a jump and from there at even distances, if a single step there fits worse.

    jumps: index of the first level after a jump -> its signed height. Shape (levels,), 0 on average; None if every jump is
    better explained by a step that lasts.
    """
    unit = scatter(level)
    if not 0.0 < unit < np.inf:
        return None
    largest = max(jumps, key=lambda jump: abs(jumps[jump]))
    up = jumps[largest] > 0.0
    # Files hold numbers of any size, whose squares may be none.
    signed = level / (unit if up else -unit)
    alike = {jump: abs(height) / unit for jump, height in jumps.items() if (height > 0.0) == up}
    once = (restart(signed, jump, height) for jump, height in alike.items())
    shape = next((one for one in once if one is not None), None)
    if shape is None:
        shape = _recurring(signed, alike, largest)
    if shape is None:
        return None
    centred: Floats = (shape - shape.mean()) * (unit if up else -unit)
    return centred


def _recurring(level: Floats, jumps: dict[int, float], largest: int) -> Floats | None:
    """Return the wave of several jumps up that explains most of levels in deviations of their noise."""
    found = [one for jump, height in jumps.items() if (one := _again(level, jump, height, largest)) is not None]
    found = [one for one in found if one.beyond >= _MORE * one.left or one.left <= _NO_MORE * level.size]
    return max(found, key=lambda one: one.beyond).shape if found else None


def _again(level: Floats, jump: int, height: float, largest: int) -> _Wave | None:
    """Return the wave of several jumps up, of which this one is one, beside the largest jump if that is another one."""
    shapes = _shapes(level.size, jump)
    if not shapes.shape[1]:
        return None
    course = _smooth(level.size, () if jump == largest else (largest,))
    left = _left(level, course)
    shapes = np.concatenate((shapes, shapes * _relative(level - left)), axis=1)
    (_, step), (size, gain) = (_gain(_left(one, course), left) for one in (_steps(level.size, jump), shapes))
    gain = np.where(_jumps(size * shapes, jump) >= _MADE * height, gain, 0.0)
    best = int(gain.argmax())
    beyond = float(gain[best] - step.max())
    return _Wave(beyond, float(left @ left) - float(gain[best]), size[best] * shapes[:, best]) if beyond > 0.0 else None


def _smooth(size: int, steps: tuple[int, ...] = ()) -> Floats:
    """Return an orthonormal basis of courses without jumps but at some levels, shape (levels, 6 and one for each of these)."""
    x, at = np.linspace(0.0, 1.0, size), np.arange(size)
    columns = [np.ones(size), x, *(np.exp(-rate * x) for rate in _RATES), *(np.where(at >= step, 1.0, 0.0) for step in steps)]
    basis, _ = np.linalg.qr(np.stack(columns, axis=1))
    return np.asarray(basis)


def _left(column: Floats, course: Floats) -> Floats:
    """Return what a course cannot explain."""
    found: Floats = column - course @ (course.T @ column)
    return found


def _gain(column: Floats, left: Floats) -> tuple[Floats, Floats]:
    """Return (coefficient of each column, by how much it lowers the sum of squares that is left)."""
    power = (column * column).sum(axis=0)
    size = np.where(power > 1e-9 * len(left), (left @ column) / np.maximum(power, np.finfo(float).tiny), 0.0)
    return size, size * size * power


def _jumps(shapes: Floats, jump: int) -> Floats:
    """Return by how much waves rise at a jump, or beside it as it may be misplaced."""
    near = np.diff(shapes[jump + _MISPLACED[0] - 1 : jump + _MISPLACED[-1] + 1], axis=0)
    return np.asarray(near.max(axis=0))


def _relative(trend: Floats) -> Floats:
    """Return a column of factors that go with the level."""
    most = float(np.abs(trend).max())
    return (trend / most if most > 0.0 else trend)[:, None]


def _steps(size: int, jump: int) -> Floats:
    at = np.arange(size)
    return np.stack([np.where(at >= jump + off, 1.0, 0.0) for off in _MISPLACED], axis=1)


def _shapes(size: int, jump: int) -> Floats:
    """Return waves that begin anew at a jump and, at even distances, once more or oftener.

    Half cosines, lines and exponentials, shape (levels, waves).
    """
    at = np.arange(size)
    found: list[Floats] = []
    for off in _MISPLACED:
        for periods in range(1, _MOST_PERIODS + 1):
            length = (jump + off) / periods
            if length < _FEWEST_LEVELS:
                break
            if periods > 1 or 2 * length < size:
                phase = (at / length + _ROUNDING) % 1.0
                found += [(1.0 + np.cos(math.pi * phase)) / 2.0, 1.0 - phase, np.exp(-5.0 * phase)]
    return np.stack(found, axis=1) if found else np.empty((size, 0))

"""Tells a jump of the level that recurs, as where a learning rate or an epoch begins anew, from one that lasts.

Models of the levels are compared: a course and one step; the course and a wave, whose every period begins with such a jump and
runs down from it. They have as many coefficients, so the better fit decides.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.insights.levels import scatter
from parsers.model import Floats, Ints

_RATES = (4.0, 12.0, 40.0, 130.0)
"""Exponentials of a course that may be any smooth curve fall by this many e-folds over the run."""
_SETTLING = tuple(float(rate) for rate in np.geomspace(0.7, 60.0, 14))
"""Those of a course that settles, which may also fall by a power:"""
_POWERS = tuple((steep, exponent) for steep in (5.0, 12.0, 30.0, 80.0, 200.0) for exponent in (0.3, 0.6, 0.9, 1.2))
"""(steepness, exponent)."""
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
_SURE = 10.0
"""Of one jump alone the wave must lower the sum of squares by so many more mean squares of what it leaves."""
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
    largest = max(jumps, key=lambda jump: abs(jumps[jump]))
    up = jumps[largest] > 0.0
    signed = level if up else -level
    found = [
        one for jump, height in jumps.items() if (height > 0.0) == up
        for one in (_once(signed, jump, abs(height)), _again(signed, jump, abs(height), largest)) if one is not None
    ]  # fmt: skip
    noise = level.size * scatter(level) ** 2
    found = [one for one in found if one.beyond >= _MORE * one.left or one.left <= _NO_MORE * noise]
    if not found:
        return None
    shape = max(found, key=lambda one: one.beyond).shape
    centred: Floats = shape - shape.mean()
    return centred if up else -centred


def _again(level: Floats, jump: int, height: float, largest: int) -> _Wave | None:
    """Return the wave of several jumps up, of which this one is one, beside the largest jump if that is another one."""
    shapes, _ = _shapes(level.size, jump, 2)
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


def _once(level: Floats, jump: int, height: float) -> _Wave | None:
    """Return the wave of one jump up, if the curve falls as far after it beyond what it would have fallen anyway.

    A course that settles falls ever more slowly: it can neither rise to make up for the wave nor fall late instead of it. What
    the wave does before the jump may belong to the course, so both models have it.
    """
    shapes, begins = _shapes(level.size, jump, 1)
    if not shapes.shape[1]:
        return None
    x = np.linspace(0.0, 1.0, level.size)[:, None]
    powers = np.array(_POWERS).T
    course = np.concatenate((np.exp(-np.array(_SETTLING) * x), (1.0 + powers[0] * x) ** -powers[1]), axis=1)
    left = level - level.mean()
    # The level itself would bring its noise.
    shapes = np.concatenate((shapes, shapes * _relative(level - _left(level, _smooth(level.size)))), axis=1)
    after = np.arange(level.size)[:, None] >= np.tile(begins, 2)
    before, again = np.where(after, 0.0, shapes), np.where(after, shapes, 0.0)
    step = _together(course, before, after.astype(np.float64), left)[1]
    size, gain = _together(course, before, again, left, falls=True)
    gain = np.where(size * _jumps(again, jump) >= _MADE * height, gain, 0.0)
    best = np.unravel_index(int(gain.argmax()), gain.shape)
    beyond = float(gain[best] - step.max())
    unexplained = float(left @ left) - float(gain[best])
    if beyond <= max(_SURE * unexplained / level.size, 0.0):
        return None
    return _Wave(beyond, unexplained, size[best] * again[:, best[1]])


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


def _together(course: Floats, before: Floats, after: Floats, left: Floats, *, falls: bool = False) -> tuple[Floats, Floats]:
    """(coefficients of `after`, what it explains with `before` and one course each), shape (courses, columns).

    falls: the course falls, or is left out.
    """
    parts = [one - one.mean(axis=0) for one in (course, before, after)]
    of, by, to = (one / np.maximum(np.sqrt((one * one).sum(axis=0)), np.finfo(float).tiny) for one in parts)
    products = np.empty((of.shape[1], by.shape[1], 3, 3))
    products[..., 0, 1] = products[..., 1, 0] = of.T @ by
    products[..., 0, 2] = products[..., 2, 0] = of.T @ to
    products[..., 1, 2] = products[..., 2, 1] = (by * to).sum(axis=0)
    products[..., range(3), range(3)] = 1.0 + _ROUNDING
    wanted = np.empty((*products.shape[:2], 3))
    wanted[..., 0], wanted[..., 1], wanted[..., 2] = (left @ of)[:, None], left @ by, left @ to
    found = np.linalg.solve(products, wanted[..., None])[..., 0]
    if falls:
        without = np.linalg.solve(products[..., 1:, 1:], wanted[..., 1:, None])[..., 0]
        rises = found[..., :1] < 0.0
        found = np.where(rises, np.concatenate((np.zeros_like(rises), without), axis=-1), found)
    size = found[..., 2] / np.sqrt((parts[2] * parts[2]).sum(axis=0))
    return size, np.where(size > 0.0, (found * wanted).sum(axis=-1), 0.0)


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


def _shapes(size: int, jump: int, fewest: int) -> tuple[Floats, Ints]:
    """Return (waves that begin anew at a jump and at even distances from the first level on, where their jump is).

    Half cosines, lines and exponentials, with exactly one jump if fewest is 1, else with more.
    """
    at = np.arange(size)
    found, begins = [], []
    for off in _MISPLACED:
        for periods in range(1, _MOST_PERIODS + 1):
            length = (jump + off) / periods
            if length < _FEWEST_LEVELS:
                break
            if (periods == 1 and 2 * length >= size) == (fewest == 1):
                phase = (at / length + _ROUNDING) % 1.0
                found += [(1.0 + np.cos(math.pi * phase)) / 2.0, 1.0 - phase, np.exp(-5.0 * phase)]
                begins += [jump + off] * 3
    return np.stack(found, axis=1) if found else np.empty((size, 0)), np.array(begins, np.int64)

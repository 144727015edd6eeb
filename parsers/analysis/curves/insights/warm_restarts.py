"""Tells a jump from which the curve falls once more, as where a learning rate begins anew, from a step that lasts.

A single jump cannot be recognised by recurring, so the curve after it decides. Two models of the levels are compared: a
smooth course with a step, and the same course with a wave, half a cosine or an exponential. The wave has had one period
before the jump and has another one after it. Step and wave are added to the course, or are a share of it. The wave has one
height, or two, before and after the jump, because what it does before the jump may belong to the course; the step then has
the wave before the jump, too. A restart has to leave nothing but the noise of the levels, and less than every step by more
than chance; if neither model explains the curve, it is no restart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from parsers.analysis.curves.insights.levels import SIGMA
from parsers.model import Floats

_RATES = (2.0, 5.0, 12.0, 30.0, 80.0, 250.0)
"""Exponentials of a course fall by this many e-folds over the run."""
_MISPLACED = (-1, 0, 1)
"""Levels by which a jump may be misplaced."""
_STRADDLING = 2
"""Levels on either side of a jump that may contain points of both sides, and are not fitted."""
_PIECE = 32
"""Levels in pieces of which the noise is measured: it may go with the level."""
_QUIET = 0.3
"""Least noise of a piece, in that of all levels."""
_ROUNDS = 3
"""Fits of a wave that is a share of the course, each with the course of the one before."""
_LOWEST = 0.05
"""Least course of which a wave is a share, in the largest level."""
_MADE = 0.5
"""Part of the height of the jump that the wave must make."""
_SURE = 10.0
"""By how many variances of the noise a wave must lower the sum of squares more than a step."""
_MOST_LEFT = 1.4
"""Variances of the noise that may be left, on average."""


def restart(level: Floats, jump: int, height: float) -> Floats | None:
    """Return the wave that begins at a jump up, if a step there fits worse.

    level: shape (levels,), in deviations of its noise. jump: index of the first level after the jump. height: of the jump,
    positive. The wave has the shape of `level` and is 0 before the jump.
    """
    if 2 * jump < level.size - 2 * _MISPLACED[-1]:
        return None
    weight = 1.0 / _noise(level)
    weight[max(0, jump - _STRADDLING) : jump + _STRADDLING] = 0.0
    fit = _LevelFit(level, weight)
    likely = [one for sides in (False, True) if (one := _likelier(fit, level, jump, height, sides=sides)) is not None]
    return max(likely, key=lambda one: one.beyond).wave if likely else None


class _Likely(NamedTuple):
    """A wave, and by how many variances of the noise it lowers the sum of squares more than every step."""

    beyond: float
    wave: Floats


def _likelier(fit: _LevelFit, level: Floats, jump: int, height: float, *, sides: bool) -> _Likely | None:
    """Return the wave that fits best, if it fits better than every step. sides: the wave has two heights."""
    waves: list[tuple[float, Floats]] = []
    steps: list[float] = []
    for off in _MISPLACED:
        after = np.arange(level.size) >= jump + off
        begun = fit.of(after[:, None].astype(np.float64))
        steps.append(begun.left)
        for form in _forms(level.size, jump + off):
            before, again = np.where(after, 0.0, form), np.where(after, form, 0.0)
            for course in (None, begun.course) if level.min() > 0.0 else (None,):
                columns = np.stack((before, again), axis=1) if sides else form[:, None]
                found, scale = _wave(fit, columns, course)
                step = np.stack((before, after), axis=1) if sides else after[:, None]
                steps.append(fit.of(step * scale[:, None]).left)
                wave = found.size[-1] * again * scale
                if found.size.min() > 0.0 and wave.max() >= _MADE * height and found.left <= _MOST_LEFT * level.size:
                    waves.append((found.left, wave))
    left, wave = min(waves, key=lambda one: one[0], default=(np.inf, level))
    return _Likely(min(steps) - left, wave) if min(steps) - left >= _SURE else None


class _Found(NamedTuple):
    """Sum of squares that is left, in variances of the noise; coefficients of the columns; the course."""

    left: float
    size: Floats
    course: Floats


class _LevelFit:
    """Fits columns and a smooth course to levels by weighted least squares."""

    def __init__(self, level: Floats, weight: Floats) -> None:
        x = np.linspace(0.0, 1.0, level.size)
        self._course, _ = np.linalg.qr(np.stack([np.ones_like(x), x, *(np.exp(-rate * x) for rate in _RATES)], axis=1))
        self._basis, self._triangle = np.linalg.qr(self._course * weight[:, None])
        self._weight = weight
        self._level = level * weight
        self._rest = self._without(self._level)

    def of(self, columns: Floats) -> _Found:
        """Fit columns, shape (levels, columns), beside the course."""
        weighted = columns * self._weight[:, None]
        part = self._without(weighted)
        size = np.asarray(np.linalg.lstsq(part, self._rest, rcond=None)[0])
        left = self._rest - part @ size
        course = self._course @ np.linalg.solve(self._triangle, self._basis.T @ (self._level - weighted @ size))
        return _Found(float(left @ left), size, np.asarray(course))

    def _without(self, column: Floats) -> Floats:
        found: Floats = column - self._basis @ (self._basis.T @ column)
        return found


def _wave(fit: _LevelFit, columns: Floats, course: Floats | None) -> tuple[_Found, Floats]:
    """Return (the fit of the columns of a wave, what they are multiplied by).

    course: the first guess of what the wave is a share of; None for a wave that is added.
    """
    if course is None:
        return fit.of(columns), np.ones(len(columns))
    for _ in range(_ROUNDS + 1):
        scale = _positive(course)
        found = fit.of(columns * scale[:, None])
        course = found.course
    return found, scale


def _positive(course: Floats) -> Floats:
    return np.maximum(course, _LOWEST * float(np.abs(course).max()))


def _forms(size: int, period: int) -> Iterator[Floats]:
    phase = (np.arange(size) / period) % 1.0
    yield (1.0 + np.cos(math.pi * phase)) / 2.0
    yield np.exp(-5.0 * phase)


def _noise(level: Floats) -> Floats:
    """Return the standard deviation of each level about its neighbours, which follows the curve piece by piece."""
    away = SIGMA / math.sqrt(1.5) * np.abs(level[1:-1] - (level[:-2] + level[2:]) / 2.0)
    pieces = np.array_split(away, max(1, away.size // _PIECE))
    noise = np.array([float(np.median(piece)) for piece in pieces])
    middle = np.cumsum([piece.size for piece in pieces]) - np.array([piece.size for piece in pieces]) / 2.0
    return np.asarray(np.interp(np.arange(level.size), middle + 0.5, np.maximum(noise, _QUIET)))

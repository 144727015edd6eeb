"""A Gaussian process that predicts a result from settings, fitted by its marginal likelihood (Rasmussen and Williams 2006).

The covariance of two runs is a Matern kernel (5/2) of their distance, to which each setting contributes by a relevance of its
own (automatic relevance determination): numbers by the square of their difference, categories by whether they differ. A setting
without effect gets a relevance near 0, as the prior has it; one with a U shape, or one that acts only together with another,
as in an exclusive or, does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.model import Floats

_STEPS = 60
"""Steps of the ascent from each start, and from where a process of nearly the same runs was."""
_FEWER_STEPS = 15
_STARTS = (0.5, 6.0)
"""Relevances to start from: nearly linear, and wiggly."""
_NOISES = (0.02, 0.3)
"""Shares of the variance that is noise, to start from."""
_PRIOR = (math.log(0.3), 1.5)
"""Mean and deviation of the logarithm of a relevance."""
_VARIANCE, _NOISE = (0.5, 1.0), (-3.5, 2.0)
"""The same of the logarithms of the variance and of the noise, of results of variance 1."""
_SPARSE = 0.5
"""Each setting that matters costs this much, times the logarithm of how much it matters."""
_SLIGHT = 0.01
"""A relevance below this hardly matters."""
NO_RELEVANCE = 1e-4
"""A smaller relevance changes no prediction that can be seen."""
_LEAST_NOISE = 1e-4
_SQRT5 = math.sqrt(5.0)


@dataclass(frozen=True, slots=True)
class Process:
    """A fitted process: squared distances are weighted by `relevance`; `weights` give the mean at new places."""

    x: Floats
    apart: NDArray[np.bool_]
    relevance: Floats
    weights: Floats
    mean: float
    kept: Floats
    """Logarithms of relevances, variance and noise."""

    def predict(self, places: Floats) -> Floats:
        """Return the expected result at places of shape (m, settings)."""
        return self.expected(self.distances(places, range(len(self.relevance))))

    def distances(self, places: Floats, columns: Iterable[int]) -> Floats:
        """Return what some columns contribute to the squared distances of places (m, settings) to the runs; shape (m, n)."""
        distance = np.zeros((len(places), len(self.x)))
        for at in columns:
            if self.relevance[at] > NO_RELEVANCE:
                difference = places[:, at, None] - self.x[None, :, at]
                distance += self.relevance[at] * ((difference != 0) if self.apart[at] else difference * difference)
        return distance

    def expected(self, distances: Floats) -> Floats:
        """Return the expected result at squared distances of shape (m, n)."""
        found: Floats = self.mean + _matern(np.sqrt(np.maximum(distances, 0.0))) @ self.weights
        return found


def fitted(x: Floats, y: Floats, apart: NDArray[np.bool_], near: Process | None = None) -> Process:
    """Fit a process to places of shape (n, settings), numbers within [0, 1] or codes of categories (apart), and results (n,).

    near: a process of nearly the same runs, from which to start.
    """
    squares = np.stack([_squares(x[:, at], bool(one)) for at, one in enumerate(apart)])
    middle = float(y.mean())
    spread = float(y.std()) or 1.0
    standard = (y - middle) / spread
    best: tuple[float, Floats] | None = None
    starts = [np.array([math.log(one)] * len(apart) + [0.0, math.log(noise)])
              for one, noise in zip(_STARTS, _NOISES, strict=True)]  # fmt: skip
    for start in starts if near is None else [near.kept]:
        found = _ascend(squares, standard, start, _STEPS if near is None else _FEWER_STEPS)
        best = found if best is None or found[0] > best[0] else best
    assert best is not None
    kept = np.exp(best[1])
    inverse = np.linalg.inv(_covariance(squares, kept)[0])
    return Process(x, apart, kept[:-2], spread * kept[-2] * (inverse @ standard), middle, best[1])


def _squares(column: Floats, apart: bool) -> Floats:
    difference = column[:, None] - column[None, :]
    return (difference != 0).astype(np.float64) if apart else difference * difference


def _matern(distance: Floats) -> Floats:
    r = _SQRT5 * distance
    found: Floats = (1.0 + r + r * r / 3.0) * np.exp(-r)
    return found


def _covariance(squares: Floats, kept: Floats) -> tuple[Floats, Floats, Floats]:
    """(covariance with noise, correlation, distance)."""
    distance = np.sqrt(np.tensordot(kept[:-2], squares, axes=1))
    correlation = _matern(distance)
    return kept[-2] * correlation + (kept[-1] + _LEAST_NOISE) * np.eye(len(distance)), correlation, distance


def _ascend(squares: Floats, y: Floats, start: Floats, steps: int) -> tuple[float, Floats]:
    """Return (the largest log posterior found, logarithms of relevances, variance and noise), by resilient steps (Rprop)."""
    at, step = start.copy(), np.full(len(start), 0.4)
    before = np.zeros(len(start))
    best = (-math.inf, at)
    for _ in range(steps):
        value, slope = _posterior(squares, y, at)
        if value > best[0]:
            best = (value, at.copy())
        same = np.sign(slope * before)
        step = np.clip(np.where(same > 0, 1.25 * step, np.where(same < 0, 0.5 * step, step)), 1e-3, 1.5)
        before = np.where(same < 0, 0.0, slope)
        at = np.clip(at + np.sign(before) * step, math.log(1e-7), math.log(1e3))
    return best


def _posterior(squares: Floats, y: Floats, at: Floats) -> tuple[float, Floats]:
    """The logarithm of the posterior but for a constant, and its slopes."""
    kept = np.exp(at)
    covariance, correlation, distance = _covariance(squares, kept)
    root = np.linalg.cholesky(covariance)
    inverse = np.linalg.inv(covariance)
    alpha = inverse @ y
    outer = np.outer(alpha, alpha) - inverse
    r = _SQRT5 * distance
    # The slope of the kernel over the squared distance is -5/6 (1 + r) exp(-r).
    common = outer * kept[-2] * (-5.0 / 6.0) * (1.0 + r) * np.exp(-r)
    slope = np.empty(len(at))
    slope[:-2] = 0.5 * np.einsum("kij,ij->k", squares, common) * kept[:-2]
    slope[-2] = 0.5 * float((outer * correlation).sum()) * kept[-2]
    slope[-1] = 0.5 * float(np.trace(outer)) * kept[-1]
    prior, of_prior = _prior(at, kept)
    return -0.5 * float(y @ alpha) - float(np.log(np.diag(root)).sum()) + prior, slope + of_prior


def _prior(at: Floats, kept: Floats) -> tuple[float, Floats]:
    """The logarithm of the prior, and its slopes."""
    middle, width = _PRIOR
    # Small relevances are as likely as not: it is flat below its mean.
    held = np.maximum((at[:-2] - middle) / width, 0.0)
    variance, noise = at[-2] - _VARIANCE[0], at[-1] - _NOISE[0]
    value = -0.5 * float(held @ held) - _SPARSE * float(np.log1p(kept[:-2] / _SLIGHT).sum())
    value -= 0.5 * ((variance / _VARIANCE[1]) ** 2 + (noise / _NOISE[1]) ** 2)
    of_relevance = -held / width - _SPARSE * kept[:-2] / (_SLIGHT + kept[:-2])
    return value, np.concatenate((of_relevance, [-variance / _VARIANCE[1] ** 2, -noise / _NOISE[1] ** 2]))

"""Debiased exponential moving average, the formula of MindInsight's and TensorBoard's scalar pages."""

from __future__ import annotations

import math

import numpy as np

from parsers.analysis.curves.segments import merged
from parsers.model import Floats, Ints

_BLOCK = 32
# Below this average session length a plain loop beats a vector start-up per session.
_SHORT_SESSION = 48


def smooth(value: Floats, weight: float, starts: Ints) -> Floats:
    """Smoothed copy of a series: ``last = w*last + (1-w)*v; n += 1; shown = last / (1 - w**n)`` over its finite values.

    weight is w in [0, 1). starts are the indices at which a session starts (see `segments.restarts`): the average never
    reaches across one. Non-finite values stay what and where they are. Equal to the plain loop within 4e-16 relative.
    """
    if not 0.0 <= weight < 1.0:
        raise ValueError(f"weight: expected 0 <= weight < 1; found {weight!r}")
    if weight == 0.0 or not value.size:
        return value.copy()
    finite = np.isfinite(value)
    if finite.all():
        return _smooth_finite(value, weight, starts)
    index = np.flatnonzero(finite)
    shown = value.copy()
    shown[index] = _smooth_finite(value[index], weight, np.searchsorted(index, starts))
    return shown


def _smooth_finite(value: Floats, weight: float, starts: Ints) -> Floats:
    bounds = merged(starts, np.array([0, value.size]))
    if value.size < _SHORT_SESSION * (bounds.size - 1):
        return _loop(value, weight, bounds)
    shown = np.empty_like(value)
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        shown[first:last] = _session(value[first:last], weight)
    return shown


def _session(value: Floats, weight: float) -> Floats:
    shown = _recurrence(value * (1.0 - weight), weight)
    # Beyond this n, 1 - w**n is 1.0 in double precision. Python's power, not numpy's: they differ in the last digit, which
    # 1 - w**n magnifies.
    biased = min(value.size, math.ceil(math.log(2.0**-54) / math.log(weight)) + 1)
    shown[:biased] /= [1.0 - weight**n for n in range(1, biased + 1)]
    return shown


def _recurrence(x: Floats, weight: float) -> Floats:
    """y[i] = weight * y[i-1] + x[i].

    All blocks advance together, one place at a time; the carries between blocks are the same recurrence over the blocks'
    last values with weight**_BLOCK. (A triangular matrix product does it too, but wakes BLAS threads for longer than it takes.)
    """
    blocks = -(-x.size // _BLOCK)
    padded = np.zeros(blocks * _BLOCK)
    padded[: x.size] = x
    y = np.ascontiguousarray(padded.reshape(blocks, _BLOCK).T)
    for place in range(1, _BLOCK):
        y[place] += weight * y[place - 1]
    if blocks > 1:
        carry = _recurrence(y[-1, :-1], weight**_BLOCK)
        power = weight
        for place in range(_BLOCK):
            y[place, 1:] += power * carry
            power *= weight
    return y.T.reshape(-1)[: x.size]


def _loop(value: Floats, weight: float, bounds: Ints) -> Floats:
    shown: list[float] = []
    values = value.tolist()
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        mean = 0.0
        for n, v in enumerate(values[first:last], 1):
            mean = weight * mean + (1.0 - weight) * v
            shown.append(mean / (1.0 - weight**n))
    return np.array(shown)

"""Finds restarts in the history of a tag, and resolves them: a job restarted from a checkpoint writes earlier steps again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from parsers.model import Ints, Series
from parsers.recorded import RunSeries


def restarts(step: Ints) -> Ints:
    """Return the indices at which a new session starts, i.e. the step is strictly lower than the one before; without 0.

    An equal step is no restart: MindSpore's collector records the last step of an epoch twice.
    """
    return np.flatnonzero(step[1:] < step[:-1]) + 1


def newest(step: Ints) -> Ints:
    """Return the indices of the values not superseded by a later one, steps ascending: steps rewritten by a restart count once.

    A value is superseded by a later one of its own or a smaller step, as in `Run.scalars_view("newest")`.
    """
    if step.size < 2:
        return np.arange(step.size)
    least = np.minimum.accumulate(step[:0:-1])[::-1]
    return np.flatnonzero(np.append(step[:-1] < least, True))


def resolved(series: Series) -> Series:
    """Return the points of a series not superseded by a later one; the same object if none is.

    Where all steps are equal nobody counted them, so that nothing is superseded.
    """
    step = series.step
    if bool((step[1:] > step[:-1]).all()) or bool((step == step[0]).all()):
        return series
    return _rows(series, newest(step))


def most_steps(lengths: Mapping[str, int], series_of: Callable[[str], Series]) -> int:
    """Return the number of steps of the longest series with restarts resolved; lengths are the numbers of recorded values."""
    most = 0
    for tag in sorted(lengths, key=lambda tag: -lengths[tag]):
        if lengths[tag] <= most:
            break
        step = series_of(tag).step
        rising = bool((step[1:] > step[:-1]).all())
        most = max(most, step.size if rising else newest(step).size)
    return most


def superseded(series: Series) -> tuple[Series, Ints]:
    """Return (the points that `resolved` leaves out, in the order they were written; their stretches).

    Stretches are the indices, without 0, at which another one begins: after a restart, or after a step that was written once.
    """
    step = series.step
    if resolved(series) is series:
        return _rows(series, slice(0)), np.empty(0, np.int64)
    kept = np.zeros(step.size, bool)
    kept[(left := newest(step))] = True
    at = np.flatnonzero(~kept)
    session = np.searchsorted(restarts(step), at, "right")
    once = step[left]  # ascending
    apart = np.searchsorted(once, step[at[1:]], "left") > np.searchsorted(once, step[at[:-1]], "right")
    return _rows(series, at), np.flatnonzero(apart | (session[1:] != session[:-1])) + 1


def _rows(series: Series, which: Any) -> Series:
    found = RunSeries(*(column[which] for column in series))
    found.known = {}
    return found


def merged(*parts: Ints) -> Ints:
    """Return the union of several arrays of indices, ascending."""
    # numpy's own unique goes through a hash table and takes twenty times as long.
    ordered = np.sort(np.concatenate(parts))
    if not ordered.size:
        return ordered
    fresh = np.ones(ordered.size, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered[fresh]

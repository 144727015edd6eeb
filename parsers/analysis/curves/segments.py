"""Finds restarts in the history of a tag: a job restarted from a checkpoint writes earlier steps again."""

from __future__ import annotations

import numpy as np

from parsers.model import Ints


def restarts(step: Ints) -> Ints:
    """Return the indices at which a new session starts, i.e. the step is strictly lower than the one before; without 0.

    An equal step is no restart: MindSpore's collector records the last step of an epoch twice.
    """
    return np.flatnonzero(step[1:] < step[:-1]) + 1


def merged(*parts: Ints) -> Ints:
    """Return the union of several arrays of indices, ascending."""
    # numpy's own unique goes through a hash table and takes twenty times as long.
    ordered = np.sort(np.concatenate(parts))
    if not ordered.size:
        return ordered
    fresh = np.ones(ordered.size, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered[fresh]

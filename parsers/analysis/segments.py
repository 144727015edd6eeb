"""Where one tag's history is not one history: a job restarted from a checkpoint writes earlier steps again."""

from __future__ import annotations

import numpy as np

from parsers.model import Ints


def restarts(step: Ints) -> Ints:
    """Indices at which a new session starts, i.e. the step is strictly lower than the one before; without index 0.

    An equal step is no restart: MindSpore's collector records the last step of an epoch twice.
    """
    return np.flatnonzero(step[1:] < step[:-1]) + 1


def merged(*parts: Ints) -> Ints:
    """The indices in any of several arrays, ascending, each once."""
    # numpy's own unique goes through a hash table and takes twenty times as long.
    ordered = np.sort(np.concatenate(parts))
    if not ordered.size:
        return ordered
    fresh = np.ones(ordered.size, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered[fresh]

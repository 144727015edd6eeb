"""Where one tag's history is not one history: a job restarted from a checkpoint writes earlier steps again."""

from __future__ import annotations

import numpy as np

from parsers.model import Ints


def restarts(step: Ints) -> Ints:
    """Indices at which a new session starts, i.e. the step is strictly lower than the one before; without index 0.

    An equal step is no restart: MindSpore's collector records the last step of an epoch twice.
    """
    return np.flatnonzero(step[1:] < step[:-1]) + 1

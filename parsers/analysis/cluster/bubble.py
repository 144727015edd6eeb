"""How long a rank of a pipeline waits for its neighbours.

What files call bubble is found by names of send and receive operations and is 0 wherever batchSendRecv is used. Here it is the
exposed time of all operations between two ranks: what they take while the rank computes nothing.
"""

from __future__ import annotations

import numpy as np

from parsers.analysis.busy import covered
from parsers.model import Floats, Ints


def at_most(exposed: Floats, between_two: Floats) -> Floats:
    """Return the most a bubble can be without knowing when things ran: the least of exposed time and sum of p2p elapse (ns)."""
    return np.minimum(exposed, between_two)


def exact(p2p: tuple[Ints, Ints], computing: tuple[Ints, Ints]) -> int:
    """Return the time in which something of p2p ran and nothing of computing; both are (begins, ends) in ns, in any order."""
    (begins, ends), (other_begins, other_ends) = _whole(p2p), _whole(computing)
    together = covered(np.concatenate((begins, other_begins)), np.concatenate((ends, other_ends)))
    return together - covered(other_begins, other_ends)


def _whole(intervals: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Leave out intervals that end before they begin."""
    kept = intervals[1] > intervals[0]
    return intervals[0][kept], intervals[1][kept]


def in_theory(stages: int, micro_batches: int) -> float:
    """Return the share of a step that 1F1B waits with equal stages: (p - 1) / (m + p - 1); 0 for one stage or no micro batch."""
    if stages < 2 or micro_batches < 1:
        return 0.0
    return (stages - 1) / (micro_batches + stages - 1)

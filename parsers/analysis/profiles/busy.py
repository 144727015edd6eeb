"""Busy and idle time of a device from its single executions, for profiles without a step trace too."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.profiles.steps import Average
from parsers.deferred import pandas as pd
from parsers.model import Ints

COMMUNICATION = ("COMMUNICATION", "HCCL")
COPY = "COPY"
HOST = "HOST_CPU"
PARTS = ("computing", "overlapped", "exposed", "free")


def busy(kernels: pd.DataFrame) -> Average | None:
    """Return the parts of the time from the first begin to the last end of executions (schema KERNELS); None for untimed ones.

    Parts as in a new step trace: computing without communication, both at once, communication without computing, and neither
    ("free", in which memory may be copied). Executions that overlap, on several streams or nested, count once. Only executions
    on the device count, of several devices those of the one with most of them; if there are none, those of the host. steps is
    the number of executions.
    """
    timed = kernels[(kernels["start_ns"] >= 0) & (kernels["duration_ns"] >= 0)]
    device = timed[timed["core"] != HOST]
    chosen = device if len(device) else timed
    if chosen["device"].nunique() > 1:
        chosen = chosen[chosen["device"] == chosen["device"].mode().iloc[0]]
    if chosen.empty:
        return None
    start = chosen["start_ns"].to_numpy()
    end = start + chosen["duration_ns"].to_numpy()
    communicates, copies = chosen["core"].isin(COMMUNICATION).to_numpy(), (chosen["core"] == COPY).to_numpy()
    both = covered(start[~copies], end[~copies])
    computing = covered(start[~communicates & ~copies], end[~communicates & ~copies])
    communication = covered(start[communicates], end[communicates])
    whole = int(end.max() - start.min())
    times = (both - communication, computing + communication - both, both - computing, whole - both)
    # Without communication the device computes or is idle.
    shown = [place for place in range(len(PARTS)) if communication or PARTS[place] in ("computing", "free")]
    parts, spent = tuple(PARTS[place] for place in shown), tuple(float(times[place]) for place in shown)
    return Average(parts, spent, float(whole), False, len(chosen))


def covered(start: Ints, end: Ints) -> int:
    """Return the length of the union of intervals, in their unit."""
    order = np.argsort(start, kind="stable")
    first, last = start[order], np.maximum.accumulate(end[order]) if len(end) else end
    before: NDArray[np.int64] = np.concatenate((first[:1], last[:-1])) if len(last) else last
    return int(np.maximum(last - np.maximum(first, before), 0).sum())

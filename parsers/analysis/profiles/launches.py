"""How kernels were launched: delays, queues of streams, and why streams had nothing to do between two kernels.

The definitions are those of Holistic Trace Analysis (hta/analyzers/cuda_kernel_analysis.py and trace_counters.py): a delay is
from the end of the call to the begin on the device, and one below 0 counts as 0; a queue grows when a call begins and shrinks
when the device begins. A gap of a stream is the host's if the next launch began after the kernel before had ended, else the
device's: between kernels if it is short, of other causes if it is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.deferred import pandas as pd
from parsers.model import Ints
from parsers.profiler.trace.queues import queue_lengths

LAUNCH_BEGIN, LAUNCH_END = "launch/begin_ns", "launch/end_ns"
"""Columns of KERNELS that a Kineto trace has: when the call that launched a kernel began and ended; -1 for unknown."""
SHORT_GAP_NS = 30_000
FULL_QUEUE = 1_024
"""Kernels that a stream of CUDA takes before calls that launch block."""
CAUSES = ("host", "between", "other")


@dataclass(frozen=True, slots=True)
class StreamLaunches:
    """One stream: what it ran, times in ns.

    gap_ns: by CAUSES, between its kernels. late_ns: gaps in which the call that launched the next kernel had not ended when the
    one before had: the host's, and those of launches that began just before. queue_time_ns, queue_length: its queue from each
    moment on, for drawing; a length is the number of kernels launched and not yet begun.
    """

    device: int
    stream: int
    kernels: int
    busy_ns: int
    gap_ns: tuple[int, int, int]
    late_ns: int
    queue_time_ns: Ints
    queue_length: Ints

    @property
    def longest_queue(self) -> int:
        """The greatest number of kernels that waited; 0 without launches."""
        return int(self.queue_length.max(initial=0))


@dataclass(frozen=True, slots=True)
class LaunchFigures:
    """How the kernels of a profile were launched; delay_ns are those of all launches, in the order of the kernels.

    longer_calls: launches whose call took longer than what it launched. at_full_queue: calls that began while FULL_QUEUE
    kernels waited on their stream. streams: the one that was busiest first.
    """

    delay_ns: Ints
    longer_calls: int
    at_full_queue: int
    streams: tuple[StreamLaunches, ...]

    @property
    def median_ns(self) -> float:
        """The median delay."""
        return float(np.median(self.delay_ns))


def launch_figures(kernels: pd.DataFrame, short_gap_ns: int = SHORT_GAP_NS) -> LaunchFigures | None:
    """Return how the kernels (schema KERNELS) were launched; None where the file does not tell."""
    if LAUNCH_BEGIN not in kernels:
        return None
    begin, end = kernels[LAUNCH_BEGIN].to_numpy(), kernels[LAUNCH_END].to_numpy()
    known = (begin >= 0) & (kernels["start_ns"].to_numpy() >= 0)
    if not known.any():
        return None
    start, duration = kernels["start_ns"].to_numpy(), kernels["duration_ns"].to_numpy()
    delay = np.maximum(start[known] - end[known], 0)
    keys = kernels["device"].to_numpy() * (1 << 32) + kernels["stream"].to_numpy()
    streams = []
    full = 0
    order = np.lexsort((start, keys))
    for rows in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1):
        launched = rows[known[rows]]
        if not len(launched):
            continue
        time, length = queue_lengths(begin[launched], start[launched])
        full += int(np.count_nonzero((length > FULL_QUEUE) & (np.diff(length, prepend=0) > 0)))
        streams.append(StreamLaunches(
            int(kernels["device"].iloc[rows[0]]), int(kernels["stream"].iloc[rows[0]]), len(rows), int(duration[rows].sum()),
            _gaps(start[rows], duration[rows], np.where(known[rows], begin[rows], -1), short_gap_ns),
            _gaps(start[rows], duration[rows], np.where(known[rows], end[rows], -1), short_gap_ns)[0], time, length,
        ))  # fmt: skip
    longer = int(np.count_nonzero((end - begin)[known] > duration[known]))
    streams.sort(key=lambda one: -one.busy_ns)
    return LaunchFigures(delay, longer, full, tuple(streams))


def _gaps(start: Ints, duration: Ints, call: Ints, short_gap_ns: int) -> tuple[int, int, int]:
    """Return the time of the gaps between neighbours by CAUSES; where no launch is known the gap is not the host's."""
    before = np.maximum.accumulate(start + duration)[:-1]
    gap = np.maximum(start[1:] - before, 0)
    host = call[1:] > before
    between = ~host & (gap < short_gap_ns)
    found = [int(gap[chosen].sum()) for chosen in (host, between, ~host & ~between)]
    return found[0], found[1], found[2]

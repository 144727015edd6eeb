"""The arrows of one slice: the other end of each, and columns of all of them, which the page draws in bundles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.profiler.trace.opened import OpenTrace
from parsers.profiler.trace.together import RankPart

MOST = 20_000
"""Maximum number of arrows that are sent as columns."""


def arrows_of(opened: OpenTrace, row: int) -> tuple[NDArray[np.int64], int]:
    """Return (numbers of the arrows of a slice, those that arrive first, and how many of them arrive)."""
    flows = opened.trace.flows
    order = opened.once("targets", lambda: np.argsort(flows.target, kind="stable"))
    targets = opened.once("sorted targets", lambda: np.asarray(flows.target)[order])
    first, last = np.searchsorted(targets, [row, row + 1]).tolist()
    leaving = np.arange(*np.searchsorted(flows.source, [row, row + 1]).tolist())
    return np.concatenate([order[first:last], leaving]).astype(np.int64), last - first


def columns_of(part: RankPart, row: int) -> dict[str, Any]:
    """Return start, duration, track and depth of the other ends on the axis; `arriving` of them come first.

    total is how many arrows there are.
    """
    opened = part.opened
    numbers, arriving = arrows_of(opened, row)
    flows, slices = opened.trace.flows, opened.trace.slices
    ends = np.where(np.arange(len(numbers)) < arriving, flows.source[numbers], flows.target[numbers])[:MOST]
    track = slices.track[ends]
    shifts = np.array([part.shift(index) for index in range(len(opened.trace.tracks))] or [0], np.int64)
    return {
        "total": len(numbers), "arriving": min(arriving, MOST), "start": (slices.start[ends] + shifts[track]).tolist(),
        "duration": slices.duration[ends].tolist(), "track": (track + part.track).tolist(),
        "depth": slices.depth[ends].tolist(),
    }  # fmt: skip

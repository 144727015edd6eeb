"""The operators of a rank from its trace, where its kernels have no times: those of legacy files have none.

A trace does not say on which core a kernel ran, so what computes is of the category `other`, unless it is named as kernels and
copies of a GPU are. Slices that only wait or record events are left out: while they last the stream is idle.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from parsers.analysis.jobs.choosing import kind_of
from parsers.analysis.jobs.rank_operators.operators import (
    CATEGORIES,
    COMMUNICATES,
    DIRECTIONS,
    MOST,
    Operators,
    sorted_by_begin,
)
from parsers.analysis.profiles.efficiency.tensor_cores import multiplies
from parsers.model import Ints
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.opened import TraceStep

_OTHER, _MATRIX, _COPY, _COLLECTIVE = map(CATEGORIES.index, ("other", "matrix", "copy", "collective"))
_COPIES = re.compile(r"Mem(?:cpy|set)\b")
_WAITS = re.compile(r"(?i)^(event|notify)_?(wait|record|reset)|^profiling_(en|dis)able$")
_NUMBER = re.compile(r"\d+$")


def of_trace(
    rank: int, trace: Trace, steps: Sequence[TraceStep] = (), *, step: int | None = None, most: int = MOST
) -> Operators:
    """Return the outermost slices of the device streams and communication tracks of a trace, in a step, None for all.

    A slice belongs to the step within which it begins, -1 for none.
    """
    slices, names = trace.slices, trace.names
    outermost: list[Ints] = [np.empty(0, np.int64)]
    for track in trace.tracks:
        if track.kind in ("device_stream", "communication") and track.last > track.first:
            rows = np.arange(track.first, track.last)
            outermost.append(rows[slices.depth[rows] == 0])
    rows = np.concatenate(outermost)
    used, place = np.unique(slices.name[rows], return_inverse=True)
    texts = [names[index] for index in used.tolist()]
    communicates = np.array([COMMUNICATES.search(text) is not None for text in texts] or [False])
    waits = np.array([_WAITS.search(text) is not None for text in texts] or [False])
    if len(rows):
        streams = np.array([track.kind == "device_stream" for track in trace.tracks])[slices.track[rows]]
        kept = (streams | communicates[place]) & ~waits[place]  # parts of communication are tracks of their own
        if (communicates[place] & ~streams).any():
            kept &= ~(communicates[place] & streams)
        rows, place = rows[kept], place[kept]
    start = slices.start[rows] + trace.origin_ns
    of_step = _steps_of(slices.start[rows], steps)
    if step is not None:
        rows, place, start, of_step = (one[of_step == step] for one in (rows, place, start, of_step))
    categories = [
        DIRECTIONS.get(kind_of(text), _COLLECTIVE) if yes else _computing(text)
        for text, yes in zip(texts, communicates, strict=False)
    ]
    category = np.array(categories or [_OTHER], np.uint8)[place]
    key = place.astype(np.int64)
    made = Operators(
        rank, tuple(texts), ("",), key, np.zeros_like(key), category, start, start + slices.duration[rows], of_step
    )
    return sorted_by_begin(made, most)


def _computing(name: str) -> int:
    return _COPY if _COPIES.match(name) else _MATRIX if multiplies(name) else _OTHER


def _steps_of(start: Ints, steps: Sequence[TraceStep]) -> Ints:
    """Return the number of the step in which each time lies."""
    found = np.full(len(start), -1, np.int64)
    for one in steps:
        number = _NUMBER.search(one.label)
        if number is not None:
            found[(start >= one.start) & (start < one.start + one.duration)] = int(number[0][-18:])
    return found

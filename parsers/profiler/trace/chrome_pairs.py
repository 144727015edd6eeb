"""Slices from begins and ends that are events of their own: of threads (B, E) and async ones (b, e and S, F)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.profiler.trace.columns import ASYNC, COMPLETE, INSTANT, UNFINISHED, UNSTARTED

OPENS, CLOSES, MARKS = range(3)
"""What an event does: begins a slice, ends one, or is a moment."""


@dataclass(frozen=True, slots=True)
class Closed:
    """Slices made of pairs, as arrays of one length: row of the event that begins it, duration in ns, phase."""

    row: NDArray[np.int64]
    duration: NDArray[np.int64]
    phase: NDArray[np.uint8]


@dataclass(slots=True)
class _Made:
    rows: list[int] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)
    phases: list[int] = field(default_factory=list)

    def add(self, row: int, duration: int, phase: int) -> None:
        self.rows.append(row)
        self.durations.append(duration)
        self.phases.append(phase)

    def closed(self) -> Closed:
        return Closed(np.array(self.rows, np.int64), np.array(self.durations, np.int64), np.array(self.phases, np.uint8))


def close_pairs(track: NDArray[np.int32], name: Sequence[Any], time: NDArray[np.int64], role: NDArray[np.uint8]) -> Closed:
    """Return the slices of begins and ends: an end closes the innermost open begin of its name on its track.

    All arguments have one value per event: its track, its name (None for an end without one), its time in ns, OPENS or CLOSES.
    """
    made = _Made()
    stacks: dict[int, list[int]] = {}
    opened: Counter[tuple[int, Any]] = Counter()
    order = np.lexsort((time, track))
    for each, where in zip(order.tolist(), track[order].tolist(), strict=True):
        stack, own = stacks.setdefault(where, []), name[each]
        if role[each] == OPENS:
            stack.append(each)
            opened[where, own] += 1
        elif not stack or (own is not None and not opened[where, own]):
            made.add(each, 0, UNSTARTED)
        else:
            same = (at for at in range(len(stack) - 1, -1, -1) if own is None or name[stack[at]] == own)
            begin = stack.pop(next(same))
            opened[where, name[begin]] -= 1
            made.add(begin, int(time[each] - time[begin]), COMPLETE)
    for stack in stacks.values():
        for begin in stack:
            made.add(begin, 0, UNFINISHED)
    return made.closed()


def close_asyncs(
    identity: NDArray[np.int32], name: Sequence[Any], time: NDArray[np.int64], role: NDArray[np.uint8]
) -> Closed:
    """Return the slices of async begins and ends, which belong together by identity (category and id) and name.

    All arguments have one value per event; time is in ns, role OPENS, CLOSES or MARKS.
    """
    made = _Made()
    stacks: dict[tuple[int, Any], list[int]] = {}
    for each in np.lexsort((time, identity)).tolist():
        if role[each] == MARKS:
            made.add(each, 0, INSTANT)
            continue
        stack = stacks.setdefault((int(identity[each]), name[each]), [])
        if role[each] == OPENS:
            stack.append(each)
        elif stack:
            begin = stack.pop()
            made.add(begin, int(time[each] - time[begin]), ASYNC)
        else:
            made.add(each, 0, UNSTARTED)
    for stack in stacks.values():
        for begin in stack:
            made.add(begin, 0, UNFINISHED)
    return made.closed()

"""What was allocated or released in the window: sums, and the largest blocks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from parsers.analysis.profiles.memory import changed
from parsers.analysis.profiles.memory.recording import MemoryRecording
from parsers.deferred import pandas as pd
from parsers.model import Ints

from layouts.kit import units as fmt
from layouts.profiles.memory import memory_texts
from layouts.profiles.memory.explained import largest
from layouts.profiles.memory.plain import Plain, element, words


class AllocationChanges(NamedTuple):
    """Blocks (indices) that were allocated or released in an interval, the largest first, and which of the two it was."""

    chosen: Ints
    allocated: Any
    released: Any


def in_window(recording: MemoryRecording, window: tuple[int, int] | None) -> AllocationChanges:
    """Return the blocks allocated or released in a window of offsets; None for all of the recording."""
    low, high = window or (0, recording.end - recording.origin)
    blocks = recording.blocks
    came, went = changed(blocks, recording.origin + low, recording.origin + high)
    found = np.flatnonzero(came | went)
    found = found[np.argsort(-blocks.size[found], kind="stable")]
    return AllocationChanges(found, came[found], went[found])


def parts(operator_memory: pd.DataFrame, recording: MemoryRecording, window: tuple[int, int] | None) -> list[Plain]:
    """A sentence with the sums of the window, and its largest blocks as a table."""
    found = in_window(recording, window)
    low, high = window or (0, recording.end - recording.origin)
    size = recording.blocks.size[found.chosen]
    came, went = int(size[found.allocated].sum()), int(size[found.released].sum())
    said = element("p", words(
        "memory.changed", n=fmt.count(int(np.count_nonzero(found.allocated))), size=fmt.size(came),
        m=fmt.count(int(np.count_nonzero(found.released))), other=fmt.size(went), net=fmt.size(came - went, signed=True),
        first=memory_texts.offset(low, recording.clock), last=memory_texts.offset(high, recording.clock),
    ))  # fmt: skip
    if not len(found.chosen):
        return [said]
    more = {"allocated": found.allocated, "released": found.released}
    return [said, *largest(operator_memory, recording, found.chosen, more)]

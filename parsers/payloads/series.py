"""The recorded values of one tag, located but not decoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.model import Floats, Ints, PayloadBlock


@dataclass(frozen=True, slots=True, eq=False)
class PayloadSeries:
    """One tag in the order it was written: columns of one length, where a value's index is its place.

    file is an index into `run.files`, order the byte offset of the record, offset and length the bytes of the value. Steps
    may repeat and go back.
    """

    step: Ints
    wall_time: Floats
    file: NDArray[np.int32]
    order: Ints
    offset: Ints
    length: Ints

    def __len__(self) -> int:
        return len(self.step)

    def find(self, step: int) -> int | None:
        """ValueLocation of the value written last for a step, or None."""
        places = np.flatnonzero(self.step == step)
        return int(places[-1]) if len(places) else None


def join(parts: Sequence[tuple[int, PayloadBlock]]) -> PayloadSeries:
    """Join the blocks of one tag, each given with its file's number: files in the order given, rows by offset in the file."""
    if not parts:
        none = np.empty(0, np.int64)
        return PayloadSeries(none, np.empty(0), np.empty(0, np.int32), none, none, none)
    if len(parts) == 1 and bool((np.diff(parts[0][1].offset) >= 0).all()):
        number, block = parts[0]  # most tags are in one file, and written in order: the columns of the block are shared
        file = np.full(len(block.step), number, np.int32)
        return PayloadSeries(block.step, block.wall_time, file, block.order, block.offset, block.length)
    step, wall_time, order, offset, length = (
        np.concatenate([getattr(block, name) for _, block in parts])
        for name in ("step", "wall_time", "order", "offset", "length")
    )
    counts = [len(block.step) for _, block in parts]
    rank = {number: place for place, number in enumerate(dict.fromkeys(number for number, _ in parts))}
    file = np.repeat(np.array([number for number, _ in parts], np.int32), counts)
    by_file = np.repeat([rank[number] for number, _ in parts], counts)
    place = np.lexsort((offset, by_file))
    return PayloadSeries(step[place], wall_time[place], file[place], order[place], offset[place], length[place])

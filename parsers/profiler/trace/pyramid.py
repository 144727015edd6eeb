"""The pyramid of a trace: what makes a view of ten million slices cost what it shows, and not what there is.

Two structures, by lane, in arrays that are mapped into memory:

- Lists of rows by class, floor(log2(duration)), each in order of start. As no two slices of a lane overlap, at most one slice
  of a class or above covers each 2**class ns, so slices at least a pixel wide are found in what they take to draw.
- Levels: for buckets of 2**k ns, what the slices shorter than a bucket come to: ns in the bucket, number that start in it, and
  the longest of them. A level is stored only where it saves work: where it has at most `_SAVING` of the entries and slices
  from which it is made. All levels together therefore have at most about twice as many entries as there are slices.
"""

from __future__ import annotations

import builtins
import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from parsers.errors import FormatError
from parsers.profiler.trace import lanes
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.running import latest_ends

_VERSION = 1
_HEADER = "pyramid.json"
_ARRAYS: dict[str, np.dtype[Any]] = {
    "class_row": np.dtype("<u4"),
    "class_start": np.dtype("<i8"),
    "class_key": np.dtype("<i8"),
    "class_first": np.dtype("<i8"),
    "level_bucket": np.dtype("<i8"),
    "level_busy": np.dtype("<i8"),
    "level_count": np.dtype("<u4"),
    "level_row": np.dtype("<u4"),
    "level_key": np.dtype("<i8"),
    "level_first": np.dtype("<i8"),
    "latest_ends": np.dtype("<i8"),
}
_ROWS = 1 << 20
_SAVING = 0.7
_FEW = 512
"""Lanes with fewer slices have no levels."""
_ENOUGH = 64
"""A level with so few entries is the last one of its lane."""
_CLASSES = 64
"""Keys of lists and levels are lane * _CLASSES + class + 1 and lane * _CLASSES + k."""


@dataclass(frozen=True, slots=True)
class SliceCells:
    """What slices come to in cells: in buckets of a lane, or of several. Each cell is there once, in rising order."""

    cell: NDArray[np.int64]
    busy: NDArray[np.int64]
    """ns of the cell during which slices run."""
    count: NDArray[np.integer[Any]]
    """Slices that start in the cell."""
    row: NDArray[np.integer[Any]]
    """The longest slice that runs in the cell, the first of several."""


@dataclass(frozen=True, slots=True)
class Pyramid:
    """Lists and levels of all lanes."""

    class_row: NDArray[np.uint32]
    class_start: NDArray[np.int64]
    class_key: NDArray[np.int64]
    class_first: NDArray[np.int64]
    level_bucket: NDArray[np.int64]
    level_busy: NDArray[np.int64]
    level_count: NDArray[np.uint32]
    level_row: NDArray[np.uint32]
    level_key: NDArray[np.int64]
    level_first: NDArray[np.int64]
    latest_ends: NDArray[np.int64]
    """Of each block of rows (`running.latest_ends`)."""
    numbers: NDArray[np.int64]
    """Number of the first lane of each track, and of all lanes."""

    def levels(self, chosen: NDArray[np.int64], k: int) -> NDArray[np.int64]:
        """The number of the highest level of each lane that is not above k; -1 for none."""
        found = np.searchsorted(self.level_key, chosen * _CLASSES + k, "right") - 1
        if not len(self.level_key):
            return np.full(len(chosen), -1, np.int64)
        return np.where((found < 0) | (self.level_key[found] // _CLASSES != chosen), -1, found)

    def height(self, levels: NDArray[np.int64]) -> NDArray[np.int64]:
        """The k of levels; -1 for none."""
        if not len(self.level_key):
            return np.full(len(levels), -1, np.int64)
        return np.where(levels < 0, -1, self.level_key[levels] % _CLASSES)

    def entries(self, levels: NDArray[np.int64], t0: int, t1: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Entries of levels between two times, as the place in `levels` and the place in the arrays of each of them."""
        there = np.flatnonzero(levels >= 0)
        which = levels[there]
        k = self.height(which)
        first, last = self.level_first[which], self.level_first[which + 1]
        low = _lower_bound(self.level_bucket, first, last, t0 >> k)
        high = _lower_bound(self.level_bucket, low, last, -(-t1 >> k))
        place, found = _spread(low, high)
        return there[place], found

    def slices(
        self, durations: NDArray[np.int64], chosen: NDArray[np.int64], low: NDArray[np.int64], high: int, t0: int, t1: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Slices of lanes that run between two times and whose class is from `low` (by lane) to below `high`.

        Returns their places in `chosen` and their rows, by lane and class in order of start. Class -1 are slices of 0 ns.
        """
        first = np.searchsorted(self.class_key, chosen * _CLASSES + low + 1)
        last = np.searchsorted(self.class_key, chosen * _CLASSES + max(high + 1, 0))
        place, lists = _spread(first, np.maximum(first, last))
        begin, end = self.class_first[lists], self.class_first[lists + 1]
        from_, to = np.full(len(lists), t0), np.full(len(lists), t1)
        start = _lower_bound(self.class_start, begin, end, from_)
        stop = _lower_bound(self.class_start, start, end, to)
        before = np.flatnonzero(start > begin)
        earlier = start[before] - 1
        runs = self.class_start[earlier] + durations[self.class_row[earlier]] > t0
        start[before[runs]] -= 1
        of_list, found = _spread(start, stop)
        return place[of_list], self.class_row[found].astype(np.int64)


def build(trace: Trace, directory: str, *, progress: Callable[[int, int], None] | None = None) -> None:
    """Write the pyramid of a trace into a directory, with memory for its largest track; `progress` gets rows done and all."""
    os.makedirs(directory, exist_ok=True)
    header = os.path.join(directory, _HEADER)
    if os.path.exists(header):
        os.remove(header)
    numbers = lanes.numbering(trace)
    with ExitStack() as files:
        writer = _PyramidWriter({name: files.enter_context(builtins.open(_path(directory, name), "wb")) for name in _ARRAYS})
        for first, last in _groups(trace):
            _add(writer, trace, numbers, first, last)
            if progress is not None:
                progress(trace.tracks[last - 1].last, len(trace.slices))
        writer.put(latest_ends=latest_ends(trace.slices))
        writer.put(class_first=np.array([writer.lengths["class_row"]]), level_first=np.array([writer.lengths["level_row"]]))
    with builtins.open(header + ".new", "w", encoding="utf-8") as file:
        json.dump(
            {"version": _VERSION, "rows": len(trace.slices), "numbers": numbers.tolist(), "lengths": writer.lengths}, file
        )
    os.replace(header + ".new", header)


def open(directory: str) -> Pyramid:  # noqa: A001  (read as pyramid.open)
    """The pyramid that `build` wrote. Raises FormatError if it is not complete, and OSError if it cannot be read."""
    try:
        with builtins.open(os.path.join(directory, _HEADER), encoding="utf-8") as file:
            header = json.load(file)
        lengths = {name: int(header["lengths"][name]) for name in _ARRAYS}
        numbers = np.array(header["numbers"], np.int64)
        rows = int(header["rows"])
        version = header["version"]
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise FormatError(f"{directory}: the header of the pyramid is damaged ({error})") from error
    if version != _VERSION:
        raise FormatError(f"{directory}: expected version {_VERSION} of the pyramid, found {version}")
    arrays: dict[str, Any] = {}
    for name, dtype in _ARRAYS.items():
        path = _path(directory, name)
        if os.path.getsize(path) != lengths[name] * dtype.itemsize:
            raise FormatError(f"{path}: expected {lengths[name] * dtype.itemsize} bytes, found {os.path.getsize(path)}")
        arrays[name] = np.memmap(path, dtype, "r").view(np.ndarray) if lengths[name] else np.zeros(0, dtype)
    found = Pyramid(**arrays, numbers=numbers)
    if not (
        max(int(found.class_row.max(initial=0)), int(found.level_row.max(initial=0))) < max(rows, 1)
        and _covers(found.class_first, len(found.class_key), len(found.class_row))
        and _covers(found.level_first, len(found.level_key), len(found.level_row))
        and _rises(found.class_key, numbers)
        and _rises(found.level_key, numbers)
    ):
        raise FormatError(f"{directory}: the pyramid is damaged: its lists do not fit {rows} slices")
    return found


def _rises(key: NDArray[np.int64], numbers: NDArray[np.int64]) -> bool:
    """True if keys rise, and belong to lanes that there are."""
    edges = np.concatenate([[-1], key, [int(numbers[-1]) * _CLASSES if len(numbers) else 0]])
    return bool((np.diff(edges) > 0).all())


def _covers(first: NDArray[np.int64], parts: int, size: int) -> bool:
    """True if `first` divides so many entries into so many parts."""
    return len(first) == parts + 1 and first[0] == 0 and first[-1] == size and bool((np.diff(first) >= 0).all())


def classes(duration: NDArray[np.int64]) -> NDArray[np.int64]:
    """floor(log2(duration)), exact; -1 for 0 ns."""
    found = np.frexp(duration.astype(np.float64))[1].astype(np.int64) - 1
    # a float64 rounds 2**60 - 1 up to 2**60
    return found - ((np.int64(1) << np.maximum(found, 0)) > np.maximum(duration, 1))


def shares(
    start: NDArray[np.int64], duration: NDArray[np.int64], row: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """What slices shorter than 2**k ns give to buckets, each to one or two.

    Returns the bucket, the ns in it, 1 where the slice starts in it, and the row of each share; last, the place in `start`.
    """
    bucket = start >> k
    end = start + duration
    next_ = (bucket + 1) << k
    over = np.flatnonzero(end > next_)
    busy = np.concatenate([np.minimum(end, next_) - start, end[over] - next_[over]])
    count = np.ones(len(busy), np.int64)
    count[len(start) :] = 0
    place = np.concatenate([np.arange(len(start)), over])
    return np.concatenate([bucket, bucket[over] + 1]), busy, count, row[place], place


def combine(
    cell: NDArray[np.int64],
    busy: NDArray[np.int64],
    count: NDArray[np.int64],
    row: NDArray[np.int64],
    longest: NDArray[np.int64],
) -> SliceCells:
    """Add up what several sources give to cells; `longest` is the duration of `row`."""
    if not len(cell):
        return SliceCells(*[np.zeros(0, np.int64)] * 4)
    lowest, highest = int(cell.min()), int(cell.max())
    if highest - lowest < 4 * len(cell) + 65536:
        cells, place = np.arange(lowest, highest + 1), cell - lowest
    else:
        cells, place = np.unique(cell, return_inverse=True)
    size = len(cells)
    total, number, most = np.zeros(size, np.int64), np.zeros(size, np.int64), np.full(size, -1, np.int64)
    np.add.at(total, place, busy)
    np.add.at(number, place, count)
    np.maximum.at(most, place, longest)
    first = np.full(size, np.iinfo(np.int64).max)
    best = np.flatnonzero(longest == most[place])
    np.minimum.at(first, place[best], row[best])
    there = np.flatnonzero(most >= 0)
    return SliceCells(cells[there], total[there], number[there], first[there])


def _lower_bound(
    values: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64], target: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each target the first place from `low` to before `high` (both by target) whose value is not less, else `high`."""
    low, high = low.copy(), high.copy()
    left = np.flatnonzero(low < high)
    while len(left):
        middle = (low[left] + high[left]) >> 1
        less = values[middle] < target[left]
        low[left[less]] = middle[less] + 1
        high[left[~less]] = middle[~less]
        left = left[low[left] < high[left]]
    return low


def _spread(first: NDArray[np.int64], last: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All numbers of ranges, and the place in `first` of the range of each."""
    sizes = last - first
    place = np.repeat(np.arange(len(first)), sizes)
    return place, np.arange(len(place)) + np.repeat(first - (np.cumsum(sizes) - sizes), sizes)


class _PyramidWriter:
    """Appends to the files of the arrays."""

    def __init__(self, files: dict[str, BinaryIO]) -> None:
        self._files = files
        self.lengths = dict.fromkeys(files, 0)

    def put(self, **arrays: NDArray[Any]) -> None:
        for name, array in arrays.items():
            self._files[name].write(np.ascontiguousarray(array, _ARRAYS[name]).data)
            self.lengths[name] += len(array)


def _path(directory: str, name: str) -> str:
    return os.path.join(directory, f"{name}.bin")


def _groups(trace: Trace) -> Iterator[tuple[int, int]]:
    """Ranges of tracks with up to `_ROWS` slices, or one track with more; tracks of no slices are left out at the end."""
    first = 0
    for index, track in enumerate(trace.tracks):
        if index > first and track.last - trace.tracks[first].first > _ROWS:
            yield first, index
            first = index
    if first < len(trace.tracks):
        yield first, len(trace.tracks)


def _add(writer: _PyramidWriter, trace: Trace, numbers: NDArray[np.int64], first: int, last: int) -> None:
    """Write lists and levels of the tracks from `first` to before `last`."""
    rows = slice(trace.tracks[first].first, trace.tracks[last - 1].last)
    track = np.asarray(trace.slices.track[rows])
    start, duration = np.asarray(trace.slices.start[rows]), np.asarray(trace.slices.duration[rows])
    lane = numbers[track] - numbers[first] + trace.slices.depth[rows]
    key = lane * _CLASSES + classes(duration) + 1
    order = np.argsort(key.astype(np.uint16) if key.max(initial=0) < 65536 else key, kind="stable")
    key = key[order]
    begins = np.flatnonzero(np.diff(key, prepend=-1))
    listed = start[order]
    done = writer.lengths["class_row"]
    writer.put(
        class_row=order + rows.start, class_start=listed, class_key=key[begins] + numbers[first] * _CLASSES,
        class_first=begins + done,
    )  # fmt: skip
    lane = key // _CLASSES
    edges = np.append(np.flatnonzero(np.diff(lane, prepend=-1)), len(lane))
    for begin in np.flatnonzero(np.diff(edges) >= _FEW).tolist():
        part = slice(int(edges[begin]), int(edges[begin + 1]))
        number = int(numbers[first]) + int(lane[part.start])
        for k, cells in _levels(listed[part], duration[order[part]], key[part] % _CLASSES - 1, order[part], duration):
            writer.put(
                level_key=np.array([number * _CLASSES + k]), level_first=np.array([writer.lengths["level_row"]]),
                level_bucket=cells.cell, level_busy=cells.busy, level_count=cells.count, level_row=cells.row + rows.start,
            )  # fmt: skip


def _levels(
    start: NDArray[np.int64],
    duration: NDArray[np.int64],
    class_: NDArray[np.int64],
    row: NDArray[np.int64],
    durations: NDArray[np.int64],
) -> Iterator[tuple[int, SliceCells]]:
    """The levels of a lane, whose slices come by class and start; `durations` are those of all rows."""
    sorted_ = np.sort(start)
    gaps = np.sort(classes(sorted_[1:] - sorted_[:-1]))
    known, taken = SliceCells(*[np.zeros(0, np.int64)] * 4), 0
    height = 0
    for k in range(1, _CLASSES - 2):
        if len(gaps) - np.searchsorted(gaps, k) > _SAVING * len(start):
            continue  # most of them start a bucket or more after the one before them
        upto = int(np.searchsorted(class_, k))
        work = len(known.cell) + upto - taken
        raised = known.cell >> (k - height)
        if work <= _ENOUGH or np.count_nonzero(np.diff(raised)) > _SAVING * work:
            continue
        new = slice(taken, upto)
        bucket, busy, count, of, place = shares(start[new], duration[new], row[new], k)
        made = combine(
            np.concatenate([raised, bucket]), np.concatenate([known.busy, busy]), np.concatenate([known.count, count]),
            np.concatenate([known.row, of]), np.concatenate([durations[known.row], duration[new][place]]),
        )  # fmt: skip
        if len(made.cell) <= _SAVING * work:
            known, taken, height = made, upto, k
            yield k, known

"""The tracks of a Chrome trace: of threads, of async slices and of counters, named by the metadata of the file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.json_text import encodable
from parsers.profiler.trace import kinds
from parsers.profiler.trace.building import FoundSlices
from parsers.profiler.trace.columns import Kind, Track
from parsers.profiler.trace.events import Scalar

ASYNC_TRACK = "\0async"
"""The thread of async slices, which have a track for each category instead."""
_BESIDE = {"gpu_user_annotation": "annotations", "cuda_sync": "waits"}
"""Categories of slices that Kineto puts on a stream although no kernel runs: ranges of the program around kernels, and waiting
of the stream or the host. They have a track of their own beside the stream, so they are never busy time.
"""
ON_DEVICE = frozenset({"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"})
"""Categories of slices that a device runs, in lower case, whatever its thread is called."""


class Codes(dict[Any, int]):
    """Numbers values in order of appearance: `codes[value]`."""

    def __missing__(self, value: Any) -> int:
        code = self[value] = len(self)
        return code

    def of(self, values: Any, count: int) -> NDArray[np.int32]:
        """Return the numbers of values."""
        return np.fromiter(map(self.__getitem__, values), np.int32, count)


def text_of(value: Any) -> str:
    """Return a name, process or thread as text: 0 and "0" are the same."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**63:
        return str(int(value))
    return str(value) if isinstance(value, int | float) else encodable(json.dumps(value))


class EventTracks:
    """The tracks of a file, numbered as they are met."""

    def __init__(self, meta: dict[tuple[str, str, str], Any], *, legacy: bool) -> None:
        self._meta, self._legacy = meta, legacy
        self._known: dict[tuple[str, str, str], int] = {}
        self._made: list[Track] = []

    def of_slices(self, pid: Scalar, tid: Scalar, cat: Scalar) -> int:
        """Return the number of the track of a thread, or of the async slices of a category."""
        process = text_of(pid)
        if tid == ASYNC_TRACK:
            category = text_of(cat)
            return self._number((process, "async", category), lambda: self._thread(process, "", f"{category or 'async'}"))
        thread, beside = text_of(tid), _BESIDE.get(text_of(cat), "")
        if beside:
            return self._number((process, beside, thread), lambda: self._beside(process, thread, beside))
        return self._number((process, "thread", thread), lambda: self._thread(process, thread, ""))

    def of_counter(self, pid: Scalar, name: Scalar) -> int:
        """Return the number of the track of a counter of a process."""
        process, counter = text_of(pid), text_of(name)
        return self._number((process, "counter", counter), lambda: self._counter(process, counter))

    def _number(self, key: tuple[str, str, str], make: Callable[[], Track]) -> int:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self._made)
            self._made.append(make())
        return found

    def _named(self, what: str, process: str, thread: str) -> str:
        return encodable(text_of(self._meta.get((what, process, thread))))

    def _index(self, what: str, process: str, thread: str) -> int:
        value = self._meta.get((what, process, thread))
        try:
            index = int(value) if isinstance(value, int | float | str) else 0
        except (ValueError, OverflowError):
            index = 0
        return max(min(index, 2**31 - 1), -(2**31))

    def _thread(self, process: str, thread: str, title: str) -> Track:
        process_name = self._named("process_name", process, "")
        thread_name = title or self._named("thread_name", process, thread)
        labels = self._named("process_labels", process, "")
        kind: Kind
        if self._legacy:
            known_process, known_thread, kind = kinds.legacy_track(process, thread)
            process_name, thread_name = process_name or labels or known_process, thread_name or known_thread
        else:
            kind = kinds.kind_of(process_name or labels, thread_name or thread)
        order = self._index("process_sort_index", process, ""), self._index("thread_sort_index", process, thread)
        process_name = process_name or labels or (f"Process {encodable(process)}" if process else "")
        thread_name = thread_name or (f"Thread {encodable(thread)}" if thread else "")
        return Track(process_name, thread_name, encodable(process), encodable(thread), kind, order)

    def _beside(self, process: str, thread: str, title: str) -> Track:
        """Return the track beside a stream for what runs nothing."""
        stream = self._thread(process, thread, "")
        return replace(stream, thread=f"{stream.thread} {title}", kind="scope")

    def _counter(self, process: str, counter: str) -> Track:
        name = self._named("process_name", process, "") or (f"Process {encodable(process)}" if process else "")
        order = self._index("process_sort_index", process, ""), 0
        return Track(name, encodable(counter), encodable(process), "", kinds.counter_kind(name, counter), order)

    def tracks(self, slices: FoundSlices, categories: Mapping[str, int]) -> list[Track]:
        """Return all tracks; categories number those of the slices.

        A thread most of whose slices are of the category `dequeue` is a host queue; one of ON_DEVICE is a stream.
        """
        every = np.bincount(slices.track, minlength=len(self._made))
        running = [number for text, number in categories.items() if text.lower() in ON_DEVICE]
        kind: Kind
        for kind, numbers in (("host_queue", [categories.get("dequeue", -1)]), ("device_stream", running)):
            taken = np.bincount(slices.track[np.isin(slices.category, numbers)], minlength=len(self._made))
            for number in np.flatnonzero(2 * taken > every).tolist():
                if not (kind == "device_stream" and self._made[number].kind == "communication"):
                    self._made[number] = replace(self._made[number], kind=kind)
        return self._made
